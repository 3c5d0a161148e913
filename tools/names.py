"""Names that are formats: tables of those that were ever written or offered, so that none is lost unnoticed.

    python tools/names.py              # says which names are new, and which are gone without an old spelling
    python tools/names.py --write      # adds the new ones to tests/data/names; refuses while any is gone

A table is a JSON file: lists of names by the place where they stand. Names are only ever added. One that the code
calls otherwise now stays in its table, and ``dovetail.spellings`` has it as an old spelling; `tests/test_names.py`
fails otherwise. Fields of answers have no old spellings, since it is others who read them: they stay as they are.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
FOLDER = ROOT / "tests" / "data" / "names"

import dovetail  # noqa: E402
from dovetail.errors import DovetailError  # noqa: E402
from dovetail.spellings import OLD_SPELLINGS, OfKind, present  # noqa: E402

Names = dict[str, list[str]]
"""Names by the place where they stand."""

DATA = (
    "checksums", "same", "coded", "domains", "resources", "layers", "rarity", "words.words", "words.endings",
    "words.senses", "words.senses.*",
)  # fmt: skip
"""Objects of headers whose keys are data: layers, lemmas, names of arrays."""
FREE = ("card", "config")
"""Objects of headers whose names are the user's own, or another library's."""
PACKAGES = ("dovetail", *(f"dovetail.{name}" for name in ("joint", "serve", "spacy", "torch")))
"""Packages with public names, beside those that ``dovetail.__all__`` has."""


def sorted_names(found: dict[str, Iterable[str]]) -> Names:
    """Return places and names in the order in which a table has them."""
    return {place: sorted(set(found[place])) for place in sorted(found)}


# model files


def model_classes() -> dict[str, Any]:
    """Return the class of every kind of model."""
    return {kind: dovetail.class_of(kind) for kind in dovetail._KINDS}


def settings() -> Names:
    """Return the settings of every kind of model."""
    from dovetail.pipeline import files

    found = {kind: [f.name for f in fields(one) if f.init] for kind, one in model_classes().items()}
    return sorted_names({**found, "pipeline": files.SETTINGS, "stage": files.OF_STAGE})


def small_models() -> Iterator[Path]:
    """Yield small models of every kind and variation, of this version and others."""
    for folder in ("models", "frozen"):
        yield from sorted((ROOT / "tests" / "data" / folder).glob("**/*.dovetail*"))


@cache
def written_files() -> list[tuple[dict[str, Any], Iterable[str]]]:
    """Return the header and the names of the arrays of each small model, as this version writes them.

    The whole file is written of the first model of each kind, as it is and compact.
    """
    found: list[tuple[dict[str, Any], Iterable[str]]] = []
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for file in small_models():
            try:
                model: Any = dovetail.load(file)
            except DovetailError as error:
                if "function" in str(error):  # one of the user's own, which no file holds
                    continue
                raise
            if hasattr(model, "packed"):
                found += [model.packed(), model.packed(compact=True)]
            if not hasattr(model, "packed") or model.stored_kind() not in seen:
                seen.add(model.stored_kind())
                for compact in {False, "compact" in inspect.signature(model.save).parameters}:
                    model.save(path, **({"compact": True} if compact else {}))
                    found.append(file_names(path))
    return found


def file_names(path: Path) -> tuple[dict[str, Any], Iterable[str]]:
    """Return the header of a model file as it stands there, and the names of the arrays."""
    data = path.read_bytes()
    described = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(described.pop("__metadata__")["dovetail"][8:]), described


def header() -> Names:
    """Return the fields of headers by the kind of the innermost object that has one; inner fields after a dot."""
    found: dict[str, set[str]] = {}
    for about, _ in written_files():
        note_header(about, "", "", found)
    return sorted_names(found)


def note_header(value: Any, kind: str, outer: str, found: dict[str, set[str]]) -> None:
    """Note the fields of an object of a header and of those in it, lists as single objects, keys that are data as *."""
    for each in value if isinstance(value, list) else ():
        note_header(each, kind, outer, found)
    if isinstance(value, dict):
        own = "kind" in value
        kind, outer = (str(value["kind"]), "") if own else (kind, outer)
        data = not own and f".{outer}".endswith(tuple(f".{one}." for one in DATA))
        for name, inner in value.items():
            path = f"{outer}{'*' if data else name}"
            found.setdefault(kind, set()).add(path)
            if name not in FREE and not (name == "settings" and kind in dovetail._KINDS):  # which are another table
                note_header(inner, kind, f"{path}.", found)


def arrays() -> Names:
    """Return the names of arrays by the kind of model, numbers as #, without those inside encoders of others."""
    found: dict[str, set[str]] = {}
    for about, names in written_files():
        own = (name for name in names if "network.encoder.model." not in name)
        found.setdefault(about["kind"], set()).update(re.sub(r"\d+", "#", name) for name in own)
    return sorted_names(found)


