"""MultiDomainParser: parsers of constituents, or of dependencies, for several domains in one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from dovetail.errors import DovetailError, ModelFileError
from dovetail.learning.monitor import Progress
from dovetail.modelfile import Arrays, load_model, save_model
from dovetail.models.base import Estimator
from dovetail.models.dependency import domains as dependency_domains
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.domains.names import check_by_name, check_known
from dovetail.models.domains.settings import ParserDomainSettings
from dovetail.models.parser import domains as parser_domains
from dovetail.models.parser.estimator import Parser
from dovetail.text.sentence import Sentence

AnyParser = Parser | DependencyParser
PARSERS: dict[str, type[AnyParser]] = {kind.kind: kind for kind in (Parser, DependencyParser)}


@dataclass(kw_only=True, eq=False)
class MultiDomainParser(ParserDomainSettings, Estimator):
    """A parser for each of several domains, and one for other text, whose weights lean on each other.

    They share a grammar, a tagger and features, read off the text of all domains; a domain has weights of its own for
    what its sentences use.

    >>> layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    >>> news, web = Sentence(("Ada", "wrote"), layers), Sentence(("bob", "slept"), layers)
    >>> parsers = MultiDomainParser(parser=DependencyParser(bits=12))
    >>> parsers = parsers.fit({"news": [news] * 4, "web": [web] * 4})
    >>> parsers.domains_
    ('news', 'web')
    >>> parsers.parser_of("web").predict([Sentence(("ada", "slept"), {"pos": ("NNP", "VBD")})])[0].heads
    (1, -1)
    """

    parser: AnyParser

    kind: ClassVar[str] = "domain-parsers"

    parsers_: dict[str | None, Any] = field(default_factory=dict, init=False, repr=False)

    def fit(  # type: ignore[override]
        self,
        X: Mapping[str, Sequence[Sentence]],
        y: None = None,
        *,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
        **unused: None,
    ) -> Self:
        """Train on the sentences of each domain, by its name. ``doing`` is called with what is being prepared."""
        self._check_settings()
        check_by_name(X, y)
        how: dict[str, Any] = {"progress": progress, "doing": doing}
        if self.sigma is not None:
            how["sigma"] = self.sigma
        if isinstance(self.parser, DependencyParser):
            self.parsers_ = {**dependency_domains.fit_domains(self.parser, X, **how)}
        elif type(self.parser) is Parser:
            self.parsers_ = {**parser_domains.fit_domains(self.parser, X, **how)}
        else:
            raise DovetailError(f"parser={type(self.parser).__name__}: give a Parser or a DependencyParser")
        return self

    @property
    def domains_(self) -> tuple[str, ...]:
        """The names of the domains."""
        return tuple(name for name in self.parsers_ if name is not None)

    def parser_of(self, domain: str | None = None) -> Any:
        """The parser of a domain, with all that such a parser can do; without a domain, that for other text."""
        self._check_trained()
        check_known(domain, self.domains_)
        return self.parsers_[domain].set_params(threads=self.parser.threads)

    def predict(self, sentences: Iterable[Sentence], domain: str | None = None) -> list[Any]:
        """The best tree of every sentence of a domain."""
        found: list[Any] = self.parser_of(domain).predict(sentences)
        return found

    def annotate(  # type: ignore[override]
        self, items: Any, domain: str | None = None, probabilities: bool = True
    ) -> Any:
        """Sentences, documents or texts of a domain with their trees: see ``Parser.annotate``."""
        return self.parser_of(domain).annotate(items, probabilities)

    def _is_trained(self) -> bool:
        return bool(self.parsers_)

    def _layers_read(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self.parser_of().needs
        return found

    def score(self, sentences: Iterable[Sentence], domain: str | None = None) -> float:
        """Bracket F1, or unlabelled attachment, in percent."""
        return float(self.parser_of(domain).score(sentences))

    # files

    def save(self, path: str | Path, *, half: bool = False, card: dict[str, Any] | None = None) -> None:
        """Write the parsers to one file: that for other text whole, of the domains the weights that are not as its."""
        shared = self.parser_of()
        header, arrays = shared.packed(half)
        for number, name in enumerate(self.domains_):
            weight = self.parsers_[name].weights_
            index = np.flatnonzero(weight != shared.weights_)
            arrays |= {f"domain{number}.index": index, f"domain{number}.value": weight[index]}
        own = {"kind": self.kind, "parser": shared.kind, "sigma": self.sigma, "domains": list(self.domains_)}
        save_model(path, header | own | {"card": shared.card_ | (card or {})}, arrays)

    @classmethod
    def load(cls, path: str | Path, functions: Sequence[Callable[..., Any]] = ()) -> Self:
        """Read a model file."""
        header, arrays = load_model(path, cls.kind)
        try:
            shared: Any = PARSERS[header["parser"]].unpacked(header, arrays)
            made = cls(parser=shared, sigma=header["sigma"])
            made.parsers_ = {None: shared}
            for number, name in enumerate(map(str, header["domains"])):
                made.parsers_[name] = shared.with_weights(_own_weights(shared.weights_, arrays, f"domain{number}"))
        except (KeyError, ValueError, TypeError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        return made


def _own_weights(shared: Any, arrays: Arrays, prefix: str) -> Any:
    """The weights of a domain: those of other text, but where it has its own."""
    index, value = arrays[f"{prefix}.index"], arrays[f"{prefix}.value"]
    if index.ndim != 1 or index.shape != value.shape or np.any((index < 0) | (index >= len(shared))):
        raise ValueError("the weights of a domain are not among those of the model")
    weight = np.array(shared, np.float32)
    weight[index] = value
    return weight
