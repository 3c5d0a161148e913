"""What ``tools/train_models.py`` makes of corpora: characters, alphabets, and the peer's features."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dovetail import Sentence

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture(scope="module")
def tools() -> Iterator[Any]:
    sys.path.insert(0, str(TOOLS))
    yield import_module
    sys.path.remove(str(TOOLS))


def test_chinese_is_cut_as_plain_text_is(tools: Any) -> None:
    words = ("王", "小红", "在", "IBM", "Watson", "上海", "2008", "年", "工作", "。")
    sentence = Sentence(words, {"ner": ("B-PER", "I-PER", "O", "B-ORG", "I-ORG", "B-LOC", "O", "O", "O", "O")})
    made = tools("model_corpora").as_read(sentence)
    assert made.words == ("王", "小", "红", "在", "IBM", "Watson", "上", "海", "2008", "年", "工", "作", "。")
    assert [(e.start, e.end, e.label) for e in made.entities()] == [(0, 3, "PER"), (4, 6, "ORG"), (6, 8, "LOC")]


def test_serbian_in_both_alphabets(tools: Any) -> None:
    corpora = tools("model_corpora")
    assert list(map(corpora.in_cyrillic, ["Njegoš", "DŽEP", "Ljubav", "BBC", "Washington", "1999."])) == [
        "Његош", "ЏЕП", "Љубав", "ББЦ", "Washington", "1999.",
    ]  # fmt: skip
    both = corpora.in_both_alphabets([Sentence(("Beograd", "spava"), {"ner": ("B-LOC", "O")})])
    assert [s.words for s in both] == [("Beograd", "spava"), ("Београд", "спава")]
    assert both[0].layers == both[1].layers


def test_names_of_other_types_are_left_out(tools: Any) -> None:
    given = Sentence(("Berliner", "in", "Bonn"), {"ner": ("B-LOCderiv", "O", "B-LOC")})
    [made] = tools("model_corpora").plain([[given]])
    assert made.layers == {"ner": ("O", "O", "B-LOC")}


def test_features_of_the_peer(tools: Any) -> None:
    first, second = tools("crfsuite_names").features(["Ada", "slept"])
    assert {"w0=Ada", "s0=Xxx", "p1=A", "u3=Ada", "l=ada", "w-1=<s>", "a=Ada|slept"} <= set(first)
    assert {"w-1=Ada", "b=Ada|slept", "w1=</s>", "u4=lept"} <= set(second)


def test_every_recipe_says_what_a_card_says(tools: Any) -> None:
    from dovetail.catalogue import LANGUAGES

    for name, recipe in tools("model_recipes").RECIPES.items():
        language, _, task = name.partition("-")
        assert (LANGUAGES[language], task) == (recipe.code, recipe.task)
        assert recipe.licence.startswith("CC BY")
        assert all("CC BY" in source or "MIT" in source for source in recipe.sources)


def test_english_parsers_need_clusters(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOVETAIL_DATA", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["train_models.py", "english-trees", "--output", str(tmp_path / "models")])
    with pytest.raises(SystemExit):
        tools("train_models").main()
    assert "english-trees needs --clusters and --work" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_texts_that_tell_the_same_are_left_out(tools: Any) -> None:
    def sentence(text: str) -> Sentence:
        return Sentence(tuple(text.split()), {})

    told = sentence("Premijer Novak je juče otvorio most preko Save")
    like = sentence("Premijer Novak je jučer otvorio mosta preko Save")
    rest = [sentence(f"To je broj {n} od svih ostalih") for n in range(40)]
    corpora = tools("model_corpora")
    assert corpora.other_news([like, *rest], [told]) == rest[corpora.APART :]
    assert corpora.other_news(rest, [told]) == rest
