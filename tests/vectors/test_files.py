"""Files of word vectors: every format is read, and what is wrong is told in one line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text.report import ReadReport
from dovetail.vectors.files import read_vectors
from dovetail.vectors.table import VectorTable

TABLE = VectorTable(["rose", "lily", "Ørsted"], np.array([[0.5, -1, 2], [1e-3, 0, 3], [4, 5, 6.25]], np.float32))


def text(header: bool = True, end: str = "\n", gap: str = " ") -> bytes:
    lines = [gap.join([w, *map(str, row.tolist())]) for w, row in zip(TABLE.words, TABLE.matrix, strict=True)]
    return "".join(line + end for line in [*(["3 3"] if header else []), *lines]).encode()


def binary(newline: bytes = b"\n") -> bytes:
    rows = zip(TABLE.words, TABLE.matrix, strict=True)
    return b"3 3\n" + b"".join(w.encode() + b" " + row.astype("<f4").tobytes() + newline for w, row in rows)


FILES = {
    "word2vec": text(), "glove": text(header=False), "fasttext": text(end=" \n"), "windows": text(end="\r\n"),
    "tabs": text(gap="\t"), "no last line end": text().rstrip(), "binary": binary(), "binary, no newlines": binary(b""),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("zipped", [False, True])
def test_formats_are_told_by_their_contents(name: str, zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(gzip.compress(FILES[name]) if zipped else FILES[name])
    words, matrix = read_vectors(path)
    assert words == TABLE.words
    np.testing.assert_array_equal(matrix, TABLE.matrix)


@pytest.mark.parametrize("ending", [".vec", ".vec.gz", ".bin"])
def test_what_is_written_is_read_again(ending: str, tmp_path: Path) -> None:
    TABLE.save(tmp_path / f"a{ending}")
    again = VectorTable.read(tmp_path / f"a{ending}")
    assert again.words == TABLE.words
    np.testing.assert_array_equal(again.matrix, TABLE.matrix)


WORDS = st.text(min_size=1, max_size=5).filter(lambda word: word.split() == [word] and "\ufeff" not in word)
NUMBERS = st.floats(-(2.0**99), 2.0**99, width=32)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_table_comes_back(data: st.DataObject) -> None:
    words = data.draw(st.lists(WORDS, min_size=1, max_size=6, unique=True))
    size = data.draw(st.integers(1, 4))
    rows = [[1.0, *data.draw(st.lists(NUMBERS, min_size=size, max_size=size))] for _ in words]  # 1.0 is no text
    table = VectorTable(words, np.array(rows, np.float32))
    with TemporaryDirectory() as folder:
        for ending in (".bin", ".vec", ".vec.gz"):
            table.save(Path(folder, f"a{ending}"))
            again = VectorTable.read(Path(folder, f"a{ending}"))
            assert again.words == words
            # Text has six digits, and the binary form everything.
            np.testing.assert_allclose(again.matrix, table.matrix, rtol=0.0 if ending == ".bin" else 5.1e-6, atol=1e-40)


def test_files_larger_than_any_buffer_are_read_whole(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(5000)]
    table = VectorTable(words, np.random.default_rng(0).standard_normal((5000, 30)).astype(np.float32))
    for name in ("big.vec.gz", "big.bin"):
        table.save(tmp_path / name)
        again = VectorTable.read(tmp_path / name)
        assert again.words == words
        np.testing.assert_allclose(again.matrix, table.matrix, rtol=1e-5)


def test_only_wanted_words_and_only_the_first(tmp_path: Path) -> None:
    for data in (text(), binary()):
        assert read_vectors(io.BytesIO(data), wanted={"lily", "tulip"})[0] == ["lily"]
        assert read_vectors(io.BytesIO(data), most=2)[0] == ["rose", "lily"]


@pytest.mark.parametrize("word", ["rose\u00a0", "\u00a0rose", "\u3000", "ro\u2003se"])
def test_words_with_white_space_of_any_kind_are_left_out(word: str) -> None:
    report = ReadReport()
    assert read_vectors(io.BytesIO(f"lily 1 2\n{word} 3 4\n".encode()), report=report)[0] == ["lily"]
    assert "empty or holds a space" in report.lines()[0]


def test_words_that_come_twice_or_cannot_be_words_are_reported() -> None:
    report = ReadReport()
    data = b"5 2\na 1 2\na 3 4\n\xff\xfe 1 2\n. . 1 2\nb 5 6\n"
    words, matrix = read_vectors(io.BytesIO(data), report=report)
    assert words == ["a", "b"]
    assert matrix.tolist() == [[1, 2], [5, 6]]
    assert [line.partition(" (first at <stream>:")[2] for line in report.lines()] == ["3)", "4)", "5)"]


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"", "empty file", None),
        (b"\n\n", "empty", None),
        (b"3 3\nrose 1 2 3\nlily 1 2\nx 1 2 3\n", "2 numbers where 3", 3),
        (b"rose 1 2 3\nlily 1 2 3 4\n", "4 numbers where 3", 2),
        (b"2 4\nrose 1 2 3\nlily 1 2 3\n", "3 numbers where 4", 2),
        (b"5 3\nrose 1 2 3\nlily 1 2 3\n", "says 5 words, but there are 2", None),
        (b"1 3\nrose 1 2 3\nlily 1 2 3\n", "says 1 words, but there are 2", None),
        (b"rose 1 2 3\nlily 1 nan 3\n", "not finite", 2),
        (b"rose 1 2 3\nlily 1 -inf 3\n", "not finite", 2),
        (b"rose 1 2 3\nlily 1 1e99 3\n", "not finite", 2),
        (b"rose 1 2 3\nlily 1 x 3\n", "'x' is no number", 2),
        (b"rose 1 2 3\nlily 1 2_0 3\n", "no number", 2),
        (b"rose\nlily\n", "0 numbers", 1),
        (b"3 0\nrose\n", "0 numbers", 1),
        (b"9999999 99999999\nrose 1\n", "99,999,999 numbers", 1),
        (binary()[:-8], "ends within word 3 of 3", None),
        (binary()[:12], "ends within word 1 of 3", None),
        (binary().replace(b"3 3\n", b"2 3\n"), "more after the 2 words", None),
        (b"1 2\nrose " + np.array([np.nan, 1], "<f4").tobytes(), "not finite", None),
        (b"1 300\n" + b"\x01" * 9000, "no end", None),
        (b"\x00\x01\x02\x03", "neither a text nor a binary file", None),
    ],
)
def test_what_is_wrong_is_told_with_its_line(data: bytes, message: str, line: int | None) -> None:
    with pytest.raises(InputError, match=message) as error:
        read_vectors(io.BytesIO(data), report=ReadReport())
    assert error.value.line == line
    assert "\n" not in str(error.value)


def test_damaged_gzip_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.vec.gz"
    path.write_bytes(gzip.compress(text(header=False) * 1000)[:-30])
    with pytest.raises(InputError, match="damaged or truncated gzip"):
        read_vectors(path)
    with pytest.raises(InputError, match="no such file"):
        read_vectors(tmp_path / "nothing")
