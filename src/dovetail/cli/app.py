"""The command ``dovetail`` and its subcommands."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Annotated, Any

import typer
import typer.completion

from dovetail.cli import (
    align,
    align_sentences,
    annotate,
    cluster,
    completion,
    convert,
    curve,
    demo,
    doctor,
    draw_links,
    embed,
    evaluate,
    explain,
    info,
    label,
    models,
    pipeline,
    pool,
    select,
    serve,
    train,
    tune,
    two_languages,
)
from dovetail.cli.command import Commands
from dovetail.spellings import present
from dovetail.version import __version__

app = Commands(
    name="dovetail",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(annotate.annotate)
app.add_typer(train.app, name="train")
app.add_typer(tune.app, name="tune")
for command in (
    evaluate.evaluate, pipeline.pipeline, pool.pool, explain.explain, info.info, models.models, demo.demo,
    select.select, label.label, curve.simulate, curve.curve, two_languages.project, two_languages.annotate_pair,
):  # fmt: skip
    app.command()(command)
app.command()(convert.convert)
app.command()(doctor.doctor)
app.command()(completion.completion)
app.add_typer(cluster.app, name="cluster")
app.command()(embed.embed)
app.command()(align.align)
app.command()(align_sentences.align_sentences)
app.command()(draw_links.draw_links)
app.command()(serve.serve)

# Typer brings its own copy of click, or once imported the package: either way this is its UsageError.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


@app.callback(invoke_without_command=True)
def dovetail(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the full traceback of an error (or set DOVETAIL_DEBUG=1).")
    ] = False,
) -> None:
    """Train accurate taggers and parsers from little data, and use them.

    Try it: dovetail annotate "Ada Lovelace was born in London."

    Exit codes: 0 success; 1 a bug in dovetail; 2 a problem that you can fix, and the message says how; 130
    interrupted.
    """
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())


@cache
def click_command() -> Any:
    """Return all commands as click runs them; built once, because building them takes 80 ms."""
    return typer.main.get_command(app)


def run_command(arguments: list[str]) -> None:
    """Run one command; failures are raised."""
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # rather a question mark than no answer on an ASCII terminal
    for many in (2, 1):
        name = " ".join(arguments[:many])
        if (now := present("command", name, warn=1)) != name:
            arguments = str(now).split() + arguments[many:]
    command = click_command()
    if (asked := os.environ.get(completion.VARIABLE)) is not None:
        typers: Any = typer.completion  # which does not say what it exports
        typers.completion_init()
        typers.shell_complete(command, {}, "dovetail", completion.VARIABLE, asked)
        return
    try:
        with command.make_context("dovetail", arguments) as context:
            command.invoke(context)
    except typer.Exit:
        pass  # --help
