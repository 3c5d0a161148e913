"""From sentences with trees and predicates to arguments: the best frames, all of them, lists and samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dovetail.models.roles.joint import best_frames, frame_keys
from dovetail.models.roles.model import Frames, RoleModel
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.frames import FrameBatch, FramePotentials
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence, Span

Ranked = list[list[tuple[float, tuple[Span, ...]]]]
"""For each predicate its best sets of arguments with their probabilities."""


class Chosen(NamedTuple):
    """Frames of predicates, [k, N] labels, with their probabilities, [n, k]."""

    labels: Labels
    chances: Floats


def chosen(
    model: RoleModel, sentences: Sequence[Sentence], frames: Frames, k: int, threads: int
) -> tuple[FrameBatch, Chosen]:
    """The k best frames of each predicate, by the joint model if there is one."""
    text, batch = model.look(sentences, frames, threads)
    size = k if model.joint is None else max(k, model.joint.size)
    found, scores = best_frames(batch, size)
    if model.joint is None:
        return batch, Chosen(found, np.exp(scores))
    chances = model.joint.chances(frame_keys(text, found, model.labels), scores)
    # The list is not everything: what is left is as probable as the local model has it.
    chances *= np.minimum(np.exp(scores).sum(axis=1, keepdims=True), 1.0)
    return batch, Chosen(found, chances)


def best_arguments(
    model: RoleModel, sentences: Sequence[Sentence], frames: Frames, least: float, probabilities: bool, threads: int
) -> list[tuple[Frame, ...]]:
    """The frames with the arguments that are worth having, each with its probability if that is wanted."""
    batch, table = _chances(model, sentences, frames, threads)
    return written(model, batch, worthwhile(batch, table, least), table if probabilities else None, frames)


def worthwhile(batch: FrameBatch, chances: Floats, least: float) -> Labels:
    """The labels [N] with the greatest sum of probabilities less ``least`` each, [N, L]: the most expected to be right.

    The most probable set as a whole is more timid: what is doubtful in it is left out.
    """
    worth = np.where(chances > least, chances - least, -np.inf)
    return batch.with_potentials(FramePotentials(worth)).best()


def all_arguments(
    model: RoleModel, sentences: Sequence[Sentence], frames: Frames, least: float, threads: int
) -> list[tuple[Frame, ...]]:
    """The frames with all arguments that are more probable than ``least``; they may overlap."""
    batch, table = _chances(model, sentences, frames, threads)
    candidate, label = np.nonzero(table > least)
    begin, end, chance = batch.begin[candidate], batch.end[candidate], table[candidate, label]
    names = [model.labels[y] for y in label.tolist()]
    spans = [Span(*row) for row in zip(begin.tolist(), end.tolist(), names, chance.tolist(), strict=True)]
    return _framed(spans, np.searchsorted(candidate, batch.offsets).tolist(), frames)


def _chances(
    model: RoleModel, sentences: Sequence[Sentence], frames: Frames, threads: int
) -> tuple[FrameBatch, Floats]:  # fmt: skip
    """The probability of each label of each candidate, [N, L]."""
    if model.joint is None:
        batch = model.look(sentences, frames, threads).batch
        return batch, batch.marginals().role
    batch, ranked = chosen(model, sentences, frames, model.joint.size, threads)
    return batch, _votes(batch, ranked)


def ranked_arguments(model: RoleModel, sentences: Sequence[Sentence], frames: Frames, k: int, threads: int) -> Ranked:
    """For each predicate its k best sets of arguments, best first."""
    batch, (labels, chances) = chosen(model, sentences, frames, k, threads)
    found: Ranked = []
    for n, (low, high) in enumerate(pairwise(batch.offsets.tolist())):
        order = np.argsort(-chances[n], kind="stable")[:k].tolist()
        there = [r for r in order if chances[n, r] > 0.0]
        found.append([(float(chances[n, r]), _spans(model, batch, labels[r], low, high)) for r in there])
    return found


def combined(frames: Sequence[Frame], ranked: Ranked, k: int) -> Iterator[tuple[float, tuple[Frame, ...]]]:
    """The k best answers to a sentence, whose predicates do not look at each other."""
    best: list[tuple[float, tuple[Frame, ...]]] = [(1.0, ())]
    for frame, options in zip(frames, ranked, strict=True):
        longer = ((p * q, (*before, frame.with_arguments(own))) for p, before in best for q, own in options)
        best = nlargest(k, longer, key=lambda pair: pair[0])
    yield from best


def _votes(batch: FrameBatch, ranked: Chosen) -> Floats:
    """The probability of each label of each candidate, from the frames that have it: [N, L]."""
    table = np.zeros((batch.tokens, batch.labels))
    for rank, labels in enumerate(ranked.labels):
        used = np.flatnonzero(labels >= 0)
        table[used, labels[used]] += np.repeat(ranked.chances[:, rank], np.diff(batch.offsets))[used]
    return np.minimum(table, 1.0)


def written(
    model: RoleModel, batch: FrameBatch, labels: Labels, sure: Floats | None, frames: Frames
) -> list[tuple[Frame, ...]]:
    """The frames of each sentence with arguments by their labels [N], and their probabilities [N, L] if known."""
    used = np.flatnonzero(labels >= 0)
    begin, end, own = batch.begin[used].tolist(), batch.end[used].tolist(), labels[used]
    chances = [None] * len(used) if sure is None else sure[used, own].tolist()
    names = [model.labels[y] for y in own.tolist()]
    spans = [Span(*row) for row in zip(begin, end, names, chances, strict=True)]
    return _framed(spans, np.searchsorted(used, batch.offsets).tolist(), frames)


def _framed(spans: list[Span], cuts: list[int], frames: Frames) -> list[tuple[Frame, ...]]:
    """The frames of each sentence with the spans between the cuts of each predicate."""
    found, n = [], 0
    for own in frames:
        found.append(tuple(f.with_arguments(spans[cuts[n + i] : cuts[n + i + 1]]) for i, f in enumerate(own)))
        n += len(own)
    return found


def arguments_of(model: RoleModel, batch: FrameBatch, labels: Labels, predicate: int) -> tuple[Span, ...]:
    """The arguments of one predicate by the labels [N] of candidates."""
    return _spans(model, batch, labels, *batch.offsets[predicate : predicate + 2].tolist())


def _spans(model: RoleModel, batch: FrameBatch, labels: Labels, low: int, high: int) -> tuple[Span, ...]:
    used = low + np.flatnonzero(labels[low:high] >= 0)
    return tuple(Span(int(batch.begin[c]), int(batch.end[c]), model.labels[labels[c]]) for c in used)
