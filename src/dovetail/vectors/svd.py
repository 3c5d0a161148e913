"""The largest singular values of a sparse matrix, by random projection (Halko, Martinsson and Tropp 2011).

All sums are in an order of their own, whatever the number of threads, so that one seed gives one result to the bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.kernel import steady
from dovetail.threads import run_ranges, run_shards

EXTRA = 10  # more dimensions than asked for make the first ones exact
SHARD = 4096  # rows that are added up together


class Rows(NamedTuple):
    """A sparse matrix by rows: row r has ``value`` at the columns ``column``, both ``[start[r]:start[r + 1]]``."""

    start: Int64s
    column: Int32s
    value: NDArray[np.float32]


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix [rows, columns], and the same turned round, so that threads may share the rows of either."""

    rows: Rows
    turned: Rows

    @classmethod
    def of(cls, row: Int64s, column: Int64s, value: Floats, shape: tuple[int, int]) -> Sparse:
        """From entries in any order, all [entries]."""
        return cls(_by_row(row, column, value, shape[0]), _by_row(column, row, value, shape[1]))


def _by_row(row: Int64s, column: Int64s, value: Floats, rows: int) -> Rows:
    order = np.argsort(row << 32 | column)
    start = np.searchsorted(row[order], np.arange(rows + 1)).astype(np.int64)
    return Rows(start, column[order].astype(np.int32), value[order].astype(np.float32))


@steady
def _times(
    start: Int64s, column: Int32s, value: NDArray[np.float32], dense: Floats, out: Floats, lo: int, hi: int
) -> None:
    """``out = sparse @ dense`` for rows lo..hi. dense: [columns, k], out: [rows, k]."""
    for r in range(lo, hi):
        for k in range(out.shape[1]):
            out[r, k] = 0.0
        for e in range(start[r], start[r + 1]):
            v = np.float64(value[e])
            c = column[e]
            for k in range(out.shape[1]):
                out[r, k] += v * dense[c, k]


@steady
def _products(dense: Floats, out: Floats) -> None:
    """``out = dense.T @ dense``. dense: [rows, k], out: [k, k]."""
    out[:] = 0.0
    for r in range(dense.shape[0]):
        for i in range(dense.shape[1]):
            for j in range(dense.shape[1]):
                out[i, j] += dense[r, i] * dense[r, j]


@steady
def _turn(dense: Floats, by: Floats, out: Floats, lo: int, hi: int) -> None:
    """``out = dense @ by`` for rows lo..hi. dense: [rows, k], by: [k, l], out: [rows, l]."""
    for r in range(lo, hi):
        for j in range(by.shape[1]):
            out[r, j] = 0.0
        for i in range(by.shape[0]):
            for j in range(by.shape[1]):
                out[r, j] += dense[r, i] * by[i, j]


def times(matrix: Rows, dense: Floats, threads: int = 1) -> Floats:
    """The product of a sparse matrix with a dense one [columns, k]: [rows, k]."""
    out = np.empty((len(matrix.start) - 1, dense.shape[1]))
    run_ranges(lambda lo, hi: _times(*matrix, dense, out, lo, hi), matrix.start, threads)
    return out


def _gram(dense: Floats, threads: int) -> Floats:
    """``dense.T @ dense``, added up shard by shard."""

    def product(first: int) -> Floats:
        out = np.empty((dense.shape[1], dense.shape[1]))
        _products(dense[first : first + SHARD], out)
        return out

    return np.asarray(np.sum(run_shards(product, range(0, len(dense), SHARD), threads), axis=0))


def _turned(dense: Floats, by: Floats, threads: int) -> Floats:
    out = np.empty((len(dense), by.shape[1]))
    run_ranges(lambda lo, hi: _turn(dense, np.ascontiguousarray(by), out, lo, hi), len(dense), threads)
    return out


def _orthonormal(dense: Floats, threads: int) -> Floats:
    """A basis of the space of the columns, by their products with each other: twice, for the rounding errors."""
    for _ in range(2):
        size, axes = np.linalg.eigh(_gram(dense, threads))
        kept = size > size[-1] * 1e-13
        dense = _turned(dense, axes[:, kept] / np.sqrt(size[kept]), threads)
    return dense


def truncated_svd(matrix: Sparse, size: int, seed: int = 0, passes: int = 4, threads: int = 1) -> tuple[Floats, Floats]:
    """The ``size`` first left singular vectors [rows, size] and singular values [size], largest first.

    Fewer if the matrix has a smaller rank. ``passes`` of power iteration make them more exact. The sign of a vector is
    chosen so that its largest entry is positive.

    >>> some = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> where = np.nonzero(some)
    >>> vectors, values = truncated_svd(Sparse.of(*where, some[where], some.shape), 2)
    >>> values.round(6).tolist()
    [3.0, 2.0]
    """
    columns = len(matrix.turned.start) - 1
    start = np.random.default_rng(seed).standard_normal((columns, min(size + EXTRA, columns)))
    basis = _orthonormal(times(matrix.rows, start, threads), threads)
    for _ in range(passes):
        other = _orthonormal(times(matrix.turned, basis, threads), threads)
        basis = _orthonormal(times(matrix.rows, other, threads), threads)
    # The matrix seen from the basis, [columns, k]: its products with itself have the squared singular values.
    squared, axes = np.linalg.eigh(_gram(times(matrix.turned, basis, threads), threads))
    order = np.argsort(-squared, kind="stable")[:size]
    order = order[squared[order] > squared[order[0]] * 1e-12]
    vectors = _turned(basis, axes[:, order], threads)
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(order))]
    return vectors * np.where(largest < 0, -1.0, 1.0), np.sqrt(squared[order])
