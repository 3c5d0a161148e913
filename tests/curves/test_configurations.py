"""Configurations from the command line and from TOML."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.curves.configurations import Configuration, parse_configuration, read_configurations
from dovetail.errors import DovetailError


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("plain", "plain", {}),
        ("plain=", "plain", {}),
        ("a=l2=0.5,order=2", "a", {"l2": 0.5, "order": 2}),
        ("a=observed_only=true, scheme=iobes", "a", {"observed_only": True, "scheme": "iobes"}),
        ("a=ignore=pos", "a", {"ignore": ["pos"]}),
        ("a=ignore=pos,chunk,l2=1e-3", "a", {"ignore": ["pos", "chunk"], "l2": 0.001}),
        ("a=features=b=c.toml", "a", {"features": "b=c.toml"}),
    ],
)
def test_parse(text: str, name: str, settings: dict[str, object]) -> None:
    assert parse_configuration(text) == Configuration(name, settings)


@pytest.mark.parametrize(("text", "message"), [("=l2=1", "has no name"), ("a=l2", "'l2' is not a setting")])
def test_parse_refuses(text: str, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        parse_configuration(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"l3": 1}, "'a': a tagger has no setting 'l3'; it has features"),
        ({"l2": "much"}, "expected a number"),
        ({"order": 7}, "order=7"),
        ({"observed_only": 3}, "true or false"),
        ({"scheme": 3}, "expected a name"),
        ({"features": "nonsense"}, "nonsense"),
    ],
)
def test_wrong_settings_are_told_with_the_name(settings: dict[str, object], message: str) -> None:
    with pytest.raises(DovetailError, match=message) as told:
        Configuration("a", settings).build()
    assert "configuration 'a'" in str(told.value)


def test_build() -> None:
    tagger = parse_configuration("a=l2=3,features=plain,ignore=pos").build(threads=1)
    assert (tagger.l2, tagger.features.name, tagger.ignore, tagger.threads) == (3, "plain", ["pos"], 1)
    with pytest.raises(DovetailError, match="no kind 'oracle'; choose tagger or segmenter"):
        Configuration("a", kind="oracle").build()


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "configurations.toml"
    path.write_text('[plain]\nfeatures = "plain"\n[rich]\nl2 = 0.5\nignore = ["pos"]\n')
    plain, rich = read_configurations(path)
    assert plain == Configuration("plain", {"features": "plain"})
    assert rich == Configuration("rich", {"l2": 0.5, "ignore": ["pos"]})


@pytest.mark.parametrize(("text", "message"), [("l2 = 1", "outside a table"), ("", "no configurations"), ("[", "TOML")])
def test_bad_toml(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "configurations.toml"
    path.write_text(text)
    with pytest.raises(DovetailError, match=message):
        read_configurations(path)


def test_identity_follows_the_contents_of_files(tmp_path: Path) -> None:
    path = tmp_path / "features.toml"
    path.write_text('templates = ["word[0]"]')
    configuration = Configuration("a", {"features": str(path), "l2": 1})
    same = Configuration("other name", {"features": str(path), "l2": 1})
    assert configuration.identity == same.identity
    path.write_text('templates = ["word[-1]"]')
    assert Configuration("a", {"features": str(path), "l2": 1}).identity != same.identity


def test_identity_follows_files_named_in_files(tmp_path: Path) -> None:
    path, clusters = tmp_path / "features.toml", tmp_path / "news.paths"
    path.write_text('templates = ["word[0]"]\n[clusters]\nnews = "news.paths"\n')
    digests = []
    for line in ("00\tAda\t3\n", "01\tAda\t3\n"):
        clusters.write_text(line)
        digests.append(Configuration("a", {"features": str(path)}).identity)
    assert digests[0] != digests[1]


@pytest.mark.parametrize("kind", ["tagger", "segmenter"])
def test_resources_join_the_features(tmp_path: Path, kind: str) -> None:
    clusters = tmp_path / "news.paths"
    clusters.write_text("00\tAda\t3\n01\tAlan\t2\n1\tthe\t9\n")
    model = parse_configuration(f"a=kind={kind},clusters={clusters}").build()
    resources = model.features.resources if kind == "tagger" else model.resources
    assert list(resources) == ["news", "casing"]
