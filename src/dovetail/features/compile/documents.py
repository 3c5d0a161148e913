"""In how many documents features fire.

A name that is in one document only is there many times, and a model can learn it by heart; of other documents that
tells nothing, and what would, such as its shape and what stands around it, is left with less weight than it deserves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.errors import DovetailError
from dovetail.kernel import kernel
from dovetail.text.sentence import Sentence


def document_numbers(sentences: Sequence[Sentence]) -> Int64s:
    """The document of each sentence, from 0; a sentence that is in none is one of its own.

    >>> a, b, c = (Sentence(("word",), document=d) for d in (7, None, 7))
    >>> document_numbers([a, b, b, c]).tolist()
    [0, 1, 2, 0]
    """
    keys = [("sentence", i) if s.document is None else ("document", s.document) for i, s in enumerate(sentences)]
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys], np.int64)


def token_documents(sentences: Sequence[Sentence]) -> Int64s:
    """The document of each token of some sentences."""
    return np.repeat(document_numbers(sentences), [len(s) for s in sentences])


def documents_with(ptr: Int64s, feature: Int32s, document: Int64s, features: int) -> Int64s:
    """In how many documents each feature fires: [features].

    Position p has the features ``feature[ptr[p]:ptr[p + 1]]`` and is in ``document[p]``, -1 for none that counts.
    """
    count = np.zeros(features, np.int64)
    _count(ptr, feature, document, np.argsort(document, kind="stable"), np.full(features, -1, np.int64), count)
    return count


def nothing_left(what: str, count: tuple[str, int], documents: tuple[str, int] = ("min_documents", 1)) -> DovetailError:
    """The error where no feature occurs so often and in so many documents: the names and values of both settings.

    >>> print(nothing_left("feature", ("min_count", 3), ("min_documents", 2)))
    no feature occurs 3 times in 2 documents, so nothing is left to learn from: give more data, or keep rare features \
with min_count=1 (--min-count 1) and min_documents=1 (--min-documents 1)
    >>> print(nothing_left("feature", ("min_count", 3)))
    no feature occurs 3 times, so nothing is left to learn from: give more data, or keep rare features \
with min_count=1 (--min-count 1)
    """
    often = f" {count[1]} times" if count[1] > 1 else ""
    where = f" in {documents[1]} documents" if documents[1] > 1 else ""
    dropping = [name for name, value in (count, documents) if value > 1]
    keep = " and ".join(f"{name}=1 (--{name.replace('_', '-')} 1)" for name in dropping)
    advice = f", or keep rare features with {keep}" if keep else ""
    return DovetailError(f"no {what} occurs{often}{where}, so nothing is left to learn from: give more data{advice}")


@kernel
def _count(ptr: Int64s, feature: Int32s, document: Int64s, order: Int64s, latest: Int64s, count: Int64s) -> None:
    """Add the documents of the positions in ``order``, in which each document comes in one go. latest: [features]."""
    for p in order:
        if document[p] >= 0:
            for e in range(ptr[p], ptr[p + 1]):
                f = feature[e]
                if latest[f] != document[p]:
                    latest[f] = document[p]
                    count[f] += 1
