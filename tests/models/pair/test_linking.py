"""Aligners, taggers and links in one graph: against all answers written out, and what names do to links."""

from __future__ import annotations

from copy import copy
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from dovetail import DovetailError
from dovetail.models.aligner.aligner import TRUST, Aligner
from dovetail.models.pair.agreement import LIKELY, PairTagger
from dovetail.models.pair.bitext import Linked
from dovetail.models.pair.linking import NEIGHBOURS, linking_of
from dovetail.text.bitext import Link, Pair
from tests.models.pair.made import bitext, gold, tagger, unsure
from tests.models.pair.test_agreement import pair

PAIRS = [
    Pair(("Ada", "saw"), ("Ado", "Berno")),
    Pair(("Bern", "Bern", "saw"), ("Berno",)),
    Pair(("Ada",), ("Ado", "x", "Ado")),
]


@cache
def aligner() -> Aligner:
    """Of the made-up language."""
    return Aligner(samplers=2, threads=1).fit(bitext()[0])


def joint(**how) -> PairTagger:
    """Both taggers and the aligner, with types counted as people tag them."""
    return PairTagger(source=tagger(), target=unsure(), agreement="joint", aligner=aligner(), **how).with_table(
        pair().table_
    )


class WrittenOut:
    """All answers to a pair: the best score of each set of links by the chains, and by the taggers."""

    def __init__(self, model: PairTagger, one: Pair) -> None:
        self.model, self.one = model, one
        [self.chains] = aligner().chains([one])
        mean = TRUST / 2 * sum(self.chains.posteriors())
        cells = [(int(i), int(j)) for i, j in np.argwhere(mean >= LIKELY["joint"])]
        self.links = [Link(i, j, float(mean[i, j])) for i, j in cells]

    def directions(self, on: tuple[bool, ...]) -> np.ndarray:
        """The scores of all states of both chains beside these links, in logs."""
        found = []
        step = np.log(aligner().agreement) / 4
        for side, chain in ((1, self.chains.forward), (0, self.chains.backward)):
            own = []
            for states in product(range(chain.labels), repeat=chain.tokens):
                total = float(chain.score(np.array(states, np.int32))[0])
                if total == -np.inf:
                    continue
                for link, there in zip(self.links, on, strict=True):
                    has = states[link[side]] == link[1 - side]
                    total += step if has == there else -step
                own.append(total)
            found.append(np.array(own))
        return np.add.outer(*found)

    def of_links(self, on: tuple[bool, ...]) -> float:
        """What the links count by themselves, and together."""
        there = [link for link, here in zip(self.links, on, strict=True) if here]
        p = [min(max(link.probability, 0.01), 0.99) for link in there]
        far = sum(
            (a.source == b.source and abs(a.target - b.target) > 1)
            or (a.target == b.target and abs(a.source - b.source) > 1)
            for a, b in combinations(there, 2)
        )
        return float(sum(np.log(q / (1 - q)) for q in p)) - NEIGHBOURS * far

    def taggings(self, on: tuple[bool, ...]) -> np.ndarray:
        """The scores of all taggings of both sides beside these links."""
        model, own = self.model, []
        chains = [next(t.chains([w])) for t, w in ((model.source, self.one.source), (model.target, self.one.target))]
        each = []
        for chain in chains:
            labels = [np.array(y, np.int32) for y in product(range(chain.labels), repeat=chain.tokens)]
            each.append([(y, s) for y in labels if (s := float(chain.score(y)[0])) > -np.inf])
        table = model.log_table()
        for (left, a), (right, b) in product(*each):
            types = model._left.of_label[left], model._right.of_label[right]
            names = (table[types[0][k.source], types[1][k.target]] for k, t in zip(self.links, on, strict=True) if t)
            own.append(a + b + sum(names))
        return np.array(own)

    def every(self) -> dict[tuple[bool, ...], tuple[float, float]]:
        """For each set of links the best score, and the log of the sum over all else."""
        found = {}
        for on in product((False, True), repeat=len(self.links)):
            parts = self.directions(on).ravel(), self.taggings(on)
            best = sum(part.max() for part in parts)
            whole = sum(part.max() + np.log(np.exp(part - part.max()).sum()) for part in parts)
            found[on] = float(best) + self.of_links(on), float(whole) + self.of_links(on)
        return found


