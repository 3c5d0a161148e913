"""The joint model: it looks at all arguments of a predicate together, and chooses among the best sets of them.

After Toutanova, Haghighi and Manning (2008): a log-linear model over a list of the best frames by the local model, with
features of the whole sequence of labels around the predicate, with its voice, its lemma and its sense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s, frozen
from dovetail.features.compile.hashing import PRIME, Keys, mix, string_keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.compile.roles import Candidates, RoleText
from dovetail.kernel import kernel
from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.scorers.linear import DISTINCT
from dovetail.sparse import SparseGradient
from dovetail.stored import Column, check
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.frames import FrameBatch
from dovetail.text.frames import CONTINUES, REFERS

UNLIKELY = 1e-3
"""Labels of candidates that are less probable than this are in no frame of a list, unless in the best."""
KINDS = 18
"""Features of a frame."""


@dataclass(frozen=True, eq=False)
class JointModel:
    """Weights of features of whole frames, and of the score by the local model."""

    size: int
    """How many frames are in a list."""
    keys: Keys
    weight: NDArray[np.float32]
    """Of each feature; the last is that of the local score."""

    COLUMNS: ClassVar = DISTINCT | {"weight": Column(axes=("weights",), types=("f",))}

    def __post_init__(self) -> None:
        arrays = {"keys": self.keys, "weight": self.weight}
        check("the joint model", self.COLUMNS, arrays, weights=len(self.keys) + 1)

    @cached_property
    def index(self) -> FeatureIndex:
        """Where features are looked up."""
        return FeatureIndex(self.keys)

    def chances(self, keys: Keys, scores: Floats) -> Floats:
        """The probabilities of the frames of lists, [n, k], from their features [n, k, KINDS] and local scores."""
        number = self.index.number(keys.ravel()).reshape(keys.shape)
        padded = np.append(self.weight[:-1], np.float32(0.0)).astype(np.float64)  # -1 is nothing
        return softmax(padded[number].sum(axis=2) + self.weight[-1] * safe(scores), scores)

    @classmethod
    def learnt(cls, keys: Keys, scores: Floats, gold: Int64s, l2: float, least: int) -> Self:
        """From the features of lists [n, k, KINDS], their local scores [n, k], and which frame is the best [n]."""
        there = np.broadcast_to((scores > -np.inf)[:, :, None], keys.shape)
        known, counts = np.unique(keys[there], return_counts=True)
        known = known[counts >= least]
        number = FeatureIndex(known).number(keys.ravel()).reshape(keys.shape)
        number[~there] = -1
        objective = ListObjective(number, scores, gold, len(known))
        start = np.zeros(len(known) + 1)
        start[-1] = 1.0
        weight = LBFGS(limit=60).minimise(objective, Prior(l2), start, Monitor(watched=False))
        return cls(keys.shape[1], known, frozen(weight.astype(np.float32)))

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        return {"joint.keys": self.keys, "joint.weight": self.weight.astype(np.float16) if half else self.weight}

    @classmethod
    def from_file(cls, size: int, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """From what ``arrays`` gave."""
        keys, weight = arrays["joint.keys"], frozen(arrays["joint.weight"].astype(np.float32))
        if size < 1:
            raise ValueError("the joint model has lists of no frames")
        return cls(size, keys, weight)


@dataclass(eq=False)
class ListObjective:
    """The negative log-likelihood of the right frames of lists.

    number: [n, k, KINDS], features, -1 for none; scores: [n, k], by the local model; gold: [n].
    """

    number: Int32s
    scores: Floats
    gold: Int64s
    features: int

    @property
    def items(self) -> int:
        """The number of lists."""
        return len(self.gold)

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return self.features + 1

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss and its gradient [weights]."""
        return self._of(weight, np.arange(self.items))

    def touch(self, which: Int64s, sink: SparseGradient) -> None:
        """All weights."""
        sink.list_all()

    def accumulate(self, weight: Floats, which: Int64s, sink: SparseGradient) -> float:
        """The loss of some lists; its gradient is added to ``sink``."""
        value, gradient = self._of(weight, which)
        sink.value += gradient
        return value

    def _of(self, weight: Floats, which: Int64s) -> tuple[float, Floats]:
        number, scores, gold = self.number[which], self.scores[which], self.gold[which]
        local = safe(scores)
        padded = np.append(weight[:-1], 0.0)
        p = softmax(padded[number].sum(axis=2) + weight[-1] * local, scores)
        rows = np.arange(len(gold))
        value = -float(np.log(np.maximum(p[rows, gold], 1e-300)).sum())
        slope = p.copy()
        slope[rows, gold] -= 1.0
        gradient = np.zeros(len(weight))
        flat = np.bincount(number.ravel() + 1, np.repeat(slope.ravel(), number.shape[2]), self.features + 1)
        gradient[:-1], gradient[-1] = flat[1:], float((slope * local).sum())
        return value, gradient


