"""How sure a parser may be: one factor on all its weights, chosen on held-out trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.tuning import FACTORS
from dovetail.models.parser.decoding import Decoder, Passage
from dovetail.models.parser.model import ParserModel
from dovetail.structures.grammar import Derivation, GrammarBatch
from dovetail.threads import run_shards


def calibration(
    model: ParserModel, text: Sequence[Sequence[Passage]], gold: Sequence[Derivation | None], threads: int
) -> float:
    """The factor on all weights under which held-out trees are most likely: see ``models.tagger.tuning.calibrated``.

    Sentences whose tree the grammar or pruning does not have are left out, and so are those that are cut.
    """
    decoder, factors = Decoder(model), [1.0, *FACTORS.tolist()]
    known = [(own[0], tree) for own, tree in zip(text, gold, strict=True) if tree is not None and len(own) == 1]

    def log_likelihoods(pair: tuple[Passage, Derivation]) -> NDArray[np.float64]:
        chart = decoder.chart(pair[0])
        score = chart.score(pair[1])
        if score == -np.inf:
            return np.zeros(len(factors))
        batch = GrammarBatch(chart.grammar, (chart.potentials,), (chart.mask,))
        return np.array([factor * score - batch.scaled(factor).log_partition()[0] for factor in factors])

    total = sum(run_shards(log_likelihoods, known, threads), np.zeros(len(factors)))
    return float(factors[int(total.argmax())])
