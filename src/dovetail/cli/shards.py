"""``dovetail annotate --ray``: the files of a folder, each annotated by a worker of a cluster."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dovetail.cli.console import count, warn
from dovetail.cli.progress import reporting
from dovetail.errors import DovetailError

FOLDERS = "--ray shares out the files of a folder: name one, and with --output another one for what is written"
ENDINGS = {"jsonl": ".jsonl", "conll": ".conll", "conllu": ".conllu", "brackets": ".mrg"}
"""Formats that are one file each, with their endings."""


def annotate_shards(annotate: Callable[..., None], values: Mapping[str, Any]) -> None:
    """Annotate every file of a folder into a file of the same name in another one."""
    folder, output = Path(values["text"] or ""), values["output"]
    if not values["text"] or not folder.is_dir() or output is None:
        raise DovetailError(FOLDERS)
    if output.exists() and not output.is_dir():
        raise DovetailError(f"{output}: {FOLDERS}")
    if output.exists() and output.samefile(folder):
        raise DovetailError(f"{output}: this is the folder that is read; name another one with --output")
    tasks = _tasks(folder, output, values)
    output.mkdir(parents=True, exist_ok=True)
    from dovetail.machines.runs import worked

    with reporting(quiet=False) as reporter:
        reporter.doing(f"annotating {count(len(tasks), 'file')}")
        for number, (name, told) in enumerate(worked(annotate_one, tasks, annotate), 1):
            for line in told:
                warn(f"{name}: {line}")
            reporter.doing(f"{number} of {len(tasks)} files are annotated")


def _tasks(folder: Path, output: Path, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of ``dovetail annotate`` for each file, on one thread."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise DovetailError(f"{folder}: there is no file in this folder")
    form = values["output_format"]
    ending = ENDINGS.get(str(form or "jsonl"))
    if ending is None:
        raise DovetailError(f"--ray writes a file for each: choose {', '.join(ENDINGS)} as --output-format, not {form}")
    own = dict(values) | {"ray": False, "threads": values["threads"] or 1, "output_format": form or "jsonl"}
    names = [file.name.removesuffix(".gz").rpartition(".")[0] or file.name for file in files]
    if len(set(names)) < len(names):
        raise DovetailError(f"{folder}: two files have one name but for their endings; rename one of them")
    return [
        own | {"text": str(file), "output": output / (name + ending)} for file, name in zip(files, names, strict=True)
    ]


def annotate_one(values: dict[str, Any], annotate: Callable[..., None]) -> tuple[str, list[str]]:
    """Annotate one file: its name, and the lines that were said of it."""
    heard = io.StringIO()
    with contextlib.redirect_stderr(heard):
        annotate(**values)
    return Path(values["text"]).name, heard.getvalue().splitlines()
