"""Names that a tagger finds in raw text, as a list: what a name is in many sentences it is likely to be in the next.

The list is cheap knowledge from text that nobody labelled: names of persons, places and organisations that were found
several times and nearly always as the same, and words that begin and end the names of persons.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from dovetail import Sentence, Tagger
from dovetail.features.resources.lexicon import Lexicon
from dovetail.text.files import atomic_writer, open_text

AT_ONCE = 20_000  # sentences
LEAST = 3  # so often a name is found, or it is an accident
SHARE = 0.75  # of what is found under a name is of its type
MOST = 60_000  # names of all types together, the most frequent
LONGEST = 6  # words

Counts = dict[str, Counter[str]]


def names_list(raw: Path, tagger: Tagger, file: Path) -> Lexicon:
    """The list of the names in the raw texts; kept in a file, and read from there if it is there already."""
    if not file.exists():
        found = listed(counted(sentences(raw), tagger))
        with atomic_writer(file) as out:
            out.writelines(f"{name}\t{label}\n" for name, label in found)
    return Lexicon.read({"": file})


def sentences(raw: Path) -> Iterator[Sentence]:
    """Wikipedia and novels, a sentence a line."""
    for name in ("wiki-en", "novels-en"):
        with open_text(raw / f"{name}.txt.gz") as lines:
            yield from (Sentence(tuple(words)) for line in lines if (words := line.split()))


def counted(texts: Iterable[Sentence], tagger: Tagger) -> Counts:
    """How often each name is found as what."""
    found: Counts = defaultdict(Counter)
    everything = iter(texts)
    while some := list(islice(everything, AT_ONCE)):
        for sentence, tags in zip(some, tagger.predict(some), strict=True):
            for span in Sentence(sentence.words, {"ner": tuple(tags)}).entities():
                words = sentence.words[span.start : span.end]
                if len(words) <= LONGEST and words[0][:1].isupper():
                    found[" ".join(words)][span.label] += 1
    return found


def listed(found: Counts) -> list[tuple[str, str]]:
    """The names that are nearly always the same, most frequent first; then what persons' names begin and end with."""
    sure = []
    for name, times in found.items():
        (label, most), *_ = times.most_common(1)
        if most >= LEAST and most >= SHARE * times.total():
            sure.append((most, name, label))
    kept = [(name, label) for _, name, label in sorted(sure, key=lambda row: (-row[0], row[1]))[:MOST]]
    once = {(name.lower(), label): (name, label) for name, label in reversed(kept + _parts(found))}  # RAF is Raf
    return list(reversed(once.values()))


def _parts(found: Counts) -> list[tuple[str, str]]:
    """First words of longer names of persons, and their last words: so often that they are no accident."""
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    for name, times in found.items():
        words = name.split()
        if len(words) > 1 and times["PER"]:
            first[words[0]] += 1  # once for each person, not for each time
            last[words[-1]] += 1
    return [
        (word, label)
        for label, counts in (("first", first), ("last", last))
        for word, persons in counts.most_common()
        if persons >= LEAST and word.isalpha() and len(word) > 1
    ]
