"""Training a labeller of roles: candidates and features, the local model, and the joint one from jackknifed lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s, taken
from dovetail.evaluate.roles import is_core
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.compile.roles import Candidates, RoleText
from dovetail.learning.losses import Loss
from dovetail.learning.objective import Objective, of_tokens
from dovetail.learning.priors import Prior
from dovetail.models.parser.carry import NamedBlock, carried
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.joint import JointModel, best_frames, frame_keys
from dovetail.models.roles.model import Frames, RoleModel, role_text
from dovetail.models.roles.words import WordModel
from dovetail.models.training import Training
from dovetail.scorers.frames import FrameScorer, looked_up, observed
from dovetail.structures.contract import Floats
from dovetail.text.sentence import Sentence

BITS = 6
"""Labels that may be used once, at most; rarer ones are not held to it."""
NEVER = 5
"""How often a feature occurs, at least, that no argument has."""
JOINT_L2 = 1.0


@dataclass
class RoleTraining(Training):
    """Sentences with frames and trees, made ready."""

    model: RoleModel
    text: RoleText
    scorer: FrameScorer
    gold: Int32s
    """The right label of each candidate, -1 for none."""
    lost: Int64s
    """How many arguments of each predicate are no candidates."""
    objective: Objective
    l2: float
    fold: Int64s
    """The part of the data that each predicate is in."""
    told: Callable[[str], Any] = field(default=print, init=False, repr=False)
    """What hears of every step."""

    @classmethod
    def prepare(
        cls, sentences: Sequence[Sentence], fold: Int64s, words: WordModel, parser: Parser | None, reach: int,
        least: int, l2: float, loss: Loss, threads: int,
    ) -> RoleTraining:  # fmt: skip
        """Compile sentences, each in a part of the data, whose trees are such as new text has."""
        frames = [sentence.frames or () for sentence in sentences]
        text = role_text(sentences, frames, reach)
        labels, once = labels_of(frames)
        gold, lost = right_labels(frames, text.candidates, labels)
        keys, layout = observed(text.keys(), gold, len(labels), least, max(least, NEVER))
        c = text.candidates
        lists = looked_up(text.keys(), FeatureIndex(keys), len(c.node))
        scorer = FrameScorer(lists, layout, c.offsets, c.begin, c.end, once, threads)
        objective = Objective(scorer, of_tokens(gold, c.offsets), loss)
        start = np.zeros(layout.parameters, np.float32)
        model = RoleModel(labels, once, keys, layout, start, reach, words, parser)
        owner = np.repeat(fold, [len(own) for own in frames])
        return cls(model, text, scorer, gold, lost, objective, l2, owner)

    @property
    def prior(self) -> Prior:
        """The penalty on weights."""
        return Prior(self.l2)

    @property
    def size(self) -> int:
        """How many predicates there are."""
        return self.objective.items

    def start(self, init: RoleModel | None = None) -> Floats:
        """Zeros, or another model's weights of the features and labels that both have."""
        zeros = np.zeros(self.objective.parameters)
        if init is None:
            return zeros
        return carried({"roles": _block(init)}, init.weight, {"roles": _block(self.model)}, zeros)

    def export(self, weight: Floats) -> RoleModel:
        """The trained model, without a joint one."""
        return self.model.with_weights(weight)

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [self.model.keys, self.gold]

    def joint(self, size: int, minimise: Callable[[Objective], Floats]) -> JointModel:
        """A joint model, from lists of so many frames that local models of the other parts of the data make."""
        found = np.full((size, len(self.gold)), -1, np.int32)
        scores = np.full((self.size, size), -np.inf)
        parts = int(self.fold.max(initial=0)) + 1
        for part in range(parts):
            self.told(f"labels of the joint model, part {part + 1} of {parts}")
            inside, rest = np.flatnonzero(self.fold == part), np.flatnonzero(self.fold != part)
            if not len(rest):
                rest = inside
            own = self.scorer.some(rest)
            gold = of_tokens(self.gold[taken(self.scorer.offsets, rest)[0]], own.offsets)
            weight = minimise(replace(self.objective, scorer=own, gold=gold))
            some, scores[inside] = best_frames(self.scorer.some(inside).batch(weight), size)
            found[:, taken(self.scorer.offsets, inside)[0]] = some
        self.told("joint model")
        keys = frame_keys(self.text, found, self.model.labels)
        return JointModel.learnt(keys, scores, self._nearest(found, scores), JOINT_L2, 2)

    def _nearest(self, found: NDArray[np.int32], scores: Floats) -> Int64s:
        """Which frame of each list is most like the right one: [n]."""
        offsets = self.scorer.offsets

        def by_predicate(flags: NDArray[np.bool_]) -> Int64s:
            before = np.concatenate([[0], np.cumsum(flags)])
            counted: Int64s = before[offsets[1:]] - before[offsets[:-1]]
            return counted

        right = by_predicate(self.gold >= 0) + self.lost
        rated = []
        for labels, own in zip(found, scores.T, strict=True):
            correct, some = by_predicate((labels == self.gold) & (labels >= 0)), by_predicate(labels >= 0)
            f1 = np.where(right + some > 0, 2 * correct / np.maximum(right + some, 1), 1.0)
            rated.append(np.where(own > -np.inf, f1, -1.0))
        return np.asarray(np.array(rated).reshape(len(found), -1).argmax(axis=0), np.int64)


def _block(model: RoleModel) -> NamedBlock:
    """The weights of a model by name; those after the labels are of being an argument at all."""
    names = [*model.labels, None]
    return NamedBlock(slice(0, len(model.weight)), names, model.keys, model.layout)


def labels_of(frames: Frames) -> tuple[tuple[str, ...], Int32s]:
    """The labels of arguments, and for those core labels that no frame has twice a number, -1 for others."""
    counts: Counter[str] = Counter()
    twice: set[str] = set()
    for own in frames:
        for frame in own:
            here = Counter(argument.label for argument in frame.arguments)
            counts += here
            twice |= {label for label, count in here.items() if count > 1}
    labels = tuple(sorted(counts))
    core = [label for label, _ in counts.most_common() if is_core(label) and label not in twice][:BITS]
    return labels, np.array([core.index(label) if label in core else -1 for label in labels], np.int32)


def right_labels(frames: Frames, candidates: Candidates, labels: Sequence[str]) -> tuple[Int32s, Int64s]:
    """The right label of each candidate, -1 for none; and how many arguments of each predicate are no candidates.

    Of arguments that overlap the first counts.
    """
    number = {label: i for i, label in enumerate(labels)}
    gold = np.full(len(candidates.node), -1, np.int32)
    lost = np.zeros(len(candidates.offsets) - 1, np.int64)
    begin, end, offsets = candidates.begin.tolist(), candidates.end.tolist(), candidates.offsets.tolist()
    every = [frame for own in frames for frame in own]
    for i, frame in enumerate(every):
        places = {(begin[c], end[c]): c for c in range(offsets[i], offsets[i + 1])}
        furthest, used = 0, set()
        for argument in frame.arguments:
            place = places.get((argument.start, argument.end))
            label = number.get(argument.label, -1)
            if place is None or argument.start < furthest or label < 0 or (is_core(argument.label) and label in used):
                lost[i] += 1
                continue
            gold[place], furthest = label, argument.end
            used.add(label)
    return gold, lost
