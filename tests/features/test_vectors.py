"""Word vectors as features: their values in designs, gradients, look-ups, model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail import Sentence, Tagger
from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra.nested_sets import nested_features
from dovetail.features.algebra.sets import FeatureSet, chain_features
from dovetail.features.algebra.span_sets import span_features
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.named import named_features
from dovetail.features.resources.templates import packed, unpacked
from dovetail.features.resources.vectors import SIGMA, Vectors
from dovetail.vectors.table import VectorTable

WORDS = ["rose", "lily", "walks", "talks", "0000", "##", "Lima"]
TABLE = VectorTable(WORDS, np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32))


@pytest.fixture
def vectors() -> Vectors:
    return Vectors.of(TABLE, subwords=False)


def row(vectors: Vectors, word: str) -> list[float]:
    return vectors.matrix[vectors.words.index(word)].astype(float).tolist()


def test_the_table_is_scaled(vectors: Vectors) -> None:
    assert vectors.matrix.astype(float).std() == pytest.approx(SIGMA, rel=1e-2)
    ratio = vectors.matrix.astype(float) / TABLE.matrix
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=3e-3)


@pytest.mark.parametrize(
    ("word", "found"),
    [("rose", "rose"), ("ROSE", "rose"), ("LIMA", "Lima"), ("1996", "0000"), ("42", "##"), ("tulip", None)],
)
def test_words_are_looked_for_in_other_spellings(vectors: Vectors, word: str, found: str | None) -> None:
    expected = [0.0, 0.0, 0.0] if found is None else row(vectors, found)
    assert vectors.of_words([word])[0].tolist() == expected


def test_unseen_words_are_like_words_that_are_spelled_alike() -> None:
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice(list("abcdefghij"), 5)) for _ in range(200)]
    ends = {"ing": [1, 0], "ed": [0, 1]}
    words = [f"{stem}{end}" for stem in stems for end in ends]
    table = VectorTable(words, np.array([ends[e] for _ in stems for e in ends], np.float32))
    made = Vectors.of(table)
    walking, walked = made.of_words(["walking", "walked"])
    assert walking[0] > walking[1]
    assert walked[1] > walked[0]
    assert not Vectors.of(table, subwords=False).of_words(["walking"]).any()


def test_a_design_has_the_numbers_of_each_position(vectors: Vectors) -> None:
    features = FeatureSet.of(["bias", "vector(v)[-1:2]"], {"v": vectors})
    sentences = [("rose", "tulip", "walks"), ("lily",)]
    columns = Columns.encode({"word": sentences}, [3, 1])
    collector = Collector()
    design = assemble(Compiler(columns), features.templates, collector)
    dense = np.zeros((4, collector.size))
    for token, rows in enumerate(design.row_index):
        for r in rows:
            entries = slice(design.row_ptr[r], design.row_ptr[r + 1])
            np.add.at(dense[token], design.row_feature[entries], design.row_value[entries])
    number = {key: i for i, key in enumerate(collector.keys.tolist())}
    for token, (sentence, place) in enumerate([(0, 0), (0, 1), (0, 2), (1, 0)]):
        expected = np.zeros(collector.size)
        for template in features.templates:
            for one in named_features(template, Sentence(sentences[sentence]), place):
                expected[number[int(one.key)]] += one.value
        np.testing.assert_allclose(dense[token], expected)
        there = [w for w in sentences[sentence][max(place - 1, 0) : place + 2] if w in WORDS]
        assert np.count_nonzero(dense[token]) == 1 + 3 * len(there)


TRAIN = [
    Sentence(("rose", "walks"), {"ner": ("B-A", "O")}), Sentence(("lily", "talks"), {"ner": ("B-A", "O")}),
    Sentence(("walks", "rose"), {"ner": ("O", "B-A")}),
]  # fmt: skip


@pytest.mark.parametrize("form", [{}, {"half": True}, {"compact": True}])
def test_models_carry_their_vectors(vectors: Vectors, tmp_path: Path, form: dict[str, bool]) -> None:
    features = FeatureSet.of(["vector(v)[0]"], {"v": Vectors.of(TABLE, sigma=1.0)})
    model = Tagger(features=features, l2=0.01).fit(TRAIN)
    model.save(tmp_path / "m", **form)
    again = Tagger.load(tmp_path / "m")
    unseen = [("lily", "walks"), ("Lily", "42", "tulip")]
    assert again.predict(unseen) == model.predict(unseen)
    assert again.predict([("Lily",)]) == [["B-A"]]
    ((kept,),) = ([*again.model_.features.resources.values()],)  # type: ignore[union-attr]
    np.testing.assert_allclose(kept.of_words(WORDS), features.resources["v"].of_words(WORDS), atol=0.02)  # type: ignore[attr-defined]


@pytest.mark.parametrize("compact", [False, True])
def test_resources_are_unpacked_as_they_were(vectors: Vectors, compact: bool) -> None:
    header, arrays = packed({"v": vectors}, compact)
    again = unpacked(header, arrays)["v"]
    assert isinstance(again, Vectors)
    assert again.words == vectors.words
    assert again.subwords is False
    np.testing.assert_allclose(again.matrix, vectors.matrix, atol=0.003 if compact else 0)
    with pytest.raises(ValueError, match="fit together"):
        unpacked(header, {**arrays, "resource.v.matrix": vectors.matrix[1:]})


def test_every_kind_of_set_takes_vectors(vectors: Vectors) -> None:
    known = {"v": vectors}
    for make, name in ((FeatureSet.of, "ner"), (chain_features, "words"), (span_features, "ner-spans"),
                       (nested_features, "nested")):  # fmt: skip
        made = make(name, known)
        lines = [line for line in made.lines() if "vector(v)" in line]
        assert lines
        assert type(made).from_lines("again", made.lines(), (), known).lines() == made.lines()


def test_a_toml_file_names_vectors(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "a.vec")
    (tmp_path / "f.toml").write_text('extends = "plain"\n[vectors]\nnews = "a.vec"\n')
    assert "vector(news)[-2]" in FeatureSet.of(tmp_path / "f.toml").lines()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vector(w)[0]", "needs a resource of the kind vectors"),
        ("vector(v)[0] & word[0]", "each side of &"),
        ("bag(vector(v), 3)", "no set"),
        ("elsewhere(vector(v)[0])", "give an attribute"),
        ("vector(v, 3)[0]", "vector"),
    ],
)
def test_what_vectors_cannot_do_is_told(vectors: Vectors, line: str, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        FeatureSet.of([line], {"v": vectors})
