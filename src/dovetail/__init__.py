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
        catalogue,
        clusters,
        curves,
        evaluate,
        features,
        grammars,
        learning,
        models,
        pipeline,
        scorers,
        structures,
        text,
    )
    from dovetail.evaluate import entity_scores, token_scores
    from dovetail.features.algebra.sets import FeatureSet
    from dovetail.models.aligner.aligner import Aligner
    from dovetail.models.dependency.estimator import DependencyParser
    from dovetail.models.domains.parser import MultiDomainParser
    from dovetail.models.domains.tagger import MultiDomainTagger
    from dovetail.models.entailment.estimator import Entailment
    from dovetail.models.joint.estimator import JointParser
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.models.pair.agreement import PairTagger
    from dovetail.models.pair.projection import project
    from dovetail.models.parser.estimator import Parser
    from dovetail.models.pooling import pool
    from dovetail.models.roles.estimator import RoleLabeller
    from dovetail.models.segmenter.estimator import Segmenter
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.pipeline.pipeline import Pipeline
    from dovetail.pipeline.stage import Stage
    from dovetail.text.expectations import Expectation, read_expectations, write_expectations
    from dovetail.text.formats import read, write
    from dovetail.text.frames import Frame
    from dovetail.text.pairs import Pair, read_pairs, write_pairs
    from dovetail.text.segment import segment
    from dovetail.text.sentence import Document, Sentence, Span
    from dovetail.text.tables import from_frame, to_frame

    Model: TypeAlias = (
        Tagger | Segmenter | NestedTagger | Parser | JointParser | DependencyParser
        | MultiDomainTagger | MultiDomainParser | RoleLabeller | Entailment | Aligner | Pipeline
    )  # fmt: skip
    """What a model file may hold."""

__all__ = [
    "Aligner", "DependencyParser", "Document", "DovetailError", "Entailment", "Expectation", "FeatureSet", "Frame",
    "InputError", "JointParser", "ModelFileError", "MultiDomainParser", "MultiDomainTagger", "NestedTagger", "Pair",
    "PairTagger", "Parser", "Pipeline", "RoleLabeller", "Segmenter", "Sentence", "Span", "Stage", "Tagger",
    "__version__", "active", "catalogue", "clusters", "curves", "embedded", "entity_scores", "evaluate", "features",
    "from_frame", "grammars", "learning", "load", "models", "pipeline", "pool", "project", "read", "read_expectations",
    "read_pairs", "scorers", "segment", "structures", "text", "to_frame", "token_scores", "tuning", "write",
    "write_expectations", "write_pairs",
]  # fmt: skip

_KINDS = {
    "aligner": ("Aligner", "models.aligner.aligner"),
    "dependency": ("DependencyParser", "models.dependency.estimator"),
    "domain-parsers": ("MultiDomainParser", "models.domains.parser"),
    "domains": ("MultiDomainTagger", "models.domains.tagger"),
    "entailment": ("Entailment", "models.entailment.estimator"),
    "joint": ("JointParser", "models.joint.estimator"),
    "nested": ("NestedTagger", "models.nested.estimator"),
    "parser": ("Parser", "models.parser.estimator"),
    "pipeline": ("Pipeline", "pipeline.pipeline"),
    "roles": ("RoleLabeller", "models.roles.estimator"),
    "segmenter": ("Segmenter", "models.segmenter.estimator"),
    "tagger": ("Tagger", "models.tagger.estimator"),
}
"""The models by what their files say they are, and where to find them."""

_HOMES = dict(_KINDS.values()) | {
    "Document": "text.sentence",
    "Expectation": "text.expectations",
    "FeatureSet": "features.algebra.sets",
    "Frame": "text.frames",
    "Pair": "text.pairs",
    "PairTagger": "models.pair.agreement",
    "Sentence": "text.sentence",
    "Span": "text.sentence",
    "Stage": "pipeline.stage",
    "entity_scores": "evaluate",
    "from_frame": "text.tables",
    "pool": "models.pooling",
    "project": "models.pair.projection",
    "read": "text.formats",
    "read_expectations": "text.expectations",
    "read_pairs": "text.pairs",
    "segment": "text.segment",
    "to_frame": "text.tables",
    "token_scores": "evaluate",
    "write": "text.formats",
    "write_expectations": "text.expectations",
    "write_pairs": "text.pairs",
}
"""Where to find what is not here; all else in ``__all__`` that is not here is a package."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    from dovetail.spellings import present

    name = str(present("python", name, "dovetail", warn=3))
    if name not in __all__:
        raise AttributeError(f"module 'dovetail' has no attribute {name!r}")
    if name not in _HOMES:
        return import_module(f"dovetail.{name}")
    value = globals()[name] = getattr(import_module(f"dovetail.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


ENGLISH_MODEL = "english-names.dovetail"
_EMBEDDED = (ENGLISH_MODEL, "english-names.md", "sample-train.conll.gz", "sample-dev.conll.gz")
"""Files that every installation has; there may be more models, each with its card."""


if TYPE_CHECKING:

    @overload
    def load(path: None = None) -> Tagger: ...
    @overload
    def load(path: str | Path) -> Model: ...


def load(path: str | Path | None = None) -> Any:
    """Read a model file, by its kind a Tagger, a Parser...; without a path, the English model of named entities.

    ``path`` may also be the name of a model, such as ``english-names``: see ``dovetail models``.
    Where the kind is known, ``Tagger.load(path)`` tells it to editors and type checkers as well.
    """
    from dovetail.modelfile import load_model
    from dovetail.shipped import located

    found = embedded(ENGLISH_MODEL) if path is None else located(path)
    kind = load_model(found)[0].get("kind")
    if kind not in _KINDS:
        raise ModelFileError(f"{found}: this is a file of kind {kind!r}, not a model that can be loaded by itself")
    return class_of(kind).load(found)


def class_of(kind: str) -> Any:
    """The class of models, or pipelines, whose files say that they are of this kind.

    >>> class_of("tagger").__name__
    'Tagger'
    """
    return __getattr__(_KINDS[kind][0])


def embedded(name: str) -> Path:
    """The path of a file that comes with dovetail: a model, its card, or the sample to train on.

    >>> embedded("sample-train.conll.gz").name
    'sample-train.conll.gz'
    """
    from dovetail.shipped import own_folder

    folder = own_folder()
    path = folder / name
    if path.is_file():
        return path
    if name in _EMBEDDED:
        raise DovetailError(f"this installation lacks the file {name!r}; install dovetail again")
    there = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    raise DovetailError(f"no file {name!r} comes with dovetail; there are {', '.join(there)}")
