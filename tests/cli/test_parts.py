"""The parts of the command line that are more than calls: streaming and progress."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator

import pytest

import dovetail
from dovetail.cli import progress
from dovetail.cli.display import show
from dovetail.learning.monitor import Progress
from dovetail.text.documents import annotate_documents
from dovetail.text.sentence import Document, Sentence, Span


def documents(*sizes: int) -> list[Document]:
    return [Document(tuple(Sentence((f"{d}.{s}",)) for s in range(n)), id=str(d)) for d, n in enumerate(sizes)]


@pytest.mark.parametrize("sizes", [(), (0,), (3,), (0, 2, 0, 0, 1, 0), (1, 1, 1), (2, 5, 0)])
@pytest.mark.parametrize("batch", [1, 2, 100])
def test_documents_keep_their_sentences(sizes: tuple[int, ...], batch: int) -> None:
    def tag(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        held: list[Sentence] = []
        for sentence in sentences:
            held.append(sentence.with_layer("ner", ("O",)))
            if len(held) == batch:
                yield from held
                held = []
        yield from held

    given = documents(*sizes)
    found = list(annotate_documents(given, tag))
    assert [d.id for d in found] == [d.id for d in given]
    assert [[s.words for s in d] for d in found] == [[s.words for s in d] for d in given]
    assert all("ner" in s.layers for d in found for s in d)


def test_documents_are_streamed() -> None:
    read = []

    def reading() -> Iterator[Document]:
        for document in documents(1, 1, 1):
            read.append(document.id)
            yield document

    next(annotate_documents(reading(), lambda sentences: iter(sentences)))
    assert read == ["0"]


def test_show_keeps_the_text_and_marks_the_outermost() -> None:
    text = "Bank  of\nEngland, London"
    spans = (Span(0, 3, "ORG", 0.5), Span(2, 3, "LOC"), Span(4, 5, "LOC"))
    offsets = ((0, 4), (6, 8), (9, 16), (16, 17), (18, 24))
    words = ("Bank", "of", "England", ",", "London")
    out = io.StringIO()
    show([Document((Sentence(words, {}, spans, offsets),), text)], out)
    assert out.getvalue() == "[Bank  of England ORG 0.50], [London LOC]\n"


def test_lines_are_few(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    lines = progress.Lines()
    for iteration in range(1, 101):
        now[0] += 0.5
        lines.trained(Progress(iteration, 100, 1.0, now[0]))
    printed = capsys.readouterr().err.splitlines()
    assert printed[0].startswith("iteration 1/100, objective 1.0")
    assert printed[-1].startswith("iteration 100/100")
    assert len(printed) == 11


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress.reporting(quiet=False) as reporter:
        assert isinstance(reporter, progress.Bar)
        reporter.doing("reading x")
        reporter.trained(Progress(5, 10, 12.5, 1.0, 50.0, 60.0))
        reporter.bar.refresh()
    assert "iteration 5/10" in terminal.getvalue()
    assert "best dev 60.00" in terminal.getvalue()


def test_quiet_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.reporting(quiet=True) as reporter:
        reporter.doing("reading x")
        reporter.trained(Progress(1, 1, 1.0, 1.0))
    assert capsys.readouterr() == ("", "")


def test_the_version_is_the_same_everywhere() -> None:
    from dovetail.version import __version__

    assert dovetail.__version__ == __version__
