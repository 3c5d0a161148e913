"""A pool of parsers: all say how probable each constituent is, and the tree with the most that hold wins.

Parsers of one grammar and one set of features are one parser, whose weights are the means of theirs: the product of
their distributions. Others have no derivations in common, but constituents: the log-odds of each are averaged, which is
the product of what the parsers say of it, and the answer is the tree with the most constituents expected to be right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.grammars.brackets import JOINT, NOTHING, PARTIAL, Bracket, BracketLabels, unbracketed
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.models.answer import Answer
from dovetail.models.batching import in_batches
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.parser.decoding import Votes, answer_of, joined
from dovetail.models.pool import (
    check_alike,
    drawn,
    mean_weights,
    packed_members,
    same_shape,
    shares_of,
    unpacked_members,
)
from dovetail.models.training import Run
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.contract import at_most_one
from dovetail.structures.grammar import cells
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree

Floats = NDArray[np.float64]

COST = 0.4  # how probable a constituent must be to be worth having: less than half, for F1 counts misses too
LEAST = 1e-4  # what a member rules out is as improbable as this to the pool
CELLS = 40_000  # spans that are looked at together, at most
LEARNT = frozenset({"weight", "fine.weight", "rule.index", "rule.weight"})
"""The arrays of a model in which weights are."""


Ballot = list[tuple[float, Votes]]
"""The votes of all members that have a tree, each with its share."""


@dataclass(frozen=True, eq=False)
class ParserPool:
    """Parsers that are asked together; ``shares`` [members] sum to one."""

    kind: ClassVar[str] = "parser"
    tagger: ClassVar[None] = None
    """Each member has its own."""

    members: tuple[Any, ...]
    shares: Floats

    @cached_property
    def labels(self) -> BracketLabels:
        """The chains of constituents that any member knows: over one word, over several."""
        known = [chains_of(member.model_) for member in self.members]
        single, wide = {NOTHING}.union(*(own[0] for own in known)), {PARTIAL}.union(*(own[1] for own in known))
        names = tuple(sorted(single | wide))
        return BracketLabels(names, np.array([n in single for n in names]), np.array([n in wide for n in names]))

    @property
    def root(self) -> str:
        """The label above all others."""
        return str(self.members[0].model_.root)

    def sizes(self) -> dict[str, int]:
        """The sums of those of the members."""
        found: Counter[str] = Counter()
        for member in self.members:
            found.update(member.model_.sizes())
        return dict(found)

    # answers

    def answers(self, sentences: Sequence[Sentence], probabilities: bool, threads: int) -> Iterator[Answer]:
        """The tree of every sentence."""
        for some in in_batches(sentences, CELLS, lambda sentence: len(sentence) ** 2 // 2):
            yield from self._answers(some, probabilities, threads)

    def _answers(self, sentences: list[Sentence], probabilities: bool, threads: int) -> Iterator[Answer]:
        ballots = self.ballots(sentences)
        tables = [self.chances(ballot) for own in ballots for ballot in own]
        sizes = [len(ballot[0][1].tags) if ballot else 0 for own in ballots for ballot in own]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        found = BracketBatch(BracketPotentials(self.gains(tables, sizes)), offsets, threads).best()
        number = 0
        for sentence, own in zip(sentences, ballots, strict=True):
            parts: list[Answer] = []
            begin = 0
            for ballot in own:
                some, end = slice(*found.offsets[number : number + 2]), begin + sizes[number]
                brackets = self.labels.named(*(part[some].tolist() for part in found[:3]))
                known = self._named(brackets, tables[number], sizes[number]) if probabilities else None
                if ballot:
                    trees = unbracketed(brackets, sentence.words[begin:end], elected(ballot), known)
                    parts.append(answer_of(self._rooted(trees)))
                begin, number = end, number + 1
            # Where no member has a tree for some of the words, there are pieces, which the first finds.
            yield joined(parts, self.root) if all(own) else self.members[0].parse([sentence])[0]

    def ballots(self, sentences: Sequence[Sentence]) -> list[list[Ballot]]:
        """What members say of every sentence, or of the parts of a very long one."""
        asked = [member.votes(sentences) for member in self.members]
        return [
            [
                [(float(share), vote) for share, vote in zip(self.shares, part, strict=True) if vote is not None]
                for part in zip(*own, strict=True)
            ]
            for own in zip(*asked, strict=True)
        ]

    def chances(self, ballot: Ballot) -> Floats:
        """The probability of every constituent over every span, by the mean of its log-odds: [cells, constituents]."""
        names = self.labels.constituents
        if not ballot:
            return np.zeros((0, len(names)))
        number = {name: i for i, name in enumerate(names)}
        total = np.zeros((len(ballot[0][1].chance), len(names)))
        whole = sum(share for share, _ in ballot) or 1.0
        for share, vote in ballot:
            chance = np.full(total.shape, LEAST)
            chance[:, [number[name] for name in vote.names]] = vote.chance.clip(LEAST, 1.0 - LEAST)
            total += share / whole * (np.log(chance) - np.log1p(-chance))
        found: Floats = 1.0 / (1.0 + np.exp(-total))
        return found

    def gains(self, tables: Sequence[Floats], sizes: Sequence[int]) -> Floats:
        """What every label of every span adds to a tree, minus infinity where it may not be: [cells, labels].

        A constituent adds its probability less :data:`COST`; what is no constituent, nothing.
        """
        shares = self.labels.shares
        allowed = np.full((3, len(self.labels)), -np.inf)
        for row, choice in zip(allowed, self.labels.choices(), strict=True):
            row[choice] = 0.0
        found = []
        for table, n in zip(tables, sizes, strict=True):
            gain = (table - COST) @ shares.T
            place = np.ones(len(gain), np.int64)
            if n:
                place[cells(n, 0, n)] = 2
                place[cells(n, np.arange(n), np.arange(1, n + 1))] = 0
            found.append(gain + allowed[place])
        return np.concatenate(found) if found else np.zeros((0, len(self.labels)))

    def spans(self, sentences: Sequence[Sentence], least: float) -> Iterator[list[Span]]:
        """For every sentence all constituents more probable than ``least``."""
        names = self.labels.constituents
        for some in in_batches(sentences, CELLS, lambda sentence: len(sentence) ** 2 // 2):
            for own in self.ballots(some):
                found, begin = [], 0
                for ballot in own:
                    n, table = (len(ballot[0][1].tags) if ballot else 0), self.chances(ballot)
                    places = [(begin + b, begin + e) for b in range(n) for e in range(b + 1, n + 1)]
                    for cell, x in np.argwhere(table > max(least, LEAST)).tolist():
                        found.append(Span(*places[cell], names[x], float(table[cell, x])))
                    begin += n
                yield sorted(found, key=lambda span: (span.start, -span.end, -(span.probability or 0.0)))

    def kbest(self, sentences: Sequence[Sentence], k: int) -> Iterator[list[Answer]]:
        """The k trees that members list as the most probable, on average over their lists."""
        asked = zip(*(member._kbest(list(sentences), k) for member in self.members), strict=True)
        for lists in asked:
            found: dict[Tree, tuple[float, Answer]] = {}
            for share, answers in zip(self.shares.tolist(), lists, strict=True):
                for answer in answers:
                    before, first = found.get(answer.tree, (0.0, answer))
                    found[answer.tree] = before + share * (answer.probability or 0.0), first
            ranked = sorted(found.values(), key=lambda one: -one[0])[:k]
            yield [replace(answer, probability=float(at_most_one(chance))) for chance, answer in ranked]

    def draws(
        self, sentences: Sequence[Sentence], counts: Sequence[int], rngs: Sequence[np.random.Generator]
    ) -> Iterator[list[Answer]]:
        """So many trees of each sentence, each drawn from a member that is drawn by its share."""
        for sentence, count, rng in zip(sentences, counts, rngs, strict=True):
            chosen = rng.choice(len(self.members), size=count, p=self.shares)
            own = {
                m: iter(next(iter(self.members[m]._draws([sentence], [int((chosen == m).sum())], [rng]))))
                for m in sorted(set(chosen.tolist()))
            }
            yield [next(own[m]) for m in chosen.tolist()]

    def reading(self) -> ParserPool:
        """The pool, whose members read parts of speech."""
        return replace(self, members=tuple(member.reading() for member in self.members))

    def scaled(self, factor: float) -> ParserPool | None:
        """The pool with the potentials of all members times a factor; None where a member has none."""
        members = [member.at_temperature(1.0 / factor) for member in self.members]
        return None if None in members else replace(self, members=tuple(members))

    def _named(self, brackets: Sequence[Bracket], table: Floats, n: int) -> dict[tuple[int, int, str], float]:
        number = {name: i for i, name in enumerate(self.labels.constituents)}
        return {
            (i, j, part): float(table[int(cells(n, i, j)), number[part]])
            for i, j, label in brackets
            for part in self.labels.parts[self.labels.number[label]]
        }

    def _rooted(self, trees: Sequence[Tree]) -> Tree:
        if len(trees) == 1 and trees[0].label == self.root and not trees[0].is_preterminal:
            return trees[0]
        return Tree(self.root, tuple(trees))

    # files

    def header(self) -> dict[str, Any]:
        """The members and their shares, for the header of a model file."""
        return {"members": packed_members(self.members, False)[0], "shares": self.shares.tolist()}

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """Those of all members."""
        return packed_members(self.members, half)[1]

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], make: Any) -> ParserPool:
        """From the header and arrays of a model file; ``make`` makes a member of its own."""
        return cls(*unpacked_members(header, arrays, make))


def elected(ballot: Ballot) -> tuple[str, ...]:
    """The part of speech of every word that members with the largest shares gave it; of equal ones the first."""
    found = []
    for given in zip(*(vote.tags for _, vote in ballot), strict=True):
        total: dict[str, float] = {}
        for (share, _), tag in zip(ballot, given, strict=True):
            total[tag] = total.get(tag, 0.0) + share
        found.append(max(total, key=lambda tag: total[tag]))
    return tuple(found)


def chains_of(model: Any) -> tuple[set[str], set[str]]:
    """The chains of constituents that a model knows: over one word, over several."""
    if isinstance(model, BracketModel):
        labels = model.labels
        whole = [name for name, partial in zip(labels.names, labels.is_partial, strict=True) if not partial]
        number = labels.number
        return {n for n in whole if labels.single[number[n]]}, {n for n in whole if labels.wide[number[n]]}
    treebank: TreebankGrammar = model.treebank
    single: set[str] = set()
    wide = {s.label for i in set(treebank.grammar.parent.tolist()) if not (s := treebank.symbols[i]).partial}
    for chain, below in zip(treebank.chains, treebank.grammar.unary_child.tolist(), strict=True):
        child, names = treebank.symbols[below], [symbol.label for symbol in chain]
        if child.is_tag:
            single.add(JOINT.join(names))
        else:
            wide.add(JOINT.join([*names, child.label]))
    return single, wide


def tags_of(model: Any) -> set[str]:
    """The parts of speech that a model knows, if it says so."""
    if isinstance(model, BracketModel):
        return set() if model.tagger is None else set(model.tagger.classes_)
    return {symbol.label for symbol in model.treebank.tags}


def pooled(models: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """One parser of several: of ``models``, trained, of any kinds; ``weights`` [models], all alike unless given.

    Parsers that differ in nothing but their weights become one parser of that kind, as quick as one of them.
    """
    shares = shares_of(len(models), weights)
    for model in models:
        model._check_trained()
    flat: list[Any] = []
    parts: list[float] = []
    for model, share in zip(models, shares.tolist(), strict=True):
        inner = model.model_
        if isinstance(inner, ParserPool):  # a pool of pools is one pool
            flat += inner.members
            parts += (share * inner.shares).tolist()
        else:
            flat.append(model)
            parts.append(share)
    shares = np.array(parts)
    check_alike([{c for chain in set.union(*chains_of(m.model_)) for c in chain.split(JOINT)} for m in flat], "labels")
    if all(known := [tags_of(m.model_) for m in flat]):
        check_alike(known, "parts of speech")
    found: Any = type(flat[0])(**(flat[0].get_params(deep=False)))
    stored = [model.model_ for model in flat]
    if len({type(model) for model in stored}) == 1 and same_shape(stored, LEARNT):
        found.model_ = stored[0].with_weights(mean_weights([model.weight for model in stored], shares))
    else:
        if len({model.tags for model in flat}) > 1:
            raise DovetailError(
                "some parsers of the pool read parts of speech and others predict them: pool parsers of one kind"
            )
        found.pool, found.model_ = len(flat), ParserPool(tuple(flat), shares)
    found.card_ = {"pooled": len(flat), "dev": None, "stopped": "pooled", **found.model_.sizes()}
    for name in ("sentences", "tokens"):
        found.card_[name] = flat[0].card_.get(name)
    return found


def member_settings(kind: str, direction: str, number: int) -> dict[str, Any]:
    """What the parser of a number in a pool has of its own.

    One with a grammar, one without, both branching the other way; those after them learn from sentences that are drawn.

    >>> [member_settings("grammar", "right", i) for i in range(2)]
    [{'kind': 'grammar', 'direction': 'right'}, {'kind': 'labelled-rules', 'direction': 'right'}]
    """
    other = {"right": "left", "left": "right"}
    if kind == "grammar":
        turn, kind = number // 2, ("grammar", "labelled-rules")[number % 2]
    else:
        turn = number
    return {"kind": kind, "direction": direction if turn % 2 == 0 else other[direction]}


def trained_pool(parser: Any, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> None:
    """Train the members of a pool on clean sentences, and make the parser one of them; what is said goes to its card.

    All have one tagger. Ctrl-C ends it with those that are there.
    """
    if run.init is not None or run.checkpoint is not None:
        raise DovetailError(
            "a pool is trained in one go, without init and checkpoints (--init, --resume): "
            "train its parsers one by one for that, and pool them"
        )
    given = parser.get_params(deep=False)
    tagged = parser._tags(corpus, [sentence.tree for sentence in corpus], run.doing)
    members: list[Any] = []
    for number in range(parser.pool):
        own = {"pool": None, "seed": parser.seed + number, **member_settings(parser.kind, parser.direction, number)}
        if own["kind"] != "grammar":
            own |= dict.fromkeys(("vertical", "horizontal", "head_tags", "relax"))
        repeated = number >= (4 if parser.kind == "grammar" else 2)
        some = drawn(len(corpus), parser.seed + number).tolist() if repeated else list(range(len(corpus)))
        member = type(parser)(**(given | own))
        member.tagged_ = tagged[0], [tagged[1][i] for i in some]
        say = f"parser {number + 1} of {parser.pool}"
        run.doing(say)
        try:
            member.fit(
                [corpus[i] for i in some], dev=held_out, progress=run.progress,
                doing=lambda what, say=say: run.doing(f"{say}: {what}"),
            )  # fmt: skip
        except KeyboardInterrupt:
            if not members:
                raise
            parser.card_["stopped"] = "interrupted"
            break
        member.tagged_ = None
        members.append(member)
        parser.card_["stopped"] = member.card_["stopped"]
        if member.card_["stopped"] == "interrupted":
            break
    if len(members) == 1:
        parser.model_, parser.kind, parser.pool = members[0].model_, members[0].kind, None
    else:
        parser.model_ = ParserPool(tuple(members), shares_of(len(members), None))
    parser.card_["members"] = len(members)
    if held_out is not None:
        parser.card_["dev"] = parser.score(held_out)
