"""The models that a server answers with, each under a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dovetail
from dovetail.errors import DovetailError
from dovetail.shipped import named

UNFIT = {
    "aligner": "an aligner takes texts and their translations; use dovetail align",
    "entailment": "a model of entailment takes pairs of texts; use dovetail annotate",
}
"""Kinds of models that annotate no texts, and what to do."""
EXPLAINED = {"tagger": "token", "segmenter": "token", "parser": "span", "joint": "span", "roles": "argument"}
"""What can be asked about, by the kind of a model."""
GIVES = {
    "dependency": "dependencies", "joint": "trees", "nested": "entities", "parser": "trees", "pipeline": "layers",
    "roles": "roles", "tagger": "tags",
}  # fmt: skip


@dataclass(frozen=True)
class Served:
    """A model and its name."""

    name: str
    model: Any

    @property
    def kind(self) -> str:
        """What its file says that it is."""
        return str(self.model.stored_kind())

    @property
    def gives(self) -> str:
        """What its answers are: entities, tags, words, trees, dependencies, roles, or layers of a pipeline."""
        if getattr(self.model, "words", False):
            return "words"
        if self.kind in ("tagger", "segmenter") and "spans" in self.model.writes:
            return "entities"
        return GIVES[self.kind]

    @property
    def explains(self) -> str | None:
        """What ``/explain`` is asked about: a token, a span, an argument of a predicate; None where it cannot be."""
        soft = self.kind != "joint" or self.model.coupling == "soft"
        whole = self.kind == "segmenter" and (self.model.words or self.model.family == "semi-markov")
        return EXPLAINED.get(self.kind) if soft and not whole else None

    @property
    def ranks(self) -> bool:
        """Whether it gives its best answers by rank."""
        return hasattr(self.model, "kbest") and self.gives != "words"

    def labels(self) -> list[str]:
        """The labels that it gives; of chunk tags the types of entities."""
        names = [str(name) for name in getattr(self.model, "classes_", ())]
        types = [name.partition("-")[2] if name[1:2] == "-" else name for name in names if name != "O"]
        return list(dict.fromkeys(types if self.gives == "entities" else names))


def roster(wanted: Sequence[str], threads: int = 1) -> list[Served]:
    """The models that are wanted: by a file, by the name of one that comes with dovetail, or by ``NAME=`` and either.

    Without any, all that are known by name and annotate text, that of English names first.
    """
    found: list[Served] = []
    for one in wanted:
        name, source = _named(one)
        if any(name == other.name for other in found):
            told = f"--model {one}: there is a model {name!r} already"
            raise DovetailError(f"{told}; name it otherwise: --model NAME={source}")
        found.append(Served(name, _loaded(source)))
    if not wanted:
        found = [Served("english-names", _loaded("english-names")), *_others()]
    for served in found:
        served.model.set_params(threads=threads)
    return found


def _others() -> Iterator[Served]:
    """All other models that are known by name, but those that cannot annotate text."""
    for name, file in named().items():
        if name != "english-names":
            with suppress(DovetailError):
                yield Served(name, _loaded(str(file)))


def _named(wanted: str) -> tuple[str, str]:
    """The name of a model, and where it is.

    >>> _named("legal=models/one.dovetail"), _named("models/one.dovetail")
    (('legal', 'models/one.dovetail'), ('one', 'models/one.dovetail'))
    """
    name, equals, source = wanted.partition("=")
    if equals and name and not Path(wanted).exists():
        return name, source
    stem = Path(wanted).name.removesuffix(".gz")
    return stem.removesuffix(".dovetail") or wanted, wanted


def _loaded(source: str) -> Any:
    """The model; of several domains, what they share."""
    found: Any = dovetail.load(source)
    if (advice := UNFIT.get(found.stored_kind())) is not None:
        raise DovetailError(f"{source}: {advice}")
    found = found.model_of(None) if hasattr(found, "model_of") else found
    if needs := getattr(found, "needs", ()):
        told = f"{source}: this model reads {', '.join(needs)}, which text does not have"
        raise DovetailError(f"{told}; train it with --predict-layers, or make a pipeline of it")
    return found
