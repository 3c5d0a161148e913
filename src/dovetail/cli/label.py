"""``dovetail label``: label a text in the browser, while a model learns."""

from __future__ import annotations

import getpass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli.console import count, say, warn
from dovetail.cli.corpus import Corpora, Input
from dovetail.cli.formats import InputFormat
from dovetail.cli.options import REQUIRED, argument, option, switch
from dovetail.cli.paths import Reads, Writes, check_writable
from dovetail.errors import DovetailError
from dovetail.models import settings

if TYPE_CHECKING:
    from dovetail.labelling.guesses import Guesser
    from dovetail.labelling.session import Session

LabelTask = StrEnum("LabelTask", "entities nested words")
"""What is labelled."""
PORT = 8766
ANSWERS, MODEL = ".labels.jsonl", ".labels.dovetail"
"""What the names of the files of answers and of the model end in."""


def label(
    text: Path = argument("TEXT", "What to label: text, or any format that is read (may be .gz).", Reads(), REQUIRED),
    more_labels: list[str] | None = argument("LABEL", "More names of labels, after those of --labels."),
    labels: str | None = option("NAMES", "Names of the labels, such as PER LOC ORG, or PER,LOC,ORG."),
    task: LabelTask = option(None, "What is labelled: entities, nested entities, or every word.", default="entities"),
    output: Path | None = options.output(
        "FILE", "Where answers are kept; those that it has are gone on with.", Writes(), None,
        shown="TEXT with the ending .labels.jsonl",
    ),
    model: Path | None = option(
        "FILE", "A model for the first guesses, or its name (dovetail models).", Reads(), short="-m", shown="none"
    ),
    labelled: list[Path] | None = option("FILE", "Sentences that are labelled already; may be repeated.", Reads()),
    annotator: str | None = option("NAME", "Who labels; the page can change it.", shown="the name of the user"),
    port: int = option("N", "Port of the page; 0 for any that is free.", default=PORT, min=0, max=65535),
    no_browser: bool = switch("Do not open the page in the browser."),
    input_format: InputFormat | None = options.ANY_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    lines: options.Lines | None = options.LINES,
    sentence_per_line: bool = options.SENTENCE_PER_LINE,
    tokenised: bool = options.TOKENISED,
    seed: int = option("N", settings.seed.keywords["help"], default=1, min=0),
    threads: int | None = option("N", "Cores to train on.", default=1, min=1),
    quiet: bool = options.QUIET,
) -> None:  # fmt: skip
    """Label a text in the browser while a model learns.

    The page shows the sentences that are most worth labelling, with the guesses of the model. Every answer is
    saved at once. Nothing leaves this machine. Example:

    dovetail label news.txt --labels PER LOC ORG
    """
    source = Input(str(text), input_format)
    if source.is_text or source.argument == "-":
        raise DovetailError(f"{text}: give a file or a folder; a session needs its text again when it goes on")
    reading = options.text_options(source.format, lines, sentence_per_line, tokenised)
    from dovetail.serve import guard_for, make_app, run

    names = _names(labels, more_labels)
    answers = output or _beside(text, ANSWERS)
    check_writable(answers)
    corpora = Corpora(None, options.names(columns), encoding)
    documents = source.documents(corpora.columns, encoding, corpora.report, **reading)
    session = _session(documents, task, names, answers, _model(model), threads or 1, annotator, seed)
    for path in labelled or []:
        new = session.add_labelled(path.stem, _known(corpora, path, session))
        say(f"{path}: {count(new, 'labelled sentence')} taken over")
    corpora.warn()
    for warning in session.store.warnings:
        warn(warning)
    if not quiet:
        done = len(session.answers.done())
        say(f"{count(len(session.texts), 'sentence')}, {done:,} labelled; answers are kept in {answers}")
    from dovetail.labelling.routes import part_of

    guard = guard_for("127.0.0.1")
    app = make_app(
        [part_of(session, text.name.removesuffix(".gz").partition(".")[0])], title="dovetail label", guard=guard
    )
    run(app, "127.0.0.1", port, said=say, guard=guard, open_page=not no_browser)


def _names(labels: str | None, more: list[str] | None) -> list[str]:
    """The labels, however they are written.

    >>> _names("PER", ["LOC", "ORG"]), _names("PER,LOC ORG", None)
    (['PER', 'LOC', 'ORG'], ['PER', 'LOC', 'ORG'])
    """
    given = " ".join([labels or "", *(more or [])]).replace(",", " ").split()
    for name in given:
        if name == "O" or name == "?" or len(name) > 40 or not name.isprintable():
            raise DovetailError(f"--labels {name!r:.60}: this cannot be the name of a label")
    return list(dict.fromkeys(given))


def _beside(text: Path, ending: str) -> Path:
    """A file beside the text, of its name.

    >>> str(_beside(Path("a/news.txt.gz"), ".labels.jsonl"))
    'a/news.labels.jsonl'
    """
    bare = text.with_name(text.name.removesuffix(".gz"))
    return bare.with_name((bare.name if bare.is_dir() else bare.stem) + ending)


def _model(path: Path | None) -> tuple[str, Any] | None:
    from dovetail.cli.kinds import load_model

    return None if path is None else (path.stem, load_model(path, None))


def _session(
    documents: Any,
    task: LabelTask,
    names: list[str],
    answers: Path,
    model: tuple[str, Any] | None,
    threads: int = 1,
    annotator: str | None = None,
    seed: int = 1,
) -> Session:
    from dovetail.labelling.models import Models
    from dovetail.labelling.session import Session, check_name
    from dovetail.labelling.store import open_store
    from dovetail.labelling.texts import Texts

    if not names and not answers.exists():
        raise DovetailError("name the labels: --labels PER LOC ORG")
    texts = Texts.of(documents)
    store = open_store(answers, task.value, names)
    base = None if model is None else _base(*model, task, store.labels)
    kept = answers.with_name(answers.name.removesuffix(".jsonl") + ".dovetail")
    models = Models(task.value, store.labels, base, kept, threads)
    return Session(texts, store, models, check_name(annotator or _user()), seed=seed)


def _base(name: str, model: Any, task: LabelTask, labels: tuple[str, ...]) -> Guesser:
    """The model that a session begins with, if it knows any of the labels."""
    from dovetail.labelling.guesses import Guesser

    found = Guesser(model, task.value, labels, name, own=False)
    if not found.called:
        known = ", ".join(found.types()) or "none"
        raise DovetailError(f"--model knows none of the labels {', '.join(labels)}; it knows {known}")
    return found


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this user
        return "me"


def _known(corpora: Corpora, path: Path, session: Session) -> list[Any]:
    """The labelled sentences of a file, whose labels must be those of the session."""
    found = [s for s in corpora.sentences(path) if s.spans or s.layers]
    if not found:
        raise DovetailError(f"{path}: nothing is labelled in this file")
    task, labels = session.task, set(session.store.labels)
    answers = [task.read(sentence) for sentence in found]
    given = {one if task.name == "words" else one[2] for answer in answers for one in answer} - {None}
    if given - labels:
        unknown = ", ".join(sorted(given - labels))
        raise DovetailError(f"{path}: it has labels that the session does not know: {unknown}; add them to --labels")
    return found
