"""What stands beside a word in other sentences of its document, against a slow twin that looks word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail import FeatureSet, Sentence
from dovetail.columns import Columns
from dovetail.features.algebra.syntax import parse
from dovetail.features.algebra.templates import Elsewhere
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.named import _key
from dovetail.features.compile.repeats import FAR, MOST, may_be_name, repeats

WORDS = st.sampled_from(["Ruch", "RUCH", "ruch", "of", "the", "Bern", "1996", "U.N.", "北京"])
CORPUS = st.lists(
    st.tuples(st.sampled_from([None, 0, 1]), st.lists(WORDS, max_size=6)).map(
        lambda pair: Sentence(tuple(pair[1]), document=pair[0])
    ),
    max_size=8,
)


def documents(corpus: list[Sentence]) -> list[int]:
    numbers: list[int] = []
    for i, sentence in enumerate(corpus):
        same = i > 0 and sentence.document is not None and sentence.document == corpus[i - 1].document
        numbers.append(numbers[-1] if same else i)
    return numbers


def beside(corpus: list[Sentence], i: int, t: int, shift: int) -> list[str | None]:
    """The values beside the word in other sentences of its document, by looking at every word."""
    word = corpus[i].words[t]
    number = documents(corpus)
    found: dict[str | None, None] = {}
    places = [
        (j, u)
        for j, other in enumerate(corpus)
        for u, w in enumerate(other.words)
        if number[j] == number[i] and w.lower() == word.lower() and may_be_name(w)
    ]
    if may_be_name(word):
        for j, u in places[:FAR]:
            if j != i and len(found) < MOST:
                inside = 0 <= u + shift < len(corpus[j])
                found[corpus[j].words[u + shift] if inside else None] = None
    return list(found)


@given(CORPUS, st.integers(-2, 2))
def test_words_beside_repeats_equal_those_of_the_slow_twin(corpus: list[Sentence], shift: int) -> None:
    [template] = parse(f"elsewhere(word[{shift}])")
    assert isinstance(template, Elsewhere)
    features = FeatureSet.of([template])
    collector = Collector()
    design = assemble(Compiler(Columns.of(corpus, features.columns), corpus), features.templates, collector)
    token = 0
    from dovetail.features.algebra.attributes import BOUNDARY
    from dovetail.features.compile.design import salt

    for i, sentence in enumerate(corpus):
        for t in range(len(sentence)):
            rows = [r for r in design.row_index[token] if r >= 0]
            fast = [
                int(collector.keys[f])
                for r in rows
                for f in design.row_feature[design.row_ptr[r] : design.row_ptr[r + 1]]
            ]
            slow = [
                int(_key(salt(template), [template.attribute], [BOUNDARY if w is None else w]))
                for w in beside(corpus, i, t, shift)
            ]
            assert sorted(fast) == sorted(slow)
            token += 1


@given(CORPUS)
def test_groups_hold_the_same_word_of_one_document_with_a_capital(corpus: list[Sentence]) -> None:
    columns = Columns.of(corpus, ())
    found = repeats(columns)
    number = documents(corpus)
    names = [(number[i], w.lower()) if may_be_name(w) else None for i, s in enumerate(corpus) for w in s.words]
    for a, one in enumerate(names):
        assert (found.group[a] >= 0) == (one is not None and names.count(one) > 1)
        for b, other in enumerate(names):
            if found.group[a] >= 0 and found.group[b] >= 0:
                assert (found.group[a] == found.group[b]) == (one == other)
    for g in range(len(found.ptr) - 1):
        assert {int(found.group[t]) for t in found.tokens[found.ptr[g] : found.ptr[g + 1]]} == {g}
