"""Accurate taggers from few labels, with a probability for every answer.

>>> import dovetail
>>> tagger = dovetail.Tagger(features=["word[-1:2]", "shape[0]"], l2=0.01)
>>> dovetail.Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")}).entities()
(Span(start=0, end=1, label='PER', probability=None),)

Names, and packages such as ``dovetail.text``, are imported at their first use: ``import dovetail`` takes no time.
"""

from __future__ import annotations

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.version import __version__

TYPE_CHECKING = False  # as in typing, which takes time to import

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, TypeAlias, overload

    from dovetail import (
        active,
        clusters,
        curves,
        evaluate,
        features,
        grammars,
        learning,
        models,
        scorers,
        structures,
        text,
    )
    from dovetail.evaluate import entity_scores, token_scores
    from dovetail.features.algebra.sets import FeatureSet
    from dovetail.models.dependency.estimator import DependencyParser
    from dovetail.models.domains.parser import MultiDomainParser
    from dovetail.models.domains.tagger import MultiDomainTagger
    from dovetail.models.joint.estimator import JointParser
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.models.parser.estimator import Parser
    from dovetail.models.segmenter.estimator import Segmenter
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.formats import read, write
    from dovetail.text.segment import segment
    from dovetail.text.sentence import Document, Sentence, Span

    Model: TypeAlias = (
        Tagger
        | Segmenter
        | NestedTagger
        | Parser
        | JointParser
        | DependencyParser
        | MultiDomainTagger
        | MultiDomainParser
    )
    """What a model file may hold."""

__all__ = [
    "DependencyParser",
    "Document",
    "DovetailError",
    "FeatureSet",
    "InputError",
    "JointParser",
    "ModelFileError",
    "MultiDomainParser",
    "MultiDomainTagger",
    "NestedTagger",
    "Parser",
    "Segmenter",
    "Sentence",
    "Span",
    "Tagger",
    "__version__",
    "active",
    "clusters",
    "curves",
    "embedded",
    "entity_scores",
    "evaluate",
    "features",
    "grammars",
    "learning",
    "load",
    "models",
    "read",
    "scorers",
    "segment",
    "structures",
    "text",
    "token_scores",
    "write",
]

_HOMES = {
    "DependencyParser": "dovetail.models.dependency.estimator",
    "Document": "dovetail.text.sentence",
    "FeatureSet": "dovetail.features.algebra.sets",
    "MultiDomainParser": "dovetail.models.domains.parser",
    "MultiDomainTagger": "dovetail.models.domains.tagger",
    "NestedTagger": "dovetail.models.nested.estimator",
    "JointParser": "dovetail.models.joint.estimator",
    "Parser": "dovetail.models.parser.estimator",
    "Segmenter": "dovetail.models.segmenter.estimator",
    "Sentence": "dovetail.text.sentence",
    "Span": "dovetail.text.sentence",
    "Tagger": "dovetail.models.tagger.estimator",
    "entity_scores": "dovetail.evaluate",
    "read": "dovetail.text.formats",
    "segment": "dovetail.text.segment",
    "token_scores": "dovetail.evaluate",
    "write": "dovetail.text.formats",
}

_ROOMS = (
    "active",
    "clusters",
    "curves",
    "evaluate",
    "features",
    "grammars",
    "learning",
    "models",
    "scorers",
    "structures",
    "text",
)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"dovetail.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_ROOMS})


ENGLISH_MODEL = "english-ner.dovetail"
_EMBEDDED = (ENGLISH_MODEL, "english-ner.md", "sample-train.conll.gz", "sample-dev.conll.gz")


_KINDS = {
    "dependency": "DependencyParser",
    "domain-parsers": "MultiDomainParser",
    "domains": "MultiDomainTagger",
    "joint": "JointParser",
    "nested": "NestedTagger",
    "parser": "Parser",
    "segmenter": "Segmenter",
    "tagger": "Tagger",
}


if TYPE_CHECKING:

    @overload
    def load(path: None = None) -> Tagger: ...
    @overload
    def load(path: str | Path) -> Model: ...


def load(path: str | Path | None = None) -> Any:
    """Read a model file, by its kind a Tagger, a Parser...; without a path, the English model of named entities.

    Where the kind is known, ``Tagger.load(path)`` tells it to editors and type checkers as well.
    """
    from dovetail.modelfile import load_model

    found = embedded(ENGLISH_MODEL) if path is None else path
    kind = load_model(found)[0].get("kind")
    if kind not in _KINDS:
        raise ModelFileError(f"{found}: this is a file of kind {kind!r}, not a model that can be loaded by itself")
    return __getattr__(_KINDS[kind]).load(found)


def embedded(name: str) -> Path:
    """The path of a file that comes with dovetail: the English model, or the sample to train on.

    >>> embedded("sample-train.conll.gz").name
    'sample-train.conll.gz'
    """
    from importlib.resources import files
    from pathlib import Path

    if name not in _EMBEDDED:
        raise DovetailError(f"no file {name!r} comes with dovetail; there are {', '.join(_EMBEDDED)}")
    path = Path(str(files("dovetail").joinpath("data", name)))
    if not path.is_file():
        raise DovetailError(f"this installation lacks the file {name!r}; install dovetail again")
    return path
