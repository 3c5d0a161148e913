from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text.bitext import ONE_SIDE_EMPTY, Pair, read_bitext, write_bitext
from dovetail.text.links import Link, check_within, parse_links, read_links, write_links
from dovetail.text.report import ReadReport
from dovetail.text.tmx import read_tmx, write_tmx

HOUSE = Pair(("das", "Haus"), ("the", "house"))
words = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5), max_size=5).map(tuple)
links = st.lists(
    st.builds(Link, st.integers(0, 99), st.integers(0, 99), st.floats(0, 1).map(lambda p: float(f"{p:.4g}")),
              st.booleans()),
    unique_by=lambda link: link[:2],
)  # fmt: skip


def test_two_files_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("das Haus\n\nein\tBuch\n")
    (tmp_path / "a.en.gz").write_bytes(gzip.compress(b"the house\n\na book\n"))
    right = [HOUSE, Pair((), ()), Pair(("ein", "Buch"), ("a", "book"))]
    assert list(read_bitext(tmp_path / "a.de", tmp_path / "a.en.gz")) == right
    assert list(read_bitext(tmp_path / "a", languages=("de", "en"))) == right


def test_where_files_part_and_what_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\ny\n")
    (tmp_path / "b").write_text("x\ny\nz\n")
    for one, other in (("a", "b"), ("b", "a")):
        with pytest.raises(InputError, match=r"b:3: .*a ends after line 2, so this line has no partner"):
            list(read_bitext(tmp_path / one, tmp_path / other))
    report = ReadReport()
    found = list(read_bitext(io.StringIO("a\n\nc\n"), io.StringIO("\nb\nc\n"), report=report))
    assert len(found) == 3
    assert report.counts == {ONE_SIDE_EMPTY: 2}


def test_wrong_encodings_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("x\nMünchen\n".encode("latin-1"))
    (tmp_path / "b").write_text("x\ny\n")
    with pytest.raises(InputError, match=r"a:2: not valid UTF-8"):
        list(read_bitext(tmp_path / "a", tmp_path / "b"))
    with pytest.raises(InputError, match="--target"):
        list(read_bitext(tmp_path / "b"))


def test_text_that_is_not_tokenised() -> None:
    (pair,) = read_bitext(io.StringIO("Das Haus. ||| The house."), tokenised=False)
    assert pair == Pair(("Das", "Haus", "."), ("The", "house", "."))


@given(st.lists(st.tuples(words, words).map(lambda two: Pair(*two))))
def test_bitext_is_read_as_it_was_written(pairs: list[Pair]) -> None:
    out = io.StringIO()
    write_bitext(pairs, out)
    assert list(read_bitext(io.StringIO(out.getvalue()), report=ReadReport())) == pairs


@given(st.lists(links))
def test_links_are_read_as_they_were_written(given: list[list[Link]]) -> None:
    out = io.StringIO()
    write_links(out, given, probabilities=True)
    assert list(read_links(io.StringIO(out.getvalue()))) == given


def test_sure_and_possible_links() -> None:
    assert parse_links("1p2 1-2 3?4", first=1) == [Link(0, 1), Link(2, 3, sure=False)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0-1 2", "'2' is no link"), ("0-1:2", "not between 0 and 1"), ("0-1:x", "is no link"), ("-1-2", "is no link"),
        ("0-1:1.2.3", "is no link"), ("0-1:nan", "is no link"), ("a-b", "is no link"),
    ],
)  # fmt: skip
def test_bad_links(line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"<stream>:2: .*{message}"):
        list(read_links(io.StringIO(f"0-0\n{line}\n")))


def test_links_out_of_range() -> None:
    check_within([Link(1, 2)], 2, 3, "a", 1)
    with pytest.raises(InputError, match=r"a:7: the link 1-3 names word 3 of the target, which has 3"):
        check_within([Link(1, 3)], 2, 3, "a", 7)
    with pytest.raises(InputError, match="before the first"):
        list(read_links(io.StringIO("0-0"), first=1))


TMX = """<?xml version="1.0"?><tmx version="1.4"><header/><body>
<tu><tuv xml:lang="DE-CH"><seg>Das <bpt i="1">&lt;b&gt;</bpt>Haus<ept i="1">&lt;/b&gt;</ept> &amp; ich</seg></tuv>
<tuv xml:lang="en"><seg>The <hi>house</hi> &amp; me</seg></tuv><tuv xml:lang="fr"><seg>La maison</seg></tuv></tu>
<tu><tuv lang="en"><seg>Only English</seg></tuv></tu>
</body></tmx>"""


def test_translation_memories(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(TMX)
    report = ReadReport()
    right = Pair(("Das", "Haus", "&", "ich"), ("The", "house", "&", "me"))
    assert list(read_bitext(tmp_path / "a.tmx", report=report)) == [right]
    assert report.lines() == [f"1 time: unit without DE-CH or en, left out (first at {tmp_path}/a.tmx:4)"]
    assert list(read_tmx(tmp_path / "a.tmx", ("fr", "de"), report=report)) == [("La maison", "Das Haus & ich")]


@given(st.lists(st.tuples(words, words)))
def test_translation_memories_are_read_as_they_were_written(pairs: list[tuple[tuple[str, ...], ...]]) -> None:
    out = io.StringIO()
    write_tmx(out, [(" ".join(a), " ".join(b)) for a, b in pairs], ("de", "en"))
    found = list(read_tmx(io.StringIO(out.getvalue()), report=ReadReport()))
    assert [(tuple(a.split()), tuple(b.split())) for a, b in found] == pairs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<tmx><body>", "not XML"),
        ("<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>", "without its language"),
        ('<!DOCTYPE t [<!ENTITY a "b">]><tmx/>', "declares the entity"),
    ],
)
def test_bad_memories(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_tmx(io.StringIO(text)))
