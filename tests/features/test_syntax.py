"""Templates are read from text as they are written, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.errors import DovetailError
from dovetail.features.algebra.sets import SETS, FeatureSet
from dovetail.features.algebra.syntax import TemplateError, parse


@pytest.mark.parametrize("name", sorted(SETS))
def test_named_sets_survive_being_written_and_read(name: str) -> None:
    features = FeatureSet.named(name)
    assert FeatureSet.from_lines(name, features.lines()) == features


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("word[", "never closed"),
        ("word[a]", "whole numbers"),
        ("word[1:]", "both ends"),
        ("word & shape[0]", "one position"),
        ("nothing(3)", "no function 'nothing'"),
        ("prefix(0, 3)[0]", "1 <= shortest"),
        ("prefix(4, 2)[0]", "1 <= shortest"),
        ("bag(word, 0)", "size of the window"),
        ("__import__('os').system('true')", "cannot read"),
        ("word[0] + word[1]", "cannot read"),
        ("call(mine)", "Python function 'mine'"),
        ("", "invalid syntax"),
        ("bias[0]", "no positions"),
    ],
)
def test_bad_templates_say_why(text: str, reason: str) -> None:
    with pytest.raises(TemplateError, match="template") as caught:
        parse(text)
    assert reason in str(caught.value)


def test_toml(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "plain"\ntemplates = ["word[-1] & shape[0]", "edge(word[0])"]\n')
    features = FeatureSet.of(file)
    assert features.name == "mine"
    assert features.lines()[-2:] == ["word[-1] & shape[0]", "edge(word[0])"]
    assert len(features.templates) == len(FeatureSet.named("plain").templates) + 2


def test_a_set_that_extends_a_named_one_does_without_the_same_layers(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('extends = "plain"\ntemplates = ["chunk[0]"]\n')
    assert FeatureSet.of(file).optional == {"pos"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("templates = [", "not a TOML file"),
        ("template = []", "expected name"),
        ("", "no templates"),
        ('templates = "word[0]"', "expected"),
        ('extends = ["ner"]', "expected"),
        ("name = 3\nextends = 'ner'", "expected"),
        ("name = " + "9" * 5000, "not a TOML file"),
    ],
)
def test_bad_toml_says_why(tmp_path: Path, content: str, reason: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(content)
    with pytest.raises(DovetailError, match=reason):
        FeatureSet.of(file)


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(DovetailError, match="finkel-ner"):
        FeatureSet.of("nerr")
    with pytest.raises(DovetailError, match="cannot be read"):
        FeatureSet.of("missing.toml")


def test_the_plain_set_has_26_features_a_token() -> None:
    from dovetail.features.compile.named import named_features
    from dovetail.text.sentence import Sentence

    sentence = Sentence(("some", "words", "here", "for", "testing"), {"pos": ("A", "B", "C", "D", "E")})
    named = [f for template in FeatureSet.named("plain").templates for f in named_features(template, sentence, 1)]
    assert len(named) == 26


def test_a_range_of_far_too_many_positions_is_refused() -> None:
    with pytest.raises(TemplateError, match="1000000000 positions of word; give 1000 at most"):
        parse("word[0:1000000000]")
