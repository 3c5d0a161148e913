"""A trained labeller of roles: what is stored, and the frames of new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, frozen
from dovetail.errors import InputError
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.compile.roles import TEMPLATES, Predicates, RoleText
from dovetail.features.compile.trees import TreeArrays
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.joint import JointModel
from dovetail.models.roles.words import WordModel
from dovetail.models.tagging import prefixed
from dovetail.scorers.frames import FrameScorer, looked_up
from dovetail.scorers.linear import Layout, check_features
from dovetail.stored import Column, check
from dovetail.structures.frames import FrameBatch
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence

Frames = Sequence[Sequence[Frame]]


class Looked(NamedTuple):
    """The predicates of sentences as the model looks at them, and all their frames."""

    text: RoleText
    batch: FrameBatch


@dataclass(frozen=True, eq=False)
class RoleModel:
    """Everything that finding roles needs."""

    kind: ClassVar[str] = "roles"

    labels: tuple[str, ...]
    once: Int32s
    """For each label that may be used once a number, for others -1."""
    keys: Keys
    layout: Layout
    weight: NDArray[np.float32]
    reach: int
    words: WordModel
    parser: Parser | None = None
    joint: JointModel | None = None

    COLUMNS: ClassVar = {"once": Column(axes=("labels",), types=("i",), least=-1, below="labels")}

    def __post_init__(self) -> None:
        check("roles", self.COLUMNS, {"once": self.once}, labels=len(self.labels))
        check_features(self.keys, self.layout, self.weight)

    @cached_property
    def index(self) -> FeatureIndex:
        """Where features are looked up."""
        return FeatureIndex(self.keys)

    def look(self, sentences: Sequence[Sentence], frames: Frames, threads: int = 1) -> Looked:
        """All frames of the predicates of sentences, which have trees."""
        text = role_text(sentences, frames, self.reach)
        return Looked(text, self.scorer(text, threads).batch(self.weight))

    def scorer(self, text: RoleText, threads: int = 1) -> FrameScorer:
        """What makes the potentials of predicates."""
        c = text.candidates
        lists = looked_up(text.keys(TEMPLATES), self.index, len(c.node))
        return FrameScorer(lists, self.layout, c.offsets, c.begin, c.end, self.once, threads)

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """The model with other weights."""
        return replace(self, weight=frozen(weight.astype(np.float32)))

    def sizes(self) -> dict[str, int]:
        """The numbers of labels, features and weights."""
        return {"labels": len(self.labels), "features": len(self.keys), "weights": len(self.weight)}

    # files

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        count = np.diff(self.layout.ptr).astype(np.uint16)
        weight = self.weight.astype(np.float16) if half else self.weight
        found: dict[str, NDArray[Any]] = {
            "once": self.once, "keys": self.keys, "count": count, "label": self.layout.label, "weight": weight,
        }  # fmt: skip
        found |= self.words.arrays(half)
        if self.joint is not None:
            found |= self.joint.arrays(half)
        if self.parser is not None:
            found |= {f"parser.{name}": array for name, array in self.parser.packed(half)[1].items()}
        return found

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "labels": list(self.labels),
            "templates": list(TEMPLATES),
            "words": self.words.header(),
            "parser": None if self.parser is None else self.parser.packed()[0],
            "joint": None if self.joint is None else self.joint.size,
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], reach: int) -> Self:
        """From the header and arrays of a model file."""
        labels, keys, label = tuple(map(str, header["labels"])), arrays["keys"], arrays["label"]
        if tuple(header["templates"]) != TEMPLATES:
            raise ValueError("it has the features of another version")
        weight, once = frozen(arrays["weight"].astype(np.float32)), arrays["once"].astype(np.int32)
        stored = header["parser"]
        parser = None if stored is None else Parser.unpacked(dict(stored), prefixed(arrays, "parser."))
        joint = None if header["joint"] is None else JointModel.from_file(int(header["joint"]), arrays)
        layout = Layout.counted(arrays["count"], label, len(labels) + 1)
        return cls(
            labels, once, keys, layout, weight, reach, WordModel.from_file(header["words"], arrays), parser, joint
        )


def role_text(sentences: Sequence[Sentence], frames: Frames, reach: int) -> RoleText:
    """Sentences with trees, and predicates, as features see them."""
    trees = []
    for number, sentence in enumerate(sentences, 1):
        if sentence.tree is None:
            raise InputError(f"sentence {sentence.id or number} has no tree to find arguments in")
        trees.append(sentence.tree)
    arrays = TreeArrays(trees)
    owner = np.repeat(np.arange(len(frames)), [len(own) for own in frames])
    place = np.array([frame.predicate for own in frames for frame in own], np.int64)
    lemmas = [frame.lemma or "" for own in frames for frame in own]
    senses = [frame.sense or "" for own in frames for frame in own]
    words = arrays.nodes.words
    return RoleText.of(arrays, Predicates(owner, words[owner] + place, lemmas, senses), reach)
