"""The relations of dependencies: given the tree, each word's is chosen by a MaxEnt classifier, a tagger of order 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from dovetail.features.compile.arcs import DISTANCES
from dovetail.features.resources.clusters import Clusters
from dovetail.text.sentence import Sentence

ROOT, NONE = "<root>", "<none>"
MARKERS = ("IN", "TO", "POS", "ADP", "SCONJ", "PART")
ASKING = ("WDT", "WP", "WP$", "WRB")
NOUNS = ("N", "PRP", "CD", "PRON", "PROPN", "EX", "DT")

TEMPLATES = (
    "bias", "word[0]", "lower[0]", "suffix(2, 4)[0]", "shape[0]", "tag[-2:3]", "tag[-1] & tag[0] & tag[1]",
    "lower[-1] & tag[0]", "tag[0] & lower[1]",
    "head_tag[0] & way[0]", "tag[0] & way[0]", "tag[0] & head_tag[0]", "tag[0] & head_tag[0] & way[0]",
    "tag[0] & head_tag[0] & far[0]", "lower[0] & way[0]", "lower[0] & head_tag[0] & way[0]", "head_word[0] & way[0]",
    "head_word[0] & tag[0] & way[0]", "lower[0] & head_word[0]", "suffix(3, 3)[0] & head_tag[0] & way[0]",
    "first_child[0] & tag[0]", "first_child[0] & tag[0] & head_tag[0] & way[0]", "first_child_word[0]",
    "first_child_word[0] & tag[0] & head_tag[0] & way[0]", "first_child_word[0] & head_word[0]",
    "last_child[0] & tag[0] & way[0]", "last_child_word[0] & tag[0]",
    "sibling[0] & tag[0] & head_tag[0] & way[0]", "next_sibling[0] & tag[0] & head_tag[0] & way[0]",
    "grand_tag[0] & head_tag[0] & tag[0] & way[0]", "head_first_child[0] & head_tag[0] & tag[0] & way[0]",
    "head_first_child_word[0] & tag[0] & way[0]", "head_last_child[0] & head_tag[0] & tag[0] & way[0]",
    "verbs[0] & tag[0] & head_tag[0] & way[0]", "head_verbs[0] & tag[0] & head_tag[0] & way[0]",
    "head_verbs[0] & lower[0]", "marker[0] & head_word[0] & way[0]", "marker[0] & asking[0] & tag[0] & head_tag[0]",
    "marker[0] & subject[0] & verbs[0] & tag[0] & head_tag[0] & way[0]", "asking[0] & head_tag[0] & way[0]",
    "head_before[0] & tag[0] & head_tag[0] & way[0]", "joint[0] & tag[0] & head_tag[0] & way[0]",
    "joint[0] & same[0] & tag[0] & head_tag[0]", "sibling_word[0] & tag[0] & way[0]", "place[0] & tag[0] & head_tag[0]",
    "head_subject[0] & tag[0] & head_tag[0] & way[0] & far[0]", "suffix(3, 3, of=head_word)[0] & tag[0] & way[0]",
)  # fmt: skip
"""What is seen of a word, its head, and what else hangs on them."""

CLUSTERED = (
    "{c}[0] & way[0]", "{c}[0] & head_tag[0] & way[0]", "head_{c}[0] & tag[0] & way[0]", "{c}[0] & marker[0] & way[0]",
    "head_{c}[0] & marker[0] & tag[0] & way[0]", "prefix(6, of={c})[0] & prefix(6, of=head_{c})[0] & way[0]",
    "prefix(4, of={c})[0] & prefix(4, of=head_{c})[0] & way[0] & tag[0]", "{c}[0] & head_{c}[0]",
)  # fmt: skip
"""What is seen of the classes of a clustering."""


def templates(clusters: Iterable[str] = ()) -> list[str]:
    """What is seen of the tree around a word, and of the classes in clusters of these names."""
    return [*TEMPLATES, *(line.format(c=f"class_{name}") for name in clusters for line in CLUSTERED)]


def with_arcs(
    words: Sequence[str], tags: Sequence[str], heads: Sequence[int], clusters: Mapping[str, Clusters] | None = None
) -> Sentence:
    """A sentence whose layers spell out the tree around each word; heads are positions from 0, -1 for the root.

    >>> with_arcs(("It", "rains"), ("PRP", "VBZ"), (1, -1)).layers["head_word"]
    ('rains', '<root>')
    """
    lowered = [word.lower() for word in words]
    children: list[list[int]] = [[] for _ in range(len(words) + 1)]  # the last are those of the root
    for word, head in enumerate(heads):
        children[head].append(word)
    before = {w: a for siblings in children for a, w in pairwise(siblings)}
    after = {a: w for w, a in before.items()}
    everyone = range(len(words))

    def at(values: Sequence[str], position: int | None) -> str:
        return NONE if position is None else ROOT if position < 0 else values[position]

    def of_heads(values: Sequence[str]) -> list[str]:
        return [at(values, h) for h in heads]

    def children_of(values: Sequence[str], place: int) -> list[str]:
        return [at(values, below[place] if below else None) for below in children[:-1]]

    first, first_word = children_of(tags, 0), children_of(lowered, 0)
    last = children_of(tags, -1)
    verbs = [" ".join(lowered[c] for c in children[w] if _is_verb(tags[c]) and c < w) for w in everyone]
    subject = [_subjects(children[w], tags, w) for w in everyone]
    ways = ["<" if head > word else ">" for word, head in enumerate(heads)]
    far = [
        way + str(DISTANCES[min(abs(h - w), len(DISTANCES) - 1)])
        for w, (h, way) in enumerate(zip(heads, ways, strict=True))
    ]
    layers = {
        "tag": tags,
        "way": ways,
        "far": far,
        "head_tag": of_heads(tags),
        "head_word": of_heads(lowered),
        "grand_tag": [at(tags, heads[h]) if h >= 0 else NONE for h in heads],
        "first_child": first,
        "first_child_word": first_word,
        "last_child": last,
        "last_child_word": children_of(lowered, -1),
        "head_first_child": of_heads(first),
        "head_first_child_word": of_heads(first_word),
        "head_last_child": of_heads(last),
        "sibling": [at(tags, before.get(w)) for w in everyone],
        "sibling_word": [at(lowered, before.get(w)) for w in everyone],
        "next_sibling": [at(tags, after.get(w)) for w in everyone],
        "verbs": verbs,
        "head_verbs": of_heads(verbs),
        "marker": [_first_of(children[w], tags, lowered, MARKERS) for w in everyone],
        "asking": [_first_of(children[w], tags, lowered, ASKING) for w in everyone],
        "subject": subject,
        "head_subject": of_heads(subject),
        "head_before": [_before(w, h, children[h], tags) for w, h in enumerate(heads)],
        "joint": [_joint(children[w], tags, lowered) for w in everyone],
        "same": ["=" if h >= 0 and tags[h][:2] == tags[w][:2] else "" for w, h in enumerate(heads)],
        "place": [_place(w, children[h]) for w, h in enumerate(heads)],
    }
    for name, found in (clusters or {}).items():
        own = [str(found.paths[c]) if c >= 0 else "" for c in found.classes_of(words)]
        layers |= {f"class_{name}": own, f"head_class_{name}": of_heads(own)}
    return Sentence(tuple(words), {name: tuple(values) for name, values in layers.items()})


def _is_verb(tag: str) -> bool:
    return tag.startswith("V") or tag in ("MD", "AUX")


def _first_of(below: Sequence[int], tags: Sequence[str], words: Sequence[str], kinds: Sequence[str]) -> str:
    """The first of the dependents with one of these tags."""
    return next((words[c] for c in below if tags[c] in kinds), NONE)


def _subjects(below: Sequence[int], tags: Sequence[str], word: int) -> str:
    """Which kinds of dependents before a word look like its subject."""
    return " ".join(sorted({tags[c][:3] for c in below if c < word and tags[c].startswith(NOUNS)}))


def _before(word: int, head: int, siblings: Sequence[int], tags: Sequence[str]) -> str:
    """Tags of the dependents, without repeats, between a word and its head."""
    low, high = (word, head) if head > word else (head, word)
    return " ".join(dict.fromkeys(tags[s][:2] for s in siblings if low < s < high))


def _joint(below: Sequence[int], tags: Sequence[str], words: Sequence[str]) -> str:
    """Conjunctions and punctuation below a word."""
    kinds = [words[c] for c in below if tags[c] in ("CC", "CCONJ")][:1]
    return " ".join([*kinds, *(words[c] for c in below if not tags[c][:1].isalpha())][:2])


def _place(word: int, siblings: Sequence[int]) -> str:
    """Whether a word is the first or the last below its head."""
    return ("^" if siblings[0] == word else "") + ("$" if siblings[-1] == word else "")
