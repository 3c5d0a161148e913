"""How the parameters of commands are written, and those that several commands share, so that they mean the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from dovetail.cli.formats import CorpusFormat, InputFormat, takes
from dovetail.cli.paths import Reads, Writes, one_of
from dovetail.errors import DovetailError
from dovetail.models import settings

REQUIRED = inspect.Parameter.empty
Function = TypeVar("Function", bound=Callable[..., Any])


class Param(NamedTuple):
    """A parameter of a command, all but its name and type: it stands as the default of a parameter of a function."""

    make: Callable[..., Any]
    flags: tuple[str, ...]
    default: Any
    role: Reads | Writes | None
    shown: dict[str, Any]
    """What help says, and the bounds."""

    def named(self, name: str, type_: Any) -> inspect.Parameter:
        """The parameter as typer reads it."""
        known = self.make(*(flag or f"--{name.replace('_', '-')}" for flag in self.flags), **self.shown)
        annotation = Annotated[type_, known, self.role]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=annotation)


def option(
    metavar: str | None,
    help: str,
    role: Reads | Writes | None = None,
    *,
    default: Any = None,
    shown: str | bool = True,
    flag: str = "",
    short: str = "",
    **bounds: float | None,
) -> Any:
    """An option; its flag is its name, unless another is given. ``shown`` is the default as help shows it."""
    flags = (flag, short) if short else (flag,)
    return Param(
        typer.Option, flags, default, role, {"metavar": metavar, "help": help, "show_default": shown, **bounds}
    )


def output(metavar: str, help: str, role: Writes, default: Any = REQUIRED, shown: str | bool = True) -> Any:
    """The option ``--output``: where results go."""
    return option(metavar, help, role, default=default, shown=shown, short="-o")


def switch(help: str, flag: str = "", short: str = "") -> Any:
    """An option that is given or not."""
    return option(None, help, default=False, flag=flag, short=short)


def argument(
    metavar: str, help: str, role: Reads | Writes | None = None, default: Any = None, shown: str | bool = True
) -> Any:
    """What is given without a flag."""
    return Param(typer.Argument, (), default, role, {"metavar": metavar, "help": help, "show_default": shown})


def with_parameters(function: Function, parameters: Iterable[inspect.Parameter]) -> Function:
    """The function with another signature, for typer."""
    signature = inspect.Signature(list(parameters))
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()}
    return function


def spelled_out(function: Function) -> Function:
    """A function whose parameters have been written by ``option``, ``switch`` and ``argument``, for typer."""
    given = inspect.signature(function, eval_str=True).parameters.values()
    own = [p.default.named(p.name, p.annotation) if isinstance(p.default, Param) else p for p in given]
    return with_parameters(function, own)


ENGLISH = "dovetail's English model"
MODEL = option(
    "FILE", "The model file, or the name of a model (dovetail models).", Reads(english=True), short="-m", shown=ENGLISH
)
DOMAIN = option("NAME", "The domain of the text, for a model of several domains.", shown="what all domains share")
CORPUS_FORMAT = option(
    "FORMAT", f"Format of the input files: {one_of(CorpusFormat)}.", shown="from the file name, else conll"
)
ANY_FORMAT = option("FORMAT", f"Format of the input: {one_of(InputFormat)}.", shown="from the file name, else text")
COLUMNS = option(
    "NAMES",
    "Names of the columns of a CoNLL file, such as word,pos,ner; one must be word.",
    shown="word first, ner last",
)
ENCODING = option("NAME", "Encoding of the input: utf-8, latin-1, cp1252, utf-16, ...", default="utf-8")
THREADS = option("N", settings.threads.keywords["help"], shown="all", min=1)
QUIET = switch("Show no progress, only results, warnings and errors.", short="-q")
RAY = switch("Share the work out over a Ray cluster: that of RAY_ADDRESS, or the cores of this machine.")
AS_JSON = switch("Print one JSON object.", "--json")


def names(listing: str | None) -> list[str] | None:
    """The names in a list with commas.

    >>> names("word, pos,ner")
    ['word', 'pos', 'ner']
    """
    return [name.strip() for name in listing.split(",") if name.strip()] if listing is not None else None


# how running text is cut into sentences and words

Lines = StrEnum("Lines", "auto paragraphs sentences")
LINES = option(
    None,
    "Where sentences end in text. auto: at periods, at blank lines, and at the end of lines that are not "
    "wrapped, such as signatures and tweets; paragraphs: at periods and at blank lines; sentences: at every line "
    "end, and nowhere else.",
    shown="auto",
)
SENTENCE_PER_LINE = switch("The same as --lines sentences.")
TOKENISED = switch("The text is already tokenised: its words are separated by spaces.")


def text_options(format: InputFormat, lines: Lines | None, sentence_per_line: bool, tokenised: bool) -> dict[str, Any]:
    """The options of the reader of text that these mean."""
    if lines is not None and sentence_per_line and lines != Lines.sentences:
        raise DovetailError(f"--sentence-per-line means --lines sentences, and --lines {lines} was given; choose one")
    if (sentence_per_line or tokenised) and format != InputFormat.text:
        raise DovetailError(f"--sentence-per-line and --tokenised are for text, not for {format}")
    if lines is not None and not takes(format, "lines"):
        raise DovetailError(f"--lines is for running text, and {format} has its sentences marked")
    words = {"words": "spaces"} if tokenised else {}
    return {"lines": (lines or Lines.sentences).value, **words} if lines is not None or sentence_per_line else words
