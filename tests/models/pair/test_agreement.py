"""Two taggers that agree: engines against all taggings, kinds of agreement, and what each learns from the other."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from dovetail import DovetailError, Sentence, Tagger
from dovetail.models.consistency.coupling import Consistency
from dovetail.models.consistency.links import KINDS
from dovetail.models.pair.agreement import AGREEMENTS, LIKELY, PairTagger
from dovetail.models.pair.bitext import linked_batches
from dovetail.models.pair.linking import NEIGHBOURS
from dovetail.models.pair.picture import changes_drawn
from dovetail.models.pair.table import TypeTable
from dovetail.text.bitext import Link, Pair
from tests.models.pair.made import bitext, english, gold, tagger, unsure


def pair(**how) -> PairTagger:
    """English and the other language, with types counted in their bitext."""
    return PairTagger(source=tagger(), target=unsure(), **how).count_gold(
        [
            (Sentence(tuple(w), {"ner": tuple(t)}), Sentence(p.target, {"ner": tuple(g)}))
            for (w, t), p, g in zip(english(), bitext()[0], gold(), strict=True)
        ],
        bitext()[1],
    )


def best_score(model: PairTagger, one: Pair, links: list[Link]) -> float:
    """The highest joint score of all taggings of both sentences."""
    chains = [next(t.chains([w])) for t, w in ((model.source, one.source), (model.target, one.target))]
    table, found = model.log_table(), -np.inf
    for left in product(range(len(model.source.classes_)), repeat=len(one.source)):
        a = float(chains[0].score(np.array(left, np.int32))[0])
        if a == -np.inf:
            continue
        for right in product(range(len(model.target.classes_)), repeat=len(one.target)):
            score = a + float(chains[1].score(np.array(right, np.int32))[0])
            if model.agreement == "joint":
                score += best_links(model, links, left, right)
                links_left: list[Link] = []
            else:
                links_left = links
            for link in links_left:
                types = model._left.of_label[left[link.source]], model._right.of_label[right[link.target]]
                weight = link.probability if model.agreement == "soft-align" else 1.0
                score += table[types] * weight if link.probability >= LIKELY[model.agreement] else 0.0
            found = max(found, score)
    return found


def best_links(model: PairTagger, links: list[Link], left, right) -> float:
    """The highest score of links, each there or not, when words have these labels."""
    return max(score_of_links(model, links, on, left, right) for on in product((False, True), repeat=len(links)))


def score_of_links(model: PairTagger, links: list[Link], on, left, right) -> float:
    there = [link for link, here in zip(links, on, strict=True) if here]
    table = model.log_table()
    total = 0.0
    for link in there:
        p = min(max(link.probability, 0.01), 0.99)
        total += np.log(p / (1 - p))
        total += table[model._left.of_label[left[link.source]], model._right.of_label[right[link.target]]]
    for a, b in combinations(there, 2):
        far = (a.source == b.source and abs(a.target - b.target) > 1) or (
            a.target == b.target and abs(a.source - b.source) > 1
        )
        total -= NEIGHBOURS * far
    return total


def score_of(model: PairTagger, tagged, links: list[Link]) -> float:
    total = 0.0
    types = []
    for side, owner, known in ((tagged.source, model.source, model._left), (tagged.target, model.target, model._right)):
        labels = owner._model().labels.encode([side.layers["ner"]])
        total += float(next(owner.chains([side.words])).score(labels)[0])
        types.append(known.of_label[labels])
    if model.agreement == "joint":
        chosen = {link[:2] for link in tagged.links}
        labels = [
            t._model().labels.encode([s.layers["ner"]])
            for t, s in ((model.source, tagged.source), (model.target, tagged.target))
        ]
        return total + score_of_links(model, links, [link[:2] in chosen for link in links], *labels)
    for link in links:
        if link.probability >= LIKELY[model.agreement]:
            weight = link.probability if model.agreement == "soft-align" else 1.0
            total += model.log_table()[types[0][link.source], types[1][link.target]] * weight
    return total


@pytest.mark.parametrize("agreement", AGREEMENTS)
@pytest.mark.parametrize("engine", ["dual", "bp", "gibbs", "ilp"])
def test_engines_find_the_best_of_all(agreement, engine, monkeypatch):
    monkeypatch.setattr("dovetail.models.pair.coupled.SURE", -1.0)  # every link
    model = pair(agreement=agreement, engine=engine, strength=0.8)
    one = Pair(("Ada", "saw", "Bern"), ("Ado", "Berno", "x"))
    links = [Link(0, 0, 0.9), Link(2, 1, 0.6), Link(1, 2, 0.3), Link(0, 1, 0.2)]
    [found] = model.annotate([one], [links])
    assert score_of(model, found, links) == pytest.approx(best_score(model, one, links))
    assert found.certain or engine in ("bp", "gibbs")


def test_the_unsure_side_gains():
    pairs, links = bitext()
    alone = unsure().predict([p.target for p in pairs])
    found = list(pair(strength=2.0).annotate(pairs, links))
    together = [list(one.target.layers["ner"]) for one in found]
    assert alone != gold()
    assert together == gold()
    assert all(one.certain for one in found)
    unlike = (a != b for x, y in zip(alone, gold(), strict=True) for a, b in zip(x, y, strict=True))
    assert sum(len(one.changed) for one in found) == sum(unlike)
    first = next(one for one in found if one.changed)
    assert first.changed[0].side == "target"
    assert first.target.layers["ner"][first.changed[0].position] == first.changed[0].after
    [line, *_] = changes_drawn(first, links[0]).splitlines()
    assert " -> " in line
    assert [one.source.layers["ner"] for one in found] == [tuple(tags) for _, tags in english()]
    assert all(0 < span.probability <= 1 for one in found for span in one.target.spans)


def knowing(tagger: Tagger, strength: float) -> Tagger:
    """The tagger with what it might have learnt of the same name in a document: it has the same type."""
    found, types = copy(tagger), int(tagger._model().of_label.max()) + 1
    table = np.zeros((len(KINDS), types, types))
    table[0] = np.where(np.eye(types, dtype=bool), 1.0, -1.0)
    found.model_ = replace(tagger._model(), consistency=Consistency(table, strength))
    return found


@pytest.mark.parametrize("engine", ["dual", "ilp", "gibbs"])
def test_documents_are_in_the_graph(engine, monkeypatch):
    monkeypatch.setattr("dovetail.models.pair.coupled.SURE", -1.0)
    taggers = knowing(tagger(), 0.7), knowing(unsure(), 1.3)
    model = PairTagger(source=taggers[0], target=taggers[1], engine=engine).with_table(pair().table_)
    pairs = [Pair(("saw", "Bern"), ("Xo",)), Pair(("Bern",), ("Berno", "Xo"))]
    links = [[Link(1, 0, 0.9)], [Link(0, 0, 0.8)]]
    words = [[p[side] for p in pairs] for side in (0, 1)]
    chains = [[next(t.chains([w])) for w in own] for t, own in zip((tagger(), unsure()), words, strict=True)]
    table, of = model.log_table(), (model._left.of_label, model._right.of_label)

    def score(s0, s1, t0, t1) -> float:
        labels = ((s0, s1), (t0, t1))
        total = sum(float(chains[i][j].score(np.array(labels[i][j], np.int32))[0]) for i in (0, 1) for j in (0, 1))
        total += 0.9 * table[of[0][s0[1]], of[1][t0[0]]] + 0.8 * table[of[0][s1[0]], of[1][t1[0]]]
        same = of[0][s0[1]] == of[0][s1[0]], of[1][t0[0]] == of[1][t1[1]]
        return total + 0.7 * (1 if same[0] else -1) + 1.3 * (1 if same[1] else -1)

    labels = [range(len(t.classes_)) for t in taggers]
    every = product(*(product(labels[i], repeat=n) for i, n in ((0, 2), (0, 1), (1, 1), (1, 2))))
    found = list(model.annotate(pairs, links, ["one", "one"]))
    own = [tuple(taggers[i]._model().labels.encode([one[i].layers["ner"]]).tolist()) for i in (0, 1) for one in found]
    assert score(*own) == pytest.approx(max(score(*each) for each in every))
    assert engine == "gibbs" or all(one.certain for one in found)
    apart = [[one.layers["ner"] for one in two[:2]] for two in model.annotate(pairs, links, ["one", "two"])]
    assert apart == [[one.layers["ner"] for one in two[:2]] for two in model.annotate(pairs, links)]


def test_a_name_is_found_elsewhere_in_its_document():
    model = PairTagger(source=tagger(), target=knowing(unsure(), 4.0), strength=3.0).with_table(pair().table_)
    pairs, links = [Pair(("Ada", "."), ("Zo", ".")), Pair(("x",), ("Zo",))], [[Link(0, 0)], []]
    tags = [[one.target.layers["ner"] for one in model.annotate(pairs, links, told)] for told in (None, [1, 1], [1, 2])]
    assert tags[0] == tags[2] == [("B-PER", "O"), tags[0][1]]
    assert tags[0][1] != ("B-PER",)
    assert tags[1] == [("B-PER", "O"), ("B-PER",)]


def test_documents_that_do_not_fit():
    pairs, links = bitext()
    with pytest.raises(DovetailError, match="documents end here"):
        list(pair().annotate(pairs, links, [1]))
    with pytest.raises(DovetailError, match="documents go on"):
        list(pair().annotate(pairs[:1], links[:1], [1, 1]))


def test_documents_are_not_cut():
    pairs, links = bitext()
    sizes = [len(some.pairs) for some in linked_batches(pairs[:6], links[:6], 1, [1, 1, None, None, 2, 2])]
    assert sizes == [2, 1, 1, 2]


def test_what_the_engine_is_told():
    pairs, links = bitext()
    with pytest.raises(DovetailError, match="samples must be"):
        list(pair(engine="gibbs", how={"samples": 0}).annotate(pairs, links))
    with pytest.raises(DovetailError, match="has no 'rounds'"):
        list(pair(engine="gibbs", how={"rounds": 1}).annotate(pairs, links))
    assert len(list(pair(engine="gibbs", how={"samples": 5}).annotate(pairs, links))) == len(pairs)


def test_without_links_each_is_alone():
    pairs, _ = bitext()
    found = list(pair().annotate(pairs, [[] for _ in pairs]))
    assert [list(one.target.layers["ner"]) for one in found] == unsure().predict([p.target for p in pairs])
    assert all(not one.changed and one.certain for one in found)


def test_what_is_taught():
    pairs, links = bitext()
    taught = [target for _, target in pair(strength=2.0).teach(pairs, links)]
    assert all(0 < w <= 1 for one in taught for w in one.weight)
    learnt = Tagger(features=["word[0]", "bias"], min_count=1, l2=0.01, threads=1).fit(expectations=taught)
    assert learnt.predict([p.target for p in pairs]) == gold()


def test_a_table_is_saved_and_fits(tmp_path):
    table = pair().table_
    table.save(tmp_path / "table.json")
    again = TypeTable.load(tmp_path / "table.json")
    assert np.allclose(again.counts, table.counts, atol=1e-3)
    information = again.information()
    assert information[1, 1] > 1 > 0 > information[1, 0]
    assert "LOC" in str(again)
    with pytest.raises(DovetailError, match="count it again"):
        again.fitting(["O", "X"], ["O"])
    (tmp_path / "wrong.json").write_text("[1]")
    with pytest.raises(DovetailError, match="no table of types"):
        TypeTable.load(tmp_path / "wrong.json")


def test_types_that_do_not_map():
    other = Tagger(features=["word[0]"], min_count=1, threads=1).fit([["Bern"], ["x"]] * 3, [["B-GPE"], ["O"]] * 3)
    with pytest.raises(DovetailError, match=r"the type 'GPE', and the target has O, .*such as GPE="):
        PairTagger(source=other, target=unsure())
    made = PairTagger(source=other, target=unsure(), types={"GPE": "LOC"}, agreement="hard")
    [one] = made.annotate([Pair(("Bern",), ("zzz",))], [[Link(0, 0)]])
    assert one.source.spans[0].label == "GPE"
    assert one.target.spans[0].label == "LOC"


@pytest.mark.parametrize(
    ("how", "told"),
    [({"agreement": "some"}, "agreement='some'"), ({"engine": "x"}, "engine='x'"), ({"strength": -1}, "strength=-1")],
)
def test_wrong_settings(how, told):
    with pytest.raises(DovetailError, match=told):
        PairTagger(source=tagger(), target=unsure(), **how)
    with pytest.raises(DovetailError, match="needs a table of types"):
        list(PairTagger(source=tagger(), target=unsure()).annotate([], []))
