"""An answer to a sentence: what a model writes into it, and how probable that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.text.words import recut

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """One answer of any model to one sentence, with its exact probability if that was asked for.

    >>> answer = Answer({"ner": ("B-PER", "O")}, (Span(0, 1, "PER"),), probability=0.9)
    >>> answer.write(Sentence(("Ada", "slept"))).layers["ner"]
    ('B-PER', 'O')
    """

    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tags and such, by the name of their layer; the first is what the model is there for."""
    spans: tuple[Span, ...] | None = None
    """Entities; None where the model does not look for them."""
    tree: Tree | None = None
    frames: tuple[Frame, ...] | None = None
    """Predicates with their arguments; None where the model does not look for them."""
    words: tuple[str, ...] | None = None
    """The words that a text was cut into."""
    probability: float | None = None
    search: str = "usual"
    """How a tree was found: see ``Parser.parse``."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of every word in the layer that the model is there for."""
        return next(iter(self.layers.values()), ())

    @property
    def heads(self) -> tuple[int, ...]:
        """The head of every word, positions from 0 with -1 for the root."""
        return tuple(int(head) - 1 for head in self.layers.get("head", ()))

    def write(self, sentence: Sentence) -> Sentence:
        """The sentence with the answer in it."""
        if self.words is not None:
            return recut(sentence, self.words)
        found = replace(sentence, layers={**sentence.layers, **self.layers})
        if self.spans is not None:
            found = replace(found, spans=self.spans)
        if self.frames is not None:
            found = replace(found, frames=self.frames)
        return found if self.tree is None else replace(found, tree=self.tree)


class Each(list[T]):
    """A list with an answer to each sentence, which numpy takes for so many things, whatever each is made of.

    >>> import numpy as np
    >>> np.concatenate([Each([["B-PER", "O"]]), Each([["O"]])]).tolist()
    [['B-PER', 'O'], ['O']]
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy as np

        found = np.empty(len(self), object)
        for number, answer in enumerate(self):
            found[number] = answer
        return found


def probable(spans: Iterable[Span], least: float) -> list[Span]:
    """The spans of at least this probability."""
    return [span for span in spans if (span.probability or 0.0) >= least]
