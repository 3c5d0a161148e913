"""What is chosen on held-out data after training: how sure the probabilities are, and how readily the answer is O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.columns import Columns
from dovetail.evaluate import entity_scores
from dovetail.features.compile.repeats import repeats
from dovetail.learning.tuning import best_bias
from dovetail.learning.tuning import calibration as factor_for
from dovetail.models.tagger.agreement import agreed
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel, best_with_bias
from dovetail.structures.chain import ChainBatch
from dovetail.text.sentence import Sentence

COARSE_BALANCES = (0.0, -0.8, -1.6)  # tried while training, to choose weights that will score well when balanced
BALANCES = np.round(np.arange(-3.0, 1.01, 0.2), 1)  # what may be added to the score of O
STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of agreement within a document

Tags = Sequence[Sequence[str]]
HeldOut = Callable[..., ChainBatch]
"""The chains of held-out sentences, or of those with some numbers."""


@dataclass(frozen=True)
class Tuning:
    """What dev data has decided about a tagger: see ``Tagger.calibrate``, ``Tagger.agree`` and ``Tagger.balance``."""

    factor: float = 1.0
    agreement: float = 0.0
    outside: float = 0.0

    def applied(self, model: ChainModel) -> ChainModel:
        """The model so tuned."""
        return replace(model.scaled(self.factor), agreement=self.agreement, outside=self.outside)


def calibration(chains: HeldOut, labels: LabelSet, gold: Tags) -> float:
    """The factor on all weights under which the dev tags are most likely.

    A model is too sure of what it learnt by heart; on text it has not seen, a factor below one makes its probabilities
    honest (temperature scaling). Sentences with labels that the model does not know are left out.
    """
    known = [i for i, tags in enumerate(gold) if len(tags) and (labels.encode([tags]) >= 0).all()]
    return factor_for(chains(np.array(known)), labels.encode([gold[i] for i in known])) if known else 1.0


def agreeing(chains: ChainBatch, dev: Sequence[Sentence], labels: LabelSet, gold: Tags) -> tuple[float, ChainBatch]:
    """The strength of agreement within documents that scores best on dev, of equal ones the smallest; and its chains.

    Without documents in dev nothing is tried: agreement is for text whose sentences belong together.
    """
    if all(s.document is None for s in dev):
        return 0.0, chains
    tried = agreed(chains, repeats(Columns.of(dev, ())), labels, STRENGTHS)
    scores = [entity_scores(gold, labels.decode(batch.best(), batch.offsets)).f1 for batch in tried]
    best = int(np.argmax(np.array(scores) - 1e-9 * np.arange(len(scores))))
    return STRENGTHS[best], tried[best]


def balanced(chains: ChainBatch, labels: LabelSet, gold: Tags) -> float:
    """The bias of O that scores best on dev; of equal ones, the smallest.

    Few labels make a tagger timid: it misses more entities than it invents. The best F1 wants them balanced. Only the
    search for the best tagging uses the bias; probabilities stay as they are.
    """

    def f1(outside: float) -> float:
        return entity_scores(gold, labels.decode(best_with_bias(chains, labels, outside), chains.offsets)).f1

    return best_bias(BALANCES, f1)
