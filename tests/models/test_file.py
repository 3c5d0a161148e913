"""A model file that is damaged, foreign or made with ill intent gives one clear line, never a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.errors import ModelFileError
from dovetail.modelfile import load_model, save_model
from dovetail.models.tagger.estimator import Tagger
from tests.models.corpus import made


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.dovetail"
    Tagger(features=["bias", "word[0]", "edge(bias)"], iterations=5).fit(made(20)).save(path)
    return path


def test_every_damaged_byte_is_noticed(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    rng = np.random.default_rng(0)
    places = {*range(64), *rng.integers(0, len(data), 300).tolist()}
    for place in sorted(places):
        broken = bytearray(data)
        broken[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "m").write_bytes(broken)
        try:
            Tagger.load(tmp_path / "m")
        except ModelFileError as error:
            assert str(tmp_path / "m") in str(error)  # noqa: PT017
        else:  # the description of arrays beside the checked text: padding, or the order of its keys
            assert Tagger.load(tmp_path / "m").predict(made(3)) == Tagger.load(file).predict(made(3))


def test_every_truncation_is_noticed(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    for size in [0, 1, 7, 8, 9, 100, len(data) // 2, len(data) - 1]:
        (tmp_path / "m").write_bytes(data[:size])
        with pytest.raises(ModelFileError):
            Tagger.load(tmp_path / "m")


@pytest.mark.parametrize("content", [b"hello", b"PK\x03\x04" * 50, b"{}" * 50, b"\x80\x04." * 20])
def test_foreign_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"not a dovetail model|cut short"):
        Tagger.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("node.count", lambda a: a + 50),
        ("node.label", lambda a: np.full_like(a, 200)),
        ("node.weight", lambda a: a[:-1]),
        ("node.keys", lambda a: a[::-1]),
        ("edge.label", lambda a: np.full_like(a, 255)),
        ("transition", lambda a: a[:-1]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(file: Path, tmp_path: Path, name: str, change: object) -> None:
    header, arrays = load_model(file)
    header = {k: v for k, v in header.items() if k not in ("format", "version", "checksums")}
    save_model(tmp_path / "m", header, arrays | {name: change(arrays[name])})  # type: ignore[operator]
    with pytest.raises(ModelFileError, match="does not fit together"):
        Tagger.load(tmp_path / "m")


def test_keys_that_are_longer_than_the_header_says_are_refused(file: Path, tmp_path: Path) -> None:
    header, arrays = load_model(file)
    save_model(tmp_path / "m", header | {"hash_bits": 20}, arrays)
    with pytest.raises(ModelFileError, match="does not fit together"):
        Tagger.load(tmp_path / "m")


def test_a_header_without_its_parts_is_refused(file: Path, tmp_path: Path) -> None:
    header, arrays = load_model(file)
    for gone in ("labels", "features", "settings", "order", "constrain", "scheme", "hash_bits"):
        fewer = {k: v for k, v in header.items() if k not in ("format", "version", "checksums", gone)}
        save_model(tmp_path / "m", fewer, arrays)
        with pytest.raises(ModelFileError, match="does not fit together"):
            Tagger.load(tmp_path / "m")


def test_other_versions_and_kinds(file: Path, tmp_path: Path) -> None:
    header, arrays = load_model(file)
    with pytest.raises(ModelFileError, match="of kind 'tagger', not 'parser'"):
        load_model(file, "parser")
    save_model(tmp_path / "m", header | {"version": 99}, arrays)
    with pytest.raises(ModelFileError, match="newer dovetail"):
        load_model(tmp_path / "m")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file"):
        Tagger.load(tmp_path / "none")
    with pytest.raises(ModelFileError, match="this is a folder"):
        Tagger.load(tmp_path)


def test_the_same_file_for_any_number_of_threads(tmp_path: Path) -> None:
    for threads in (1, 2):
        Tagger(features=["word[0]"], iterations=5, threads=threads).fit(made(30)).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_arrays_are_mapped_not_copied(file: Path) -> None:
    _, arrays = load_model(file)
    assert all(not array.flags.writeable for array in arrays.values())
    assert not arrays["node.keys"].flags.owndata


def test_a_kind_that_is_no_name(tmp_path: Path) -> None:
    save_model(tmp_path / "m", {"kind": ["tagger"]}, {"a": np.zeros(1)})
    with pytest.raises(ModelFileError, match="the header is damaged"):
        dovetail.load(tmp_path / "m")
