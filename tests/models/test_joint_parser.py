"""Trees and entities by one model: they never cross, and either helps the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.entities import RepairReport, crosses, fitted, with_entity_nodes
from dovetail.grammars.joint import Carriers, JointGrammar
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.models.joint.estimator import BIASES, JointParser
from dovetail.models.joint.training import JointCorpus, JointTraining, Least
from dovetail.models.parser.training import ParserSettings
from dovetail.models.tagging import pos_tagger
from dovetail.sparse import SparseGradient
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence, Span
from tests.trees import NAMES, treebank


def annotated(count: int, seed: int = 1) -> list[Sentence]:
    """Names are people; an adjective and a noun after an article, which are no constituent, are things."""
    found = []
    for sentence in treebank(count, seed):
        spans, tags = [], sentence.layers["pos"]
        for i, word in enumerate(sentence.words):
            if word in NAMES:
                spans.append(Span(i, i + 1, "PER"))
            if tags[i : i + 2] == ("JJ", "NN") and tags[i - 1] == "DT" and sentence.words[i + 1] == "house":
                spans.append(Span(i, i + 2, "THING"))
        found.append(replace(sentence, spans=tuple(spans)))
    return found


@pytest.fixture(scope="module")
def parser() -> JointParser:
    return JointParser(iterations=4, folds=2, batch=8).fit(annotated(100))


def test_it_learns_trees_and_entities(parser: JointParser) -> None:
    assert parser.score(annotated(60, seed=5)) > 90


def test_entities_never_cross_constituents(parser: JointParser) -> None:
    for parse in parser.parse([s.words for s in annotated(60, seed=6)]):
        for entity in parse.spans or ():
            assert not any(crosses(entity, constituent) for constituent in (parse.tree.spans() if parse.tree else ()))


def test_nodes_that_were_added_for_entities_are_gone(parser: JointParser) -> None:
    labels = {node.label for tree in parser.predict([s.words for s in annotated(60, seed=6)]) for node in tree.nodes()}
    assert labels <= {"ROOT", "S", "NP", "VP", "PP", "NNP", "DT", "NN", "JJ", "IN", "VBD", "VBZ", "."}


def test_entities_have_probabilities(parser: JointParser) -> None:
    [spans] = parser.predict_entities([["Ada", "saw", "the", "old", "house", "."]])
    assert [(s.start, s.end, s.label) for s in spans] == [(0, 1, "PER"), (3, 5, "THING")]
    assert all(0.3 < (s.probability or 0) <= 1 for s in spans)


def test_answers_are_pairs_whose_probabilities_sum_to_one(parser: JointParser) -> None:
    words = ["Ada", "saw", "the", "old", "house", "."]
    plain = replace(parser, balance=False)
    plain.model_ = replace(parser._model(), bias=0.0)
    [best] = plain.parse([words], probabilities=True)
    [answers] = plain.kbest([words], k=500)
    assert (answers[0].tree, [e.label for e in answers[0].spans or ()]) == (
        best.tree,
        [e.label for e in best.spans or ()],
    )
    assert 0 < (best.probability or 0) <= (answers[0].probability or 0) + 1e-9
    assert sum(a.probability or 0 for a in answers) == pytest.approx(1.0, abs=0.02)
    for entity in best.spans or ():
        place = (entity.start, entity.end, entity.label)
        having = [a for a in answers if place in {(e.start, e.end, e.label) for e in a.spans or ()}]
        assert entity.probability == pytest.approx(sum(a.probability or 0 for a in having), abs=0.02)
    assert len({(a.tree, a.spans) for a in answers}) == len(answers)


def test_annotate_gives_both(parser: JointParser) -> None:
    [found] = parser.annotate([Sentence(("Ada", "saw", "the", "dog", "."))])
    assert found.tree is not None
    assert found.layers["ner"][0] == "B-PER"


def test_a_model_goes_through_a_file(parser: JointParser, tmp_path: Path) -> None:
    parser.save(tmp_path / "m")
    again = JointParser.load(tmp_path / "m")
    words = [s.words for s in annotated(20, seed=8)]
    assert again.parse(words) == parser.parse(words)


def test_a_bias_makes_more_entities_and_leaves_their_probabilities(parser: JointParser, tmp_path: Path) -> None:
    assert parser.model_ is not None
    bare = [Sentence(s.words) for s in annotated(30, seed=6)]
    eager = replace(parser)
    eager.model_ = replace(parser.model_, bias=20.0)
    usual, more = parser.predict_entities(bare), eager.predict_entities(bare)
    assert sum(map(len, more)) > sum(map(len, usual))
    known = {(i, e.start, e.end, e.label): e.probability for i, each in enumerate(usual) for e in each}
    shared = [(i, e) for i, each in enumerate(more) for e in each if (i, e.start, e.end, e.label) in known]
    assert shared
    assert all(e.probability == pytest.approx(known[i, e.start, e.end, e.label]) for i, e in shared)
    eager.save(tmp_path / "m")
    assert JointParser.load(tmp_path / "m").predict_entities(bare) == more


def test_dev_decides_what_an_entity_is_worth() -> None:
    train, dev = annotated(40), annotated(30, seed=3)
    balanced = JointParser(iterations=2, folds=2, batch=8).fit(train, dev=dev)
    plain = JointParser(iterations=2, folds=2, batch=8, balance=False).fit(train, dev=dev)
    assert plain.model_ is not None
    assert balanced.model_ is not None
    assert plain.model_.bias == 0.0
    assert balanced.model_.bias in BIASES
    assert balanced.score(dev) >= plain.score(dev) - 1


def test_by_recall_the_probable_entities_are_found(parser: JointParser) -> None:
    by_recall = replace(parser, decode="recall")
    by_recall.model_ = parser.model_
    bare = [Sentence(s.words) for s in annotated(30, seed=6)]
    for best, expected in zip(parser.predict_entities(bare), by_recall.predict_entities(bare), strict=True):
        sure = {(e.start, e.end, e.label) for e in best if (e.probability or 0) > 0.9}
        assert sure <= {(e.start, e.end, e.label) for e in expected}
        assert all((e.probability or 0) > 0.3 for e in expected)


def test_by_recall_a_bias_lowers_what_entities_must_have(parser: JointParser) -> None:
    bare = [Sentence(s.words) for s in annotated(30, seed=6)]
    found = []
    for bias in (-6.0, 0.0):
        made = replace(parser, decode="recall")
        made.model_ = replace(parser._model(), bias=bias)
        found.append([e for each in made.predict_entities(bare) for e in each])
    assert 0 < len(found[0]) < len(found[1])
    assert all((e.probability or 0) > 0.99 for e in found[0])


def test_features_of_entities_in_too_few_documents_are_dropped() -> None:
    data = [replace(sentence, document=i // 20) for i, sentence in enumerate(annotated(40))]
    others = [replace(sentence, document=i // 5) for i, sentence in enumerate(annotated(10, seed=3))]

    def features(least: int, entities: list[Sentence]) -> int:
        made = JointParser(iterations=1, folds=2, entity_min_count=1, entity_min_documents=least)
        model = made.fit(data, entities_only=entities).model_
        assert model is not None
        return int((np.diff(model.entity_layout.ptr) > 0).sum())

    assert features(1, []) > features(2, []) > 0
    assert features(2, others) > features(3, others) > features(4, others) > 0
    with pytest.raises(DovetailError, match=r"no feature of entities occurs in 5 documents.*entity_min_documents=1"):
        features(5, others)
    with pytest.raises(DovetailError, match="entity_min_documents"):
        JointParser(entity_min_documents=0).fit(data)


def test_trees_alone_and_entities_alone_help() -> None:
    few = annotated(12, seed=2)
    more = annotated(150, seed=3)
    dev = annotated(80, seed=4)
    alone = JointParser(iterations=4, folds=2, batch=8).fit(few).score(dev)
    trees = [replace(s, spans=()) for s in more[:75]]
    entities = [replace(s, tree=None) for s in more[75:]]
    helped = JointParser(iterations=4, folds=2, batch=8).fit(few, trees_only=trees, entities_only=entities)
    assert helped.card_["trees_only"] == helped.card_["entities_only"] == 75
    assert helped.score(dev) > alone


@pytest.mark.parametrize("extra", [False, True])
def test_gradient(extra: bool) -> None:
    data = annotated(8, seed=4)
    both = data[:4] if extra else data
    trees = [replace(s, spans=()) for s in data[4:6]] if extra else []
    entities = [replace(s, tree=None) for s in data[6:]] if extra else []
    tags = [s.layers["pos"] for s in [*both, *trees, *entities]]
    settings = ParserSettings(Binarisation(), None, True, {}, 0.0, 1, 2)
    corpus = JointCorpus(both, trees, entities, tags)
    objective = JointTraining.prepare_joint(corpus, settings, pos_tagger(), Least(1, 1), 0.5).objective
    rng = np.random.default_rng(0)
    weight = rng.normal(size=objective.parameters) * 0.2
    everything = np.arange(objective.items)
    sink = SparseGradient.of_size(objective.parameters)
    objective.touch(everything, sink)
    sink.value[:] = 0.0
    assert objective.accumulate(weight, everything, sink) > 1
    gradient = sink.value.copy()
    for _ in range(4):
        direction, step = rng.normal(size=objective.parameters), 1e-5
        up, down = (objective.accumulate(weight + s * direction, everything, sink) for s in (step, -step))
        assert (up - down) / (2 * step) == pytest.approx(float(gradient @ direction), rel=1e-5, abs=1e-5)


def test_a_joint_derivation_comes_apart_again() -> None:
    for sentence in annotated(40, seed=9):
        assert sentence.tree is not None
        tree = with_entity_nodes(sentence.tree.children[0], sentence.spans)
        uses = Binarisation()(tree)
        base = TreebankGrammar.of([uses])
        derivation = base.derivation(uses)
        assert derivation is not None
        joint = JointGrammar.of(base, ["PER", "THING"], Carriers.of(base, [(derivation, sentence.spans)]))
        whole = joint.derivation(derivation, sentence.spans)
        assert whole is not None
        back, entities = joint.parts(whole)
        assert base.tree(back, tree.words()) == tree
        assert tuple(entities) == sentence.spans


@pytest.mark.parametrize(
    ("tree", "entity", "repaired", "kind"),
    [
        ("(S (NP (NNP Acme)) (VP (VBD bought) (NP (NNP Beta) (NNP Corp.))) (. .))", (2, 5), (2, 4), "final period"),
        (
            "(NP (NP (DT the) (NNP University)) (PP (IN of) (NP (NNP Bern))))",
            (1, 4),
            (1, 4),
            "determiner before a phrase",
        ),
        (
            "(NP (NP (DT the) (JJ old) (NNP University)) (PP (IN of) (NP (NNP Bern))))",
            (2, 5),
            (2, 5),
            "modifier before a phrase",
        ),
    ],
)
def test_repairs(tree: str, entity: tuple[int, int], repaired: tuple[int, int], kind: str) -> None:
    parsed = parse_tree(f"(ROOT {tree})")
    report = RepairReport()
    found = fitted(Sentence(parsed.words(), tree=parsed, spans=(Span(*entity, "ORG"),)), report)
    assert found.tree is not None
    assert [(s.start, s.end) for s in found.spans] == [repaired]
    assert not any(crosses(found.spans[0], constituent) for constituent in found.tree.spans())
    assert report.repaired == {kind: 1}
    assert found.tree.words() == parsed.words()


@pytest.mark.parametrize(("end", "text"), [(3, "b c"), (4, "b c d")])  # a subject is no inner phrase: it stays whole
def test_what_cannot_be_repaired_is_listed(end: int, text: str) -> None:
    parsed = parse_tree("(ROOT (S (NP (DT a) (NN b)) (VP (VB c) (NN d))))")
    report = RepairReport()
    sentence = Sentence(parsed.words(), tree=parsed, spans=(Span(1, end, "X"),), id="s1")
    assert fitted(sentence, report).spans == ()
    assert [(lost.sentence, lost.text) for lost in report.lost] == [("s1", text)]
    assert report.lines()[-1] == "left out: 1"


def test_data_without_entities_or_trees_is_refused() -> None:
    with pytest.raises(DovetailError, match="no entities"):
        JointParser(folds=2).fit(treebank(10))
    with pytest.raises(DovetailError, match="has no tree"):
        JointParser().fit([Sentence(("a",), spans=(Span(0, 1, "X"),))])
