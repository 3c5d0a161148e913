"""A corpus whose features lie on disk: one stretch at a time is in memory, for batch optimisers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError
from dovetail.features.compile.design import Design
from dovetail.features.compile.links import Links
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.linear import Inverse, Layout, LinearScorer, Stretch
from dovetail.scorers.linear_kernels import Lists
from dovetail.scorers.parts import PartsScorer
from dovetail.sparse import SparseGradient

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Folder:
    """Arrays in files, each by the name of what it belongs to and its own."""

    path: Path

    def write(self, owner: str, arrays: Arrays) -> None:
        """Keep some arrays."""
        for name, array in arrays.items():
            file = self.path / f"{owner}.{name}.npy"
            try:
                np.save(file, array)
            except OSError as error:
                reason = error.strerror or str(error)
                raise InputError(f"cannot be written: {reason}; name a folder with more room", file) from None

    def read(self, owner: str) -> Arrays:
        """The arrays of an owner, mapped into memory: the system reads what is used, and drops what is not."""
        found = {}
        for file in sorted(self.path.glob(f"{owner}.*.npy")):
            mapped = np.load(file, mmap_mode="c") if file.stat().st_size else np.empty(0)
            found[file.name.removeprefix(f"{owner}.").removesuffix(".npy")] = np.asarray(mapped)
        return found

    def remove(self, owner: str) -> None:
        """Delete the arrays of an owner."""
        for file in self.path.glob(f"{owner}.*.npy"):
            file.unlink()


def design_arrays(design: Design) -> Arrays:
    """The arrays of a design, as ``design_from`` takes them."""
    found = {name: getattr(design, name) for name in ("offsets", "row_ptr", "row_feature", "feature_index")}
    found |= {f"links_{name}": array for name, array in design.links._asdict().items()}
    found["features"] = np.array(design.features)
    return found if design.row_value is None else found | {"row_value": design.row_value}


def design_from(arrays: Arrays) -> Design:
    """A design from its arrays."""
    links = Links(*(arrays[f"links_{name}"] for name in Links._fields))
    own = (arrays["row_ptr"], arrays["row_feature"], arrays.get("row_value"), arrays["feature_index"])
    return Design(arrays["offsets"], links, *own, int(arrays["features"]))


def scorer_arrays(design: Design, layout: Layout, scale: Floats, share: Items) -> Arrays:
    """The arrays of the scorer of a stretch. ``share`` [parameters]: the numbers of its parameters among all."""
    inverse = Inverse.of(design)
    lists = {"inside": inverse.feature_rows, "at": inverse.feature_tokens}
    back = {f"{name}_{kind}": array for name, each in lists.items() for kind, array in each._asdict().items()}
    more = {"row_tokens": inverse.row_tokens, "feature_value": inverse.feature_value}
    own = {"layout_ptr": layout.ptr, "layout_label": layout.label, "scale": scale, "share": share}
    return design_arrays(design) | back | more | own


def scorer_from(arrays: Arrays, outputs: int, threads: int) -> LinearScorer:
    """The scorer of a stretch from its arrays."""
    inside, at = (Lists(arrays[f"{name}_ptr"], arrays[f"{name}_items"]) for name in ("inside", "at"))
    inverse = Inverse(arrays["row_tokens"], inside, arrays["feature_value"], at)
    layout = Layout(arrays["layout_ptr"], arrays["layout_label"], outputs)
    return LinearScorer(design_from(arrays), layout, inverse, arrays["scale"], threads)


@dataclass
class StoredScorer(PartsScorer):
    """Stretches of a corpus, one after the other; of no other sentences than these can it be asked."""

    folder: Folder = field(kw_only=True)
    pieces: Sequence[Stretch] = field(kw_only=True)
    """The sentences of each stretch."""
    _own: PartsScorer | None = field(default=None, init=False, repr=False)
    _share: Items = field(default_factory=lambda: np.empty(0, np.int64), init=False, repr=False)

    @property
    def stretches(self) -> Sequence[Stretch]:
        """The sentences of each stretch."""
        return self.pieces

    def begin_stretches(self, weight: Floats, out: Floats) -> Any:
        """Each stretch adds to ``out`` [parameters] by itself."""
        return out

    def stretch(self, weight: Floats, stretch: Stretch) -> Any:
        """The structures of a stretch, with their potentials."""
        self._own, self._share = self.opened(stretch)
        return self._own.batch(weight[self._share])

    def add_stretch(self, slope: Any, stretch: Stretch, sums: Any) -> None:
        """Add the gradient of a stretch, and let go of it."""
        assert self._own is not None
        gradient = np.zeros(self._own.parameters)
        self._own.backward(slope, gradient)
        sums[self._share] += gradient
        self._own = None

    def end_stretches(self, sums: Any) -> None:
        """All is added up."""

    def opened(self, stretch: Stretch) -> tuple[PartsScorer, Items]:
        """The scorer of a stretch, and the numbers of its parameters among all: [parameters there]."""
        number, parts, share = self.pieces.index(stretch), {}, []
        for part in self.parts:
            arrays = self.folder.read(owner(number, part))
            parts[part] = scorer_from(arrays, self.form.outputs(part), self.threads)
            share.append(arrays["share"] + self.begin[part])
        share.append(np.arange(self.after_parts, self.parameters))
        offsets = self.offsets[stretch[0] : stretch[1] + 1] - self.offsets[stretch[0]]
        return PartsScorer(self.form, offsets, parts, self.threads), np.concatenate(share)

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """An error: what lies on disk is read from its beginning to its end."""
        raise DovetailError("features on disk are read in whole passes: use the optimiser lbfgs")

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """An error, as ``batch``."""
        self.batch(sink.value, which)

    def firing(self) -> NDArray[np.float64]:
        """At how many places the feature of each parameter fires, [parameters]."""
        found = np.zeros(self.parameters)
        for stretch in self.pieces:
            own, share = self.opened(stretch)
            found[share] += own.firing()
        return found

    def fingerprint(self) -> list[NDArray[Any]]:
        """The sentences, as far as their lengths tell them from others."""
        return [self.offsets]


def owner(number: int, part: str) -> str:
    """What the files of a part of a stretch are named after."""
    return f"{number}.{part}"
