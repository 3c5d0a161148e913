"""What another tagger says of a text, as features of a new one: labels of other text at work for yours.

The other tagger may know other types, and come from another kind of text: the new one learns how far to trust it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from dovetail.arrays import Int64s
from dovetail.columns import Column
from dovetail.errors import DovetailError
from dovetail.features.resources.resource import Resource
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence


@dataclass(frozen=True, eq=False)
class Hints(Resource):
    """A trained tagger whose best tags are a column that features read: ``hint("english")[0]``.

    It sees each sentence by itself, and travels in the file of the model that asks it.

    >>> import numpy as np
    >>> words, tags = [["Ada", "slept"], ["Ada", "ran"]] * 3, [["B-PER", "O"], ["B-PER", "O"]] * 3
    >>> hints = Hints(Tagger(features=["word[0]"], min_count=1, cross_validate=0).fit(words, tags))
    >>> column = hints.column(Column.encode(["Ada", "ran"]), np.array([0, 2]))
    >>> [column.types[i] for i in column.ids]
    ['B-PER', 'O']
    """

    kind: ClassVar[str] = "hints"

    tagger: Tagger

    def __post_init__(self) -> None:
        if needs := self.tagger.needs:
            raise DovetailError(
                f"this tagger reads the layer {needs[0]!r} beside the words, and cannot give hints for words alone; "
                f"train it with --ignore {needs[0]}"
            )

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """From the file of a tagger."""
        return cls(Tagger.load(path))

    def column(self, words: Column, offsets: Int64s) -> Column:
        """The best tag of every token. Sentence i is tokens offsets[i] to offsets[i + 1]."""
        every = [words.types[i] for i in words.ids.tolist()]
        sentences = [Sentence(tuple(every[first:after])) for first, after in pairwise(offsets.tolist())]
        return Column.encode(chain.from_iterable(self.tagger.predict(sentences)))

    def usual(self, name: str) -> list[str]:
        """The tags around a word, pairs of them, and each with how the word is written and what stands beside it."""
        here = f"hint({name})[0]"
        around = [f"hint({name})[-2:3]", f"hint({name})[-1] & {here}", f"{here} & hint({name})[1]"]
        return [*around, f"{here} & shape[0]", f"word[-1] & {here}", f"{here} & word[1]"]

    def settings(self) -> dict[str, Any]:
        """The header of its model file."""
        return {"header": self.tagger.packed(compact=True)[0]}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of its model file, in its smallest form."""
        return self.tagger.packed(compact=True)[1]

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave."""
        return cls(Tagger.unpacked(dict(settings["header"]), arrays))
