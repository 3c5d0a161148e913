"""The open corpora that the models of other languages than English learn from, and the lists they look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path

from dovetail import Sentence, read, segment
from dovetail.features.resources.lexicon import Lexicon
from dovetail.text.sentence import Span
from dovetail.text.spans import flat_tags

TYPES = {name: name for name in ("PER", "LOC", "ORG", "OTH")}
"""What names are called; others (GermEval's ``LOCderiv``, ``ORGpart``) are no names."""
CODES = ("da", "hr", "pt", "sk", "sr", "sv")
"""The languages of Universal NER under ``open-ner``."""
ALIKE = {"sr": "hr", "hr": "sr"}
"""Languages whose corpora tell of the same events in nearly the same words: their lists would know too much."""
BLOCK = 20
"""Sentences that are held out together, since neighbours come from one text and have the same names."""
DICTIONARY_LEAST = 5
"""Words that jieba's dictionary counts less often are left out."""


def universal(root: Path, code: str, part: str) -> list[Sentence]:
    """A part of a corpus of Universal NER: sentences with persons, locations and organisations."""
    return plain(read(root / "open-ner" / f"uner-{code}-{part}.conll.gz"))


def german(root: Path, part: str) -> list[Sentence]:
    """A part of GermEval 2014, with the outermost names."""
    return plain(read(root / "germeval2014" / f"{part}.conll.gz", columns=["word", "ner", "inner"]))


def chinese(root: Path, part: str) -> list[Sentence]:
    """A part of the simplified Chinese corpus of Universal NER, with its words."""
    return plain(read(root / "uner-zh-gsdsimp" / f"{part}.conll.gz"))


def plain(documents: Iterable[Iterable[Sentence]]) -> list[Sentence]:
    """The sentences with nothing but their names."""
    found = []
    for sentence in chain.from_iterable(documents):
        spans = tuple(span for span in sentence.entities() if span.label in TYPES)
        tags = flat_tags(spans, len(sentence))
        found.append(Sentence(sentence.words, {"ner": tags}))
    return found


def as_read(sentence: Sentence) -> Sentence:
    """The sentence as the reader of plain text cuts it: Chinese by characters, and whole numbers and Latin words."""
    text, begins, ends = "", [], []
    for word in sentence.words:
        if text and text[-1].isascii() and text[-1].isalnum() and word[0].isascii() and word[0].isalnum():
            text += " "
        begins.append(len(text))
        text += word
        ends.append(len(text))
    pieces = list(segment(text, lines="sentences"))
    words = [word for piece in pieces for word in piece.words]
    offsets = [offset for piece in pieces for offset in piece.offsets]
    spans = []
    for span in sentence.entities():
        inside = [i for i, (a, b) in enumerate(offsets) if a < ends[span.end - 1] and b > begins[span.start]]
        spans.append(Span(inside[0], inside[-1] + 1, span.label))
    return Sentence(tuple(words), {"ner": flat_tags(tuple(spans), len(words))})


@cache
def names_in(path: Path) -> dict[str, set[str]]:
    """The names of a corpus by type, and the first and last words of persons."""
    found: dict[str, set[str]] = {name: set() for name in ("PER", "LOC", "ORG", "first", "last")}
    for sentence in plain(read(path)):
        for span in sentence.entities():
            words = sentence.words[span.start : span.end]
            found[span.label].add(" ".join(words))
            if span.label == "PER" and len(words) > 1:
                found["first"].add(words[0])
                found["last"].add(words[-1])
    return found


def foreign_names(root: Path, code: str) -> Lexicon:
    """Names in the corpora of other languages, which are often written alike."""
    others = [other for other in CODES if other not in (code, ALIKE.get(code))]
    paths = [root / "open-ner" / f"uner-{other}-train.conll.gz" for other in others]
    paths += [root / "uner-en-ewt" / "train.conll.gz", root / "open-ner" / "docred.conll.gz"]
    paths += [root / "open-ner" / "crossner.conll.gz"]
    lists = [names_in(path) for path in paths]
    return Lexicon.of({label: sorted(set().union(*(one[label] for one in lists))) for label in lists[0]})


def dictionary() -> Iterator[tuple[str, int, str]]:
    """The entries of jieba's dictionary (MIT licence; ``pip install jieba``): word, count, part of speech."""
    for line in files("jieba").joinpath("dict.txt").read_text(encoding="utf-8").splitlines():
        word, count, tag = line.split(" ")
        yield word, int(count), tag


def chinese_words() -> Lexicon:
    """Words that are not rare by their length, two to four characters, as a list over characters."""
    found: dict[str, list[str]] = {"2": [], "3": [], "4": []}
    for word, count, _ in dictionary():
        if str(len(word)) in found and count >= DICTIONARY_LEAST and not word.isascii():
            found[str(len(word))].append(word)
    return Lexicon.of(found, unit="char")


def chinese_names() -> Lexicon:
    """Persons, places and organisations of the dictionary, and its other words, as a list over characters."""
    types = {"nr": "PER", "nrt": "PER", "nrfg": "PER", "ns": "LOC", "nt": "ORG"}
    found: dict[str, list[str]] = {"PER": [], "LOC": [], "ORG": [], "word": []}
    for word, count, tag in dictionary():
        label = types.get(tag, "word")
        if len(word) >= 2 and not word.isascii() and (count >= DICTIONARY_LEAST or label in ("LOC", "ORG")):
            found[label].append(word)
    return Lexicon.of(found, unit="char")


CYRILLIC = {
    "nj": "њ", "lj": "љ", "dž": "џ", "a": "а", "b": "б", "v": "в", "g": "г", "d": "д", "đ": "ђ", "e": "е", "ž": "ж",
    "z": "з", "i": "и", "j": "ј", "k": "к", "l": "л", "m": "м", "n": "н", "o": "о", "p": "п", "r": "р", "s": "с",
    "t": "т", "ć": "ћ", "u": "у", "f": "ф", "h": "х", "c": "ц", "č": "ч", "š": "ш",
}  # fmt: skip


def in_cyrillic(word: str) -> str:
    """A Serbian word in the other alphabet; one with letters that Serbian has not stays as it is.

    >>> in_cyrillic("Njegoš"), in_cyrillic("BBC"), in_cyrillic("Washington")
    ('Његош', 'ББЦ', 'Washington')
    """
    if set("qwxy") & set(word.lower()):
        return word
    made, at = "", 0
    while at < len(word):
        size = 2 if word[at : at + 2].lower() in CYRILLIC else 1
        piece = word[at : at + size]
        letter = CYRILLIC.get(piece.lower(), piece)
        made += letter.upper() if piece[0].isupper() else letter
        at += size
    return made


def in_both_alphabets(sentences: list[Sentence]) -> list[Sentence]:
    """Serbian sentences in Latin letters, and then the same in Cyrillic ones."""
    return sentences + [replace(s, words=tuple(map(in_cyrillic, s.words))) for s in sentences]


APART = 15
"""Sentences that go with one that tells the same: they are of the same text."""


def other_news(sentences: list[Sentence], told: list[Sentence]) -> list[Sentence]:
    """The sentences of a like language without texts that tell the same as some, word for word but for endings."""
    known = set(chain.from_iterable(map(_beginnings, told)))
    alike = [i for i, sentence in enumerate(sentences) if sum(run in known for run in _beginnings(sentence)) > 3]
    near = {j for i in alike for j in range(i - APART, i + APART + 1)}
    return [sentence for i, sentence in enumerate(sentences) if i not in near]


def _beginnings(sentence: Sentence) -> list[tuple[str, ...]]:
    """Runs of four words, of which four letters each are kept: Croatian and Serbian differ in endings."""
    words = [word.lower()[:4] for word in sentence.words]
    return list(zip(words, words[1:], words[2:], words[3:], strict=False))


def beside(code: str, root: Path, told: list[Sentence]) -> dict[str, list[Sentence]]:
    """The training part of a corpus in a like language, as far as it tells something else."""
    return {code: other_news(universal(root, code, "train"), told)}
