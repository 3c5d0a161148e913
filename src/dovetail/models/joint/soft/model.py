"""A trained parser whose trees and entities are coupled softly: what is stored, and the structures of new sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.models.joint.soft.couplings import Couplings
from dovetail.models.joint.soft.pair import Pair
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel
from dovetail.models.tagger.estimator import Tagger
from dovetail.structures.brackets import BracketBatch
from dovetail.text.sentence import Sentence

TREES, ENTITIES = "trees.", "entities."


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftModel:
    """A model of brackets, one of entities, and the weights of their couplings, as ``CoupledScorer`` has them."""

    kind: ClassVar[str] = "joint"

    brackets: BracketModel
    entities: SegmentModel
    couplings: Couplings
    weight: NDArray[np.float32]
    bonus: float = 0.0
    """What every entity is worth when the best answer is sought; probabilities do not know of it."""

    @property
    def tagger(self) -> Tagger | None:
        """What tags words."""
        return self.brackets.tagger

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The class of every label of brackets: [labels]."""
        return self.couplings.group(self.brackets.labels)

    def with_couplings(self, weight: NDArray[np.floating[Any]]) -> Self:
        """The model with other couplings."""
        return replace(self, weight=weight.astype(np.float32))

    def pair(self, whole: BracketBatch, words: Sequence[Sequence[str]], tags: Sequence[Sequence[str]]) -> Pair:
        """The coupled structures of sentences."""
        tagged = [Sentence(tuple(w), {"pos": tuple(t)}) for w, t in zip(words, tags, strict=True)]
        alone = self.entities.batch(tagged, whole.threads or 1)
        links = self.couplings.links(alone)
        table = self.couplings.tables(self.couplings.seen(links), self.weight[1:])
        return Pair.of(whole, alone.scaled(1.0 + float(self.weight[0])), links, table, self.group)

    @staticmethod
    def with_bonus(batch: Any, bonus: float) -> Any:
        """Segmentations in which every entity is worth so much more."""
        segment = batch.potentials.segment.copy()
        segment[:, :, 1:] += bonus
        return batch.with_potentials(batch.potentials._replace(segment=segment))

    def sizes(self) -> dict[str, int]:
        """The numbers of labels, rules and weights."""
        entities = sum(len(own.weight) for own in self.entities.parts.values())
        found = self.brackets.sizes()
        return found | {"weights": found["weights"] + entities + len(self.weight)}

    # files

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        return {
            **{TREES + name: array for name, array in self.brackets.arrays(half).items()},
            **{ENTITIES + name: array for name, array in self.entities.arrays(half).items()},
            "couplings.weight": self.weight,
        }

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        own = self.couplings
        return {
            "soft": {
                "trees": self.brackets.header(), "entities": self.entities.header(), "classes": own.classes,
                "seen": own.features, "bonus": self.bonus,
            }
        }  # fmt: skip

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From the header and arrays of a model file, whose parts must fit together."""
        about = header["soft"]
        trees, entities = (
            {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            for prefix in (TREES, ENTITIES)
        )
        couplings = Couplings(*(tuple(map(str, about[name])) for name in ("classes", "seen")))
        weight = arrays["couplings.weight"].astype(np.float32)
        made = cls(
            brackets=BracketModel.from_file(about["trees"], trees),
            entities=SegmentModel.from_file(about["entities"], entities), couplings=couplings, weight=weight,
            bonus=float(about["bonus"]),
        )  # fmt: skip
        if len(weight) != 1 + couplings.size or made.entities.order or made.entities.labels[0] != OUTSIDE:
            raise ValueError("the couplings do not fit the trees and the entities")
        return made
