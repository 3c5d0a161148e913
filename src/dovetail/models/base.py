"""What all models have in common: scikit-learn manners, texts to annotate, and settings that are checked first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Self, overload

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad, AveragedPerceptron
from dovetail.models.inputs import annotated, check_count
from dovetail.models.settings import setting_of
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence

OPTIMISERS: dict[str, Callable[..., Any]] = {
    "lbfgs": LBFGS,
    "sgd": SGD,
    "adagrad": AdaGrad,
    "perceptron": AveragedPerceptron,
}

TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "int": ((Integral,), "a whole number"),
    "float": ((Real,), "a number"),
    "bool": ((bool, np.bool_), "True or False"),
    "str": ((str,), "a string"),
}


@dataclass(kw_only=True, eq=False)
class Estimator:
    """A dataclass whose fields are its settings; those that training sets are no arguments of its constructor."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; if ``deep``, with those of models among them as ``name__setting``."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        if deep:
            for name, value in list(found.items()):
                if isinstance(value, Estimator):
                    found |= {f"{name}__{inner}": v for inner, v in value.get_params().items()}
        return found

    def set_params(self, **settings: Any) -> Self:
        """Change settings; they take effect at the next ``fit``."""
        known = self.get_params()
        for name, value in settings.items():
            if name not in known:
                raise ValueError(f"no setting {name!r}; there are {', '.join(known)}")
            outer, _, inner = name.partition("__")
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks for before it fits or scores; nobody else calls this."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_trained()

    def _is_trained(self) -> bool:
        return getattr(self, "model_", None) is not None

    # answers

    @property
    def needs(self) -> tuple[str, ...]:
        """The layers, besides the words, that a trained model reads in its input; before training, none."""
        return self._layers_read() if self._is_trained() else ()

    def _layers_read(self) -> tuple[str, ...]:
        raise NotImplementedError

    def __call__(self, text: str, **how: Any) -> Document:
        """The document that a text is, annotated: ``model("Ada slept.")``. See ``annotate`` for many texts."""
        if not isinstance(text, str):
            raise DovetailError(f"give one text, a string; annotate takes many, or sentences (this is {text!r:.40})")
        found: Document = self.annotate(text, **how)
        return found

    @overload
    def annotate(self, items: str, probabilities: bool = True) -> Document: ...  # type: ignore[overload-overlap]
    @overload
    def annotate(self, items: Iterable[str] | Iterable[Document], probabilities: bool = True) -> Iterator[Document]: ...
    @overload
    def annotate(self, items: Iterable[Any], probabilities: bool = True) -> Iterator[Any]: ...

    def annotate(self, items: Any, probabilities: bool = True) -> Any:
        """Sentences, documents or texts with the answers of the model, as a stream that holds little at a time.

        Sentences come back as sentences. Documents come back as documents, and so do texts, with the place of every
        word in their characters: a string gives one document; a list, or any column of strings, a stream of them.
        """
        self._check_trained()
        given = self._given(items)
        return annotated(given, lambda sentences: self._annotated(sentences, probabilities), self._read)

    def _given(self, items: Any) -> Any:
        """What is to be annotated, if it is what the model can take."""
        return items

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        raise NotImplementedError

    def _read(self, text: str) -> Document:
        """The sentences and words of a text."""
        return Document(tuple(segment(text)), text)

    def _repr_html_(self) -> str:
        from dovetail.models.html import model_html

        return model_html(self)

    # inner workings

    def _check_trained(self) -> None:
        if not self._is_trained():
            raise DovetailError(f"this {type(self).__name__} is not trained: call fit, or load a model")

    def _check_settings(self) -> None:
        """Every setting has the right type, and a value that is within its bounds or among its choices."""
        settings = [(f, getattr(self, f.name)) for f in fields(self) if f.init]
        for f, value in settings:
            check_type(f.name, value, str(f.type))
        for f, value in settings:
            if (known := setting_of(f)) is not None:
                known.check(f.name, value)

    def _threads(self) -> int:
        threads: int | None = self.get_params(deep=False)["threads"]
        if threads is not None:
            check_count("threads", threads)
        return threads or os.cpu_count() or 1

    def _random(self, seed: int | None) -> np.random.Generator:
        """What samples are drawn with: from the given seed, or from that of the settings."""
        chosen = self.get_params(deep=False)["seed"] if seed is None else seed
        check_count("seed", chosen, 0)
        return np.random.default_rng(chosen)

    def _optimiser(self) -> Any:
        given = self.get_params(deep=False)
        settings = {"limit": given["iterations"]}
        if given["optimiser"] != "lbfgs":
            settings |= {name: given[name] for name in ("batch", "gain", "seed")}
        return OPTIMISERS[given["optimiser"]](**{k: v for k, v in settings.items() if v is not None})


def check_type(name: str, value: object, annotation: str) -> None:
    """A setting has the type that its field says, as far as that is a number, a string or a truth value.

    >>> check_type("l2", "x", "float")
    Traceback (most recent call last):
    dovetail.errors.DovetailError: l2='x': give a number
    """
    if annotation == "Sequence[str]":
        if isinstance(value, str) or not all(isinstance(each, str) for each in _iterable(name, value)):
            raise DovetailError(f"{name}={value!r}: give a list of names, such as [{str(value)!r}]")
        return
    kinds = annotation.split(" | ")
    if kinds[0].startswith("Mapping[") and not (isinstance(value, Mapping) or (value is None and "None" in kinds)):
        raise DovetailError(f"{name}={value!r}: give a dictionary, from names to what they stand for")
    if any(kind != "None" and kind not in TYPES for kind in kinds) or (value is None and "None" in kinds):
        return
    wanted = [TYPES[kind] for kind in kinds if kind != "None"]
    is_bool = isinstance(value, bool | np.bool_)
    if not any(isinstance(value, types) and (not is_bool or bool in types) for types, _ in wanted):
        words = " or ".join([*(word for _, word in wanted), *(["None"] if "None" in kinds else [])])
        raise DovetailError(f"{name}={value!r}: give {words}")


def _iterable(name: str, value: object) -> Iterable[object]:
    if not isinstance(value, Iterable):
        raise DovetailError(f"{name}={value!r}: give a list of names")
    return value


def check_loss(loss: str, optimiser: str) -> None:
    """The loss suits the optimiser."""
    if loss == "perceptron" and optimiser == "lbfgs":
        raise DovetailError("the perceptron loss is not smooth: use the optimiser perceptron, sgd or adagrad")