@pytest.mark.parametrize("one", PAIRS)
@pytest.mark.parametrize("engine", ["dual", "ilp"])
def test_engines_find_the_best_of_all(engine, one, monkeypatch):
    monkeypatch.setattr("dovetail.models.pair.coupled.SURE", -1.0)
    model = joint(engine=engine, strength=0.8)
    every = WrittenOut(model, one)
    assert every.links
    scores = every.every()
    [found] = model.annotate([one], [[]])
    chosen = tuple(link[:2] in {k[:2] for k in found.links} for link in every.links)
    best = max(score for score, _ in scores.values())
    assert scores[chosen][0] == pytest.approx(best, abs=1e-5)
    assert found.certain


@pytest.mark.parametrize("words", [(("Ada",), ("Ado",)), (("Bern",), ("Berno",)), (("Zoe",), ("Ado",))])
def test_probabilities_of_a_link_are_those_of_all_answers(words, monkeypatch):
    monkeypatch.setattr("dovetail.models.pair.coupled.SURE", -1.0)
    monkeypatch.setitem(LIKELY, "joint", 0.001)
    one = Pair(*words)
    model = joint(engine="bp", strength=0.8)
    model.aligner = copy(aligner())
    model.aligner.threshold = 0.0
    sums = {on: whole for on, (_, whole) in WrittenOut(model, one).every().items()}
    [found] = model.annotate([one], [[]])
    right = 1 / (1 + np.exp(sums[(False,)] - sums[(True,)]))
    assert found.links[0].probability == pytest.approx(right, abs=1e-3)


def test_names_move_links():
    """A name that could be linked to a name or to a verb, as far as the aligner knows, is linked to the name."""
    one = Pair(("Zoe",), ("vidis", "Ado"))
    [chains] = aligner().chains([one])
    mean = TRUST / 2 * sum(chains.posteriors())
    named, plain = (next(joint(engine="bp", strength=strength).annotate([one])) for strength in (4.0, 0.0))
    chance = [dict((link[:2], link.probability) for link in found.links) for found in (named, plain)]
    assert mean[0, 1] < 0.9
    assert chance[0][0, 1] > chance[1].get((0, 1), 0.0)


def test_the_aligner_finds_the_links():
    pairs, _ = bitext()
    for agreement in ("soft-align", "joint"):
        model = PairTagger(source=tagger(), target=unsure(), aligner=aligner(), agreement=agreement, strength=2.0)
        assert model.count(pairs).table_ is not None
        found = list(model.with_table(pair().table_).annotate(pairs))
        assert [list(one.target.layers["ner"]) for one in found] == gold()
    assert {link[:2] for link in found[0].links} == {(0, 0), (1, 2), (2, 1), (3, 3)}
    assert len(list(model.teach(pairs))) == len(pairs)


def test_long_pairs_keep_the_links_that_are_given():
    long = Pair(("saw",) * 150 + ("Ada",), ("Ado",))
    linking = linking_of(aligner(), Linked.of([long, PAIRS[0]], [[Link(150, 0, 0.9)], []]), 0.05)
    assert linking.chained.tolist() == [False, True]
    assert linking.some.source[linking.some.pair == 0].tolist() == [150]
    found = list(joint().annotate([long, PAIRS[0]], [[Link(150, 0, 0.9)], []]))
    assert [link[:2] for link in found[0].links] == [(150, 0)]


def test_the_least_probability_is_that_of_the_aligner():
    pairs = [Pair(("Ada", "left", "Bern"), ("Berno", "x", "Ado")), *PAIRS]
    chances = []
    for threshold in (0.1, 0.9):
        own = copy(aligner())
        own.threshold = threshold
        model = PairTagger(source=tagger(), target=unsure(), agreement="joint", aligner=own, engine="bp")
        found = model.with_table(pair().table_).annotate(pairs)
        chances.append([link.probability for one in found for link in one.links])
        assert min(chances[-1]) >= threshold
    assert len(chances[0]) > len(chances[1])


def test_links_from_nowhere():
    with pytest.raises(DovetailError, match="give some, or an aligner"):
        list(pair().annotate(bitext()[0]))
