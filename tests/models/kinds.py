"""Every kind of model with a little data, for what all of them do alike."""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.models.base import Estimator
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.entailment.estimator import Entailment
from dovetail.models.joint.estimator import JointParser
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.estimator import RoleLabeller
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.brackets import parse_tree
from dovetail.text.dependencies import Dependencies
from dovetail.text.frames import Frame
from dovetail.text.pairs import Pair
from dovetail.text.sentence import Sentence, Span
from tests.models.corpus import made


class Kind(NamedTuple):
    """A model to train, the sentences to train it on, and the same as inputs and right answers."""

    model: Estimator
    sentences: list[Any]
    inputs: list[Any]
    answers: list[Any]


def _flat() -> list[Sentence]:
    return [Sentence(s.words, {"ner": s.layers["ner"]}) for s in made(12)]


def _nested() -> list[Sentence]:
    lab = Sentence(("University", "of", "Bern", "said"), spans=(Span(0, 3, "ORG"), Span(2, 3, "LOC")))
    return [lab, Sentence(("Bern", "said"), spans=(Span(0, 1, "LOC"),))] * 4


def _trees() -> list[Sentence]:
    lines = ["(S (NP (NNP Ada)) (VP (VBD slept)))", "(S (NP (NNP Bob)) (VP (VBD saw) (NP (NNP Ada))))"]
    trees = [parse_tree(line) for line in lines] * 4
    return [Sentence(tuple(tree.words()), {}, (Span(0, 1, "PER"),), tree=tree) for tree in trees]


def _arcs() -> list[Sentence]:
    layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    return [Sentence(("Ada", "wrote"), layers), Sentence(("Bob", "slept"), layers)] * 4


def _frames() -> list[Sentence]:
    """Sentences with trees and frames, of two verbs and a noun."""
    slept, saw = _trees()[:2]
    house = parse_tree("(S (NP (NNP Ada)) (VP (VBD made) (NP (NP (DT a) (NN sale)) (PP (IN of) (NP (NNS boats))))))")
    frames = [
        (slept.tree, [Frame(1, "sleep.01", "sleep", [(0, 1, "ARG0")])]),
        (saw.tree, [Frame(1, "see.01", "see", [(0, 1, "ARG0"), (2, 3, "ARG1")])]),
        (house, [Frame(1, "make.LV", "make", [(2, 6, "ARGM-PRR")]), Frame(3, "sell.01", "sell", [(4, 6, "ARG1")])]),
    ]
    return [Sentence(tree.words(), tree=tree, frames=own) for tree, own in frames for _ in range(4) if tree]


def _pairs() -> list[Pair]:
    told = [("Ada saw Bob in Bern.", "Ada saw Bob.", "yes"), ("Bob slept in Bern.", "Ada wrote two notes.", "no")]
    more = [("Dora left Rome on Monday.", "Dora left Rome.", "yes"), ("It rained.", "Bob praised Dora.", "no")]
    return [Pair(*each) for each in told + more] * 3


WORDS = [["北京", "人"], ["人", "爱", "人"]] * 4


def kinds() -> dict[str, Kind]:
    """The kinds by name; models are quick to train."""
    flat, nested, trees, arcs = _flat(), _nested(), _trees(), _arcs()
    tags = [s.layers["ner"] for s in flat]
    gold = [s.tree for s in trees]
    treeless = [Sentence(s.words, {}, s.spans) for s in trees]
    bare = [s.words for s in nested]
    words = [s.words for s in flat]
    untied = [Sentence(s.words, {"pos": s.layers["pos"]}) for s in arcs]
    frames = _frames()
    labeller = RoleLabeller(gold_trees=True, ranked=3, folds=2, iterations=3)
    pairs = _pairs()
    unjudged = [(pair.text, pair.hypothesis) for pair in pairs]
    heads = [Dependencies((1, -1), ("nsubj", "root"))] * len(arcs)
    return {
        "tagger": Kind(Tagger(features=["word[0]", "shape[0]"], iterations=5), flat, words, tags),
        "words": Kind(Segmenter(iterations=3), WORDS, ["".join(each) for each in WORDS], WORDS),
        "segments": Kind(Segmenter(target="ner", iterations=3), flat, words, tags),
        "nested": Kind(NestedTagger(min_count=1, iterations=3), nested, bare, [s.spans for s in nested]),
        "parser": Kind(Parser(iterations=2), trees, [s.words for s in trees], gold),
        "labelled": Kind(Parser(kind="labelled", iterations=2), trees, [s.words for s in trees], gold),
        "ruled": Kind(Parser(kind="labelled-rules", iterations=2), trees, [s.words for s in trees], gold),
        "joint": Kind(JointParser(iterations=2, entity_min_count=1), trees, treeless, gold),
        "soft": Kind(
            JointParser(coupling="soft", coupled_training="couplings", iterations=2, entity_min_count=1),
            trees,
            treeless,
            gold,
        ),
        "roles": Kind(labeller, frames, [Sentence(s.words, tree=s.tree) for s in frames], [s.frames for s in frames]),
        "dependency": Kind(DependencyParser(bits=10, iterations=3, threshold=0.0), arcs, untied, heads),
        "entailment": Kind(Entailment(names="none", iterations=9, l2=1.0), pairs, unjudged, [p.label for p in pairs]),
    }


KINDS = kinds()
