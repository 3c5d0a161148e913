"""The labels of a tagger: names to numbers and back, and which may follow which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.text.tags import (
    Scheme,
    allowed_transitions,
    continuing_tags,
    convert,
    entity_path,
    is_chunk_tagset,
    to_iob2,
)

UNKNOWN = "?"  # a tag that nobody has decided: training sums over all its possible values


@dataclass(frozen=True)
class LabelSet:
    """Label names by number, and the scheme in which they spell entities (None: plain labels, such as POS).

    >>> labels = LabelSet.learn([["B-PER", "I-PER", "O"]], "iob2")
    >>> labels.names
    ('O', 'B-PER', 'I-PER')
    """

    names: tuple[str, ...]
    scheme: Scheme | None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of entities that the labels spell; plain labels are types themselves.

        >>> LabelSet(("O", "B-LOC", "B-PER", "I-PER"), "iob2").types
        ('LOC', 'PER')
        """
        if self.scheme is None:
            return self.names
        return tuple(dict.fromkeys(name[2:] for name in self.names if name != "O"))

    @classmethod
    def learn(cls, sequences: Iterable[Sequence[str]], scheme: str = "iob2") -> LabelSet:
        """The labels that occur in tag sequences; chunk tags are rewritten in ``scheme``."""
        sequences = list(sequences)
        found = set(chain.from_iterable(sequences)) - {UNKNOWN}
        if not found:
            raise DovetailError("no label in the training data: every tag is unknown, or there are no sentences")
        if not is_chunk_tagset(found):
            return cls(tuple(sorted(found)), None)
        used = set(chain.from_iterable(cls((), cast(Scheme, scheme)).spell(tags) for tags in sequences)) - {UNKNOWN}
        # An entity that goes on has begun, and must end: with these labels every partly known sentence has a tagging.
        whole = {"iob2": "B", "iobes": "BE"}[scheme]
        used |= {f"{letter}-{tag[2:]}" for tag in used if tag[:2] in ("B-", "I-", "E-") for letter in whole}
        return cls(tuple(sorted(used | {"O"}, key=lambda tag: (tag != "O", tag[2:], tag[0]))), cast(Scheme, scheme))

    def spell(self, tags: Sequence[str]) -> Sequence[str]:
        """Tags of any scheme in the scheme of these labels.

        Beside an unknown tag nobody can say where an entity begins or ends: in IOBES such a neighbour is unknown too.
        """
        if self.scheme is None:
            return tags
        if UNKNOWN in tags:
            return self._spell_partly(tags)
        iob2 = to_iob2(tags)
        return iob2 if self.scheme == "iob2" else convert(iob2, "iob2", self.scheme)

    def _spell_partly(self, tags: Sequence[str]) -> list[str]:
        """Each stretch of known tags by itself; an I- tag right after an unknown one stays inside its entity."""
        spelled: list[str] = []
        for unknown, group in groupby(tags, key=UNKNOWN.__eq__):
            stretch = list(group)
            if unknown:
                spelled += stretch
                continue
            after_unknown, before_unknown = bool(spelled), len(spelled) + len(stretch) < len(tags)
            known = list(self.spell(stretch))
            open_left = after_unknown and stretch[0].startswith(("I-", "E-", "L-"))
            if self.scheme == "iob2" and open_left:
                known[0] = "I" + known[0][1:]
            if self.scheme == "iobes":
                if open_left:
                    known[0] = UNKNOWN
                if before_unknown and known[-1] != "O":
                    known[-1] = UNKNOWN
            spelled += known
        return spelled

    def encode(self, sequences: Iterable[Sequence[str]]) -> NDArray[np.int32]:
        """Label numbers of all tokens, -1 where the tag is unknown or none of these labels. Shape [tokens]."""
        numbers = {name: i for i, name in enumerate(self.names)}
        spelled = chain.from_iterable(self.spell(tags) for tags in sequences)
        return np.fromiter((numbers.get(tag, -1) for tag in spelled), dtype=np.int32)

    def decode(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[list[str]]:
        """Tags of every sentence; chunk tags in IOB2, whatever the inner scheme."""
        flat = np.array(self.shown, dtype=object)[ids].tolist()
        edges = offsets.tolist()
        return [flat[a:b] for a, b in pairwise(edges)]

    @property
    def shown(self) -> tuple[str, ...]:
        """The names as users see them: chunk tags in IOB2."""
        if self.scheme in (None, "iob2"):
            return self.names
        letters = {"S": "B", "U": "B", "E": "I", "L": "I"}
        return tuple(n if n == "O" else letters.get(n[0], n[0]) + n[1:] for n in self.names)

    def forbidden(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Log-potentials of the scheme: zero or minus infinity, for pairs [L, L], first labels [L], last labels [L]."""
        allowed = allowed_transitions(self.names, self.scheme)

        def log(flags: object) -> NDArray[np.float64]:
            return np.where(np.array(flags, dtype=bool), 0.0, -np.inf)

        return log(allowed.follows), log(allowed.starts), log(allowed.ends)

    def spellings(self, label: str, length: int, constrained: bool) -> list[tuple[list[int], NDArray[np.bool_]]]:
        """The ways to spell an entity: label numbers, and which labels must not come right before them, [L].

        Well-formed sequences have one way. Unconstrained IOB2 has two, because conlleval lets an I- tag that continues
        nothing begin an entity; in unconstrained IOBES only the well-formed way is counted.
        """
        ways = [(entity_path(label, length, self.scheme), set[str]())]
        if not constrained and self.scheme == "iob2":
            ways.append(([f"I-{label}"] * length, {f"B-{label}", f"I-{label}"}))
        return [
            ([self.names.index(tag) for tag in tags], np.array([name in before for name in self.names]))
            for tags, before in ways
            if set(tags) <= set(self.names)
        ]

    def continuing(self, label: str) -> NDArray[np.bool_]:
        """Which labels would make an entity longer if they came next. Shape [L]."""
        tags = continuing_tags(label, self.scheme)
        return np.array([name in tags for name in self.names])
