"""What users give to models, checked: sentences, words, texts, tags, numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from numbers import Integral, Real
from typing import Any, TypeVar

from dovetail.errors import DovetailError
from dovetail.text.documents import marked
from dovetail.text.sentence import Document, Sentence
from dovetail.text.stream import annotate_documents

T = TypeVar("T")
_STRINGS = frozenset({str})

SENTENCES = "give a list of sentences, each a list of words or a Sentence"
SINGLE = f"{SENTENCES}; this looks like a single one"
RUNNING = f"{SENTENCES}; this looks like running text: use model(text), or first dovetail.segment(text)"


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


def as_sentence(given: Any, number: int = 1) -> Sentence:
    """One sentence, from words or from itself; every word is a string that is not empty."""
    if isinstance(given, Sentence):
        words: tuple[Any, ...] = given.words
    elif isinstance(given, str):
        raise DovetailError(RUNNING if " " in given.strip() else SINGLE)
    elif isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise DovetailError(f"sentence {number} is {_kind(given)}; {SENTENCES}")
    else:
        words = tuple(given)
    if not (_STRINGS.issuperset(map(type, words)) and all(words)) and not all(map(_is_word, words)):
        place, wrong = next((i, word) for i, word in enumerate(words, 1) if not _is_word(word))
        what = "an empty string" if isinstance(wrong, str) else _kind(wrong)
        raise DovetailError(f"sentence {number}, word {place} is {what}; {SENTENCES}, and each word a string")
    return given if isinstance(given, Sentence) else Sentence(words)


def as_texts(given: Any) -> Iterator[str]:
    """Texts from a list or a column of strings."""
    if isinstance(given, str):
        raise DovetailError("give a list of texts; this is a single one")
    for number, text in enumerate(_items(given), 1):
        yield as_text(text, number)


def as_text(given: Any, number: int) -> str:
    """A text, or an error that says which is none."""
    if not isinstance(given, str):
        raise DovetailError(f"text {number} is {_kind(given)}; give raw texts, each a string, and none that is missing")
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


def check_tags(tags: Sequence[Sequence[str]], what: str) -> None:
    """Every tag is a string that is not empty."""
    for number, some in enumerate(tags, 1):
        listed = isinstance(some, Iterable) and not isinstance(some, str | bytes | Mapping)
        if not listed or not all(map(_is_word, some)):
            wrong = next(tag for tag in some if not _is_word(tag)) if listed else some
            raise DovetailError(
                f"{what} sentence {number} has the tag {wrong!r}; give for each sentence a list of tags, "
                f"each a string such as 'B-PER'"
            )


def check_count(name: str, value: object, least: int = 1) -> None:
    """A whole number that is not too small."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise DovetailError(f"{name}={value!r}: choose a whole number, {least} or more")


def check_probability(name: str, value: object) -> None:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise DovetailError(f"{name}={value!r}: choose a probability, from 0 to 1")


def _items(given: Any) -> Iterable[Any]:
    """What a collection holds, or an error that says what is wrong with it."""
    if isinstance(given, Sentence):
        raise DovetailError(SINGLE)
    if isinstance(given, str):
        raise DovetailError(RUNNING)
    if hasattr(given, "columns"):
        raise DovetailError(f"give one column of the table, such as table[{str(next(iter(given.columns), ''))!r}]")
    if isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise DovetailError(f"{SENTENCES}; this is {_kind(given)}")
    return [given] if isinstance(given, Document) else given


def _as_document(given: Any, number: int) -> Document:
    return given if isinstance(given, Document) else Document((as_sentence(given, number),))


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _kind(value: object) -> str:
    """What a value is, in few words.

    >>> _kind(None), _kind(3), _kind({"a": 1})
    ('None', '3 (int)', "{'a': 1} (dict)")
    """
    if value is None:
        return "None"
    shown = repr(value)
    return f"{shown if len(shown) < 40 else shown[:37] + '...'} ({type(value).__name__})"
