"""What a format keeps of what is known of sentences, and what it loses: counted, so that it can be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import all_spans, outermost

KINDS = {
    "words": "sentence whose words and end are not marked, only its text",
    "text": "sentence whose characters are not kept, only its words",
    "nested": "entity inside or across another",
    "probabilities": "probability of an entity",
    "trees": "tree",
    "frames": "predicate with its arguments",
    "ids": "name of a sentence",
    "documents": "name of a document",
    "comments": "comment",
    "translations": "translation",
}
"""What there may be to lose, beside layers."""


def losses(documents: Iterable[Document], keeps: Collection[str], lost: Counter[str]) -> Iterator[Document]:
    """The documents; what of them is not among what is kept is counted in ``lost`` as they pass.

    >>> lost: Counter[str] = Counter()
    >>> tagged = Sentence(("Ada", "slept"), {"ner": ("B-PER", "O"), "pos": ("NNP", "VBD")})
    >>> len(list(losses([Document((tagged,))], {"words", "ner"}, lost))), dict(lost)
    (1, {'layer pos of a sentence': 1})
    """
    for document in documents:
        if document.id is not None and not document.continues and not {"ids", "documents"} & set(keeps):
            lost[KINDS["documents"]] += 1
        for sentence in document:
            _count(sentence, keeps, lost)
        yield document


def _is_translation(comment: str) -> bool:
    return comment.startswith(("# text_", "# lang = "))


def _count(sentence: Sentence, keeps: Collection[str], lost: Counter[str]) -> None:
    spans = all_spans(sentence)
    found = {
        "words": 1,
        "text": int(sentence.offsets is not None),
        "nested": len(spans) - len(outermost(spans)),
        "probabilities": sum(span.probability is not None for span in spans),
        "trees": int(sentence.tree is not None),
        "frames": len(sentence.frames or ()),
        "ids": int(sentence.id is not None),
        "comments": sum(not _is_translation(c) for c in sentence.comments),
        "translations": sum(map(_is_translation, sentence.comments)),
    }
    for kind, number in found.items():
        if number and kind not in keeps and not (kind == "translations" and "comments" in keeps):
            lost[KINDS[kind]] += number
    if "layers" not in keeps:
        for name in sentence.layers:
            if name not in keeps:
                lost[f"layer {name} of a sentence"] += 1