# checkpoints


def hashed() -> Names:
    """Return the names of settings that checkpoints hash, by the kind of model."""
    found: dict[str, Iterable[str]] = {}
    recorder = SimpleNamespace(of=lambda path, settings, *data: settings)
    with mock.patch("dovetail.models.base.Checkpoint", recorder):
        for kind, one in model_classes().items():
            if hasattr(one, "_checkpoint"):
                model = one(parser=dovetail.Parser()) if kind == "domain-parsers" else one()
                run = SimpleNamespace(checkpoint="file")
                found[kind] = model._checkpoint(SimpleNamespace(fingerprint=list), None, run)
    return sorted_names(found)


def state() -> Names:
    """Return the arrays of each optimiser, which checkpoints keep."""
    import numpy as np

    from dovetail.learning.monitor import Monitor
    from dovetail.learning.priors import Prior
    from dovetail.models.base import OPTIMISERS
    from dovetail.models.pools import DONE
    from tests.learning.test_optimisers import LogisticRegression

    problem = LogisticRegression(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]))
    found: dict[str, Iterable[str]] = {"pool": [DONE]}
    for name, one in OPTIMISERS.items():
        saved: dict[str, Any] = {}
        monitor = Monitor(dev_score=lambda weight: 1.0, dev_every=1, save=saved.update, save_every=1, watched=False)
        one(limit=1).minimise(problem, Prior(0.1), np.zeros(4), monitor)
        found[name] = saved
    return sorted_names(found)


# stores and logs


def labels() -> Names:
    """Return the fields of the lines of the labelling store."""
    from dovetail.labelling.store import Entry, open_store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        store = open_store(path, "entities", ["PER"])
        store.add(Entry(("Ada",), "ann", "done", [], "a note", "now", 1.0))
        store.add_point([0.0] * 5)
        store.close()
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return sorted_names(dict(zip(("header", "entry", "point"), lines, strict=True)))


