"""Lexicons: lists of phrases with labels, found in a text as a column of features or asked about whole segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Int64s
from dovetail.columns import BOUNDARY, Column
from dovetail.errors import DovetailError, InputError
from dovetail.features.compile.hashing import Keys, append_unit, phrase_keys, string_keys
from dovetail.features.resources.lexicon_entries import (
    Entry,
    Lists,
    Unit,
    labelled,
    normal_form,
    read_entries,
    spellings,
)
from dovetail.features.resources.lexicon_trie import (
    NO_PHRASE,
    OUTSIDE,
    SEPARATOR,
    Matches,
    PhraseTrie,
    leftmost_longest,
    tags,
)
from dovetail.features.resources.resource import Resource
from dovetail.text.files import source_names
from dovetail.text.report import ReadReport, reporting

MAX_TOKENS = 50
"""A longer entry is no name but a line of prose; it is left out and reported."""


@dataclass(frozen=True, eq=False)
class Lexicon(Resource):
    """Phrases with labels, found in a text whatever their case.

    ``labels`` are sorted by name; ``longest`` is the length of the longest phrase in tokens; ``phrases`` counts the
    distinct pairs of phrase and label; ``report`` says what was wrong with the entries (empty in one that a model
    file brought along).

    >>> lexicon = Lexicon.of({"city": ["New York", "York"], "club": ["New York City FC"]})
    >>> column = lexicon.column(Column.encode("He left New York for old York".split()), np.array([0, 7]))
    >>> [column.types[i] for i in column.ids]
    ['O', 'O', 'B-city', 'E-city', 'O', 'O', 'S-city']
    """

    labels: list[str]
    trie: PhraseTrie
    unit: Unit = "word"
    normalise: bool = True
    longest: int = 1
    phrases: int = 0
    report: ReadReport = field(default_factory=ReadReport, repr=False)

    kind: ClassVar[str] = "lexicon"
    SETTINGS: ClassVar = ("labels", "unit", "normalise", "longest", "phrases")

    @classmethod
    def read(
        cls, paths: Lists, *, unit: Unit = "word", normalise: bool = True, report: ReadReport | None = None
    ) -> Self:
        """From files with a phrase on each line, or ``phrase<TAB>label``.

        ``paths`` maps labels to files; a file without a label lends its own name (``city.txt.gz``: ``city``) to the
        lines that have none. ``unit="char"`` splits phrases into characters, for text whose tokens are characters.
        ``normalise`` ignores case, width and kinds of apostrophe. Duplicates, empty lines, comments (``# ...``) and
        entries of over 50 tokens are counted in ``report``, which is also kept as ``lexicon.report``; without one
        they become warnings.
        """
        with reporting(report) as notes:
            entries = list(read_entries(paths, notes))
            if not entries:
                names = source_names(source for _, source in labelled(paths))
                raise InputError("a list without a phrase; give a phrase on each line", names)
            return cls.build(entries, unit=unit, normalise=normalise, report=notes)

    @classmethod
    def of(cls, phrases: Mapping[str, Iterable[str]], *, unit: Unit = "word", normalise: bool = True) -> Self:
        """From phrases by label."""
        entries = (Entry(p, label, label, number) for label, ps in phrases.items() for number, p in enumerate(ps, 1))
        return cls.build(entries, unit=unit, normalise=normalise)

    @classmethod
    def build(
        cls, entries: Iterable[Entry], *, unit: Unit = "word", normalise: bool = True, report: ReadReport | None = None
    ) -> Self:
        """From entries as they were read; what is wrong with them goes into the report."""
        if unit not in ("word", "char"):
            raise DovetailError(f"a lexicon of unit {unit!r}: give 'word' or 'char'")
        report = ReadReport() if report is None else report
        labels_of: dict[tuple[str, ...], set[str]] = {}
        seen: set[tuple[tuple[str, ...], str]] = set()
        for phrase, label, path, line in entries:
            forms = spellings(phrase, unit, normalise)
            if SEPARATOR in label:
                report.note(f"label with {SEPARATOR!r}, which separates labels; read as '/'", path, line)
                label = label.replace(SEPARATOR, "/")
            if not forms[0]:
                report.note("empty entry, left out", path, line)
            elif max(map(len, forms)) > MAX_TOKENS:
                report.note(f"entry of over {MAX_TOKENS} tokens, left out", path, line)
            elif (forms[0], label) in seen:
                report.note("entry that was there before, counted once", path, line)
            else:
                seen.add((forms[0], label))
                for form in forms:
                    labels_of.setdefault(form, set()).add(label)
        if not labels_of:
            raise DovetailError("a lexicon without a single phrase; give a phrase on each line")
        labels = sorted(set().union(*labels_of.values()))
        number = {label: n for n, label in enumerate(labels)}
        trie = PhraseTrie.of({form: tuple(sorted(number[one] for one in ls)) for form, ls in labels_of.items()})
        return cls(labels, trie, unit, normalise, max(map(len, labels_of)), len(seen), report)

    def column(self, words: Column, offsets: Int64s) -> Column:
        """The labels of the phrases that each token is in: ``B-city`` at the first, ``I-``, ``E-`` at the last, ``S-``.

        For every label the leftmost match counts, and the longest of those; ``S-city|B-club`` where several labels
        have one, sorted by label; ``O`` elsewhere. Shapes: words [tokens], offsets [sentences + 1], result [tokens].
        """
        return tags(self.matches(words, offsets), self.labels, len(words.ids))

    def matches(self, words: Column, offsets: Int64s) -> Matches:
        """The leftmost-longest matches of each label, sorted by label, then by start.

        >>> lexicon = Lexicon.of({"city": ["New York"]})
        >>> lexicon.matches(Column.encode("in New York".split()), np.array([0, 3]))
        Matches(start=array([1]), end=array([3]), label=array([0]))
        """
        return leftmost_longest(self.trie.search(self._unit_keys(words.types), words.ids, offsets), self.trie)

    def within(self, words: Column, starts: Int64s, lengths: Int64s) -> Column:
        """The labels of the phrase that each segment is, ``city|club``, or ``O``: [segments]; words are [tokens]."""
        units = self._unit_keys(words.types)[words.ids]
        sets = np.full(len(starts), NO_PHRASE, dtype=np.int32)
        going = np.flatnonzero((lengths > 0) & (lengths <= self.longest))
        keys = units[starts[going]]
        for length in range(1, self.longest + 1):
            done = lengths[going] == length
            sets[going[done]] = self.trie.set_numbers(keys[done])
            going, keys = going[~done], keys[~done]
            append_unit(keys, units[starts[going] + length], keys)
        names = [SEPARATOR.join(self._named(number)) for number in range(self.trie.sets)]
        return Column([BOUNDARY, OUTSIDE, *names], sets + np.int32(2))

    def phrase_labels(self, phrases: Sequence[str]) -> list[tuple[str, ...]]:
        """The labels of each phrase, none where it is not in the lexicon.

        >>> Lexicon.of({"city": ["Paris"], "name": ["Paris", "Lima"]}).phrase_labels(["PARIS", "Lima", "Rome"])
        [('city', 'name'), ('name',), ()]
        """
        forms = [spellings(phrase, self.unit, self.normalise)[0] or ("",) for phrase in phrases]
        sets = [*map(self._named, range(self.trie.sets)), ()]  # the last is that of NO_PHRASE
        return [sets[number] for number in self.trie.set_numbers(phrase_keys(forms))]

    def contains(self, phrases: Sequence[str]) -> Flags:
        """Whether each phrase is in the lexicon. Shape [phrases]."""
        return np.array([bool(labels) for labels in self.phrase_labels(phrases)], dtype=np.bool_)

    def usual(self, name: str) -> list[str]:
        """The place in a phrase of a token and of its neighbours."""
        return [f"lexicon({name})[-1:2]"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by short names."""
        return self.trie.arrays()

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave; the parts must fit together."""
        return cls(trie=PhraseTrie.restore(arrays, len(settings["labels"])), **settings)

    def _unit_keys(self, types: Sequence[str]) -> Keys:
        return string_keys(list(map(normal_form, types)) if self.normalise else types)

    def _named(self, set_number: int) -> tuple[str, ...]:
        return tuple(self.labels[label] for label in self.trie.labels(set_number))
