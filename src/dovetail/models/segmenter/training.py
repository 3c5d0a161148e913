"""Training a semi-Markov model: compile the corpus, bound the lengths, set up the objective, export the weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.span_sets import SpanFeatures
from dovetail.features.compile.documents import nothing_left
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.learning.losses import LOSSES
from dovetail.learning.priors import Prior
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel, Spans, best_with_bias, compilers, gold_segments
from dovetail.models.segmenter.objective import PARTS, SegmentObjective, outputs_of
from dovetail.models.tagger.training import Part
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]

COVERED = 0.999  # of the training segments are no longer than the bound


def length_bound(spans: Spans) -> int:
    """The least length that is enough for 99.9 % of the segments (Liang 2005, section 5.1).

    >>> from dovetail.text.sentence import Span
    >>> length_bound([[Span(0, 2, "PER"), Span(4, 5, "LOC")]])
    2
    """
    lengths = Counter(span.end - span.start for each in spans for span in each)
    needed, covered = COVERED * lengths.total(), 0
    for length in sorted(lengths):
        covered += lengths[length]
        if covered >= needed:
            return length
    return 1


def too_long(spans: Spans, longest: int) -> NDArray[np.bool_]:
    """Which sentences have a segment beyond the bound. Shape [sentences]."""
    return np.array([any(s.end - s.start > longest for s in each) for each in spans], dtype=np.bool_)


@dataclass
class SegmentTraining:
    """A corpus made ready: the objective, its prior, and the way back to a model."""

    features: SpanFeatures
    labels: tuple[str, ...]
    parts: dict[str, Part]
    objective: SegmentObjective
    prior: Prior

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        spans: Spans,
        features: SpanFeatures,
        labels: tuple[str, ...],
        longest: int,
        *,
        order: int,
        loss: str,
        l2: float,
        l1: float,
        min_count: int,
        hash_bits: int | None,
        merge_twins: bool,
        threads: int,
    ) -> SegmentTraining:
        """Compile the corpus, whose segments all keep to the bound, and set up its objective."""
        lengths = np.array([1 if label == OUTSIDE else longest for label in labels], dtype=np.int32)
        settings: dict[str, Any] = {
            "min_count": min_count, "bits": hash_bits, "full": True, "twins": merge_twins, "threads": threads,
        }  # fmt: skip
        compiled = compilers(sentences, features, longest)
        unused = np.empty(0, np.int32)
        parts = {
            part: Part.compile(
                compiled[part], list(features.parts[part]), unused, outputs_of(part, len(labels)), **settings
            )
            for part in PARTS
            if part in features.parts
        }
        if isinstance(spelled := compiled.get("phrase"), SpanCompiler):
            # Most phrases are longer than a token, and have nothing to say of O.
            phrase = parts["phrase"]
            parts["phrase"] = replace(phrase, scorer=phrase.scorer.within(spelled.lengths() - 1, lengths))
        offsets = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(s) for s in sentences], out=offsets[1:])
        length, label = gold_segments(sentences, spans, labels)
        scorers = {part: made.scorer for part, made in parts.items()}
        objective = SegmentObjective(offsets, length, label, lengths, scorers, order, LOSSES[loss], threads)
        if not objective.after_parts:
            raise nothing_left("feature", ("min_count", min_count))
        scales = [
            *(made.scorer.scale for made in parts.values()),
            np.ones(objective.parameters - objective.after_parts),
        ]
        return cls(features, labels, parts, objective, Prior(l2, l1, np.concatenate(scales) if l1 else None))

    def answers(self, sentences: Sequence[Sentence]) -> Callable[[Floats, float], Segments]:
        """A function from weights and a bias of O to the best segments of other sentences, compiled once."""
        objective = self.objective
        compiled = compilers(sentences, self.features, int(objective.lengths.max()))
        designs = {part: made.lookup(compiled[part]) for part, made in self.parts.items()}
        offsets = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(s) for s in sentences], out=offsets[1:])

        def best(weight: Floats, bias: float) -> Segments:
            scores = {
                part: made.score(designs[part], objective.weight_of(part, weight), objective.threads)
                for part, made in self.parts.items()
            }
            batch = objective.batch(scores, weight, offsets, objective.threads, None)
            return best_with_bias(batch, self.labels, bias)

        return best

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: as for chains."""
        objective = self.objective
        fires = [scorer.firing() for scorer in objective.scorers.values()]
        everywhere = np.full(objective.parameters - objective.after_parts, float(objective.offsets[-1]))
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(np.concatenate([*fires, everywhere]))
        return guess

    def export(self, weight: Floats) -> SegmentModel:
        """The trained model."""
        objective = self.objective
        parts = {part: made.export(objective.weight_of(part, weight)) for part, made in self.parts.items()}
        transition = objective.transition(weight).astype(np.float32)
        return SegmentModel(self.features, self.labels, objective.lengths, objective.order, parts, transition)
