"""What users give to models, checked: sentences, words, texts, tags, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from numbers import Integral, Real
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.text.documents import annotate_documents, marked
from dovetail.text.formats import guess_format
from dovetail.text.given import RUNNING, SENTENCES, SINGLE, as_sentence, is_word, kind_of
from dovetail.text.sentence import Document, Sentence

T = TypeVar("T")
TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "int": ((Integral,), "a whole number"),
    "float": ((Real,), "a number"),
    "bool": ((bool, np.bool_), "True or False"),
    "str": ((str,), "a string"),
}
READ = "read it with dovetail.read({!r})"


def as_sentences(given: Any) -> list[Sentence]:
    """Sentences from whatever a user gives: Sentence objects, lists of words, or whole documents.

    >>> as_sentences([["Ada", "slept"]])[0].words
    ('Ada', 'slept')
    """
    items = list(_items(given))
    if any(isinstance(item, Document) for item in items):
        whole = [i if isinstance(i, Document) else Document((as_sentence(i, n),)) for n, i in enumerate(items, 1)]
        items = [sentence for document in marked(whole) for sentence in document]
    return [as_sentence(item, number) for number, item in enumerate(items, 1)]


def as_texts(given: Any) -> Iterator[str]:
    """Texts from a list or a column of strings."""
    if isinstance(given, str):
        raise DovetailError("give a list of texts; this is a single one")
    for number, text in enumerate(_items(given), 1):
        yield as_text(text, number)


def as_text(given: Any, number: int) -> str:
    """A text, or an error that says which is none."""
    if not isinstance(given, str):
        raise DovetailError(
            f"text {number} is {kind_of(given)}; give raw texts, each a string, and none that is missing"
        )
    return given


def annotated(
    items: Any, annotate: Callable[[Iterable[Sentence]], Iterator[Sentence]], read: Callable[[str], Document]
) -> Any:
    """What was given, annotated: a document for a text, a stream of documents for texts, else of sentences.

    ``annotate`` takes and gives a stream of sentences; ``read`` finds the sentences of a text.
    """
    if isinstance(items, str):
        [document] = annotate_documents(marked([read(items)]), annotate)
        return document
    stream = iter(_items(items))
    first = list(islice(stream, 1))
    whole = enumerate(chain(first, stream), 1)
    if first and isinstance(first[0], str):
        return annotate_documents(marked(read(as_text(item, number)) for number, item in whole), annotate)
    if first and isinstance(first[0], Document):
        return annotate_documents(marked(_as_document(item, number) for number, item in whole), annotate)
    return annotate(as_sentence(item, number) for number, item in whole)


def labelled(
    sentences: Sequence[Sentence], gold: Sequence[T] | None, join: Callable[[Sentence, T], Sentence], what: str
) -> list[Sentence]:
    """The sentences, each with its right answer, where these are given apart from them."""
    if gold is None:
        return list(sentences)
    check_as_many(sentences, gold, what)
    found = []
    for number, (sentence, answer) in enumerate(zip(sentences, gold, strict=True), 1):
        try:
            found.append(join(sentence, answer))
        except (ValueError, TypeError, AttributeError) as error:
            raise DovetailError(f"the answer to {what} sentence {number} does not fit it: {error}") from None
    return found


def check_as_many(sentences: Sequence[Any], gold: Sequence[Any], what: str, answers: str = "answers") -> None:
    """There is an answer to every sentence."""
    if len(sentences) != len(gold):
        raise DovetailError(f"{len(sentences)} {what} sentences but {len(gold)} {answers}")


def check_tags(tags: Iterable[Sequence[str]], what: str) -> None:
    """Every tag is a string that is not empty."""
    for number, some in enumerate(tags, 1):
        listed = isinstance(some, Iterable) and not isinstance(some, str | bytes | Mapping)
        if not listed or not all(map(is_word, some)):
            wrong = next(tag for tag in some if not is_word(tag)) if listed else some
            raise DovetailError(
                f"{what} sentence {number} has the tag {wrong!r}; give for each sentence a list of tags, "
                f"each a string such as 'B-PER'"
            )


def check_examples(corpus: Sequence[Sentence], layer: str | None, what: str) -> None:
    """Sentences with words have the layer of right answers, if these are in one, and there are words to learn from."""
    for number, sentence in enumerate(corpus, 1):
        if layer is not None and len(sentence) and layer not in sentence.layers:
            has = ", ".join(["word", *sentence.layers])
            raise DovetailError(
                f"{what} sentence {number} has no layer {layer!r} {purpose(what)} (it has {has}); "
                f"name the right one as target"
            )
    if what == "training" and not any(map(len, corpus)):
        raise DovetailError("the training data has no tokens; check the file and its format")


def check_count(name: str, value: object, least: int = 1) -> None:
    """A whole number that is not too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise DovetailError(f"{name}={value!r}: choose a whole number, {least} or more")


