"""In how many documents features fire, against sets written out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dovetail.features.compile.documents import document_numbers, documents_with, token_documents
from dovetail.text.sentence import Sentence


@given(st.lists(st.tuples(st.lists(st.integers(0, 4), max_size=4), st.integers(-1, 3)), max_size=12))
def test_documents_of_features(positions: list[tuple[list[int], int]]) -> None:
    ptr = np.cumsum([0, *(len(features) for features, _ in positions)])
    feature = np.array([f for features, _ in positions for f in features], np.int32)
    found: list[set[int]] = [set() for _ in range(5)]
    for features, document in positions:
        for f in features:
            found[f] |= {document} - {-1}
    document = np.array([document for _, document in positions], np.int64)
    assert documents_with(ptr, feature, document, 5).tolist() == [len(each) for each in found]


def test_sentences_in_no_document_count_by_themselves() -> None:
    one, none = (Sentence(("a", "b"), document=d) for d in (3, None))
    assert document_numbers([one, none, none, one]).tolist() == [0, 1, 2, 0]
    assert token_documents([one, none, one]).tolist() == [0, 0, 1, 1, 0, 0]
    assert document_numbers([]).tolist() == []
