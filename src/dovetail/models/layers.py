"""Layers that a model reads beside the words, such as parts of speech: predicted where a sentence has none.

Two stages: a tagger for each layer fills in what sentences lack, then the model reads them as if they had been given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from dovetail.modelfile import Arrays
from dovetail.text.sentence import Sentence

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger

MOST = 300
"""Values of a layer: one that has more of them, such as lemmas, is not learnt."""
PASSES = 15
"""Over the training data, a quarter of those of a parser's tagger: more take time, and make no better tags."""
MARK = "="
"""Stands before each value, so that the tagger takes ``B-NP`` for a label like any other, and ``?`` for a known one."""


@dataclass(frozen=True)
class LayerTaggers:
    """A tagger for each layer that can be predicted, by the name of the layer.

    >>> train = [Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")}), Sentence(("Bob", "ran"), {"pos": ("NNP", "VBD")})]
    >>> layers = LayerTaggers.learnt(["word", "pos", "lemma"], train)
    >>> [found.layers["pos"] for found in layers.filled([Sentence(("Ada", "ran")), train[0]])]
    [('NNP', 'VBD'), ('NNP', 'VBD')]
    """

    taggers: Mapping[str, Tagger] = field(default_factory=dict)

    @classmethod
    def learnt(
        cls,
        names: Iterable[str],
        sentences: Sequence[Sentence],
        threads: int | None = None,
        seed: int = 1,
        doing: Callable[[str], Any] = lambda what: None,
    ) -> Self:
        """From the sentences that have them, those of the named layers that can be learnt."""
        from dovetail.models.tagging import pos_tagger
        from dovetail.models.training import uninterrupted

        made = {}
        for name in learnable(names, sentences):
            doing(f"learning the layer {name}")
            known = [Sentence(s.words, {name: _marked(s.layers[name])}) for s in sentences if name in s.layers]
            tagger = pos_tagger(threads=threads, seed=seed, layer=name).set_params(iterations=PASSES)
            made[name] = uninterrupted(tagger.fit(known))
        return cls(made)

    def filled(self, sentences: Sequence[Sentence], threads: int | None = None) -> list[Sentence]:
        """The sentences with the layers that they lack; what a sentence has, it keeps."""
        found = list(sentences)
        for name, tagger in self.taggers.items():
            lacking = [i for i, sentence in enumerate(found) if len(sentence) and name not in sentence.layers]
            predicted = tagger.set_params(threads=threads).predict([Sentence(found[i].words) for i in lacking])
            for i, tags in zip(lacking, predicted, strict=True):
                found[i] = found[i].with_layer(name, tuple(tag.removeprefix(MARK) for tag in tags))
        return found

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """What they add to the header and the arrays of a model file."""
        from dovetail.models.tagging import packed_tagger

        headers: dict[str, Any] = {}
        arrays: Arrays = {}
        for name, tagger in self.taggers.items():
            headers[name], own = packed_tagger(tagger, f"layer.{name}", half, compact)
            arrays |= own
        return {"layers": headers} if headers else {}, arrays

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """From a model file, which may have none."""
        from dovetail.models.tagging import unpacked_tagger

        made = {n: unpacked_tagger(own, arrays, f"layer.{n}") for n, own in header.get("layers", {}).items()}
        return cls({name: tagger for name, tagger in made.items() if tagger is not None})


def unmarked(tagger: Tagger) -> Tagger:
    """The tagger of a layer with the values of the layer themselves for labels, to be used alone."""
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.models.tagger.labels import LabelSet

    model: Any = tagger.model_
    made = Tagger(**tagger.get_params())
    names = tuple(name.removeprefix(MARK) for name in model.labels.names)
    made.model_, made.card_ = replace(model, labels=LabelSet(names, None)), tagger.card_
    return made


def learnable(names: Iterable[str], sentences: Sequence[Sentence]) -> list[str]:
    """Those of the named layers that a tagger can learn: they are there, and are neither numbers nor all different.

    >>> numbered = [Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD"), "head": ("2", "0")})]
    >>> learnable(["word", "pos", "head", "chunk"], numbered)
    ['pos']
    """
    found = []
    for name in names:
        values = {value for sentence in sentences for value in sentence.layers.get(name, ())}
        if 0 < len(values) <= MOST and not all(map(_is_number, values)):
            found.append(name)
    return found


def _marked(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(MARK + value for value in values)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
