"""Which unlabelled sentences to label next, found in one pass over a stream of any length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dovetail.active.diversity import choose
from dovetail.active.uncertainty import DEFAULT, RANDOM, check_measure, uncertainty
from dovetail.errors import DovetailError
from dovetail.text.documents import DOCSTART, blocks

if TYPE_CHECKING:
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Sentence

POOL = 20
"""A diverse choice is made among this many times as many sentences as are wanted, the most uncertain ones."""
BLOCK = 5_000  # sentences that are scored at once, which bounds memory


@dataclass(frozen=True)
class Choice:
    """A sentence to label: where it stood among those offered (from 0), and its score."""

    sentence: Sentence
    position: int
    score: float

    def with_comments(self, rank: int, by: str) -> Sentence:
        """The sentence with its rank, score and place (from 1) as comments, which CoNLL and JSON lines keep."""
        kept = [c for c in self.sentence.comments if not c.startswith(DOCSTART)]
        told = [f"# rank = {rank}", f"# {by} = {self.score:.4f}", f"# sentence = {self.position + 1}"]
        return replace(self.sentence, comments=(*told, *kept))


def select(
    tagger: Tagger | NestedTagger | None,
    sentences: Iterable[Sentence],
    number: int,
    *,
    by: str = DEFAULT,
    discount: float = 0.0,
    diversity: float = 0.0,
    labelled: Iterable[Sentence] = (),
    seed: int = 1,
) -> list[Choice]:
    """The sentences to label next, best first: those the tagger is least sure of, by a measure of ``MEASURES``.

    A sentence with the words of one in ``labelled``, or of one that came before it, is passed over. ``diversity`` from
    0 to 1 weighs being unlike the others chosen against being uncertain; ``discount`` is as in ``uncertainty``.
    ``by="random"`` needs no tagger.

    >>> from dovetail.models.tagger.estimator import Tagger
    >>> from dovetail.text.sentence import Sentence
    >>> train = [["Ada", "met", "Alan"], ["Ada", "slept"]] * 5
    >>> tags = [["B-PER", "O", "B-PER"], ["B-PER", "O"]] * 5
    >>> tagger = Tagger(features=["word[0]", "shape[0]"], l2=0.01).fit(train, tags)
    >>> [choice] = select(tagger, [Sentence(("Ada", "slept")), Sentence(("ada", "Slept"))], 1)
    >>> choice.position, choice.sentence.words
    (1, ('ada', 'Slept'))
    """
    check_measure(by, discount)
    if number < 1:
        raise DovetailError(f"{number} sentences to choose: choose 1 or more")
    if not 0 <= diversity <= 1:
        raise DovetailError(f"diversity {diversity}: choose a number from 0 to 1")
    if tagger is None and by != RANDOM:
        raise DovetailError(f"{by} asks a model: give one, or choose at random")
    rng = np.random.default_rng(seed)
    keep = number * POOL if diversity else number
    best: list[Choice] = []
    for block in blocks(_distinct(sentences, labelled), BLOCK):
        offered = [sentence for _, sentence in block]
        if by == RANDOM or tagger is None:
            scores = rng.random(len(block))
        else:
            scores = uncertainty(tagger, offered, by, discount)
        best += [Choice(s, i, float(score)) for (i, s), score in zip(block, scores, strict=True)]
        # Stable: of equals the first in the stream is kept, however the stream is cut into blocks.
        best = sorted(best, key=lambda choice: -choice.score)[:keep]
    order = choose(np.array([c.score for c in best]), number, diversity, [c.sentence.words for c in best])
    return [best[i] for i in order]


def _distinct(sentences: Iterable[Sentence], labelled: Iterable[Sentence]) -> Iterator[tuple[int, Sentence]]:
    """The sentences with their positions, less empty ones, those labelled already and repetitions."""
    seen = {hash(sentence.words) for sentence in labelled}
    for position, sentence in enumerate(sentences):
        key = hash(sentence.words)  # 64 bits: two sentences in a billion may be taken for one
        if sentence.words and key not in seen:
            seen.add(key)
            yield position, sentence
