from __future__ import annotations

import gzip
import io
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text import files
from dovetail.text.files import atomic_writer, open_text, read_whole


def lines_of(data: bytes, **options) -> list[str]:
    with open_text(io.BytesIO(data), **options) as lines:
        return list(lines)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff")))
def test_lines_are_those_between_newlines(text):
    expected = text.removesuffix("\n").split("\n") if text else []
    assert lines_of(text.encode()) == [line.removesuffix("\r") for line in expected]


def test_lines_that_are_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 3)
    assert lines_of("aé日本\r\n\nlast".encode()) == ["aé日本", "", "last"]


def test_only_newlines_end_lines():
    text = "a\u2028b\x85c\x0bd\x0ce\x1cf\rg\x00h"
    assert lines_of(text.encode() + b"\nx") == [text, "x"]


def test_byte_order_marks_and_other_encodings():
    assert lines_of(b"\xef\xbb\xbfa\nb") == ["a", "b"]
    assert lines_of("é\nb".encode("utf-16"), encoding="utf-16") == ["é", "b"]
    assert lines_of(b"\xe9", encoding="latin-1") == ["é"]


def test_undecodable_bytes_name_the_line(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"fine\nalso fine\ncaf\xe9 O\n")
    with pytest.raises(InputError, match=r"a\.conll:3: not valid UTF-8 \(byte 0xe9\); .*latin-1"):
        read_whole(path)


def test_a_character_cut_at_the_end_is_an_error():
    with pytest.raises(InputError, match=":2: not valid UTF-8"):
        lines_of("a\né".encode()[:-1])


def test_utf16_is_recognised_in_the_message():
    with pytest.raises(InputError, match="--encoding utf-16"):
        lines_of("abc".encode("utf-16"))


def test_unknown_encoding():
    with pytest.raises(DovetailError, match="unknown encoding 'klingon'"):
        open_text(io.BytesIO(b""), "klingon")


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_text(tmp_path / "none.conll")
    with pytest.raises(InputError, match="this is a directory"):
        read_whole(tmp_path)


def test_gzip_is_read_by_its_suffix_and_damage_is_told(tmp_path):
    packed = gzip.compress(b"one\ntwo\n" * 1000)
    (tmp_path / "a.txt.gz").write_bytes(packed)
    (tmp_path / "cut.txt.gz").write_bytes(packed[:-20])
    (tmp_path / "no.txt.gz").write_bytes(b"plain text")
    (tmp_path / "packed.txt").write_bytes(packed)
    assert read_whole(tmp_path / "a.txt.gz") == "one\ntwo\n" * 1000
    for name in ("cut.txt.gz", "no.txt.gz"):
        with pytest.raises(InputError, match=f"{name}: damaged or truncated gzip"):
            read_whole(tmp_path / name)
    with pytest.raises(InputError, match=r"name that ends in \.gz"):
        read_whole(tmp_path / "packed.txt")


def test_standard_input_and_output(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("é\n".encode())))
    with open_text("-") as lines:
        assert list(lines) == ["é"]
    with atomic_writer("-") as file:
        file.write("ü\n")
    assert capsysbinary.readouterr().out == "ü\n".encode()


def test_a_written_file_appears_whole(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_writer(path) as file:
        file.write("é\nx")
        assert not path.exists()
    assert path.read_bytes() == "é\nx".encode()
    with atomic_writer(path, binary=True) as file:
        file.write(b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert names_in(tmp_path) == ["a.txt"]


def test_gzip_output_is_reproducible(tmp_path):
    for name in ("a.gz", "b.gz"):
        with atomic_writer(tmp_path / name) as file:
            file.write("same")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert read_whole(tmp_path / "a.gz") == "same"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_failure_leaves_the_old_file_and_nothing_else(tmp_path, error, name):
    path = tmp_path / name
    path.write_bytes(b"old")

    def write_and_fail():
        with atomic_writer(path) as file:
            file.write("new")
            raise error

    with pytest.raises(error):
        write_and_fail()
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == [name]


def test_permissions_and_links_are_kept(tmp_path):
    real, link, fresh = tmp_path / "real", tmp_path / "link", tmp_path / "fresh"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with atomic_writer(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    with atomic_writer(fresh) as file:
        file.write("x")
    plain = tmp_path / "plain"
    plain.write_text("x")
    assert fresh.stat().st_mode == plain.stat().st_mode


def fill(path: os.PathLike[str] | str) -> None:
    with atomic_writer(path) as file:
        for _ in range(100_000):
            file.write("a line that takes space\n")


def test_disk_full(tmp_path):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(DovetailError, match="cannot be written: File too large; nothing was written"):
            fill(tmp_path / "a.txt")
        with (
            pytest.raises(DovetailError, match="cannot be written"),
            atomic_writer(tmp_path / "b.gz") as file,
        ):
            file.write(os.urandom(400_000).hex())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names_in(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device():
    with pytest.raises(DovetailError, match="/dev/full: cannot be written: No space left"):
        fill("/dev/full")


def test_unwritable_targets(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DovetailError, match=r"the folder .*missing does not exist"):
        fill(tmp_path / "missing" / "a.txt")
    with pytest.raises(DovetailError, match="cannot be written: this is a directory"):
        fill(tmp_path)
    with pytest.raises(DovetailError, match="cannot be written"):
        fill(tmp_path / "file" / "a.txt")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_forbidden_folder(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DovetailError, match="Permission denied; nothing was written"):
            fill(tmp_path / "a.txt")
    finally:
        tmp_path.chmod(0o700)


def test_errors_of_the_block_itself_pass_unchanged(tmp_path):
    def write_and_look():
        with atomic_writer(tmp_path / "a") as file:
            file.write("x")
            open(tmp_path / "none")  # noqa: PTH123, SIM115

    with pytest.raises(FileNotFoundError):
        write_and_look()


def test_a_file_without_line_ends_is_refused(monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1 << 17)
    with pytest.raises(InputError, match="a line of over 131,072 bytes"):
        lines_of(b"x" * (1 << 18))
    assert lines_of(b"x" * (1 << 17) + b"\n") == ["x" * (1 << 17)]
