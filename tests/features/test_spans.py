"""The algebra of segments, and what it compiles to."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra.nested_sets import TAG_LINES, NestedFeatures, nested_features
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.algebra.span_sets import SPAN_SETS, USUAL, SpanFeatures, span_features
from dovetail.features.algebra.spans import parse_span
from dovetail.features.algebra.syntax import TemplateError
from dovetail.features.algebra.templates import word
from dovetail.features.compile.design import assemble
from dovetail.features.compile.index import Collector, FeatureIndex
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.association import Association
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.lexicon import Lexicon
from dovetail.features.resources.variety import Variety
from dovetail.features.resources.vectors import Vectors
from dovetail.vectors.table import VectorTable

WORDS = [["New", "York", "and", "New", "York"], ["york"]]
TEXT = Columns.encode({"word": WORDS}, [len(w) for w in WORDS])


@pytest.mark.parametrize(
    ("line", "part", "seen", "lines"),
    [
        ("word[start - 1]", "start", ["word[-1]"], ["word[start - 1]"]),
        ("word[start - 1:start + 1]", "start", ["word[-1]", "word[0]"], ["word[start - 1]", "word[start]"]),
        ("shape[end] & word[end + 1]", "end", ["shape[0] & word[1]"], ["shape[end] & word[end + 1]"]),
        ("prefix(1, 3)[inside]", "inside", ["prefix(1, 3)[0]"], ["prefix(1, 3)[inside]"]),
        ("bias[end]", "end", ["bias"], ["bias[end]"]),
        ("bag(lower, -3, -1)[start]", "start", ["bag(lower, -3, -1)"], ["bag(lower, -3, -1)[start]"]),
        ("elsewhere(lower[end + 1])", "end", ["elsewhere(lower[1])"], ["elsewhere(lower[end + 1])"]),
        ("number(score)[start - 2]", "start", ["number(score)[-2]"], ["number(score)[start - 2]"]),
        ("phrase", "phrase", ["phrase"], ["phrase"]),
        ("lower(phrase)", "phrase", ["lower(phrase)"], ["lower(phrase)"]),
        ("length", "phrase", ["length"], ["length"]),
    ],
)
def test_lines_are_read(line: str, part: str, seen: list[str], lines: list[str]) -> None:
    found = parse_span(line)
    assert {template.part for template in found} == {part}
    assert [template.text() for template in found] == seen  # of which keys are made: no anchor in them
    assert [str(template) for template in found] == lines
    assert [template for text in lines for template in parse_span(text)] == found


@pytest.mark.parametrize(
    "line",
    ["word[0]", "word[start] & word[end]", "ngrams(1, 3)(phrase)", "title(phrase)", "lexicon(x, phrase)", "word[", ""],
)
def test_what_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(TemplateError, match="template"):
        parse_span(line)


def test_a_pair_of_labels_is_refused() -> None:
    with pytest.raises(Exception, match="label before"):
        SpanFeatures.from_lines("x", ["edge(word[start])"])


@pytest.mark.parametrize("name", SPAN_SETS)
def test_named_sets_survive_being_written(name: str) -> None:
    found = span_features(name)
    assert SpanFeatures.from_lines(name, found.lines()).parts == found.parts


def test_resources_join_a_named_set() -> None:
    import io

    resources = {
        "c": Clusters.of_paths({"York": "01"}),
        "l": Lexicon.of({"city": ["New York"]}),
        "a": Association.count([io.StringIO("ab\nabc\n")], unit="char"),
        "v": Variety.count(["天地人", "地人和"], least=1),
        "w": Vectors.of(VectorTable(["York"], np.ones((1, 2), np.float32))),
    }
    assert {r.kind for r in resources.values()} | {"hints"} == set(USUAL)  # a hint is a whole tagger
    features = span_features("words-spans", resources)
    assert features.resources.keys() == resources.keys()
    again = pickle.loads(pickle.dumps(features))
    assert again.parts == features.parts
    assert SpanFeatures.from_lines("again", features.lines(), (), resources).parts == features.parts


def test_nested_sets_survive_being_written() -> None:
    resources = {"c": Clusters.of_paths({"York": "01"}), "my list": Lexicon.of({"city": ["New York"]})}
    more = [
        "word[end] & pos[start - 1] & lower[end + 1]",
        "class(phrase)",
        "cluster(c, 1, phrase)",
        "elsewhere(word[1])",
    ]
    features = nested_features("nested", resources, more=[*TAG_LINES, *more])  # type: ignore[arg-type]
    lines = features.lines()
    assert {"pos[start - 1] & word[end] & lower[end + 1]", "class(phrase)", "cluster(c, 1, phrase)"} <= {*lines}
    assert {"tag(word[-1])", "joint(bias)", "lexicon('my list', phrase)", "bias[inside]", "bias"} <= {*lines}
    assert NestedFeatures.from_lines("again", lines, (), resources).parts == features.parts  # type: ignore[arg-type]
    assert features.without_columns(["pos"]).columns == ("word", "class")


def test_a_set_of_another_kind_is_refused() -> None:
    with pytest.raises(DovetailError, match="list of templates"):
        FeatureSet.of(span_features("ner-spans"))
    with pytest.raises(DovetailError, match="list of templates"):
        span_features(FeatureSet.named("ner"))
    with pytest.raises(DovetailError, match="of the part node, not one of start"):
        span_features([word[0]])


def compiled(lines: list[str], longest: int = 3, **resources: object) -> tuple[SpanCompiler, np.ndarray]:
    features = span_features(lines, resources)  # type: ignore[arg-type]
    compiler = SpanCompiler.over(TEXT, longest)
    index = Collector()
    design = assemble(compiler, features.parts["phrase"], index)
    fires = np.zeros((design.tokens, design.features))
    value = design.row_value if design.row_value is not None else np.ones(len(design.row_feature))
    for c in range(design.tokens):
        for row in design.row_index[c][design.row_index[c] >= 0]:
            for e in range(design.row_ptr[row], design.row_ptr[row + 1]):
                fires[c, design.row_feature[e]] += value[e]
        for f in design.feature_index[c][design.feature_index[c] >= 0]:
            fires[c, f] += 1
    return compiler, fires.reshape(TEXT.tokens, longest, -1)


def test_equal_phrases_share_a_feature_and_others_do_not() -> None:
    _, fires = compiled(["phrase"])
    new_york, again, york = fires[0, 1], fires[3, 1], fires[1, 0]
    assert (new_york == again).all()
    assert not (new_york == york).all()
    assert not (fires[4, 0] == fires[5, 0]).all()  # York, york
    _, fires = compiled(["lower(phrase)"])
    assert (fires[4, 0] == fires[5, 0]).all()


def test_no_phrase_goes_past_its_sentence() -> None:
    _, fires = compiled(["phrase"])
    beyond = fires[4, 1]
    assert (beyond == fires[5, 2]).all()  # all that is no segment is one feature,
    assert not any((beyond == fires[t, d]).all() for t in range(3) for d in range(3))  # which no segment has


def test_lengths() -> None:
    _, fires = compiled(["length"])
    assert (fires[0].argmax(axis=1) == fires[3].argmax(axis=1)).all()
    assert len(set(fires[0].argmax(axis=1).tolist())) == 3


def test_a_lexicon_knows_whole_segments() -> None:
    _, fires = compiled(["lexicon(l, phrase)"], l=Lexicon.of({"city": ["New York"]}))
    assert [tuple(at) for at in np.argwhere(fires.sum(axis=2) > 0)] == [(0, 1), (3, 1)]


def test_association_inside_segments_is_a_number() -> None:
    import io

    table = Association.count([io.StringIO("New York\nNew York\nand so\n")], unit="word")
    _, fires = compiled(["association(a, phrase)"], a=table)
    pair = table.within(TEXT.columns["word"], np.array([0]), np.array([2]))[0]
    assert fires[0, 1].sum() == pytest.approx(pair)
    assert fires[0, 0].sum() == 0.0


def test_a_model_knows_only_what_it_has_seen() -> None:
    features = span_features(["phrase"])
    index = Collector()
    assemble(SpanCompiler.over(TEXT, 2), features.parts["phrase"], index)
    other = Columns.encode({"word": [["New", "Paris"]]}, [2])
    design = assemble(SpanCompiler.over(other, 2), features.parts["phrase"], FeatureIndex(np.sort(index.keys)))
    assert (design.feature_index[:, 0] >= 0).tolist()[:3] == [True, False, False]


def test_variety_counts_different_neighbours() -> None:
    table = Variety.count(["甲天地乙", "丙天地丁", "丙天地乙", "天地，"], longest=2, least=3)
    column = Columns.encode({"word": [list("天地")]}, [2])
    before = table.bins(column.columns["word"], column.offsets, 2, "before")
    after = table.bins(column.columns["word"], column.offsets, 2, "after")
    # before: 甲, 丙 and an edge: 3, whose bin is 1 + floor(log2(4)); after: 乙, 丁 and a comma
    assert before.tolist() == [3, 0]
    assert after.tolist() == [3, 0]
    again = Variety.restore(table.settings(), table.arrays())
    assert (again.bins(column.columns["word"], column.offsets, 2, "after") == after).all()
