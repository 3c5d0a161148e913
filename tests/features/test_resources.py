"""Resources in templates: clusters, lexicons and association, from text to keys and through a model file."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from dovetail import DovetailError, FeatureSet, Sentence, Tagger
from dovetail.columns import Columns
from dovetail.features.algebra.syntax import TemplateError
from dovetail.features.compile.columns import columns_for, with_derived
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.named import named_features
from dovetail.features.resources.association import Association
from dovetail.features.resources.clusters import Clusters, prefixes
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.resource import Resource
from dovetail.features.resources.variety import Variety
from dovetail.features.resources.vectors import Vectors
from dovetail.modelfile import load_model, save_model
from dovetail.vectors.table import VectorTable

PATHS = {"London": "01101", "Paris": "01101", "the": "100", "a": "1011", "1996": "110"}
SENTENCES = [
    Sentence(("the", "PARIS", "of", "New", "York", "1997")),
    Sentence(("London",)),
    Sentence(("New", "York", "a", "the")),
]
LINES = [
    "cluster(news, 2, 4, 0)[0]",
    "cluster(news)[-1]",
    "cluster(news, 2)[-1] & cluster(news, 2)[0]",
    "cluster(news, 2, 4)[0] & word[1]",
    "bag(cluster(news, 3), 2)",
    "lexicon(places)[0]",
    "lexicon(places)[-1] & word[0]",
]


@pytest.fixture
def resources() -> dict[str, Resource]:
    places = Lexicon.of({"city": ["London", "Paris", "New York"], "name": ["York"]})
    return {"news": Clusters.of_paths(PATHS), "places": places}


@pytest.fixture
def features(resources: dict[str, Resource]) -> FeatureSet:
    return FeatureSet.from_lines("test", LINES, (), resources)


def test_the_compiled_features_are_those_that_the_slow_path_spells_out(features: FeatureSet) -> None:
    compiler = Compiler(columns_for(SENTENCES, features), SENTENCES)
    collector = Collector(None)
    design = assemble(compiler, features.templates, collector)
    token = 0
    for sentence in SENTENCES:
        shown = with_derived(sentence, features)
        for position in range(len(sentence)):
            fast = []
            for row in design.row_index[token]:
                if row >= 0:
                    fast += design.row_feature[design.row_ptr[row] : design.row_ptr[row + 1]].tolist()
            fast += [f for f in design.feature_index[token] if f >= 0]
            slow = [f.key for t in features.templates for f in named_features(t, shown, position)]
            assert sorted(collector.keys[fast].tolist()) == sorted(int(k) for k in slow)
            token += 1


def test_a_word_is_looked_for_as_written_then_without_its_case_then_without_its_digits() -> None:
    clusters = Clusters.of_paths({"Paris": "0", "the": "10", "0000": "110", "New": "1110", "new": "1111"})
    found = clusters.classes_of(["Paris", "PARIS", "THE", "1997", "New", "NEW", "unheard"])
    assert [clusters.paths[c] if c >= 0 else None for c in found] == ["0", "0", "10", "110", "1110", "1111", None]


def test_prefixes_of_short_paths_are_not_repeated() -> None:
    assert prefixes("0110", (2, 4, 8, 0)) == ["01", "0110"]


def test_a_model_carries_its_resources(tmp_path: Path, features: FeatureSet) -> None:
    tags = [["O", "B-LOC", "O", "B-LOC", "I-LOC", "O"], ["B-LOC"], ["B-LOC", "I-LOC", "O", "O"]]
    tagger = Tagger(features=features, min_count=1).fit(SENTENCES, tags)
    tagger.save(tmp_path / "m.dovetail")
    loaded = Tagger.load(tmp_path / "m.dovetail")
    assert list(loaded.model_.features.resources) == ["news", "places"]  # type: ignore[union-attr]
    for one, other in zip(tagger.predict_marginals(SENTENCES), loaded.predict_marginals(SENTENCES), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    shown = [e.feature for e in loaded.explain(SENTENCES[0], 1).evidence]
    assert any(name.startswith("cluster(news, 2, 4, 0)[0]=01") for name in shown)
    assert "lexicon(places)[0]=S-city" in shown


OF_ALL_KINDS = {
    "clusters": lambda: Clusters.of_paths(PATHS, (2, 0)),
    "lexicon": lambda: Lexicon.of({"city": ["San José", "Lima"], "name": ["Lima"]}, normalise=False),
    "association": lambda: Association.count([io.StringIO("abcabd\nbadc")], unit="char", longest=3).transform("scale"),
    "variety": lambda: Variety.count(["甲天地乙", "丙天地丁", "丙天地乙"], longest=3, least=2),
    "vectors": lambda: Vectors.of(VectorTable(["a", "é"], np.array([[1, -2], [0.1, 3]], np.float32)), subwords=False),
}


@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_a_resource_comes_back_from_a_model_file(tmp_path: Path, name: str) -> None:
    resource = OF_ALL_KINDS[name]()
    save_model(tmp_path / "m", {"kind": "test", "settings": resource.settings()}, resource.arrays())
    header, arrays = load_model(tmp_path / "m")
    back = type(resource).restore(header["settings"], arrays)
    assert back.settings() == resource.settings()
    assert back.arrays().keys() == resource.arrays().keys()
    for key, array in resource.arrays().items():
        np.testing.assert_array_equal(back.arrays()[key], array, err_msg=key, strict=True)


def test_a_set_with_resources_can_be_pickled(features: FeatureSet) -> None:
    again = pickle.loads(pickle.dumps(features))
    assert again.lines() == features.lines()
    assert list(again.resources) == ["news", "places"]


def test_usual_templates_join_a_set(resources: dict[str, Resource]) -> None:
    joined = FeatureSet.named("plain").joined(**resources)
    assert joined.name == "plain + news + places"
    assert set(joined.resources) == {"news", "places"}
    assert joined.optional == FeatureSet.named("plain").optional
    assert FeatureSet.named("plain").joined() == FeatureSet.named("plain")


def test_resources_from_toml(tmp_path: Path) -> None:
    (tmp_path / "news.paths").write_text("01\tLondon\t3\n10\tthe\t9\n", encoding="utf-8")
    (tmp_path / "places.txt").write_text("London\nNew York\n", encoding="utf-8")
    toml = tmp_path / "mine.toml"
    toml.write_text(
        'extends = "plain"\ntemplates = ["cluster(news)[0]"]\n[clusters]\nnews = "news.paths"\n'
        '[lexicon]\nplaces = "places.txt"\n',
        encoding="utf-8",
    )
    features = FeatureSet.from_toml(toml)
    assert "cluster(news, 0)[0]" in features.lines()
    assert "lexicon(places)[0]" in features.lines()  # named by no template, so the usual ones are added


def test_a_template_without_its_resource_says_what_it_needs(resources: dict[str, Resource]) -> None:
    with pytest.raises(TemplateError, match=r"needs a resource of the kind clusters with the name 'tweets'.*none"):
        FeatureSet.from_lines("x", ["cluster(tweets, 4)[0]"])
    with pytest.raises(TemplateError, match="at hand: news"):
        FeatureSet.from_lines("x", ["lexicon(news)[0]"], (), resources)
    with pytest.raises(DovetailError, match=r"0 .the whole path. or more"):
        FeatureSet.from_lines("x", ["cluster(news, -4)[0]"], (), resources)


def test_derived_columns_are_no_layers_of_the_text(features: FeatureSet) -> None:
    assert features.columns == ("word",)
    assert isinstance(columns_for(SENTENCES, features), Columns)
