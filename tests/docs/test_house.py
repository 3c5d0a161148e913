"""What design.md and CONTRIBUTING say of the house is so: its rooms, their order, what they hold."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

import dovetail
from dovetail.models.base import Estimator
from dovetail.structures.contract import Structure
from tests.docs.pages import ROOT, blocks
from tests.structures.cases import CASES

SOURCE = ROOT / "src" / "dovetail"
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def layers() -> list[set[str]]:
    """The rooms of each layer, the lowest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    listed = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [{room.strip().removeprefix("dovetail.") for room in line.split("|")} for line in reversed(listed)]


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of design.md, cell by cell."""
    section = DESIGN.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def in_code(cell: str) -> list[str]:
    return [name.rstrip("/").removesuffix(".py") for name in re.findall(r"`([^`]+)`", cell)]


def test_the_rooms_stand_in_the_order_of_their_layers() -> None:
    assert [set(in_code(room)) for room, *_ in rows("The rooms")] == layers()


def test_every_room_is_named() -> None:
    rooms = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__", "__main__"} == set.union(*layers())


def test_the_pieces_are_where_they_are_said_to_be() -> None:
    for name, where, _ in rows("Parts in, parts out"):
        text = (SOURCE / where.strip("`")).read_text(encoding="utf-8")
        assert re.search(rf"^(class )?{name.strip('`')}\b", text, re.MULTILINE), name


def test_the_structures_are_those_of_the_conformance_suite() -> None:
    for folder, *_, addresses in rows("Structures"):
        case = CASES[folder.strip("`/")]
        assert set(in_code(addresses)) == {name for name in ("token", "span", "arc") if getattr(case, name)}
    folders = {path.parent.name for path in SOURCE.glob("structures/*/batch.py")}
    assert {folder.strip("`/") for folder, *_ in rows("Structures")} == folders
    methods = DESIGN.split("All eight keep one contract", 1)[1].split("\n\n", 1)[0]
    assert all(hasattr(Structure, method) for method in in_code(methods))


def test_every_model_can_be_loaded_by_its_kind() -> None:
    homes = [str(path.relative_to(SOURCE).with_suffix("")).replace("/", ".") for path in SOURCE.glob("models/*/*.py")]
    found: dict[str, str] = {}
    for home in homes:
        for name, value in vars(import_module(f"dovetail.{home}")).items():
            if isinstance(value, type) and issubclass(value, Estimator) and {"kind", "target"} & set(vars(value)):
                found[value.stored_kind()] = name
    found["pipeline"] = "Pipeline"  # which is made of models
    found["aligner"] = "Aligner"  # which annotates no sentences
    assert found == {kind: name for kind, (name, _) in dovetail._KINDS.items()}
    assert all(getattr(dovetail, name).stored_kind() == kind for kind, name in found.items())
    assert set(found.values()) <= set(dovetail.__all__)


def test_the_layout_is_that_of_the_tree() -> None:
    [layout] = [block.body for block in blocks(ROOT / "CONTRIBUTING.md") if block.body.startswith("src/dovetail/\n")]
    inside, outside = layout.split("benchmarks/", 1)
    room: Path = SOURCE
    named: set[Path] = set()
    for line in inside.splitlines()[1:]:
        if not line.startswith("   "):
            room = SOURCE / line.split()[0]
            named.add(room)
        home = room if room.is_dir() else SOURCE
        named |= {home / word for word in re.findall(r"\b[a-z_]+(?:/|\.py)", line) if home / word != room}
    missing = [str(path) for path in named if not (path.exists() or (SOURCE / path.name).exists())]
    assert not missing
    present = {path.name for path in SOURCE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert {name for name in present if not name.startswith("__")} <= {path.name for path in named}
    assert all((ROOT / name).exists() for name in re.findall(r"\b[a-z]+/", "benchmarks/" + outside))
