"""Agreement within documents, against the equation of its module spelled out token by token."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from dovetail import Document, Sentence, Tagger
from dovetail.columns import Columns
from dovetail.features.compile.repeats import repeats
from dovetail.models.batching import in_batches
from dovetail.models.consistency.agreement import FLOOR, agreed
from dovetail.models.documents import half_loosened, whole_documents
from dovetail.models.tagger.estimator import as_sentences
from tests.models.corpus import made

FEATURES = ["word[0]", "shape[0]", "word[-1]", "word[1]"]


def in_documents(sentences: list[Sentence], size: int) -> list[Sentence]:
    return [replace(s, document=i // size) for i, s in enumerate(sentences)]


def test_potentials_follow_the_equation() -> None:
    tagger = Tagger(features=FEATURES).fit(made(20))
    model = tagger.model_
    assert model is not None
    corpus = in_documents(made(6, seed=3), 3)
    chains = model.batch(corpus, 1)
    [leaning] = agreed(chains, repeats(Columns.of(corpus, ())), model.of_label, [0.7])
    words = [(s.document, w) for s in corpus for w in s.words]
    types = [name if name == "O" else name[2:] for name in model.labels.names]
    marginal = chains.marginals().unary
    for t, (document, word) in enumerate(words):
        others = [u for u, other in enumerate(words) if u != t and other == (document, word)]
        expected = chains.potentials.unary[t].copy()
        if others and not word.islower() and any(map(str.isalpha, word)):
            for y, kind in enumerate(types):
                share = np.mean([sum(marginal[u, z] for z, k in enumerate(types) if k == kind) for u in others])
                expected[y] += 0.7 * np.log(max(share, FLOOR))
        np.testing.assert_allclose(leaning.potentials.unary[t], expected, atol=1e-9)


def ambiguous(document: int) -> list[Sentence]:
    """One sentence tells what the name is, the other does not: without the rest of the document it is a guess."""
    name = f"Xo{document}"
    kind = ("PER", "ORG")[document % 2]
    hint = ("Mr.", "company")[document % 2]
    clear = Sentence((hint, name, "spoke"), {"ner": ("O", f"B-{kind}", "O")}, document=document)
    unclear = Sentence(("then", name, "left"), {"ner": ("O", f"B-{kind}", "O")}, document=document)
    return [clear, unclear]


def test_the_rest_of_the_document_decides_what_a_sentence_cannot(tmp_path: Path) -> None:
    train = [replace(s, document=None) for d in range(40) for s in ambiguous(d)]
    dev = [s for d in range(100, 120) for s in ambiguous(d)]
    tagger = Tagger(features=FEATURES, min_count=1, consistency="agree").fit(train, dev=dev)
    alone = Tagger(features=FEATURES, min_count=1, consistency="none").fit(train, dev=dev)
    assert tagger.model_ is not None
    assert tagger.model_.agreement > 0
    assert tagger.score(dev) > 99
    assert alone.score(dev) < 80
    tagger.save(tmp_path / "m")
    assert Tagger.load(tmp_path / "m").score(dev) == tagger.score(dev)


def test_without_documents_in_dev_nothing_leans() -> None:
    tagger = Tagger(features=FEATURES).fit(made(20), dev=made(10, seed=5))
    assert tagger.model_ is not None
    assert tagger.model_.agreement == 0


def test_whole_documents_may_be_given() -> None:
    one, other = Document(tuple(made(2))), Document(tuple(made(1, seed=2)))
    assert [s.document for s in as_sentences([one, other])] == [0, 0, 1]
    assert [s.document for s in as_sentences([one])] == [None, None]


def test_a_document_stays_in_one_batch_unless_it_is_very_long() -> None:
    long = Sentence(("a",) * (Tagger.batch_size // 2 + 1))
    corpus = [replace(long, document=number) for number in (0, 1, 1, 1, 2, 3, 3, 3, 3, 3)]
    batches = [[s.document for s in batch] for batch in in_batches(corpus, Tagger.batch_size)]
    assert Counter(len(b) for b in batches) == Counter({4: 2, 2: 1})
    assert batches[0] == [0, 1, 1, 1]


def test_elsewhere_is_learnt_from_whole_documents_only() -> None:
    whole = [s for d in range(30) for s in ambiguous(d)]
    holes = [s for s in whole if s.words[0] != "then" or s.document in (1, 2)]
    loose = [replace(s, document=None) for s in whole]
    assert whole_documents(whole, None)
    assert whole_documents(whole, whole)
    assert not whole_documents(holes, whole)
    assert not whole_documents(loose, whole)
    templates = [*FEATURES, "elsewhere(word[-1])"]
    for corpus, learnt in ((whole, True), (holes, False), (loose, False)):
        model = Tagger(features=templates, min_count=1).fit(corpus, dev=whole).model_
        assert model is not None
        assert model.features.looks_elsewhere == learnt


def test_every_other_document_is_taken_apart() -> None:
    corpus = in_documents(made(6), 2)
    assert [s.document for s in half_loosened(corpus)] == [0, 0, None, None, 2, 2]
