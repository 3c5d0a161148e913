"""The model file: one safetensors file with a JSON header. Loading an untrusted file can fail; it cannot run code.

The arrays are checked by a checksum and then memory-mapped, so that several processes share one copy of a model. The
reader of safetensors copies them: 256 MB take 0.18 s and as much memory of one's own, here 0.06 s and none.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import ModelFileError
from dovetail.modelcoding import coded, decoded
from dovetail.shipped import located
from dovetail.spellings import OLD_SPELLINGS, respelled_header
from dovetail.text.files import atomic_writer

FORMAT = "dovetail-model"
VERSION = 4
"""The newest version of the format."""
COMPACT_VERSION = 2
"""What compact files, and those that have equal arrays once, say; all others say 1, and older programs read them."""
NEURAL_VERSION = 3
"""What files of models with hidden layers or networks say: older programs would not see these."""
CODED_VERSION = 4
"""What files say whose arrays are in the smallest form: see ``modelcoding``."""
KEY = "dovetail"
WORTH_SHARING = 4096  # bytes: smaller arrays are written even if they are there already, so that old programs can read

DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "U64": np.uint64, "I64": np.int64, "I32": np.int32,
    "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
}  # fmt: skip

Arrays = dict[str, NDArray[Any]]


def save_model(path: str | Path, header: dict[str, Any], arrays: Arrays, compact: bool = False) -> None:
    """Write header and arrays to one file, whole or not at all. Equal arrays are written once.

    ``compact`` writes them in the smallest form, in which weights are rounded.
    """
    from safetensors.numpy import save

    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    if compact:
        arrays, coding = coded(arrays)
        if coding:
            header = header | {"coded": coding, "version": max(CODED_VERSION, header.get("version", 1))}
    checks = {name: _checksum(array) for name, array in arrays.items()}
    same = _repeated(arrays, checks)
    arrays = {name: array for name, array in arrays.items() if name not in same}
    about: dict[str, Any] = {"format": FORMAT, "version": 1, "checksums": {name: checks[name] for name in arrays}}
    about |= header
    if same:
        about |= {"same": same, "version": max(COMPACT_VERSION, about["version"])}
    whole = json.dumps(about, ensure_ascii=False, default=_plain)
    # One entry, checksum and text together: several would be written in no certain order.
    data = save(arrays, metadata={KEY: f"{zlib.crc32(whole.encode('utf-8')):08x}{whole}"})
    with atomic_writer(path, binary=True) as out:
        out.write(data)


def load_model(path: str | Path, kind: str | None = None) -> tuple[dict[str, Any], Arrays]:
    """Read a model file, or a model that is known by name: its header, and its arrays, mapped and read-only."""
    path = located(path)
    data = _data(path)
    header, described, first = _header(path, data)
    if kind is not None and header.get("kind") != kind:
        raise ModelFileError(f"{path}: this is a model of kind {header.get('kind')!r}, not {kind!r}")
    arrays = {name: _array(path, name, entry, data, first) for name, entry in described.items()}
    for name, expected in header["checksums"].items():
        if name not in arrays or _checksum(arrays[name]) != expected:
            raise ModelFileError(f"{path}: the file is damaged (checksum of {name!r}); copy or train it again")
    for name, other in header.pop("same", {}).items():
        if other not in arrays:
            raise ModelFileError(f"{path}: the file is damaged (there is no {other!r}); copy or train it again")
        arrays[name] = arrays[other]
    try:
        arrays = decoded(arrays, header.pop("coded", {}))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError):
        raise ModelFileError(f"{path}: the arrays are damaged; copy or train the model again") from None
    for old, new in OLD_SPELLINGS["arrays"].items():
        for name in [name for name in arrays if f".{name}".endswith(f".{old}")]:
            arrays[name.removesuffix(old) + str(new)] = arrays.pop(name)
    return header, arrays


def load_header(path: str | Path) -> dict[str, Any]:
    """The header of a model file alone: quick, since its arrays are not looked at."""
    path = located(path)
    return _header(path, _data(path))[0]


def _data(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file, or an error that a user understands."""
    try:
        return _bytes_of(path)
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        raise ModelFileError(f"{path}: cannot be read: {reason}") from None
    except (EOFError, zlib.error):
        raise ModelFileError(f"{path}: the compressed file is cut short or damaged; copy it again") from None


def _plain(value: object) -> object:
    """A number of numpy, such as a search over settings gives, as one that JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be written to a model file")


def _repeated(arrays: Arrays, checks: dict[str, int]) -> dict[str, str]:
    """The arrays that are equal to an earlier one, each with its name: clusterings of one text have the same words."""
    first: dict[Any, str] = {}
    found = {}
    for name, array in arrays.items():
        if array.nbytes >= WORTH_SHARING:
            earlier = first.setdefault((checks[name], array.dtype, array.shape), name)
            if earlier != name and np.array_equal(arrays[earlier], array):
                found[name] = earlier
    return found


def _checksum(array: NDArray[Any]) -> int:
    return zlib.crc32(array.reshape(-1).view(np.uint8).data)


def _bytes_of(path: Path) -> NDArray[np.uint8]:
    if path.is_dir():
        raise ModelFileError(f"{path}: this is a folder; give the model file inside it")
    if path.suffix == ".gz":
        array = np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8)
    elif path.stat().st_size == 0:
        raise ModelFileError(f"{path}: the file is empty")
    else:
        array = np.memmap(path, dtype=np.uint8, mode="r")
    return array


def _header(path: str | Path, data: NDArray[np.uint8]) -> tuple[dict[str, Any], dict[str, Any], int]:
    foreign = ModelFileError(f"{path}: not a dovetail model; train one with 'dovetail train'")
    if len(data) < 9:
        raise foreign
    size = int.from_bytes(data[:8].tobytes(), "little")
    if data[8] != ord("{") or size > 100_000_000:
        raise foreign
    if 8 + size > len(data):
        raise ModelFileError(f"{path}: the file is cut short; copy or train it again")
    try:
        described = json.loads(data[8 : 8 + size].tobytes().decode("utf-8"))
        entry = described.pop("__metadata__")[KEY]
        check, text = entry[:8], entry[8:]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise foreign from None
    damaged = ModelFileError(f"{path}: the header is damaged; copy or train the model again")
    if check != f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}":
        raise damaged
    try:
        header = respelled_header(json.loads(text))
        if header["format"] != FORMAT:
            raise foreign
        version = int(header["version"])
        header["checksums"].items()
        header["kind"].strip()
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise damaged from None
    if version > VERSION:
        raise ModelFileError(f"{path}: written by a newer dovetail (format {version}); upgrade dovetail to read it")
    return header, described, 8 + size


def _array(path: str | Path, name: str, entry: Any, data: NDArray[np.uint8], first: int) -> NDArray[Any]:
    try:
        dtype = np.dtype(DTYPES[entry["dtype"]])
        shape = tuple(int(n) for n in entry["shape"])
        begin, end = (int(n) for n in entry["data_offsets"])
        if begin < 0 or any(n < 0 for n in shape) or end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError(name)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ModelFileError(f"{path}: the description of {name!r} is damaged; copy or train the model again") from None
    if first + end > len(data):
        raise ModelFileError(f"{path}: the file is cut short; copy or train it again")
    raw = data[first + begin : first + end]
    if (first + begin) % dtype.itemsize:
        raw = raw.copy()
        raw.flags.writeable = False
    return np.asarray(raw).view(dtype).reshape(shape)
