"""What a model is to others that read its answers: the layers that it reads and writes, its draws, what it is made of.

An annotator is a random variable given the layers that it reads. A model that predicts a layer which it reads is two of
them, and ``stages`` takes it apart, so that doubt about the first can reach the second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dovetail.models.answer import Answer
from dovetail.models.batching import in_batches
from dovetail.models.layers import LayerTaggers, unmarked
from dovetail.spellings import OfKind
from dovetail.text.sentence import Sentence

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger

Generators = Sequence[np.random.Generator]


class Annotator(OfKind):
    """What an ``Estimator`` can do as a stage of a pipeline."""

    model_: Any
    layers_: LayerTaggers
    batch_size: ClassVar[int]
    _answers: Any
    _batch: Any
    _decoded: Any
    _filled: Any
    _kbest: Any
    _layers_read: Any
    _size: Any

    @property
    def reads(self) -> tuple[str, ...]:
        """The layers, besides the words, that the model looks at."""
        return tuple(self._layers_read())

    @property
    def writes(self) -> tuple[str, ...]:
        """What its answers say: names of layers, ``spans``, ``tree``, ``frames`` or ``words``."""
        raise NotImplementedError

    def stages(self) -> list[Any]:
        """The annotators that the model is made of, itself last: those that predict what it reads, if any, before it.

        They answer one after the other as the model does alone.
        """
        return [*(unmarked(tagger) for tagger in self.layers_.taggers.values()), self.reading()]

    def reading(self) -> Self:
        """The same model, that reads the layers which it would predict."""
        if not self.layers_.taggers:
            return self
        found = copy(self)
        found.layers_ = LayerTaggers()
        return found

    def at_temperature(self, temperature: float) -> Self | None:
        """The same model with its potentials divided by a temperature; None where it has none that can be.

        A temperature above 1 makes its answers less certain, one below 1 more so.
        """
        if temperature == 1.0:
            return self
        scaled = self._scaled(1.0 / temperature)
        if scaled is None:
            return None
        found = copy(self)
        found.model_ = scaled
        return found

    def _scaled(self, factor: float) -> Any:
        """The model with all weights times a factor, None where that means nothing."""
        return self.model_.scaled(factor) if hasattr(self.model_, "scaled") else None

    # answers to sentences that are as the model reads them

    def best_answers(self, sentences: Sequence[Sentence], probabilities: bool = False) -> list[Answer]:
        """The answer to every sentence."""
        every = in_batches(sentences, self.batch_size, self._size)
        return [answer for some in every for answer in self._answers(self._filled(some), probabilities)]

    def listed_answers(self, sentences: Sequence[Sentence], k: int) -> list[list[Answer]]:
        """The k most probable answers to every sentence, with all that the model writes."""
        found: list[list[Answer]] = []
        for batch in in_batches(sentences, self.batch_size, self._size):
            some = self._filled(batch)
            found += self._completed(some, list(self._kbest(some, k)))
        return found

    def draws(self, sentences: Sequence[Sentence], counts: Sequence[int], rngs: Generators) -> list[list[Answer]]:
        """So many answers to each sentence as it has a count, drawn exactly from the model's distribution.

        Each sentence has a generator of its own: what is drawn for it depends on no other, and the first draws are
        the same however many there are. Equal draws are one object.
        """
        found: list[list[Answer]] = []
        for batch in in_batches(list(zip(sentences, counts, rngs, strict=True)), self.batch_size, self._size_of):
            some = self._filled([one[0] for one in batch])
            found += self._completed(some, list(self._draws(some, [n for _, n, _ in batch], [r for *_, r in batch])))
        return found

    @property
    def elects(self) -> bool:
        """Whether it makes one answer of many that hold all parts with their probabilities: see ``elected``."""
        return False

    def all_parts(self, sentences: Sequence[Sentence]) -> list[Answer]:
        """For every sentence all parts that have a chance, with their probabilities; they may contradict each other."""
        raise NotImplementedError

    def elected(self, votes: Sequence[tuple[float, Answer]]) -> Answer:
        """The answer that follows from what ``all_parts`` says of several inputs, with weights that sum to one."""
        raise NotImplementedError

    def _size_of(self, one: tuple[Sentence, int, Any]) -> int:
        size: int = self._size(one[0])
        return size

    def _draws(self, sentences: Sequence[Any], counts: Sequence[int], rngs: Generators) -> Iterator[list[Answer]]:
        batch = self._batch(sentences)
        for i, (sentence, count, rng) in enumerate(zip(sentences, counts, rngs, strict=True)):
            one = batch.take(np.array([i]))
            yield once_each(one.sample(count, rng), partial(self._decoded_one, one, sentence))

    def _decoded_one(self, batch: Any, sentence: Any, found: Any) -> Answer:
        answer: Answer = self._decoded(batch, found, [sentence])[0]
        return answer

    def _completed(self, sentences: Sequence[Sentence], found: list[list[Answer]]) -> list[list[Answer]]:
        """Lists of answers with what the structure of the model does not have."""
        return found


def once_each(drawn: Iterable[Any], decode: Callable[[Any], Answer]) -> list[Answer]:
    """The answers that were drawn, each different one decoded once."""
    known: dict[Any, Answer] = {}
    found = []
    for each in drawn:
        key = _bytes(each)
        if key not in known:
            known[key] = decode(each)
        found.append(known[key])
    return found


def _bytes(found: Any) -> Any:
    """What tells answers of a structure apart: their arrays, as bytes."""
    if isinstance(found, np.ndarray):
        return found.tobytes()
    return tuple(map(_bytes, found)) if isinstance(found, tuple | list) else found


@dataclass(frozen=True)
class SpellingTagger:
    """A tagger that sees the words of a sentence as a parser spells them."""

    tagger: Tagger
    spelled: Callable[[Sequence[str]], tuple[str, ...]]

    @property
    def reads(self) -> tuple[str, ...]:
        """The layers, besides the words, that it looks at."""
        return self.tagger.reads

    @property
    def writes(self) -> tuple[str, ...]:
        """The layer that it writes."""
        return self.tagger.writes

    def set_params(self, **settings: Any) -> Self:
        """Change settings of the tagger."""
        self.tagger.set_params(**settings)
        return self

    def at_temperature(self, temperature: float) -> SpellingTagger | None:
        """See ``Annotator.at_temperature``."""
        found = self.tagger.at_temperature(temperature)
        return None if found is None else replace(self, tagger=found)

    def best_answers(self, sentences: Sequence[Sentence], probabilities: bool = False) -> list[Answer]:
        """See ``Annotator.best_answers``."""
        return self.tagger.best_answers(self._seen(sentences), probabilities)

    def listed_answers(self, sentences: Sequence[Sentence], k: int) -> list[list[Answer]]:
        """See ``Annotator.listed_answers``."""
        return self.tagger.listed_answers(self._seen(sentences), k)

    def draws(self, sentences: Sequence[Sentence], counts: Sequence[int], rngs: Generators) -> list[list[Answer]]:
        """See ``Annotator.draws``."""
        return self.tagger.draws(self._seen(sentences), counts, rngs)

    def _seen(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        return [replace(sentence, words=self.spelled(sentence.words)) for sentence in sentences]
