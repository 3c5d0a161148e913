"""The documentation is whole: links lead somewhere, and every option, feature set and setting is explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from dovetail.cli.app import app
from dovetail.features.algebra.sets import SETS
from dovetail.features.algebra.syntax import FUNCTIONS, PLAIN
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.formats import FORMATS
from tests.docs.pages import OTHERS, PAGES, ROOT, anchors, difference, links

DOCS = ROOT / "docs"
COMMANDS = {
    "annotate": "annotate.md",
    "evaluate": "evaluate.md",
    "explain": "explain.md",
    "pipeline": "pipelines.md#One file",
    "pool": "pools.md#Models that you have",
    "info": "model-file.md#What is in it",
    "models": "models.md#The list",
    "train dependency": "dependencies.md",
    "train entailment": "entailment.md",
    "train joint": "joint.md",
    "train nested": "nested.md",
    "train parser": "parsing.md",
    "train roles": "roles.md",
    "train segmenter": "segment.md",
    "train tagger": "train.md",
    "label": "label.md#Options",
    "select": "active-learning.md",
    "simulate": "simulate.md",
    "curve": "curves.md",
    "cluster brown": "clusters.md#Brown",
    "cluster exchange": "clusters.md#Exchange",
    "cluster assign": "clusters.md#Assign",
    "cluster tree": "clusters.md#Tree",
    "embed": "vectors.md#Embed",
    "doctor": "command-line.md#Doctor",
    "completion": "command-line.md#Completion",
    "align": "align.md#Options",
    "align-sentences": "align.md#Documents",
    "draw-links": "align.md#Picture",
    "serve": "serve.md",
}


def _page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _section(reference: str) -> str:
    """A page, or the part of it under a heading of the second level: ``clusters.md#Brown``."""
    name, _, heading = reference.partition("#")
    return re.split(r"^## ", _page(name).split(f"\n## {heading}\n", 1)[1], flags=re.M)[0] if heading else _page(name)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"https?:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {link}: no such heading"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_none_is_made_up(command: str) -> None:
    found: Any = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]
    real = {option for p in found.params for option in [*p.opts, *p.secondary_opts] if option.startswith("--")}
    told = set(re.findall(r"`(--[a-z0-9-]+)", _section(COMMANDS[command])))
    assert real - told == set()
    assert told - real <= {"--debug", "--quiet", "--help"}


def test_every_feature_set_attribute_and_operator_is_explained() -> None:
    page = _page("features.md")
    told = set(re.findall(r"`([\w-]+)", page))
    assert set(SETS) | PLAIN | set(FUNCTIONS) | {"bias", "word", "call"} <= told


def test_every_setting_is_explained() -> None:
    told = set(re.findall(r"`(\w+)", _page("train.md")))
    assert set(Tagger().get_params()) <= told


def test_defaults_of_settings_are_those_of_the_code() -> None:
    rows = re.findall(r"^\|[^|\n]*(?:\\\|[^|\n]*)*\| `(\w+)` \| ([^|]+) \|", _page("train.md"), re.MULTILINE)
    told = {name: default.strip("` ") for name, default in rows}
    assert told.keys() == Tagger().get_params().keys()
    for name, default in Tagger().get_params().items():
        if default is not None and default != ():
            expected = f"{default:g}" if isinstance(default, float) else str(default)
            assert told[name] == expected, name


def test_every_format_is_explained() -> None:
    page = _page("formats.md")
    for name, form in FORMATS.items():
        assert f"`{name}`" in page
        for suffix in form.suffixes:
            assert f"`{suffix}`" in page


def test_every_page_is_linked_from_the_readme() -> None:
    readme = links(ROOT / "README.md")
    for page in DOCS.glob("*.md"):
        assert f"docs/{page.name}" in readme


def test_pages_are_found() -> None:
    assert len(PAGES) > 10


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a ... c", "a b\nc", True),
        ("a  b", "a b", True),
        ("0.97", "0.98", True),
        ("0.97", "0.90", False),
        ("[London LOC 0...] slept", "[London LOC 0.99] slept", True),
        ("a (b)", "a b", False),
        ("", "something", False),
    ],
)
def test_difference(shown: str, printed: str, same: bool) -> None:
    assert (difference(shown, printed) is None) == same


def test_the_readme_leads_a_newcomer_from_line_to_line() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)
    assert readme.index("make demo") < readme.index(".venv/bin/activate") < readme.index("$ dovetail")
    assert readme.index("\ncd docs/examples\n") < readme.index("people-train.conll")
    assert re.search(r"[Cc]ontributors\s+run\s+`make test`", readme)
    assert re.search(r"^\| dovetail, words only \|", readme, re.MULTILINE)
    assert re.search(r"^\| dovetail, reading parts of speech \|", readme, re.MULTILINE)
