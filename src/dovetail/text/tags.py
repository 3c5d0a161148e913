"""Tagging schemes: chunks spelled as one tag a token, read exactly as conlleval reads them.

A chunk tag is a prefix and a label joined by the first hyphen, ``B-PER``; the label may hold hyphens of its
own, and a bare prefix (``B``) is a chunk without a label. Prefixes: B begin, I inside, E or L last, S or U
single; ``O`` is outside. Any other tag (``NN``) is plain: it belongs to no chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

Scheme = Literal["iob1", "iob2", "iobes", "bilou"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

CHUNK_LAYERS = ("chunk", "ner")
"""The layers that hold chunk tags and nothing else."""

# What a prefix does, whatever its letter: the schemes differ in letters, conlleval's rules do not.
_PLAIN, _BEGIN, _INSIDE, _LAST, _SINGLE = range(5)
_ROLES = {"B": _BEGIN, "I": _INSIDE, "E": _LAST, "L": _LAST, "S": _SINGLE, "U": _SINGLE}
_LETTERS: dict[Scheme, str] = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU"}


class _SplitCache(dict[str, tuple[int, str]]):
    """(role, label) of a tag, computed at its first use; bounded, because a layer may hold anything."""

    def __missing__(self, tag: str) -> tuple[int, str]:
        if len(self) >= 100_000:
            self.clear()
        prefix, _, label = tag.partition("-")
        role = _ROLES.get(prefix, _PLAIN)
        self[tag] = split = (role, label if role != _PLAIN else "")
        return split


_SPLIT = _SplitCache()


def split_tag(tag: str) -> tuple[str, str]:
    """The prefix and the label of a chunk tag; a plain tag and ``O`` have the prefix ``O`` and no label.

    >>> split_tag("B-ORG-deriv"), split_tag("NN")
    (('B', 'ORG-deriv'), ('O', ''))
    """
    role, label = _SPLIT[tag]
    return (tag[0], label) if role != _PLAIN else ("O", "")


def join_tag(prefix: str, label: str) -> str:
    """The tag of a prefix and a label: the inverse of `split_tag`."""
    return f"{prefix}-{label}" if label else prefix


def is_chunk_tagset(tags: Iterable[str]) -> bool:
    """Whether all the tags are ``O`` or chunk tags, so that they spell spans; False where there are none.

    >>> is_chunk_tagset(["O", "B-PER"]), is_chunk_tagset(["NN", "O"])
    (True, False)
    """
    seen = set(tags)
    return bool(seen) and all(tag == "O" or _SPLIT[tag][0] != _PLAIN for tag in seen)


def is_chunk_layer(name: str, tags: Collection[str]) -> bool:
    """Whether a layer spells chunks; bare prefixes count only in ``ner`` and ``chunk``: ``I`` may be a word.

    >>> is_chunk_layer("ner", ["B", "I"]), is_chunk_layer("lemma", ["I"]), is_chunk_layer("inner", ["B-PER"])
    (True, False, True)
    """
    return is_chunk_tagset(tags) and (name in CHUNK_LAYERS or any("-" in tag for tag in tags))


def tags_to_spans(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The chunks (start, end, label) that the tags spell, in order, by conlleval's rules for all schemes.

    A chunk begins at B, S or U, and at any chunk tag that no open chunk of its label precedes (so an I
    after O begins one); it ends after E, L, S or U, and before any tag that does not continue it.

    >>> tags_to_spans(["B-PER", "I-PER", "O", "I-LOC", "I-ORG"])
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'ORG')]
    """
    spans: list[tuple[int, int, str]] = []
    split = _SPLIT
    start = -1
    open_label = ""
    for position, tag in enumerate(tags):
        if tag == "O":
            if start >= 0:
                spans.append((start, position, open_label))
                start = -1
            continue
        role, label = split[tag]
        continues = start >= 0 and role in (_INSIDE, _LAST) and label == open_label
        if not continues:
            if start >= 0:
                spans.append((start, position, open_label))
            start, open_label = (-1, "") if role == _PLAIN else (position, label)
        if role in (_LAST, _SINGLE):
            spans.append((start, position + 1, label))
            start = -1
    if start >= 0:
        spans.append((start, len(tags), open_label))
    return spans


