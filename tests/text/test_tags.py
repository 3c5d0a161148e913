from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.text import tags as t

CHUNK_TAGS = st.one_of(
    st.just("O"),
    st.builds(t.join_tag, st.sampled_from("BIESLU"), st.sampled_from(["PER", "LOC", "creative-work", ""])),
)
TAG_LISTS = st.lists(CHUNK_TAGS, max_size=12)


def conlleval_chunks(tags: list[str]) -> list[tuple[int, int, str]]:
    """conlleval's published rules for where chunks start and end, in their IOBES form, written down anew."""
    letters = {"L": "E", "U": "S"}
    chunks = []
    open_at = None
    previous, previous_type = "O", ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        prefix = letters.get(prefix, prefix)
        ends = (
            previous in ("E", "S")
            or (previous == "B" and prefix in ("B", "S", "O"))
            or (previous == "I" and prefix in ("B", "S", "O"))
            or (previous != "O" and previous_type != kind)
        )
        starts = (
            prefix in ("B", "S")
            or (previous in ("E", "S", "O") and prefix in ("E", "I"))
            or (prefix != "O" and previous_type != kind)
        )
        if ends and open_at is not None:
            chunks.append((open_at, i, previous_type))
            open_at = None
        if starts:
            open_at = i
        previous, previous_type = prefix, kind
    return chunks


@given(TAG_LISTS)
def test_spans_are_those_of_conlleval(tags):
    assert t.tags_to_spans(tags) == conlleval_chunks(tags)


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ([], []),
        (["I-X"], [(0, 1, "X")]),
        (["O", "I-X", "I-X"], [(1, 3, "X")]),
        (["I-X", "B-X", "I-X"], [(0, 1, "X"), (1, 3, "X")]),
        (["B-X", "I-Y"], [(0, 1, "X"), (1, 2, "Y")]),
        (["B-a-b", "I-a-b", "I-a"], [(0, 2, "a-b"), (2, 3, "a")]),
        (["B", "I", "O"], [(0, 2, "")]),
        (["NN", "B-X", "NN", "I-X"], [(1, 2, "X"), (3, 4, "X")]),
        (["S-X", "E-X", "I-X"], [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        (["U-X", "B-X", "L-X"], [(0, 1, "X"), (1, 3, "X")]),
    ],
)
def test_known_chunks(tags, spans):
    assert t.tags_to_spans(tags) == spans


@st.composite
def span_lists(draw):
    length = draw(st.integers(0, 10))
    edges = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    spans = [
        (start, end, draw(st.sampled_from(["PER", "a-b"]))) for start, end in pairwise(edges) if draw(st.booleans())
    ]
    return spans, length


@given(span_lists(), st.sampled_from(t.SCHEMES), st.sampled_from(t.SCHEMES))
def test_every_scheme_spells_and_converts_the_same_spans(case, source, target):
    spans, length = case
    tags = t.spans_to_tags(spans, length, source)
    assert t.tags_to_spans(tags) == spans
    assert t.convert(tags, source, target) == t.spans_to_tags(spans, length, target)


@given(TAG_LISTS)
def test_to_iob2_keeps_the_spans_of_any_sequence(tags):
    assert t.to_iob2(tags) == t.spans_to_tags(t.tags_to_spans(tags), len(tags))


@pytest.mark.parametrize("spans", [[(0, 2, "X"), (1, 3, "X")], [(2, 4, "X")], [(-1, 1, "X")], [(1, 1, "X")]])
def test_impossible_spans_are_refused(spans):
    with pytest.raises(ValueError, match="span"):
        t.spans_to_tags(spans, 3)


def test_iob1_parts_only_neighbours_of_one_label():
    spans = [(0, 1, "X"), (1, 2, "X"), (2, 3, "Y"), (4, 5, "X")]
    assert t.spans_to_tags(spans, 5, "iob1") == ["I-X", "B-X", "I-Y", "O", "I-X"]


def test_convert_refuses_tags_of_another_scheme_and_leaves_plain_ones():
    with pytest.raises(ValueError, match="'E-X' is not a tag of the scheme iob2"):
        t.convert(["E-X"], "iob2", "iobes")
    assert t.convert(["NN", "O"], None, "iobes") == ["NN", "O"]
    with pytest.raises(ValueError, match="unknown tagging scheme 'bio'"):
        t.convert(["O"], "bio", "iob2")


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        ([["I-X", "B-X", "O"]], "iob1"),
        ([["O", "I-X"], ["I-Y"]], "iob1"),
        ([["B-X", "I-X", "B-X"]], "iob2"),
        ([["B-X", "O"], ["B-X", "O"], ["O", "I-X"]], "iob2"),
        ([["S-X"]], "iobes"),
        ([["B-X", "L-X"]], "bilou"),
        ([["O", "O"]], "iob2"),
        ([["DT", "NN"]], None),
        ([["DT", "B-X"]], None),
        ([], None),
    ],
)
def test_recognise_scheme(sequences, scheme):
    assert t.recognise_scheme(sequences) == scheme


@given(span_lists(), st.sampled_from(t.SCHEMES))
def test_well_formed_sequences_are_allowed_and_only_those(case, scheme):
    spans, length = case
    labels = sorted({"O"} | {f"{p}-{x}" for p in t.prefixes(scheme) for x in ("PER", "a-b")})
    follows, starts, ends = t.allowed_transitions(labels, scheme)
    path = [labels.index(tag) for tag in t.spans_to_tags(spans, length, scheme)]
    assert all(follows[a][b] for a, b in pairwise(path))
    assert not path or (starts[path[0]] and ends[path[-1]])


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X"]), min_size=1, max_size=6))
def test_iobes_allows_exactly_what_it_writes(tags):
    allowed = all(t.may_follow(a, b, "iobes") for a, b in zip([None, *tags], [*tags, None], strict=True))
    assert allowed == (t.spans_to_tags(t.tags_to_spans(tags), len(tags), "iobes") == tags)


@given(
    st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=6),
    st.sampled_from(["iob1", "iob2"]),
)
def test_iob_allows_exactly_what_it_writes(tags, scheme):
    allowed = all(t.may_follow(a, b, scheme) for a, b in zip([None, *tags], [*tags, None], strict=True))
    assert allowed == (t.spans_to_tags(t.tags_to_spans(tags), len(tags), scheme) == tags)


def test_plain_labels_may_follow_each_other():
    assert t.allowed_transitions(["NN", "DT"], None) == ([[True, True], [True, True]], [True] * 2, [True] * 2)


@pytest.mark.parametrize("scheme", t.SCHEMES)
@pytest.mark.parametrize("length", [1, 2, 3])
def test_entity_path_spells_one_entity_that_continuing_tags_lengthen(scheme, length):
    path = t.entity_path("X", length, scheme)
    assert t.tags_to_spans(path) == [(0, length, "X")]
    for tag in t.continuing_tags("X", scheme):
        assert t.tags_to_spans([*path, tag]) == [(0, length + 1, "X")]
    others = {f"{p}-X" for p in t.prefixes(scheme)} - set(t.continuing_tags("X", scheme))
    assert all((0, length, "X") in t.tags_to_spans([*path, tag]) for tag in others)


def test_a_layer_of_single_letters_is_not_taken_for_chunks():
    assert not t.is_chunk_layer("lemma", ["I"])
    assert t.is_chunk_layer("ner", ["O", "B", "I"])
