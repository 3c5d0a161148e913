"""The command ``dovetail``: its subcommands, and how every failure is told to the user."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from dovetail.cli import annotate, cluster, console, curve, demo, evaluate, explain, select, simulate, train
from dovetail.errors import DovetailError
from dovetail.version import __version__

# Plain help, not rich's: it answers in half the time.
app = typer.Typer(
    name="dovetail",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    annotate.annotate,
    evaluate.evaluate,
    explain.explain,
    demo.demo,
    select.select,
    simulate.simulate,
    curve.curve,
):
    app.command()(command)
app.add_typer(train.app, name="train")
app.add_typer(cluster.app, name="cluster")

# Typer brings its own copy of click, or once imported the package: either way this is its UsageError.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

OK, UNEXPECTED, MENDABLE, INTERRUPTED = 0, 1, 2, 130


@app.callback(invoke_without_command=True)
def dovetail(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the whole traceback of an error (or set DOVETAIL_DEBUG=1).")
    ] = False,
) -> None:
    """Accurate taggers from few labels, with a probability for every answer.

    Try it: dovetail annotate "Ada Lovelace was born in London."

    Exit codes: 0 done; 2 something you can mend, and the message says how; 1 a fault of dovetail; 130
    interrupted.
    """
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code.

    >>> main(["--version"])
    0.1.0
    0
    """
    debug = "--debug" in arguments or os.environ.get("DOVETAIL_DEBUG", "") not in ("", "0")
    try:
        # --debug may stand anywhere: people add it to the end of the line that failed.
        _run([argument for argument in arguments if argument != "--debug"])
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_has_enough()
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _explain(error)
    return OK


def _run(arguments: list[str]) -> None:
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # rather a question mark than no answer on an ASCII terminal
    command = typer.main.get_command(app)
    try:
        with command.make_context("dovetail", arguments) as context:
            command.invoke(context)
    except typer.Exit:
        pass  # --help


def _explain(error: Exception) -> int:
    """One line that says what went wrong; returns the exit code."""
    if isinstance(error, _UsageError):
        return _misused(error)
    if isinstance(error, DovetailError):
        return _failed(str(error), MENDABLE)
    if isinstance(error, MemoryError):
        advice = "train on fewer sentences, with fewer features, or with --hash-bits 20"
        return _failed(f"not enough memory; close other programs, or {advice}", MENDABLE)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{where}{error.strerror}", MENDABLE)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _failed(f"unexpected {what.splitlines()[0]} (run it again with --debug to see where)", UNEXPECTED)


def _misused(error: Exception) -> int:
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return _failed(message.rstrip(".") + hint, MENDABLE)


def _failed(message: str, code: int) -> int:
    console.say(f"dovetail: error: {message}" if code != INTERRUPTED else f"dovetail: {message}")
    return code


def _reader_has_enough() -> int:
    """``dovetail ... | head``: end in silence, also when Python closes the standard output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def run() -> None:
    """The entry point. A request to end (SIGTERM) is taken as Ctrl-C, so that nothing half written stays behind."""
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    sys.exit(main(sys.argv[1:]))
