"""The entry point, and how every failure is reported. It imports next to nothing, so that Ctrl-C is always handled."""

from __future__ import annotations

import os
import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

OK, BUG, FIXABLE, INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code.

    >>> main(["--version"])
    0.2.0
    0
    """
    debug = "--debug" in arguments or os.environ.get("DOVETAIL_DEBUG", "") not in ("", "0")
    try:
        _open_closed_streams()
        from dovetail.cli.app import run_command

        # --debug may stand anywhere: people add it to the end of the line that failed.
        run_command([argument for argument in arguments if argument != "--debug"])
        sys.stdout.flush()
    except BrokenPipeError:
        # ``dovetail ... | head``: end in silence, also when Python closes the standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _failed("interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        return _explain(error)
    return OK


def _open_closed_streams() -> None:
    """A stream that the shell has closed (``>&-``) is None in Python; nothing is read from it, or kept of it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _explain(error: Exception) -> int:
    """One line that says what went wrong; returns the exit code."""
    from dovetail.errors import DovetailError

    app = sys.modules.get("dovetail.cli.app")
    if app is not None and isinstance(error, app.UsageError):
        return _misused(error)
    if isinstance(error, DovetailError):
        return _failed(str(error), FIXABLE)
    if isinstance(error, MemoryError):
        advice = "train on fewer sentences, with fewer features, or with --hash-bits 20"
        return _failed(f"not enough memory; close other programs, or {advice}", FIXABLE)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{where}{error.strerror}", FIXABLE)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _failed(f"unexpected {what.splitlines()[0]} (run it again with --debug to see where)", BUG)


def _misused(error: Exception) -> int:
    context = getattr(error, "ctx", None)
    hint = f"; see {context.command_path} --help" if context is not None else ""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    return _failed(_reworded(message.rstrip(".?")) + _quoting(message) + hint, FIXABLE)


def _quoting(message: str) -> str:
    """Advice where a text seems to have been taken for something else.

    >>> _quoting("Got unexpected extra argument(s) (read a book)")
    '; put a text in quotes, and give one file or a folder'
    """
    if "unexpected extra argument" in message:
        return "; put a text in quotes, and give one file or a folder"
    if message.startswith("No such option: -") and not message.startswith("No such option: --"):
        return "; write -- before a text that begins with a dash"
    return ""


def _reworded(message: str) -> str:
    """Messages about numbers as people write them.

    >>> _reworded("'--threads': Input should be a valid integer, unable to parse string as an integer")
    "'--threads': this must be a whole number"
    """
    import re

    for theirs, ours in (
        (r"a valid integer,.*", "a whole number"),
        (r"a valid number,.*", "a number"),
        (r"greater than or equal to", "at least"),
        (r"less than or equal to", "at most"),
        (r"Input should be", "this must be"),
        (r"Value error, ", ""),
    ):
        message = re.sub(theirs, ours, message)
    return message


def _failed(message: str, code: int) -> int:
    from dovetail.cli.console import say

    say(f"dovetail: error: {message}" if code != INTERRUPTED else f"dovetail: {message}")
    return code


def run() -> None:
    """The entry point. A request to end (SIGTERM) is taken as Ctrl-C, so that nothing half written stays behind."""
    try:
        import signal

        warnings.formatwarning = lambda message, *where: f"dovetail: warning: {message}\n"
        signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
        code = main(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while Python closes down ends it without a traceback
    except KeyboardInterrupt:
        code = _failed("interrupted", INTERRUPTED)
    sys.exit(code)