def safe(scores: Floats) -> Floats:
    """Scores less those of the best, zero where there is none: [n, k]."""
    return np.where(scores > -np.inf, scores - scores[:, :1], 0.0)


def softmax(values: Floats, scores: Floats) -> Floats:
    """Probabilities of the frames of each list; zero where the local score is minus infinity: [n, k]."""
    shown = np.where(scores > -np.inf, values, -np.inf)
    weights = np.exp(shown - shown.max(axis=1, keepdims=True, initial=-1e300))
    return np.asarray(weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300))


def best_frames(batch: FrameBatch, k: int) -> tuple[Labels, Floats]:
    """The k best frames of each predicate, [k, N], and their log-probabilities, [n, k]."""
    log_z, marginals = batch.log_partition_and_marginals()
    likely = marginals.role >= UNLIKELY
    found, scores = batch.restrict(likely | (batch.indicator(batch.best()).role > 0.0)).kbest(k)
    return np.array(found, np.int32).reshape(k, -1), scores - log_z[:, None]


def frame_keys(text: RoleText, found: Labels, labels: Sequence[str]) -> Keys:
    """The keys of features of frames [k, N]: [n, k, KINDS]."""
    from dovetail.evaluate.roles import is_core

    atoms = text.atoms()
    first = text.candidates.offsets[:-1]
    n, some = len(first), len(text.candidates.node) > 0
    about = np.zeros((n, 4), np.uint64)
    has = np.diff(text.candidates.offsets) > 0
    for i, name in enumerate(("lemma", "sense", "voice", "class")):
        about[has, i] = atoms[name][first[has]] if some else 0
    base = [label.removeprefix(CONTINUES).removeprefix(REFERS) for label in labels]
    names = {label: i for i, label in enumerate(labels)}
    refers = np.array([-1 if own == label else names.get(own, -1) for own, label in zip(base, labels, strict=True)])
    core = np.array([is_core(label) for label in labels])
    place = text.predicates.word - text.trees.nodes.words[text.predicates.tree]
    out = np.zeros((n, len(found), KINDS), np.uint64)
    kinds = string_keys([f"joint {i}" for i in range(KINDS)])
    told = string_keys(list(labels)), core, refers.astype(np.int64), about
    _frame_keys(text.candidates, place, found, *told, atoms["phrase"], atoms["mark"], kinds, out)
    return out


@kernel
def _frame_keys(
    candidates: Candidates, place: Int64s, found: Labels, names: Keys, core: NDArray[np.bool_], refers: Int64s,
    about: Keys, phrase: Keys, mark: Keys, kinds: Keys, out: Keys,
) -> None:  # fmt: skip
    verb = np.uint64(1)
    used = np.zeros(names.size, np.int64)
    for n in range(out.shape[0]):
        lemma, sense, voice, klass = about[n]
        for r in range(out.shape[1]):
            every = cores = phrases = marks = bag = tagged = np.uint64(0)
            count, passed, again, dangling = 0, False, 0, 0
            used[:] = 0
            for c in range(candidates.offsets[n], candidates.offsets[n + 1] + 1):
                last = c == candidates.offsets[n + 1]
                y = -1 if last else found[r, c]
                if not passed and (last or (y >= 0 and candidates.begin[c] > place[n])):
                    passed = True
                    every, cores = mix(every * PRIME + verb), mix(cores * PRIME + verb)
                    phrases, marks, tagged = (
                        mix(phrases * PRIME + verb),
                        mix(marks * PRIME + verb),
                        mix(tagged * PRIME + verb),
                    )
                if y < 0:
                    continue
                count += 1
                again += used[y] > 0
                used[y] += 1
                every = mix(every * PRIME + names[y])
                phrases = mix(phrases * PRIME + names[y] + phrase[c])
                if core[y]:
                    cores = mix(cores * PRIME + names[y])
                    marks = mix(marks * PRIME + names[y] + mark[c] + phrase[c])
                    tagged = mix(tagged * PRIME + names[y] + phrase[c])
                    bag += mix(names[y])
            for y in range(names.size):
                if used[y] > 0 and refers[y] >= 0 and used[refers[y]] == 0:
                    dangling += 1
            own = out[n, r]
            own[0], own[1], own[2], own[3] = every, every ^ mix(voice + klass), every ^ mix(lemma), every ^ mix(sense)
            own[4], own[5], own[6] = cores, cores ^ mix(voice + klass), cores ^ mix(sense)
            own[7], own[8], own[9] = cores ^ mix(sense + voice), bag ^ mix(sense), bag ^ mix(klass)
            own[10], own[11], own[12] = phrases ^ mix(klass), tagged ^ mix(sense), tagged ^ mix(voice + klass)
            own[13], own[14] = marks ^ mix(lemma), marks ^ mix(klass)
            own[15] = mix(klass + np.uint64(count))
            own[16], own[17] = np.uint64(min(again, 2)), np.uint64(min(dangling, 2))
            for i in range(own.size):
                own[i] = mix(own[i] ^ kinds[i])
