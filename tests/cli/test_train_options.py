"""The options of every training command are the settings of its model: the same defaults, bounds and refusals."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail.cli.train import KINDS
from dovetail.cli.train.options import shown_settings
from dovetail.cli.train.training import Training
from dovetail.errors import DovetailError
from dovetail.models.base import Estimator
from dovetail.models.settings import Setting, setting_of
from tests.cli.conftest import Run
from tests.cli.test_paths import COMMANDS

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


def model_of(kind: type[Training], name: str = "") -> Any:
    """The estimator of a command; that of several domains, if the setting is one of its own."""
    model = getattr(dovetail, kind.model)()
    if hasattr(model, name):
        return model
    several = dovetail.MultiDomainTagger(tagger=model) if kind.kind == "tagger" else None
    return several or dovetail.MultiDomainParser(parser=model)


def settings_of(kind: type[Training]) -> Iterator[tuple[Field[Any], Setting]]:
    """All settings of a kind, also of several domains."""
    for settings in dataclasses_of(kind):
        yield from ((f, found) for f in fields(settings) if (found := setting_of(f)) is not None)


def dataclasses_of(kind: type[Training]) -> list[type]:
    return [kind.settings, *([kind.domains.settings] if kind.domains is not None else [])]


def options_of(kind: type[Training]) -> dict[str, Any]:
    return {param.name: param for param in COMMANDS[f"dovetail train {kind.kind}"].params}


def setting_options_of(kind: type[Training]) -> dict[str, Any]:
    """The options that are settings."""
    names = {name for settings in dataclasses_of(kind) for name in shown_settings(settings)}
    return {name: options_of(kind)[name] for name in names}


def wrong_values(one: Field[Any], known: Setting) -> Iterator[Any]:
    """Values on the other side of each bound, of the right type."""
    if known.choices:
        yield "x" if isinstance(next(iter(known.choices)), str) else max(known.choices) + 1
        return
    step = 1 if str(one.type).startswith("int") else 0.001
    yield from (bound - step for bound in [known.least] if bound is not None)
    yield from (bound + step for bound in [known.most] if bound is not None)
    yield from (type(step)(bound) for bound in (known.above, known.below) if bound is not None)
    yield from [float("nan"), float("inf")] if isinstance(step, float) and known.least is not None else []


def with_option(kind: type[Training], option: Any, value: Any, folder: Path) -> list[object]:
    """A command line with one option, and what it is for; the files are not there."""
    name, missing = option.name, folder / "none.jsonl"
    files = ["--train", missing]
    if kind.domains is not None and name in shown_settings(kind.domains.settings):
        files = ["--domain", f"a={missing}", "--domain", f"b={missing}"]
    elif name == "sigma":
        files += ["--trees-only", missing]
    files += ["--dev", missing] if name == "patience" else []
    files += ["--optimiser", "sgd"] if name in ("batch", "gain") else []
    files += ["--optimiser", "adam"] if name == "decay" else []
    return [option.opts[0], value, *files, "--output", folder / "m"]


@kinds
def test_every_option_has_help_and_every_shown_setting_an_option(kind: type[Training]) -> None:
    assert all(len(param.help or "") > 5 for param in options_of(kind).values())
    options = setting_options_of(kind)
    for f, known in settings_of(kind):
        if f.name in options:
            assert options[f.name].help == known.help
            flag = known.flag.partition("/")[0] or f"--{f.name.replace('_', '-')}"
            assert options[f.name].opts == [flag]


@kinds
def test_help_shows_the_defaults_of_the_model(kind: type[Training], run: Run) -> None:
    page = " ".join(run("train", kind.kind, "--help").out.split())
    options = setting_options_of(kind)
    shown = [(f, known) for f, known in settings_of(kind) if f.name in options]
    assert len(shown) > 8
    for f, known in shown:
        option = options[f.name]
        default = getattr(model_of(kind, f.name), f.name)
        if known.shown or default not in (None, False, ()):
            printed = f"{default:g}" if isinstance(default, float) else str(default)
            printed = known.shown or (option.opts[0][2:] if default is True else printed)
            start = re.search(rf"{option.opts[0]} (?!or )", page)
            assert start is not None
            assert f"[default: {printed}" in page[start.start() :].partition("]")[0] + "]", f.name


@kinds
def test_every_number_has_bounds_and_every_wrong_value_is_refused(
    kind: type[Training], run: Run, tmp_path: Path
) -> None:
    options = setting_options_of(kind)
    taken = getattr(dovetail, kind.model)().get_params()
    for f, known in settings_of(kind):
        if f.name not in taken:  # settled by what the model is
            continue
        wrong = list(wrong_values(f, known))
        assert wrong or not re.match("int|float", str(f.type)), f"{f.name} has neither bounds nor choices"
        for value in wrong:
            with pytest.raises(DovetailError, match=f"^{f.name}="):
                replace(model_of(kind, f.name), **{f.name: value}).check_settings()
            if f.name in options:
                code, _, err = run("train", kind.kind, *with_option(kind, options[f.name], value, tmp_path))
                assert code == 2
                flag = options[f.name].opts[0]
                assert re.search(rf"'{flag}|{flag}:|^dovetail: error: {f.name}=", err), err
        for value in (known.least, known.most):
            if value is not None:
                model_of(kind, f.name).set_params(**{f.name: type(wrong[0])(value)}).check_settings()
                if f.name in options:
                    arguments = with_option(kind, options[f.name], value, tmp_path)
                    assert "none.jsonl: no such file" in run("train", kind.kind, *arguments).err


@kinds
def test_what_an_estimator_takes_its_command_offers(kind: type[Training]) -> None:
    model = getattr(dovetail, kind.model)
    fit, save = inspect.signature(Estimator.fit).parameters, inspect.signature(model.save).parameters
    able = {"init": "init" in fit, "resume": "checkpoint" in fit, "half": "half" in save, "compact": "compact" in save}
    assert {name: name in kind.takes.split() for name in able} == able


def test_settings_of_the_same_name_have_the_same_type_and_words() -> None:
    found: dict[str, tuple[str, str]] = {}
    for kind in KINDS:
        for f, known in settings_of(kind):
            if re.match("int|float", str(f.type)):
                words = (str(f.type).removesuffix(" | None"), known.wanted)
                assert f.name == "threshold" or found.setdefault(f.name, words) == words


def test_optimisers_and_what_is_for_some_of_them(run: Run, tmp_path: Path) -> None:
    files = ("--train", tmp_path / "none.conll", "--output", tmp_path / "m")
    told = run("train", "segmenter", "--batch", 4, *files).err
    assert "--batch is for --optimiser sgd, adagrad, adam or perceptron" in told
    told = run("train", "nested", "--batch", 4, "--optimiser", "lbfgs", *files).err
    assert "--batch is for --optimiser sgd, adagrad, adam or perceptron" in told
    assert "no such file" in run("train", "nested", "--batch", 4, *files).err
    assert "--gain is for --optimiser sgd, adagrad or adam" in run("train", "segmenter", "--gain", 0.1, *files).err


def test_noise_and_what_is_for_it(run: Run, data: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text("Ada left Bern\n\n" + 60 * "Alan saw New York and praised it at once .\n" * 9)
    own = ("--train", data / "train.conll", "--features", data / "features.toml", "--output", tmp_path / "m")
    files = (*own, "--iterations", 3)
    code, _, err = run("train", "tagger", *files, "--noise", "dropout:0.5", "--noise-text", raw, "--resume")
    assert code == 0
    assert re.search(r"noise: the first \d+ sentences of the raw text, and not the rest", err)
    told = run("train", "tagger", *files, "--noise-text", raw).err
    assert "--noise-text is raw text for noise: choose some, such as --noise dropout:0.5" in told
    assert "such as dropout:0.5" in run("train", "tagger", *files, "--noise", "dropout:1").err
    assert "choose one of dropout:X" in run("train", "tagger", *files, "--noise", "salt").err
    raw.write_text("\n\n")
    told = run("train", "tagger", *files, "--noise", "dropout:0.5", "--noise-text", raw).err
    assert "there are no words" in told
    one = ("--domain", f"a={data / 'train.conll'}", *own[2:], "--noise", "dropout:0.5", "--noise-text", raw)
    assert "--noise-text is for one domain" in run("train", "tagger", *one).err


def test_layers_to_ignore_are_one_list(run: Run, tmp_path: Path) -> None:
    for kind in KINDS:
        if "ignore" in options_of(kind):
            assert not options_of(kind)["ignore"].multiple


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_formats_without_trees_are_not_offered(run: Run, tmp_path: Path, kind: str) -> None:
    assert "--input-format <jsonl|brackets>" in run("train", kind, "--help").out
    files = ("--train", tmp_path / "none.conll", "--output", tmp_path / "m")
    code, _, err = run("train", kind, "--input-format", "conll", *files)
    assert code == 2
    assert "'conll'" in err
    assert "jsonl" in err
