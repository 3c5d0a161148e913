"""Words and their vectors."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dovetail.text.files import Source, atomic_writer
from dovetail.text.report import ReadReport
from dovetail.vectors.files import read_vectors


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Words, and a row of ``matrix`` [words, dimensions] for each."""

    words: list[str] = field(repr=False)
    matrix: NDArray[np.float32] = field(repr=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    @classmethod
    def read(
        cls, source: Source, *, wanted: Container[str] | None = None, most: int | None = None,
        report: ReadReport | None = None,
    ) -> VectorTable:  # fmt: skip
        """From a file in any format of ``vectors.files``; see ``read_vectors``."""
        return cls(*read_vectors(source, wanted=wanted, most=most, report=report))

    def save(self, path: str | Path) -> None:
        """Write the table as word2vec does: a header ``words dimensions``, then a line a word; ``.gz`` is compressed.

        A name that ends in ``.bin`` means the binary format.
        """
        head = f"{len(self.words)} {self.dimensions}\n"
        if Path(path).suffix == ".bin":
            with atomic_writer(path, binary=True) as file:
                file.write(head.encode())
                for word, row in zip(self.words, self.matrix.astype("<f4"), strict=True):
                    file.write(word.encode() + b" " + row.tobytes() + b"\n")
            return
        with atomic_writer(path) as file:
            file.write(head)
            form = " ".join(["%.6g"] * self.dimensions)
            for word, row in zip(self.words, self.matrix.tolist(), strict=True):
                file.write(f"{word} {form % tuple(row)}\n")
