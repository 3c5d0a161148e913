"""``import dovetail``: the names that users import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import dovetail
from tests.extras import lack, requires

ROOT = Path(__file__).parents[2]


def test_every_exported_name_is_there() -> None:
    for name in dovetail.__all__:
        assert getattr(dovetail, name) is not None
        assert name in dir(dovetail)


def test_names_are_those_of_their_homes() -> None:
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.formats import read

    assert dovetail.Tagger is Tagger
    assert dovetail.read is read


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="'nosuch'"):
        _ = dovetail.nosuch


def test_load(model: Path) -> None:
    assert dovetail.load(model).predict([["Ada", "visited", "London", "."]]) == [["B-PER", "O", "B-LOC", "O"]]


def test_files_that_come_with_dovetail(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        dovetail.DovetailError, match=r"no file .nosuch. .*there are .*english-names.dovetail, "
    ) as error:
        dovetail.embedded("nosuch")
    names = str(error.value).split("there are ")[1].split(", ")
    folder = dovetail.embedded(dovetail.ENGLISH_MODEL).parent
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    monkeypatch.setattr(dovetail, "_EMBEDDED", ("lost",))
    with pytest.raises(dovetail.DovetailError, match="lacks the file 'lost'; install dovetail again"):
        dovetail.embedded("lost")


def test_packages_are_there_after_a_bare_import() -> None:
    code = """
import sys
import dovetail
assert not {"numpy", "numba", "dovetail.text"} & set(sys.modules), "import dovetail is to be quick"
dovetail.text.read_brackets, dovetail.text.sentences, dovetail.text.brackets.parse_tree, dovetail.text.tree_svg
dovetail.evaluate.scores_table, dovetail.evaluate.significance
dovetail.features.resources.lexicon.Lexicon, dovetail.features.algebra.templates
dovetail.features.resources.recipe.learn_clusterings, dovetail.structures.chain.Chain
dovetail.models.base.Estimator, dovetail.active.select, dovetail.active.diversity
dovetail.curves.LearningCurve, dovetail.curves.runs, dovetail.grammars.pcfg, dovetail.learning.losses
dovetail.scorers.linear
for name in ("text", "features"):
    try:
        getattr(dovetail, name).nosuch
    except AttributeError as error:
        assert "no attribute 'nosuch'" in str(error)
    else:
        raise AssertionError(name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


CLOSED = {
    "cli", "cli.train", "joint", "joint.engines", "machines", "models.consistency", "models.linear", "serve", "spacy",
    "structures.derivations",
}  # fmt: skip
"""Packages whose modules must be imported to be used."""


def test_every_room_finds_its_modules() -> None:
    package = ROOT / "src" / "dovetail"
    for init in sorted(package.rglob("*/__init__.py")):
        room = str(init.parent.relative_to(package)).replace("/", ".")
        if room not in CLOSED and find_spec(f"dovetail.{room}"):
            finds = vars(import_module(f"dovetail.{room}"))["__getattr__"]
            for file in init.parent.glob("[a-z]*.py"):
                try:
                    found = finds(file.stem)
                except dovetail.DovetailError as error:  # a package of an extra
                    if lack(str(error)):
                        continue
                    raise
                assert found.__name__ == f"dovetail.{room}.{file.stem}"


@requires("mypy")
def test_types_of_what_is_loaded(tmp_path: Path) -> None:
    from mypy import api

    file = tmp_path / "snippet.py"
    file.write_text(
        "import dovetail\n"
        "reveal_type(dovetail.load())\n"
        "reveal_type(dovetail.load('m'))\n"
        "reveal_type(dovetail.load()('Ada slept.'))\n"
        "reveal_type(dovetail.load().annotate('Ada slept.'))\n"
        "reveal_type(dovetail.load().annotate(['Ada slept.']))\n"
        "reveal_type(dovetail.text.read_brackets)\n"
        "dovetail.load().nosuch\n"
    )
    # With the settings of `make lint`, so that what that has checked need not be checked again.
    options = [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    told, problems, _ = api.run([*options, str(file)])
    lines = [line.split("Revealed type is ")[1] for line in told.splitlines() if "Revealed" in line]
    assert len(lines) == 6, told + problems
    assert lines[0] == '"dovetail.models.tagger.estimator.Tagger"'
    assert "Segmenter" in lines[1]
    assert "Parser" in lines[1]
    assert lines[2] == lines[3] == '"dovetail.text.sentence.Document"'
    assert "Iterator[dovetail.text.sentence.Document]" in lines[4]
    assert "def (" in lines[5]
    assert '"Tagger" has no attribute "nosuch"' in told


def test_what_is_imported_at_run_time_is_installed_with_dovetail() -> None:
    """``make smoke`` tries it in an environment of its own; numba imports scipy for the linear algebra of parsers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.match(r"[\w-]+", line)[0] for line in project["dependencies"]}  # type: ignore[index]
    listed = (line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines)
    extras = {re.match(r"[\w-]+", line)[0] for line in listed}  # type: ignore[index]
    brought = {"llvmlite", "starlette", "pydantic", "tokenizers"}  # by numba, fastapi and transformers
    others = {"dovetail", "sklearn", *extras, *brought}
    imported = {"scipy"}
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    assert imported - sys.stdlib_module_names - others <= required
    assert "make smoke" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
