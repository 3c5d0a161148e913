"""A model file that is damaged, foreign or made with ill intent gives one clear line, never a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.errors import ModelFileError
from dovetail.modelfile import DTYPES, load_header, load_model, save_model
from dovetail.models.tagger.estimator import Tagger
from tests.models.corpus import made


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.dovetail"
    Tagger(features=["bias", "word[0]", "edge(bias)"], iterations=5).fit(made(20)).save(path)
    return path


@pytest.mark.parametrize("name", ["m", "m.gz"])
def test_header_and_arrays_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    large = rng.normal(size=(60, 30))
    arrays = {f"a.{np.dtype(t).name}": (100 * rng.random((3, 5))).astype(t) for t in DTYPES.values()}
    arrays |= {"empty": np.empty((0, 3), np.float32), "scalar": np.array(2.5), "turned": large.T, "large": large}
    arrays |= {"again": large.copy(), "odd": np.array([np.nan, -np.inf, -0.0])}
    header = {"kind": "test", "words": ["é", "\u2028", '"', ""], "n": None, "deep": {"x": [1, 2.5, {"y": True}]}}
    save_model(tmp_path / name, header, arrays)
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    read, loaded = load_model(tmp_path / name, "test")
    assert {key: read[key] for key in header} == header
    assert load_header(tmp_path / name)["words"] == header["words"]
    assert loaded.keys() == arrays.keys()
    for key, array in arrays.items():
        assert (loaded[key].dtype, loaded[key].shape) == (array.dtype, array.shape), key
        assert loaded[key].tobytes() == array.tobytes(), key


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


@pytest.mark.parametrize("first", [b"\x10\0\0\0\0\0\0\0hello", b"{}{}{}{}{}{}", b"\0\xe1\xf5\x05\0\0\0\0["])
def test_what_is_no_model_is_not_called_a_model_that_is_cut_short(tmp_path: Path, first: bytes) -> None:
    (tmp_path / "m").write_bytes(first)
    with pytest.raises(ModelFileError, match="not a dovetail model"):
        Tagger.load(tmp_path / "m")


def test_a_model_that_is_cut_short_is_called_so(file: Path, tmp_path: Path) -> None:
    for size in (9, 100):
        (tmp_path / "m").write_bytes(file.read_bytes()[:size])
        with pytest.raises(ModelFileError, match="the file is cut short"):
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
