"""Potentials from the linear scores of named parts, such as nodes and edges of a chain, and from tables for all text.

A *form* says how: what a word, a pair of labels or a whole segment scores is linear in features whatever the structure
is, and each structure puts those scores together in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import taken
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.scorers.hidden import HiddenScorer
from dovetail.scorers.linear import LinearScorer, Stretch
from dovetail.scorers.variance import Variance, variance_of
from dovetail.sparse import SparseGradient
from dovetail.threads import sentence_shards

Scores = dict[str, Floats]
STRETCHES, STRETCH = 8, 100_000
"""A corpus is cut into so many stretches at most, and none of less than about so many tokens."""
Tables = Mapping[str, Floats]


class Form(Protocol):
    """How the scores of parts become the potentials of a structure."""

    @property
    def shared(self) -> int:
        """The number of parameters that are the same everywhere."""

    def outputs(self, part: str) -> int:
        """How many scores a part has at each of its places."""

    def places(self, part: str, tokens: Items) -> Items:
        """The places of a part that belong to some tokens: the tokens themselves, or what begins there."""

    def tables(self, shared: Floats) -> dict[str, Floats]:
        """The tables that are the same everywhere, from their parameters [shared]."""

    def batch(self, scores: Scores, tables: Tables, offsets: Items, threads: int) -> Any:
        """The structures of sentences with these scores, which may be used up."""

    def direction(self, scores: Scores, offsets: Items, threads: int) -> Any:
        """How the potentials move when the scores move so, which may be used up; tables stay as they are."""

    def slopes(self, slope: Any, scores: Scores, offsets: Items, threads: int) -> tuple[Scores, Floats]:
        """From the slope of the potentials those of the scores, and of the shared parameters [shared].

        ``scores`` are those that ``batch`` was given: space to work in.
        """


@dataclass
class Sums:
    """What stretches of a corpus add to a gradient: the slopes of rows [rows, outputs], and of what is not in any.

    ``rows``: of each part; ``rest`` [parameters]: of features at single tokens, and of the tables.
    """

    rows: Scores
    rest: Floats

    def add_rows(self, part: str, rows: Floats) -> None:
        """Add the rows of the stretch that comes next; those of the first are kept, and added to."""
        if part in self.rows:
            self.rows[part] += rows
        else:
            self.rows[part] = rows


@dataclass
class PartsScorer(Scorer[Any]):
    """A corpus with compiled features: the weights of its parts in order, then those of the tables."""

    form: Form
    offsets: Items
    parts: Mapping[str, LinearScorer | HiddenScorer]
    threads: int = 1
    begin: dict[str, int] = field(default_factory=dict, init=False)
    _latest: tuple[Scores, Items] = field(init=False, repr=False)
    _noised: dict[tuple[str, str], Variance] = field(default_factory=dict, init=False, repr=False)
    _places: dict[tuple[str, Stretch], Stretch] = field(default_factory=dict, init=False, repr=False)
    _spaces: dict[tuple[str, bool], Floats] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.items = len(self.offsets) - 1
        place = 0
        for part, scorer in self.parts.items():
            self.begin[part] = place
            place += scorer.parameters
        self.after_parts = place
        self.parameters = place + self.form.shared

    def of_part(self, part: str, weight: Floats) -> Floats:
        """The weights, or the gradient, of one part."""
        return weight[self.begin[part] : self.begin[part] + self.parts[part].parameters]

    def of_tables(self, weight: Floats) -> Floats:
        """The weights, or the gradient, of the tables."""
        return weight[self.after_parts : self.after_parts + self.form.shared]

    # stretches, one after the other

    @cached_property
    def stretches(self) -> Sequence[Stretch]:
        """Ranges of sentences with about equal numbers of tokens; none where there is more than features."""
        wanted = min(STRETCHES, int(self.offsets[-1]) // STRETCH)
        if wanted < 2 or not all(isinstance(scorer, LinearScorer) for scorer in self.parts.values()):
            return ()
        return sentence_shards(self.offsets, wanted, 1)

    def places(self, part: str, stretch: Stretch) -> Stretch:
        """The places of a part that belong to some sentences, which follow each other as these do."""
        if (part, stretch) not in self._places:
            tokens = np.arange(self.offsets[stretch[0]], self.offsets[stretch[1]])
            found = self.form.places(part, tokens) if len(tokens) else tokens
            self._places[part, stretch] = (int(found.min()), int(found.max()) + 1) if len(found) else (0, 0)
        return self._places[part, stretch]

    def begin_stretches(self, weight: Floats, out: Floats) -> Sums:
        """Score what all stretches have in common; nothing is added up yet in ``out`` [parameters], all zeros."""
        for part, scorer in self._linear():
            scorer.begin(self.of_part(part, weight))
        return Sums({}, out)

    def stretch(self, weight: Floats, stretch: Stretch) -> Any:
        """The structures of a stretch, with their potentials."""
        offsets = self.offsets[stretch[0] : stretch[1] + 1] - self.offsets[stretch[0]]
        scores = {part: scorer.forward(weight, self.places(part, stretch)) for part, scorer in self._linear()}
        self._latest = scores, offsets
        return self.form.batch(scores, self.form.tables(self.of_tables(weight)), offsets, self.threads)

    def add_stretch(self, slope: Any, stretch: Stretch, sums: Sums) -> None:
        """Add what the slope of the potentials of a stretch, which ``stretch`` gave last, says of the gradient."""
        slopes, shared = self.form.slopes(slope, *self._latest, self.threads)
        for part, scorer in self._linear():
            space = self._space(part, part not in sums.rows)
            places, rest = self.places(part, stretch), self.of_part(part, sums.rest)
            rows = scorer.backward_stretch(slopes[part], rest, places, space)
            sums.add_rows(part, rows)
        of_tables = self.of_tables(sums.rest)
        of_tables += shared

    def end_stretches(self, sums: Sums) -> None:
        """Make the gradient of what all stretches have added up."""
        for part, scorer in self._linear():
            scorer.end(sums.rows[part], self.of_part(part, sums.rest))

    def _space(self, part: str, first: bool) -> Floats:
        """Where the rows of the first stretch are summed up, and then of all, or those of another."""
        if (part, first) not in self._spaces:
            self._spaces[part, first] = np.empty_like(self.parts[part].row_table)  # type: ignore[union-attr]
        return self._spaces[part, first]

    def _linear(self) -> Iterator[tuple[str, LinearScorer]]:
        for part, scorer in self.parts.items():
            assert isinstance(scorer, LinearScorer)
            yield part, scorer

    # everything at once, or some sentences

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""
        offsets = self.offsets if which is None else taken(self.offsets, which)[1]
        scores = self._scores(weight, which)
        self._latest = scores, offsets
        threads = self.threads if which is None else 1
        return self.form.batch(scores, self.form.tables(self.of_tables(weight)), offsets, threads)

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        scores, offsets = self._latest
        slopes, shared = self.form.slopes(slope, scores, offsets, self.threads if which is None else 1)
        self._take_back(slopes, out, which)
        of_tables = self.of_tables(out)
        of_tables += shared

    def _scores(self, weight: Floats, which: Items | None) -> Scores:
        """The scores of all parts of all sentences, or of some."""
        if which is None:
            return {part: scorer.forward(self.of_part(part, weight)) for part, scorer in self.parts.items()}
        tokens, _ = taken(self.offsets, which)
        return {
            part: scorer.forward_some(self.form.places(part, tokens), self.begin[part], weight)
            for part, scorer in self.parts.items()
        }

    def _take_back(self, slopes: Scores, out: Floats, which: Items | None) -> None:
        """Add to ``out`` what the slopes of scores are as those of weights."""
        if which is None:
            for part, scorer in self.parts.items():
                scorer.backward(slopes[part], self.of_part(part, out))
            return
        tokens, _ = taken(self.offsets, which)
        for part, scorer in self.parts.items():
            scorer.backward_some(self.form.places(part, tokens), self.begin[part], slopes[part], out)

    # noise: see learning.noise

    def variances(self, unit: str, weight: Floats, which: Items | None = None) -> Scores:
        """The variances of the scores when such units are noised: see ``scorers.variance``. Tables have no noise."""
        if which is None:
            return {part: self._variance(unit, part).forward(self.of_part(part, weight)) for part in self.parts}
        tokens, _ = taken(self.offsets, which)
        return {
            part: self._variance(unit, part).forward_some(self.form.places(part, tokens), self.begin[part], weight)
            for part in self.parts
        }

    def backward_variances(
        self, unit: str, slopes: Scores, weight: Floats, out: Floats, which: Items | None = None
    ) -> None:
        """Add to ``out`` [parameters] the gradient from the slopes of the variances that ``variances`` gave last."""
        tokens = np.empty(0, np.int64) if which is None else taken(self.offsets, which)[0]
        for part in self.parts:
            known, slope = self._variance(unit, part), slopes[part]
            if which is None:
                known.backward(slope, self.of_part(part, weight), self.of_part(part, out))
            else:
                known.backward_some(self.form.places(part, tokens), self.begin[part], slope, weight, out)

    def expected(self, marginals: Any, which: Items | None = None) -> Scores:
        """How often each score is expected to be used, from marginals that may be used up."""
        scores, offsets = self._latest
        found, _ = self.form.slopes(marginals, scores, offsets, self.threads if which is None else 1)
        return {part: found[part] for part in self.parts}

    def direction(self, scores: Scores, which: Items | None = None) -> Any:
        """How the potentials that ``batch`` gave last move when the scores move so."""
        return self.form.direction(scores, self._latest[1], self.threads if which is None else 1)

    def _variance(self, unit: str, part: str) -> Variance:
        if (unit, part) not in self._noised:
            scorer = self.parts[part]
            assert isinstance(scorer, LinearScorer)  # what sees features by way of a hidden layer has no noise
            self._noised[unit, part] = variance_of(scorer, unit)
        return self._noised[unit, part]

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some sentences use; those of the tables are always among them."""
        self.touch_parts(which, sink)
        rest = self.parameters - self.after_parts
        sink.items[sink.count : sink.count + rest] = np.arange(self.after_parts, self.parameters)
        sink.count += rest

    def touch_parts(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some sentences use, less those of the tables."""
        tokens, _ = taken(self.offsets, which)
        for part, scorer in self.parts.items():
            scorer.touch(self.form.places(part, tokens), self.begin[part], sink)

    def scale(self) -> Floats:
        """The value of the feature of each parameter, [parameters]: what an L1 penalty is multiplied by."""
        return np.concatenate([*(s.scale for s in self.parts.values()), np.ones(self.form.shared)])

    def fingerprint(self) -> list[NDArray[Any]]:
        """The sentences, as far as features tell them from others."""
        found: list[NDArray[Any]] = [self.offsets]
        for part in self.parts.values():
            found += [part.design.links.ids, part.design.row_feature, part.design.feature_index]
        return found

    def firing(self) -> NDArray[np.float64]:
        """At how many places the feature of each parameter fires, [parameters]: tables are used by every token."""
        everywhere = np.full(self.form.shared, float(self.offsets[-1]))
        return np.concatenate([*(s.firing() for s in self.parts.values()), everywhere])
