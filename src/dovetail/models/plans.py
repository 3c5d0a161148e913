"""How the experts of a pool are made, from what a user says: ``random:3``, ``elitist:3``, groups of templates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError

SPLITS = ("random", "sequential", "elitist")
MOST = 64
WAYS = (
    "give random:3, sequential:3, elitist:3, groups of templates such as 'word,shape|ngrams|cluster', "
    "'without:word|shape', or a TOML file of groups"
)


@dataclass(frozen=True)
class PoolPlan:
    """Experts by how they come to their features.

    ``random`` and ``sequential`` split the features; ``elitist`` experts have all of them and compete;
    ``groups`` gives each expert the templates of a group, and ``without`` all but these, with one more
    expert that has everything. ``groups`` name attributes or whole templates.
    """

    kind: str
    experts: int
    groups: Mapping[str, tuple[str, ...]] | None = None
    exact: bool = True

    @classmethod
    def of(cls, given: Any) -> PoolPlan | None:
        """The plan that a user describes, None for none.

        >>> PoolPlan.of("random:3").experts, dict(PoolPlan.of("word,shape|ngrams").groups)
        (3, {'word,shape': ('word', 'shape'), 'ngrams': ('ngrams',)})
        """
        if given is None or isinstance(given, PoolPlan):
            return given
        if isinstance(given, Mapping):
            return cls._grouped("groups", {str(name): lines for name, lines in given.items()})
        if not isinstance(given, str) or not given.strip():
            raise DovetailError(f"pool={given!r:.60}: {WAYS}")
        if given.endswith(".toml"):
            return cls._grouped("groups", _read(given))
        head, _, rest = given.partition(":")
        if head in SPLITS:
            return cls._split(given, head, rest)
        kind, text = ("without", rest) if head == "without" else ("groups", given)
        parts = _cut(text, "|")
        if kind == "groups" and len(parts) < 2:
            raise DovetailError(f"pool={given!r:.60}: {WAYS}")
        return cls._grouped(kind, {part: _cut(part, ",") for part in parts})

    @classmethod
    def _split(cls, given: str, kind: str, rest: str) -> PoolPlan:
        found = re.fullmatch(r"(\d+)(:approximate)?", rest)
        if not found or (found[2] and kind != "elitist"):
            raise DovetailError(f"pool={given!r:.60}: say how many experts, as in {kind}:3")
        if not 2 <= int(found[1]) <= MOST:
            raise DovetailError(f"pool={given!r:.60}: a pool has 2 to {MOST} experts")
        return cls(kind, int(found[1]), None, not found[2])

    @classmethod
    def _grouped(cls, kind: str, groups: Mapping[str, Any]) -> PoolPlan:
        named = {name: (lines,) if isinstance(lines, str) else tuple(map(str, lines)) for name, lines in groups.items()}
        if not named or not all(named.values()) or not all(line.strip() for each in named.values() for line in each):
            raise DovetailError(f"pool={dict(groups)!r:.60}: an expert without templates; {WAYS}")
        if len(named) + 1 > MOST:
            raise DovetailError(f"pool: {len(named)} groups; a pool has 2 to {MOST} experts")
        return cls(kind, len(named) + (kind == "without"), named)

    def names(self) -> list[str]:
        """What the experts are called."""
        if self.groups is None:
            return [f"{self.kind} {i + 1}" for i in range(self.experts)]
        own = [f"without {name}" if self.kind == "without" else name for name in self.groups]
        return ["all", *own] if self.kind == "without" else own

    def of_templates(self, templates: Sequence[Any]) -> list[set[int]]:
        """The experts of each template, by number.

        A group has the templates that it names, and those that read an attribute that it names. What no group has
        belongs to all experts, as the bias does.
        """
        assert self.groups is not None
        everyone = set(range(self.experts))
        found = []
        for template in templates:
            own = {g for g, lines in enumerate(self.groups.values()) if any(_names(line, template) for line in lines)}
            found.append(everyone - {g + 1 for g in own} if self.kind == "without" else own or everyone)
        return found

    def check_used(self, templates: Sequence[Any]) -> None:
        """An error for a group that names no template of these."""
        for name, lines in (self.groups or {}).items():
            if not any(_names(line, t) for line in lines for t in templates):
                there = ", ".join(dict.fromkeys(_stem(str(a)) for t in templates for a in t.reads))
                raise DovetailError(
                    f"pool: the group {name!r} names nothing that the templates read; there are {there}"
                )


def _names(line: str, template: Any) -> bool:
    """Whether a line of a group means a template: itself, an attribute of its, or a family of attributes."""
    texts = {str(template), template.text(), getattr(template, "name", ""), type(template).__name__.lower()}
    return line in texts | {str(a) for a in template.reads} | {_stem(str(a)) for a in template.reads}


def _stem(attribute: str) -> str:
    """The family of an attribute: prefix, of ``prefix(1, 4)``."""
    return attribute.partition("(")[0]


def _cut(text: str, mark: str) -> list[str]:
    """The pieces of a text between marks that stand in no brackets.

    >>> _cut("prefix(1, 4), word|shape", ",")
    ['prefix(1, 4)', 'word|shape']
    """
    pieces, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == mark and not depth:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece.strip() for piece in pieces if piece.strip()]


def _read(path: str) -> dict[str, Any]:
    """Groups of templates by name, from a TOML file of lists."""
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DovetailError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise DovetailError(f"{path}: not a TOML file: {error}") from None
    if not all(isinstance(v, list) and all(isinstance(line, str) for line in v) for v in found.values()):
        raise DovetailError(f'{path}: expected a list of templates for each expert, as in form = ["shape", "ngrams"]')
    return found
