"""What is chosen on held-out data after training: how sure the probabilities are, and how readily the answer is O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dovetail.columns import Columns
from dovetail.evaluate import entity_scores
from dovetail.features.compile.repeats import repeats
from dovetail.learning.tuning import best_bias
from dovetail.learning.tuning import calibration as factor_for
from dovetail.models.tagger.agreement import agreed
from dovetail.models.tagger.model import ChainModel
from dovetail.structures.chain import ChainBatch
from dovetail.text.sentence import Sentence

COARSE_BALANCES = (0.0, -0.8, -1.6)  # tried while training, to choose weights that will score well when balanced
BALANCES = np.round(np.arange(-3.0, 1.01, 0.2), 1)  # what may be added to the score of O
STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of agreement within a document

Tags = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Tuning:
    """What dev data has decided about a tagger: see ``Tagger.calibrate``, ``Tagger.agree`` and ``Tagger.balance``."""

    factor: float = 1.0
    agreement: float = 0.0
    outside: float = 0.0

    def applied(self, model: ChainModel) -> ChainModel:
        """The model so tuned."""
        return replace(model.scaled(self.factor), agreement=self.agreement, outside=self.outside)


def calibrated(model: ChainModel, dev: Sequence[Sentence], gold: Tags, threads: int) -> ChainModel:
    """The model with its weights times the factor under which the dev tags are most likely.

    A model is too sure of what it learnt by heart; on text it has not seen, a factor below one makes its probabilities
    honest (temperature scaling). Sentences with labels that the model does not know are left out.
    """
    return model.scaled(calibration(model, dev, gold, threads))


def calibration(model: ChainModel, dev: Sequence[Sentence], gold: Tags, threads: int) -> float:
    """The factor by which ``calibrated`` multiplies all weights."""
    known = [i for i, tags in enumerate(gold) if len(tags) and (model.labels.encode([tags]) >= 0).all()]
    if not known:
        return 1.0
    labels = model.labels.encode([gold[i] for i in known])
    return factor_for(model.batch([dev[i] for i in known], threads), labels)


def agreeing(model: ChainModel, dev: Sequence[Sentence], gold: Tags, threads: int) -> ChainModel:
    """The model with the strength of agreement within documents that scores best on dev; of equal ones, the smallest.

    Without documents in dev nothing is tried: agreement is for text whose sentences belong together.
    """
    if all(s.document is None for s in dev):
        return model
    columns = Columns.of(dev, ())
    chains = replace(model, agreement=0.0).batch(dev, threads)

    def f1(batch: ChainBatch) -> float:
        return entity_scores(gold, model.labels.decode(model.best(batch), batch.offsets)).f1

    scores = [f1(batch) for batch in agreed(chains, repeats(columns), model.labels, STRENGTHS)]
    return replace(model, agreement=STRENGTHS[int(np.argmax(np.array(scores) - 1e-9 * np.arange(len(scores))))])


def balanced(model: ChainModel, dev: Sequence[Sentence], gold: Tags, threads: int) -> ChainModel:
    """The model with the bias of O that scores best on dev; of equal ones, the smallest.

    Few labels make a tagger timid: it misses more entities than it invents. The best F1 wants them balanced. Only the
    search for the best tagging uses the bias; probabilities stay as they are.
    """
    chains = model.batch(dev, threads)

    def f1(outside: float) -> float:
        found = replace(model, outside=outside).best(chains)
        return entity_scores(gold, model.labels.decode(found, chains.offsets)).f1

    return replace(model, outside=best_bias(BALANCES, f1))