def spans_to_tags(spans: Iterable[tuple[int, int, str]], length: int, scheme: Scheme = "iob2") -> list[str]:
    """The tags of ``length`` tokens that spell these spans; ValueError if they overlap or do not fit.

    >>> spans_to_tags([(0, 2, "PER"), (3, 4, "LOC")], 4, "iobes")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    tags = ["O"] * length
    previous_end, previous_label = 0, None
    for start, end, label in sorted(spans):
        if not 0 <= start < end <= length:
            raise ValueError(f"span {(start, end, label)} is empty or outside a sentence of {length} tokens")
        if start < previous_end:
            raise ValueError(f"span {(start, end, label)} overlaps the one that ends at {previous_end}")
        tags[start:end] = entity_path(label, end - start, scheme)
        if scheme == "iob1" and start == previous_end and label == previous_label:
            tags[start] = join_tag("B", label)
        previous_end, previous_label = end, label
    return tags


def entity_path(label: str, length: int, scheme: Scheme | None) -> list[str]:
    """The tags of one entity of ``length`` tokens.

    In IOB1 it is the path of an entity that follows none of its own label; with plain labels (None) each
    token bears the label.

    >>> entity_path("PER", 3, "bilou")
    ['B-PER', 'I-PER', 'L-PER']
    """
    if scheme is None:
        return [label] * length
    letters = {"iob1": "IIII", "iob2": "BIIB"}.get(scheme) or prefixes(scheme)
    first, inside, last, single = (join_tag(letter, label) for letter in letters)
    return [single] if length == 1 else [first, *[inside] * (length - 2), last]


def continuing_tags(label: str, scheme: Scheme | None) -> tuple[str, ...]:
    """The tags that would make an `entity_path` longer if they came next; none where its end is spelled.

    >>> continuing_tags("PER", "iob2"), continuing_tags("PER", "iobes"), continuing_tags("NN", None)
    (('I-PER',), (), ('NN',))
    """
    if scheme is None:
        return (label,)
    return (join_tag("I", label),) if scheme in ("iob1", "iob2") else ()


def recognise_scheme(sequences: Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme that these tag sequences are written in, or None for plain labels such as parts of speech.

    E or S means IOBES, L or U means BILOU. Else chunks that no chunk of the same label precedes begin with
    B in IOB2 and with I in IOB1, and the majority decides, so a stray illegal tag does not.

    >>> recognise_scheme([["I-PER", "I-PER", "B-PER", "O"]]), recognise_scheme([["DT", "NN"]])
    ('iob1', None)
    """
    pairs: Counter[tuple[str, str]] = Counter()  # of tags in a row, O before the first
    for tags in sequences:
        pairs.update(zip(("O", *tags), tags, strict=False))
    seen = {tag for _, tag in pairs}
    if not is_chunk_tagset(seen):
        return None
    letters = {split_tag(tag)[0] for tag in seen}
    if letters & {"E", "S"}:
        return "iobes"
    if letters & {"L", "U"}:
        return "bilou"
    begun_with = Counter[int]()
    for (previous, tag), count in pairs.items():
        (role_before, label_before), (role, label) = _SPLIT[previous], _SPLIT[tag]
        if role != _PLAIN and (role_before == _PLAIN or label_before != label):
            begun_with[role] += count
    return "iob1" if begun_with[_INSIDE] > begun_with[_BEGIN] else "iob2"


def convert(tags: Sequence[str], source: Scheme | None, target: Scheme) -> list[str]:
    """The same chunks in another scheme; plain labels (source None) are returned as they are.

    Ill-formed chunks are read as conlleval reads them. ValueError for a tag that ``source`` does not have,
    because its meaning would be lost.

    >>> convert(["I-PER", "I-PER", "B-PER", "O"], "iob1", "iobes")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    """
    if source is None:
        return list(tags)
    known = prefixes(source)
    for tag in set(tags):
        if tag != "O" and split_tag(tag)[0] not in known:
            raise ValueError(f"{tag!r} is not a tag of the scheme {source}: its prefixes are O and {', '.join(known)}")
    if target == "iob2":
        return to_iob2(tags)
    return spans_to_tags(tags_to_spans(tags), len(tags), target)


@lru_cache(100_000)
def _iob2(previous: str, tag: str) -> str:
    """The IOB2 tag of a tag after another: conlleval's rules need no wider view to see where chunks begin."""
    (previous_role, previous_label), (role, label) = _SPLIT[previous], _SPLIT[tag]
    continues = previous_role in (_BEGIN, _INSIDE) and role in (_INSIDE, _LAST) and previous_label == label
    return tag if role == _PLAIN else join_tag("I" if continues else "B", label)


def to_iob2(tags: Sequence[str]) -> list[str]:
    """The same chunks in IOB2, from any scheme, well-formed or not; plain tags stay as they are.

    >>> to_iob2(["O", "I-PER", "E-PER", "S-LOC"])
    ['O', 'B-PER', 'I-PER', 'B-LOC']
    """
    return list(map(_iob2, ("O", *tags), tags))


class Transitions(NamedTuple):
    """Which labels may follow which, begin and end a sentence, by their positions in the list of labels."""

    follows: list[list[bool]]
    """``follows[a][b]``: label b may come right after label a."""
    starts: list[bool]
    ends: list[bool]


def allowed_transitions(labels: Sequence[str], scheme: Scheme | None) -> Transitions:
    """The well-formed tag sequences of a scheme as transitions; plain labels (None) may follow each other.

    >>> allowed_transitions(["O", "B-X", "I-X"], "iob2").follows
    [[True, True, False], [True, True, True], [True, True, True]]
    """
    if scheme is not None:
        prefixes(scheme)
    return Transitions(
        [[may_follow(before, after, scheme) for after in labels] for before in labels],
        [may_follow(None, after, scheme) for after in labels],
        [may_follow(before, None, scheme) for before in labels],
    )


def may_follow(previous: str | None, tag: str | None, scheme: Scheme | None) -> bool:
    """Whether a tag may come right after another; None is the edge of the sentence.

    >>> may_follow("O", "I-PER", "iob2"), may_follow("B-PER", None, "iobes")
    (False, False)
    """
    before, after = _SPLIT[previous or "O"], _SPLIT[tag or "O"]
    same_label = before[0] != _PLAIN and before[1] == after[1]
    if scheme is None:
        return True
    if scheme == "iob1":  # B only separates a chunk from one of the same label right before it
        return after[0] != _BEGIN or same_label
    if scheme == "iob2":
        return after[0] != _INSIDE or same_label
    is_open = before[0] in (_BEGIN, _INSIDE)
    return (is_open and same_label) if after[0] in (_INSIDE, _LAST) else not is_open


def prefixes(scheme: Scheme) -> str:
    """The letters that may stand before a label in a scheme: ``BIES`` in IOBES."""
    try:
        return _LETTERS[scheme]
    except KeyError:
        raise ValueError(f"unknown tagging scheme {scheme!r}; one of: {', '.join(SCHEMES)}") from None