def log() -> Names:
    """Return the fields of the logs of learning curves, simulations and tuning, and of tables of types."""
    import numpy as np

    from dovetail.curves.log import Log
    from dovetail.curves.runs import Run
    from dovetail.models.pair.table import TypeTable
    from dovetail.tuning.trials import Outcome

    found: dict[str, Iterable[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        TypeTable(("PER",), ("PER",), np.ones((1, 1))).save(table := Path(folder) / "table.json")
        found["TypeTable"] = json.loads(table.read_text("utf-8"))
        for entry in (Run("a", "b", 1, 1, 1, 1.0, 1.0), Outcome("a", {}, 1, {}, 1.0)):
            kind = type(entry)
            path = Path(folder) / kind.__name__
            Log(path, kind).add(entry)
            found[kind.__name__] = json.loads(path.read_text("utf-8"))
    return sorted_names(found)


# HTTP


@cache
def servers() -> tuple[Any, Any, ExitStack]:
    """Return clients of the servers of small models and of a session of labelling, and what ends them."""
    from starlette.testclient import TestClient

    from dovetail.labelling.guesses import Guesser
    from dovetail.labelling.models import Models
    from dovetail.labelling.routes import part_of
    from dovetail.labelling.session import Session
    from dovetail.labelling.store import open_store
    from dovetail.labelling.texts import Texts
    from dovetail.serve import make_app
    from dovetail.serve.annotator import Annotator
    from dovetail.serve.roster import roster

    stack = ExitStack()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    models = ROOT / "tests" / "data" / "models"
    files = [str(next(models.glob(f"{name}.dovetail*"))) for name in ("tagger", "dependency-tags", "parser", "nested")]
    served = TestClient(make_app([Annotator(roster(files)).part()]), base_url="http://localhost")
    people, task = ("PER", "LOC", "ORG"), "entities"
    text = dovetail.Document(tuple(dovetail.Sentence((name, "saw", "Bern", ".")) for name in ("Ada", "Bela", "Clara")))
    store = open_store(folder / "labels", task, people)
    guesser = Guesser(dovetail.load(files[0]), task, people, "small")
    session = Session(Texts.of([text]), store, Models(task, people, base=guesser), "ann")
    session.start = lambda: None  # type: ignore[method-assign]  # nothing is trained
    labelled = TestClient(make_app([part_of(session, "news")]), base_url="http://localhost")
    return stack.enter_context(served), stack.enter_context(labelled), stack


def request() -> Names:
    """Return the fields of requests, in bodies and addresses, by the path of the route."""
    from dovetail.serve.fields import Given

    found: dict[str, set[str]] = {"/batch": {"id", *Given.model_fields}}
    for client in servers()[:2]:
        described = client.app.openapi()
        for path, ways in described["paths"].items():
            for way in ways.values():
                names = found.setdefault(path, set())
                names.update(one["name"] for one in way.get("parameters", ()))
                schema = way.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                if "$ref" in schema:
                    names.update(described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"])
    return sorted_names(found)


def answer() -> Names:
    """Return the fields of answers by the path of the route, those of inner objects after a dot."""
    served, labelled, _ = servers()
    who, found = {"tab": "a"}, dict[str, set[str]]()
    text, place = {"text": "Ada saw Bern .", "alternatives": 2, "pictures": True}, {"token": 0, "start": 0, "end": 1}
    names = [one["name"] for one in served.get("/models").json()["models"]]
    for name in names:
        note_answer(served, "/annotate", found, text | {"model": name})
        note_answer(served, "/explain", found, {"text": "Ada saw Bern .", "model": name} | place)
    for path in ("/models", "/health"):
        note_answer(served, path, found)
    lines = served.post("/batch", content=b'"Ada saw Bern ."\n{"id": 1}\n', headers={"content-type": NDJSON})
    for line in lines.text.splitlines():
        note_fields(json.loads(line), "/batch", "", found)
    note_answer(labelled, "/label/next", found, who)
    answered = {"number": 0, "answer": [[0, 1, "PER"]]}
    note_answer(labelled, "/label/answer", found, who | answered)
    note_answer(labelled, "/label/answer", found, who | answered | {"annotator": "bob"})
    note_answer(labelled, "/label/open", found, who | {"number": 0})
    for path in ("status?tab=a", "why?number=0&position=0", "search?q=Bern", "why?number=99&position=0"):
        note_answer(labelled, f"/label/{path}", found)
    note_answer(labelled, "/label/undo", found, who)
    return sorted_names(found)


NDJSON = "application/x-ndjson"
UNNAMED = frozenset({"card", "labels", "status.exports"})
"""Fields of answers whose keys are data."""


def note_answer(client: Any, path: str, found: dict[str, set[str]], body: Any = None) -> None:
    """Ask a server, and note the fields of its answer."""
    answered = client.get(path) if body is None else client.post(path, json=body)
    note_fields(answered.json(), path.partition("?")[0], "", found)


def note_fields(value: Any, path: str, outer: str, found: dict[str, set[str]]) -> None:
    """Note the fields of an object of an answer, and of those in it."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        found.setdefault(path, set()).add(outer + name)
        if name not in UNNAMED:
            note_fields(inner, path, f"{outer}{name}.", found)
    for each in value if isinstance(value, list) else ():
        note_fields(each, path, outer, found)


# the command line


def command_tree() -> Iterator[tuple[str, Any]]:
    """Yield every command and group with what it is called, the whole first, under an empty name."""
    import typer

    from dovetail.cli.app import app

    waiting: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while waiting:
        name, one = waiting.pop()
        yield name, one
        waiting += [(f"{name} {inner}".strip(), own) for inner, own in getattr(one, "commands", {}).items()]


def command() -> Names:
    """Return the names of commands."""
    return {"": sorted(name for name, _ in command_tree() if name)}


def option() -> Names:
    """Return the options of every command."""
    found = {
        name: [
            flag for one in own.params if one.param_type_name == "option" for flag in (*one.opts, *one.secondary_opts)
        ]
        for name, own in command_tree()
    }
    return sorted_names(found)


# Python


def public_packages() -> Iterator[ModuleType]:
    """Yield the packages with public names."""
    names = [f"dovetail.{name}" for name in dovetail.__all__ if isinstance(getattr(dovetail, name), ModuleType)]
    folder = Path(str(dovetail.__file__)).parent / "structures"
    structures = [f"dovetail.structures.{path.parent.name}" for path in sorted(folder.glob("*/__init__.py"))]
    for name in (*PACKAGES, *names, *structures):
        yield import_module(name)


def python() -> Names:
    """Return public names by package, the attributes of public classes, and the parameters of what can be called."""
    found: dict[str, Iterable[str]] = {}
    for package in public_packages():
        found[package.__name__] = public = getattr(package, "__all__", [])
        for name in public:
            one = getattr(package, name)
            if inspect.isclass(one):
                names = [own for own in dir(one) if not own.startswith("_") and _is_ours(one, own)]
                found[one.__name__] = [
                    *names,
                    *(own for own in vars(one).get("__dataclass_fields__", ()) if own[0] != "_"),
                ]
                found[f"{one.__name__}.__init__"] = _parameters(one.__init__)
                for own in names:
                    if callable(getattr(one, own)):
                        found[f"{one.__name__}.{own}"] = _parameters(getattr(one, own))
            elif inspect.isfunction(one):
                found[one.__qualname__] = _parameters(one)
    return {place: names for place, names in sorted_names(found).items() if names}


def _is_ours(one: type, name: str) -> bool:
    """Whether a class of dovetail's has the attribute, rather than one that it is derived from."""
    return any(name in vars(base) and base.__module__.startswith("dovetail") for base in one.__mro__)


def _parameters(function: Any) -> list[str]:
    """Return the parameters that callers can name."""
    try:
        known = inspect.signature(function).parameters
    except ValueError:
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, one in known.items() if one.kind in kinds and name not in ("self", "cls")]


TABLES: dict[str, Callable[[], Names]] = {
    one.__name__: one
    for one in (settings, header, arrays, hashed, state, labels, log, request, answer, command, option, python)
}


# what is gone, and what is new


def stored(table: str) -> Names:
    """Return a table as the repository has it."""
    path = FOLDER / f"{table}.json"
    found: Names = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def gone(table: str, now: Names) -> list[str]:
    """Return the names of a table that the code has no more, and does not read as old spellings either."""
    return [
        f"{place}: {name}" if place else name
        for place, names in stored(table).items()
        for name in names
        if not is_there(table, place, name, now)
    ]


def is_there(table: str, place: str, name: str, now: Names) -> bool:
    """Whether a name stands at a place, or is an old spelling of one that stands there, or has no effect any more."""
    if table == "command":
        return present("command", name) in now[""]
    if table == "option":
        place = str(present("command", place))
        return place in now and present("option", name, place) in now[place]
    if table == "python":
        return _is_python(place, name, now)
    if name in now.get(place, ()):
        return True
    if table == "header":
        return _present_field(name, place) in (None, *now.get(place, ()))
    if table == "arrays":
        ends = [(old, str(new)) for old, new in OLD_SPELLINGS["arrays"].items() if f".{name}".endswith(f".{old}")]
        return any(name.removesuffix(old) + new in now.get(place, ()) for old, new in ends)
    if table == "hashed":  # by the oldest spelling, so that an entry for a renamed setting keeps it here
        return present("settings", name.rpartition("__")[2], place) is None
    return table in OLD_SPELLINGS and present(table, name, place) in (None, *now.get(place, ()))


def _present_field(path: str, kind: str) -> str | None:
    """Return the present spelling of a field of a header, and of the objects that it is in."""
    places, found = (kind,), []
    for name in path.split("."):
        new = present("header", name, *places)
        if new is None:
            return None
        places = (new, f"{places[0]}.*")
        found.append(new)
    return ".".join(found)


def _is_python(place: str, name: str, now: Names) -> bool:
    """Whether a public name, an attribute or a parameter can still be used; an old parameter needs its decorator."""
    if name in now.get(place, ()):
        return True
    if place.startswith("dovetail"):
        return present("python", name, place) in now[place]
    owner, _, function = place.partition(".")
    if (renamed := present("python", owner, "dovetail")) != owner:
        return _is_python(f"{renamed}.{function}".strip("."), name, now)
    one = _public(owner)
    if function in ("", "__init__") and isinstance(one, type) and issubclass(one, OfKind):
        return present("settings", name, *one._places()) in now[place]
    new = present("python", name, place, *(f"{base.__name__}.{function}" for base in getattr(one, "__mro__", ())))
    reads = getattr(one, function) if function else one
    return new is None or (new in now.get(place, ()) and hasattr(reads, "__wrapped__"))


def _public(name: str) -> Any:
    """Return a public class or function by its name."""
    return next((getattr(one, name) for one in public_packages() if name in getattr(one, "__all__", ())), None)


def fresh(table: str, now: Names) -> list[str]:
    """Return the names that a table does not have yet."""
    old = stored(table)
    return [
        f"{place}: {name}" if place else name
        for place, names in now.items()
        for name in names
        if name not in old.get(place, ())
    ]


def write(table: str, now: Names) -> None:
    """Add the names that a table does not have yet."""
    old = stored(table)
    both = {place: [*old.get(place, ()), *now.get(place, ())] for place in {**old, **now}}
    text = json.dumps(sorted_names(both), indent=1, ensure_ascii=False)
    lines = re.sub(r"\[\s+(.*?)\s+\]", lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]", text, flags=re.DOTALL)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{table}.json").write_text(lines + "\n", "utf-8")


def main() -> int:
    """Compare the tables with the code, and add to them what is new."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="Add new names to the tables.")
    writes, lost = parser.parse_args().write, 0
    for table, collect in TABLES.items():
        now = collect()
        missing, new = gone(table, now), fresh(table, now)
        lost += len(missing)
        for sign, names in (("-", missing), ("+", new)):
            for name in names:
                print(f"{sign} {table}: {name}")
        if writes and not missing:
            write(table, now)
    if lost:
        print(f"{lost} names are gone: give each an old spelling in src/dovetail/spellings.py, or bring it back")
    return 1 if lost else 0


if __name__ == "__main__":
    status = main()
    servers()[2].close()
    sys.exit(status)
