"""MultiDomain: one model of several domains, which learn from each other as far as they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from dovetail.errors import DovetailError
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.models.domains.settings import DomainSettings
from dovetail.models.domains.training import Domain, DomainTraining
from dovetail.models.inputs import as_sentences
from dovetail.models.training import Run, Training
from dovetail.structures.contract import Floats
from dovetail.text.sentence import Sentence

STRATEGIES = {"target": (0.0, 1.0), "all": (1.0, 0.0), "augment": (1.0, 1.0), "hierarchical": (1.0, None)}
"""The standard deviations of shared weights, and of what a domain adds to them (None: ``sigma`` says)."""

Corpora = Mapping[str, list[Sentence]]


@dataclass(kw_only=True, eq=False)
class MultiDomain(DomainSettings, Estimator):
    """Models of several domains, trained at once: each has weights of its own, drawn around weights that all share.

    The training of all sentences is cut by domain: see ``models.domains.training.Domain``.
    """

    one: ClassVar[str]
    """The setting that says what the model of each domain is like."""
    kinds: ClassVar[Mapping[str, tuple[type[Estimator], tuple[float, ...]]]]
    """The kinds of such models, each with what is tried on dev where ``sigma`` is not given; without dev, the first."""

    def fit(self, X: Any, y: Any = None, *, dev: Any = None, **how: Any) -> Self:
        """Train on the sentences of each domain, by its name: see ``Estimator.fit``.

        ``dev`` has held-out sentences of some or all domains. With them, the weights are kept whose mean score over
        the domains is best, and so is ``sigma`` unless given. ``init`` is a model of one domain.
        """
        return super().fit(X, y, dev=dev or None, **how)

    @property
    def pattern(self) -> Any:
        """What the model of each domain is like."""
        return getattr(self, self.one)

    @property
    def domains_(self) -> tuple[str, ...]:
        """The names of the domains."""
        self._check_trained()
        return self._names()

    # training

    def _examples(  # type: ignore[override]
        self, given: Any, answers: Any, what: str
    ) -> dict[str, list[Sentence]]:
        """The sentences of each domain, by its name, with the answers to learn in them."""
        if not isinstance(given, Mapping):
            raise DovetailError('give the sentences of each domain by its name: {"news": [...], "web": [...]}')
        if answers is not None:
            raise DovetailError("the answers to learn are in the sentences of each domain; give none apart from them")
        corpora, model = {name: as_sentences(some) for name, some in given.items()}, copy(self.pattern)
        self._check_names(corpora, what)
        model.card_ = {}
        found = {}
        for name, some in corpora.items():
            try:
                found[name] = model._examples(some, None, what)
            except DovetailError as error:
                raise type(error)(f"domain {name!r}: {error}") from None
        if what == "training":
            sizes: dict[str, dict[str, Any]] = {
                n: {"sentences": len(some), "tokens": sum(map(len, some)), "dev": None} for n, some in found.items()
            }
            self.card_ |= {"domains": sizes}
            self.card_ |= {key: sum(size[key] for size in sizes.values()) for key in ("sentences", "tokens")}
            if "left_out" in model.card_:
                self.card_["left_out"] = sum(map(len, corpora.values())) - self.card_["sentences"]
        return found

    def _check_names(self, corpora: Corpora, what: str) -> None:
        """There are domains, every one has a sentence with words, and dev data is of those to learn from."""
        if not corpora:
            raise DovetailError("give the training sentences of each domain, by its name")
        if what == "dev" and (strange := sorted(set(corpora) - set(known := self.card_["domains"]))):
            raise DovetailError(
                f"dev data of domains without training data: {', '.join(strange)}; there are {', '.join(known)}"
            )
        if empty := [name for name, some in corpora.items() if not any(map(len, some))]:
            if what == "dev":
                raise DovetailError(f"the dev data of {', '.join(empty)} has no sentences")
            raise DovetailError(f"the domain {empty[0]!r} has no training data; leave it out, or check its file")

    def _train(self, corpus: Corpora, held_out: Corpora | None, run: Run) -> None:  # type: ignore[override]
        model, together = copy(self.pattern), pooled(corpus.values())
        model.model_, model.card_ = None, {}
        trials = self._sigmas(held_out is not None)
        if run.checkpoint is not None and len(trials) > 1:
            raise DovetailError("dev is to choose between two sigmas, and a checkpoint is of one: give sigma")
        training = self._pooled_training(model, corpus, held_out, run)
        held_out = {name: model._filled(some) for name, some in held_out.items()} if held_out is not None else None
        ends = np.cumsum([0, *map(len, corpus.values())]).tolist()
        domains = [self._domain(training, low, high) for low, high in pairwise(ends)]
        score = self._dev_scorer(model, domains, held_out) if held_out is not None else None
        run, interrupted = self._begin(model, training, run)
        best: tuple[float, DomainTraining, Floats, str] | None = None
        before = None
        for sigma in trials:
            several = DomainTraining(training, domains, STRATEGIES[self.strategy][0], sigma, before)
            monitor = self._monitor(run)
            monitor.interrupted = interrupted
            if score is not None:
                monitor.dev_score = partial(score, several)
            weight = self._minimise(several, monitor, run)
            if best is None or monitor.best_dev > best[0]:
                best = monitor.best_dev, several, weight, monitor.reason
            if monitor.interrupted:
                break
            before = several, weight
        assert best is not None
        _, several, weight, stopped = best
        stopped = monitor.reason if monitor.reason == "interrupted" else stopped
        model.model_ = several.export(weight)
        model._finish(together, run)
        self.layers_ = model.layers_
        self._keep(model, several, weight, held_out)
        self.card_ = model.card_ | self.card_ | {"sigma": several.sigma, "stopped": stopped}
        if held_out is not None:
            for name, some in held_out.items():
                self.card_["domains"][name]["dev"] = self.score(some, name)
            self.card_["dev"] = float(np.mean([self.card_["domains"][name]["dev"] for name in held_out]))
        self._forget_checkpoint(run)

    def _sigmas(self, with_dev: bool) -> Sequence[float]:
        fixed = self.sigma if self.sigma is not None else STRATEGIES[self.strategy][1]
        usual = self.kinds[self.pattern.stored_kind()][1]
        return [fixed] if fixed is not None else usual if with_dev else usual[:1]

    def _pooled_training(self, model: Any, corpus: Corpora, held_out: Corpora | None, run: Run) -> Training:
        """The training of all sentences."""
        together, dev = pooled(corpus.values()), pooled(held_out.values()) if held_out else None
        training: Training = model._prepare(together, dev, run)
        return training

    def _domain(self, training: Any, low: int, high: int) -> Domain:
        """What some of the sentences are of the training."""
        found: Domain = training.of_domain(low, high)
        return found

    def _begin(self, model: Any, training: Any, run: Run) -> tuple[Run, bool]:
        """The run with what all domains start from, and whether finding it was interrupted."""
        return run, False

    def _keep(self, model: Any, several: DomainTraining, weight: Floats, held_out: Corpora | None) -> None:
        """Set what answers, from the model of the shared weights and from those of all.

        Held-out sentences tune the models of their domains, and all of them together that of the shared weights.
        """
        raise NotImplementedError

    def _dev_scorer(  # type: ignore[override]
        self, model: Any, domains: Sequence[Domain], held_out: Corpora
    ) -> Callable[[DomainTraining, Floats], float]:
        """A function from a training and its weights to the mean score over the domains with held-out sentences."""
        numbers = {name: m for m, name in enumerate(self.card_["domains"])}
        scorers = {
            numbers[name]: model._dev_scorer(domains[numbers[name]].training, some) for name, some in held_out.items()
        }

        def score(several: DomainTraining, weight: Floats) -> float:
            return float(np.mean([scorer(several.weights(m, weight)) for m, scorer in scorers.items()]))

        return score

    def _optimiser(self, training: Any = None) -> Any:
        return self.pattern._optimiser(training.pooled)

    def _dev_every(self) -> int:
        every: int = self.pattern._dev_every()
        return every

    def _setting(self, name: str) -> Any:
        return getattr(self.pattern, name, None)

    def check_settings(self) -> None:
        """As for any model; and those of the model that every domain has."""
        super().check_settings()
        if not isinstance(self.pattern, Estimator) or self.pattern.stored_kind() not in self.kinds:
            known = " or a ".join(kind.__name__ for kind, _ in self.kinds.values())
            raise DovetailError(f"{self.one}={type(self.pattern).__name__}: give a {known}")
        self.pattern.check_settings()
        if self.pattern._setting("l1"):
            raise DovetailError("domains share their weights by a Gaussian prior: l1 must be 0; use l2")
        if self.pattern._setting("pool") is not None or self.pattern._setting("select_templates"):
            raise DovetailError("domains are trained as one model: leave out pool and select_templates")
        if self.sigma is not None and self.strategy != "hierarchical":
            raise DovetailError(f"sigma is for the strategy hierarchical; {self.strategy} says itself what is shared")

    # answers

    def model_of(self, domain: str | None = None) -> Any:
        """The model of a domain, with all that its kind can do; without a domain, that of the shared weights."""
        names = ", ".join(self.domains_)
        if domain is None and self.strategy == "target":
            raise DovetailError(f"these domains share no weights (strategy target): name one of {names}")
        if domain is not None and domain not in self.domains_:
            raise DovetailError(
                f"no domain {domain!r}; the model knows {names} (leave the domain out for text of no known domain)"
            )
        found = self._one(domain).set_params(threads=self.pattern.threads)
        found.card_ = self.card_ | self.card_.get("domains", {}).get(domain, {})
        return found

    def predict(self, X: Any, domain: str | None = None) -> list[Any]:
        """The best answer to every sentence of a domain."""
        found: list[Any] = self.model_of(domain).predict(X)
        return found

    def predict_marginals(self, X: Any, domain: str | None = None) -> Any:
        """The probabilities of the parts of answers: see the method of the same name of the model of a domain."""
        return self.model_of(domain).predict_marginals(X)

    def kbest(self, X: Any, k: int = 10, domain: str | None = None) -> list[list[Answer]]:
        """The k most probable answers to every sentence of a domain, best first, each with its probability."""
        found: list[list[Answer]] = self.model_of(domain).kbest(X, k)
        return found

    def sample(self, X: Any, n: int = 1, seed: int | None = None, domain: str | None = None) -> list[list[Answer]]:
        """``n`` answers to every sentence of a domain, drawn exactly from the distribution of its model."""
        found: list[list[Answer]] = self.model_of(domain).sample(X, n, seed)
        return found

    def annotate(  # type: ignore[override]
        self, items: Any, domain: str | None = None, probabilities: bool = True
    ) -> Any:
        """Sentences, documents or texts of a domain, with the answers of its model: see ``Estimator.annotate``."""
        return self.model_of(domain).annotate(items, probabilities)

    def score(self, X: Any, domain: str | None = None) -> float:
        """How good the answers for a domain are, in percent: see the ``score`` of its model."""
        return float(self.model_of(domain).score(X))

    def _names(self) -> tuple[str, ...]:
        """The names of the domains of a trained model."""
        raise NotImplementedError

    def _one(self, domain: str | None) -> Any:
        """The model of a domain that there is, or of none."""
        raise NotImplementedError

    def _layers_read(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self._one(None).needs
        return found


def pooled(parts: Iterable[Sequence[Sentence]]) -> list[Sentence]:
    """The sentences of all domains, with numbers of documents that do not clash."""
    found: list[Sentence] = []
    first = 0
    for part in parts:
        numbers = [s.document for s in part if s.document is not None]
        found += [s if s.document is None else replace(s, document=s.document + first) for s in part]
        first += max(numbers, default=-1) + 1
    return found
