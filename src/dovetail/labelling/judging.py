"""What score to expect on the whole text, from labelled sentences that are not like it.

The page chooses sentences that are hard, so a score cross-validated on them is too low for the text, and it falls while
the model gets better. A model's own probabilities say what score it expects anywhere, but they are off by as much as
the model is. Together they do well: the score that is expected on the text, plus what cross-validation finds on the
labelled sentences beyond what is expected there (a difference estimator).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.models.choices import Held, Tuning
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class JudgedTagger(Tagger):
    """A tagger that keeps what its parts expect of the sentences held out from them.

    >>> met = Sentence(("Ada", "met", "Alan"), {"ner": ("B-PER", "O", "B-PER")})
    >>> judged = JudgedTagger(cross_validate=5).fit([met, Sentence(("I", "slept"), {"ner": ("O", "O")})] * 10)
    >>> judged.held_.shape, 50 < judged.expected_score([Sentence(("Ada", "met", "Alan"))]) <= 100
    ((3,), True)
    """

    kind: ClassVar[str] = "tagger"

    held_: Floats | None = field(default=None, init=False, repr=False)
    """Things found, and those expected to be right and to be there, in the held-out parts."""

    def _tuning(self, held: Sequence[Held], whole: Any = None) -> tuple[Tuning, list[Held]]:
        tuning, found = super()._tuning(held, whole)
        self.held_ = np.sum([expected(each.model, each.seen) for each in found], axis=0)
        return tuning, found

    def expected_score(self, text: Sequence[Sentence]) -> float:
        """F1, of plain labels accuracy, to expect on a text, in percent."""
        there: Iterable[Floats] = (expected(self._model(), batch) for batch in self.structures(list(text)))
        found = _score(np.sum(list(there), axis=0))
        if self.held_ is not None and "cross_validated" in self.card_:
            found += float(self.card_["cross_validated"]) - _score(self.held_)
        return min(max(found, 0.0), 100.0)


def expected(model: Any, batch: Any) -> Floats:
    """How many things a chain model finds, and how many it expects to be right, and to be there: [3]."""
    marginals = batch.marginals().unary
    if model.labels.scheme is None:
        sure = np.take_along_axis(marginals, model.best(batch)[:, None], axis=1)
        return np.array([len(sure), float(sure.sum()), len(sure)])
    begins = np.array([name.startswith("B-") for name in model.labels.names])
    spans = [span.probability or 0.0 for spans in model.with_probabilities(batch) for span in spans]
    return np.array([len(spans), sum(spans), float(marginals[:, begins].sum())])


def _score(counts: Floats) -> float:
    found, right, there = counts.tolist()
    return float(200.0 * right / max(found + there, 1e-9))
