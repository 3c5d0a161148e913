"""MultiDomainParser: parsers of constituents, or of dependencies, for several domains in one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.modelfile import Arrays
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.domains.estimator import Corpora, MultiDomain, pooled
from dovetail.models.domains.training import DomainTraining
from dovetail.models.parser.estimator import Parser
from dovetail.models.training import Run


@dataclass(kw_only=True, eq=False)
class MultiDomainParser(MultiDomain):
    """A parser for each of several domains, and one for other text, whose weights lean on each other.

    They share a grammar, a tagger and features, read off the text of all domains; a domain has weights of its own for
    what its sentences use. Parsers of dependencies are trained on all sentences first, and go on from there.

    >>> from dovetail import Sentence
    >>> layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    >>> news, web = Sentence(("Ada", "wrote"), layers), Sentence(("bob", "slept"), layers)
    >>> parsers = MultiDomainParser(parser=DependencyParser(bits=12))
    >>> parsers = parsers.fit({"news": [news] * 4, "web": [web] * 4})
    >>> parsers.domains_
    ('news', 'web')
    >>> parsers.parser_of("web").predict([Sentence(("ada", "slept"), {"pos": ("NNP", "VBD")})])[0].heads
    (1, -1)
    """

    kind: ClassVar[str] = "domain-parsers"
    one: ClassVar[str] = "parser"
    kinds: ClassVar = {"parser": (Parser, (0.3,)), "dependency": (DependencyParser, (0.1,))}

    parser: Parser | DependencyParser
    """The kind of parser, with its settings."""
    model_: dict[str | None, Any] | None = field(default=None, init=False, repr=False)

    def parser_of(self, domain: str | None = None) -> Any:
        """The parser of a domain, with all that such a parser can do; without a domain, that for other text."""
        return self.model_of(domain)

    # training

    def check_settings(self) -> None:
        """As for any model; a grammar that is counted has no weights to share."""
        super().check_settings()
        if getattr(self.parser, "features", None) == "generative":
            raise DovetailError(
                "features='generative' has no weights to share: count the trees of each domain by itself"
            )
        if self.parser.pool is not None:
            raise DovetailError(f"pool={self.parser.pool}: parsers of several domains are one model; pool them later")
        if isinstance(self.parser, Parser) and self.parser.kind != "grammar":
            raise DovetailError(f"kind={self.parser.kind!r}: parsers of several domains have a grammar")

    def _begin(self, model: Any, training: Any, run: Run) -> tuple[Run, bool]:
        if not isinstance(model, DependencyParser):
            return run, False
        monitor = model._monitor(run)
        weight = model._minimise(training, monitor, run._replace(checkpoint=None))
        model.model_ = training.export(weight)
        return run._replace(init=model), monitor.interrupted

    def _keep(self, model: Any, several: DomainTraining, weight: Any, held_out: Corpora | None) -> None:
        training, dev = several.pooled, held_out or {}
        self.model_ = {None: model}
        for m, name in enumerate(self.card_["domains"]):
            self.model_[name] = own = copy(model)
            own.model_ = training.export(several.weights(m, weight))
            if name in dev:
                own.model_ = model._tuned(own.model_, dev[name], several.domains[m].training)
        if dev and model.calibrate:
            together = pooled(dev.values())
            model._dev_scorer(training, together)  # which looks at them
            model.model_ = model._tuned(model.model_, together, training)

    # answers

    def _names(self) -> tuple[str, ...]:
        return tuple(name for name in self._model() if name is not None)

    def _one(self, domain: str | None) -> Any:
        return self._model()[domain]

    # files

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a file: the parser for other text, and of the others the weights unlike its."""
        shared = self._one(None)
        header, arrays = shared.packed(half, compact)
        for number, name in enumerate(self._names()):
            weight = self._one(name).weights_
            index = np.flatnonzero(weight != shared.weights_)
            value = weight[index].astype(np.float16 if half else np.float32)
            arrays |= {f"domain{number}.index": index, f"domain{number}.value": value}
        about = {"kind": self.kind, "parser": shared.stored_kind(), "strategy": self.strategy, "sigma": self.sigma}
        return header | about | {"domains": list(self._names())}, arrays

    @classmethod
    def unpacked(cls, header: dict[str, Any], arrays: Arrays, functions: Sequence[Callable[..., Any]] = ()) -> Self:
        """From what ``packed`` gave."""
        shared: Any = cls.kinds[header["parser"]][0].unpacked(header, arrays, functions)
        made = cls(parser=shared, strategy=header.get("strategy", "hierarchical"), sigma=header["sigma"])
        made.card_, made.layers_, made.model_ = shared.card_, shared.layers_, {None: shared}
        for number, name in enumerate(map(str, header["domains"])):
            made.model_[name] = own = copy(shared)
            own.model_ = shared.model_.with_weights(_own_weights(shared.weights_, arrays, f"domain{number}"))
        return made


def _own_weights(shared: NDArray[np.float32], arrays: Arrays, prefix: str) -> NDArray[np.float32]:
    """The weights of a domain: those of other text, but where it has its own."""
    index, value = arrays[f"{prefix}.index"], arrays[f"{prefix}.value"]
    if index.ndim != 1 or index.shape != value.shape or np.any((index < 0) | (index >= len(shared))):
        raise ValueError("the weights of a domain are not among those of the model")
    weight = np.array(shared, np.float32)
    weight[index] = value
    return weight
