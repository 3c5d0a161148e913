"""Pipelines in files: one file with all models, or a TOML file that names them.

```toml
strategy = "sample"
samples = 50

[[stages]]
name = "pos"
model = "pos.dovetail"

[[stages]]
name = "tree"
model = "parser.dovetail"
reads = ["pos"]
temperature = 1.4
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.modelfile import Arrays, load_model, save_model
from dovetail.models.base import Estimator, fitting
from dovetail.models.tagging import prefixed
from dovetail.pipeline.stage import Stage
from dovetail.shipped import located
from dovetail.spellings import known, respelled
from dovetail.version import __version__

if TYPE_CHECKING:
    from dovetail.pipeline.pipeline import Pipeline

P = TypeVar("P", bound="Pipeline")
Functions = Mapping[str, Callable[..., Any]]

SETTINGS = ("strategy", "samples", "k", "vote", "least", "seed")
OF_STAGE = ("name", "model", "function", "reads", "writes", "temperature", "unfold", "domain")


def save(pipeline: Pipeline, path: str | Path, card: Mapping[str, Any]) -> None:
    """Write a pipeline with all its models to one file; each model once, though several stages are parts of it."""
    models: list[Any] = []
    headers: list[dict[str, Any]] = []
    arrays: Arrays = {}
    described = []
    for stage in pipeline.stages:
        about = {"name": stage.name, "temperature": stage.temperature}
        about |= {"reads": list(stage.reads or ()), "writes": list(stage.writes or ())}
        if not stage.is_function:
            model, part = stage.source or (stage.annotator, None)
            if not any(model is other for other in models):
                header, own = model.packed()
                arrays |= {f"{len(models)}.{name}": array for name, array in own.items()}
                models.append(model)
                headers.append(header)
            about |= {"model": next(i for i, other in enumerate(models) if other is model), "part": part}
        described.append(about)
    settings = {name: getattr(pipeline, name) for name in SETTINGS}
    header = {"kind": pipeline.kind, "dovetail": __version__, "settings": settings, "card": dict(card)}
    save_model(path, header | {"stages": described, "models": headers}, arrays)


def load(cls: type[P], path: str | Path, functions: Functions) -> P:
    """Read a pipeline from a file of either kind."""
    if Path(path).suffix == ".toml":
        return read_toml(cls, Path(path), functions)
    header, arrays = load_model(path, cls.kind)
    with fitting(path):
        models = [
            _unpacked({**own, "file": str(path)}, prefixed(arrays, f"{i}.")) for i, own in enumerate(header["models"])
        ]
        stages = [_stage(about, models, functions, path) for about in header["stages"]]
        return cls(stages, **known("settings", header["settings"], SETTINGS, path, cls.kind))


def _front() -> Any:
    """Where models of all kinds are known, and loaded."""
    return import_module("dovetail")


def _unpacked(header: dict[str, Any], arrays: Arrays) -> Any:
    return _front().class_of(header["kind"]).unpacked(header, arrays)


def _stage(about: Mapping[str, Any], models: list[Any], functions: Functions, path: str | Path) -> Stage:
    name, reads, writes = about["name"], tuple(about["reads"]), tuple(about["writes"])
    if "model" not in about:
        return Stage(name, _function(name, functions, path), reads, writes, about["temperature"])
    model, part = models[about["model"]], about["part"]
    annotator = model if part is None else model.stages()[part]
    given = reads if part is None else None
    return Stage(name, annotator, given, writes, about["temperature"], None if part is None else (model, part))


def _function(name: str, functions: Functions, path: str | Path) -> Callable[..., Any]:
    if name not in functions:
        raise DovetailError(
            f"{path}: the stage {name!r} is a function of yours, which no file holds; give it again: "
            f"Pipeline.load(path, functions={{{name!r}: function}})"
        )
    return functions[name]


def read_toml(cls: type[P], path: Path, functions: Functions) -> P:
    """A pipeline from a TOML file, with models named relative to its folder."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    except ValueError as error:
        raise InputError(f"not a TOML file in UTF-8: {error}", path) from None
    given = respelled("settings", given, cls.kind)
    stages = given.pop("stages", None)
    if not isinstance(stages, list) or not all(isinstance(one, dict) for one in stages) or not stages:
        raise InputError('there are no stages; each is a table: [[stages]], name = "pos", model = "FILE"', path)
    if unknown := [name for name in given if name not in SETTINGS]:
        raise InputError(f"no setting {unknown[0]!r}; there are {', '.join(SETTINGS)}", path)
    try:
        made = [stage for about in stages for stage in _told_stages(about, path, functions)]
        return cls(made, **given)
    except ModelFileError:
        raise
    except (DovetailError, TypeError, ValueError) as error:
        raise InputError(str(error), path) from None


def _told_stages(about: dict[str, Any], path: Path, functions: Functions) -> list[Stage]:
    """The stages that a table of a TOML file is: one, or those of a model that is unfolded."""
    about = respelled("settings", about, "stage")
    if unknown := [name for name in about if name not in OF_STAGE]:
        raise DovetailError(f"a stage has no {unknown[0]!r}; it has {', '.join(OF_STAGE)}")
    if not isinstance(name := about.get("name"), str):
        raise DovetailError('a stage needs a name: name = "pos"')
    how = {key: about[key] for key in ("reads", "writes", "temperature") if key in about}
    if "model" not in about:
        return [Stage(name, _function(name, functions, path), **how)]
    model: Any = _front().load(located(str(about["model"]), path.parent))
    if hasattr(model, "model_of"):
        model = model.model_of(about.get("domain"))
    if not isinstance(model, Estimator):
        what = "a pipeline itself; give the models that it is made of"
        if model.kind == "aligner":
            what = "an aligner, which annotates no sentences; leave it out"
        raise DovetailError(f"the stage {name!r} is {what}")
    if not about.get("unfold"):
        return [Stage(name, model, **how)]
    *before, last = list(enumerate(model.stages()))
    first = [Stage(one.writes[0], one, source=(model, i)) for i, one in before]
    return [*first, Stage(name, last[1], source=(model, last[0]), **how)]