def check_probability(name: str, value: object) -> None:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise DovetailError(f"{name}={value!r}: choose a probability, from 0 to 1")


def check_size(name: str, value: object) -> None:
    """A number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < float("inf"):
        raise DovetailError(f"{name}={value!r}: choose a number, 0 or more")


def check_type(name: str, value: object, annotation: str) -> None:
    """A setting has the type that its field says, as far as that is a number, a string or a truth value.

    >>> check_type("l2", "x", "float")
    Traceback (most recent call last):
    dovetail.errors.DovetailError: l2='x': give a number
    """
    if annotation == "Sequence[str]":
        if not isinstance(value, Iterable):
            raise DovetailError(f"{name}={value!r}: give a list of names")
        if isinstance(value, str) or not all(isinstance(each, str) for each in value):
            raise DovetailError(f"{name}={value!r}: give a list of names, such as [{str(value)!r}]")
        return
    kinds = annotation.split(" | ")
    if kinds[0].startswith("Mapping[") and not (isinstance(value, Mapping) or (value is None and "None" in kinds)):
        raise DovetailError(f"{name}={value!r}: give a dictionary, from names to what they stand for")
    if any(kind != "None" and kind not in TYPES for kind in kinds) or (value is None and "None" in kinds):
        return
    wanted = [TYPES[kind] for kind in kinds if kind != "None"]
    is_bool = isinstance(value, bool | np.bool_)
    if not any(isinstance(value, types) and (not is_bool or bool in types) for types, _ in wanted):
        words = " or ".join([*(word for _, word in wanted), *(["None"] if "None" in kinds else [])])
        raise DovetailError(f"{name}={value!r}: give {words}")


def purpose(what: str) -> str:
    """What the layers of training, dev or gold sentences are for.

    >>> purpose("training"), purpose("gold")
    ('to learn from', 'to score with')
    """
    return "to score with" if what == "gold" else "to learn from"


def _items(given: Any) -> Iterable[Any]:
    """What a collection holds, or an error that says what is wrong with it."""
    if isinstance(given, Sentence):
        raise DovetailError(SINGLE)
    if isinstance(given, str | PathLike):
        is_file = not isinstance(given, str) or is_file_name(given)
        raise DovetailError(f"{SENTENCES}; a file name? {READ.format(fspath(given))}" if is_file else RUNNING)
    if hasattr(given, "columns"):
        raise DovetailError(f"give one column of the table, such as table[{str(next(iter(given.columns), ''))!r}]")
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise DovetailError(f"{SENTENCES}; this is {kind_of(given)}")
    return [given] if isinstance(given, Document) else given


def is_file_name(text: str) -> bool:
    """Whether a string is, or looks like, the name of a file of text.

    >>> is_file_name("train.conll.gz"), is_file_name("Ada slept.")
    (True, False)
    """
    try:
        return text != "" and (Path(text).exists() or guess_format(text) is not None)
    except (OSError, ValueError):  # too long, or with a NUL in it
        return False


def _as_document(given: Any, number: int) -> Document:
    return given if isinstance(given, Document) else Document((as_sentence(given, number),))
