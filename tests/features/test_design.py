"""The compiled features are those that the slow path spells out, token by token."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra import templates as t
from dovetail.features.algebra.sets import SETS, FeatureSet
from dovetail.features.compile.design import Compiler, Design, assemble
from dovetail.features.compile.index import Collector, FeatureIndex
from dovetail.features.compile.named import named_features
from dovetail.text.sentence import Sentence

EVERYTHING = FeatureSet.of(
    [
        "bias", "word[-2:3]", "lower[0]", "shape[-1:2]", "type[0]", "short_type[0]", "cap[0]", "normal[0]",
        "title[-1:1]", "radicals[0]", "prefix(1, 4)[-1:2]", "suffix(2, 3)[0]", "ngrams(1)[0]",
        "ngrams(2, 3)[1]", "bag(word, 3)",
        "bag(shape, -2, 2)", "word[-1] & word[0]", "word[-1] & pos[0] & shape[1]", "word[0] & pos[0]",
        "shape[0] & lower[0]",         "prefix(1, 2)[0] & word[1]", "title[-1] & cap[0]",
        "shape(of=pos)[0]", "number(score)[-1]", "elsewhere(word[-1])", "elsewhere(prefix(1, 3)[1])",
        "elsewhere(shape[0])",
    ]
)  # fmt: skip

words = st.one_of(
    st.sampled_from(["the", "Mr.", "Paris", "alpha-beta", "B-52", "河流", "", "İstanbul", "\x00", "a" * 100]),
    st.text(max_size=8),
)
tokens = st.tuples(words, st.sampled_from(["NN", "VB", "."]), st.sampled_from(["0.5", "1", "-2e3"]))
sentences = st.lists(st.lists(tokens, max_size=7), min_size=1, max_size=4)


def made(rows: list[list[tuple[str, str, str]]]) -> list[Sentence]:
    return [
        Sentence(
            tuple(w for w, _, _ in row),
            {"pos": tuple(p for _, p, _ in row), "score": tuple(n for _, _, n in row)},
        )
        for row in rows
    ]


def fired(design: Design, keys: np.ndarray, token: int) -> Counter[tuple[int, float]]:
    found: Counter[tuple[int, float]] = Counter()
    for row in design.row_index[token]:
        if row >= 0:
            for e in range(design.row_ptr[row], design.row_ptr[row + 1]):
                value = 1.0 if design.row_value is None else design.row_value[e]
                found[int(keys[design.row_feature[e]]), float(value)] += 1
    found.update((int(keys[f]), 1.0) for f in design.feature_index[token] if f >= 0)
    return found


@settings(max_examples=60, deadline=None)
@given(sentences)
@example([[("\uf900u\u0308", "NN", "0.5")]])  # not composed, as some systems write letters
def test_compiled_features_are_the_named_ones(rows: list[list[tuple[str, str, str]]]) -> None:
    corpus = made(rows)
    compiler = Compiler(Columns.of(corpus, EVERYTHING.columns), corpus)
    collector = Collector()
    trained = assemble(compiler, EVERYTHING.templates, collector)
    keys = collector.keys
    assert len(set(keys.tolist())) == len(keys)
    index = FeatureIndex(np.sort(keys))
    looked_up = assemble(compiler, EVERYTHING.templates, index)
    token = 0
    for sentence in corpus:
        for position in range(len(sentence)):
            named = [f for template in EVERYTHING.templates for f in named_features(template, sentence, position)]
            expected = Counter((int(f.key), float(f.value)) for f in named)
            assert fired(trained, keys, token) == expected
            assert fired(looked_up, index.keys, token) == expected
            token += 1


def test_unknown_features_are_dropped_when_looked_up() -> None:
    seen, unseen = Sentence(("a", "b")), Sentence(("b", "c"))
    features = FeatureSet.of(["word[0]", "word[-1] & word[0]"])
    collector = Collector()
    assemble(Compiler(Columns.of([seen], features.columns)), features.templates, collector)
    index = FeatureIndex(np.sort(collector.keys))
    design = assemble(Compiler(Columns.of([unseen], features.columns)), features.templates, index)
    assert sum(fired(design, index.keys, 0).values()) == 1  # the word b, but not b at the start
    assert sum(fired(design, index.keys, 1).values()) == 0


def test_hashing_bounds_the_number_of_features() -> None:
    corpus = [Sentence(tuple(f"w{i}" for i in range(3000)))]
    features = FeatureSet.of(["word[-1:2]", "word[-1] & word[0]"])
    collector = Collector(bits=8)
    design = assemble(Compiler(Columns.of(corpus, features.columns)), features.templates, collector)
    assert collector.size <= 256
    assert design.feature_index.max() < 256
    assert design.row_feature.max() < 256
    index = FeatureIndex(np.sort(collector.keys), bits=8)
    again = assemble(Compiler(Columns.of(corpus, features.columns)), features.templates, index)
    assert fired(again, index.keys, 7) == fired(design, collector.keys, 7)


def by_length(sentence: Sentence) -> list[dict[str, float]]:
    return [{"length": float(len(w)), "long": 1.0} if w else {} for w in sentence.words]


def test_a_python_function_is_a_template() -> None:
    corpus = [Sentence(("abc", "", "de"))]
    features = FeatureSet.of([t.call(by_length)])
    collector = Collector()
    design = assemble(Compiler(Columns.of(corpus, features.columns), corpus), features.templates, collector)
    assert sorted(v for _, v in fired(design, collector.keys, 0)) == [1.0, 3.0]
    assert not fired(design, collector.keys, 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_features_that_are_not_finite_are_refused(value: float) -> None:
    corpus = [Sentence(("a", "b"))]

    def bad(sentence: Sentence) -> list[dict[str, float]]:
        return [{"x": 1.0}, {"x": value}]

    with pytest.raises(DovetailError, match=r"sentence 1, word 2: feature 'x' is (nan|inf)"):
        assemble(Compiler(Columns.of(corpus, []), corpus), [t.call(bad)], Collector())
    numbers = [Sentence(("a",), {"score": (str(value),)})]
    features = FeatureSet.of(["number(score)[0]"])
    with pytest.raises(DovetailError, match=r"sentence 1, word 1: '(nan|inf)' is not a finite number"):
        assemble(Compiler(Columns.of(numbers, features.columns), numbers), features.templates, Collector())


def test_a_function_that_misses_words_is_refused() -> None:
    corpus = [Sentence(("a", "b"))]
    template = t.call(lambda sentence: [["x"]], "short")
    with pytest.raises(DovetailError, match="2 words, the function gave features for 1"):
        assemble(Compiler(Columns.of(corpus, []), corpus), [template], Collector())


def test_every_named_set_compiles() -> None:
    corpus = [Sentence(("Ada", "wrote", "."), {"pos": ("NNP", "VBD", ".")}), Sentence(())]
    for name in SETS:
        features = FeatureSet.named(name)
        for edge in (False, True):
            chosen = [template for template in features.templates if template.edge == edge]
            design = assemble(Compiler(Columns.of(corpus, features.columns), corpus), chosen, Collector())
            assert design.tokens == 3


def test_columns_number_values_from_one() -> None:
    columns = Columns.encode({"word": [["a", "b"], [], ["a"]]}, [2, 0, 1])
    assert columns.offsets.tolist() == [0, 2, 2, 3]
    assert columns.columns["word"].ids.tolist() == [1, 2, 1]


def test_a_bag_is_a_set_of_values() -> None:
    corpus = [Sentence(("x", "dog", "cat")), Sentence(("x", "dog", "dog"))]
    features = FeatureSet.of(["bag(shape, 1, 2)"])
    collector = Collector()
    design = assemble(Compiler(Columns.of(corpus, features.columns)), features.templates, collector)
    assert fired(design, collector.keys, 0) == fired(design, collector.keys, 3)
    assert sum(fired(design, collector.keys, 0).values()) == 1


def test_endless_windows_and_affixes_cost_no_more_than_the_words() -> None:
    corpus = [Sentence(("a", "bc", "d"))]
    features = FeatureSet.of(["bag(word, 2000000000)", "prefix(1, 10000000000)[0]"])
    design = assemble(Compiler(Columns.of(corpus, features.columns)), features.templates, Collector())
    assert design.row_index.shape[1] <= 7
