"""MultiDomainTagger: one model of several domains, which learn from each other as far as they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, ModelFileError
from dovetail.features.algebra.templates import call
from dovetail.learning.hierarchical import HierarchicalObjective
from dovetail.learning.monitor import Monitor, Progress
from dovetail.modelfile import COMPACT_VERSION, load_model, save_model
from dovetail.models.base import Estimator
from dovetail.models.domains.model import DomainModel, Tuning
from dovetail.models.domains.names import check_by_name, check_data, check_known
from dovetail.models.domains.settings import TaggerDomainSettings
from dovetail.models.domains.training import Domain, DomainTraining
from dovetail.models.layers import LayerTaggers
from dovetail.models.tagger.estimator import Input, Tagger, check_storage
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel
from dovetail.models.tagger.tuning import agreeing, balanced, calibration
from dovetail.text.sentence import Sentence
from dovetail.version import __version__

STRATEGIES = {"target": (0.0, 1.0), "all": (1.0, 0.0), "augment": (1.0, 1.0), "hierarchical": (1.0, None)}
"""The standard deviations of shared weights, and of what a domain adds to them (None: ``sigma`` says)."""
SIGMAS = (0.1, 0.3)
"""What is tried on dev where ``sigma`` is not given."""

Tags = list[Sequence[str]]
Floats = NDArray[np.float64]


@dataclass
class _Data:
    """The sentences of a domain and their tags."""

    sentences: list[Sentence]
    tags: Tags


@dataclass(kw_only=True, eq=False)
class MultiDomainTagger(TaggerDomainSettings, Estimator):
    """Taggers of several domains, trained at once: each has weights of its own, drawn around weights that all share.

    Domains may have different labels: a domain learns and answers its own. Text of no known domain is tagged by the
    shared weights, with all labels.

    >>> def tagged(words, tags):
    ...     return Sentence(tuple(words.split()), {"ner": tuple(tags.split())})
    >>> news = [tagged("Ada slept", "B-PER O"), tagged("in Rome", "O B-LOC")]
    >>> web = [tagged("ada slept", "B-PER O"), tagged("nice phone", "O B-THING")]
    >>> taggers = MultiDomainTagger(tagger=Tagger(features=["word[-1:2]", "shape[0]"], l2=0.01))
    >>> taggers.fit({"news": news * 5, "web": web * 5}).predict([["nice", "phone"]], "web")
    [['O', 'B-THING']]
    >>> taggers.domains_
    ('news', 'web')
    """

    tagger: Tagger = field(default_factory=Tagger)

    kind: ClassVar[str] = "domains"
    model_: DomainModel | None = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _made: dict[str | None, Tagger] = field(default_factory=dict, init=False, repr=False)

    @property
    def domains_(self) -> tuple[str, ...]:
        """The names of the domains."""
        return tuple(self._model().domains)

    # training

    def fit(  # type: ignore[override]
        self,
        X: Mapping[str, Input],
        y: None = None,
        *,
        dev: Mapping[str, Input] | None = None,
        progress: Callable[[Progress], None] | None = None,
        **unused: None,
    ) -> Self:
        """Train on the sentences of each domain. ``dev`` has held-out sentences of some or all domains.

        With dev, the weights are kept whose mean score over the domains is best, and so is ``sigma`` unless given.
        """
        self._check_settings()
        check_by_name(X, y)
        data = {name: self._data(name, given, "training") for name, given in X.items()}
        held_out = {name: self._data(name, given, "dev") for name, given in (dev or {}).items()}
        _check_domains(data, held_out)
        made = self._compiled(data, held_out)
        held_out = {name: replace(one, sentences=self.layers_.filled(one.sentences)) for name, one in held_out.items()}
        score = self._mean_scorer(made, list(data), held_out) if held_out else None
        best: tuple[float, float, HierarchicalObjective, Floats, Monitor] | None = None
        top, fixed = STRATEGIES[self.strategy]
        previous: tuple[HierarchicalObjective, Floats] | None = None
        for sigma in [fixed] if fixed is not None else self._sigmas(bool(held_out)):
            objective = made.objective(top, sigma)
            monitor = Monitor(report=progress, patience=self.tagger.patience)
            weight = self._best(made, objective, monitor, score, previous)
            reached = monitor.best_dev if held_out else 0.0
            if best is None or reached > best[0]:
                best = reached, sigma, objective, weight, monitor
            if monitor.interrupted:
                break
            previous = objective, weight
        assert best is not None
        _, sigma, objective, weight, monitor = best
        names = list(data)
        self.model_ = self._all_tuned(
            DomainModel(
                made.shared(objective, weight),
                Tuning(),
                {name: made.deviation(objective, weight, m) for m, name in enumerate(names)},
            ),
            held_out,
        )
        self._made = {}
        self.card_ = {
            "domains": {n: {"sentences": len(d.sentences), "tokens": sum(map(len, d.tags))} for n, d in data.items()},
            "sigma": sigma,
            "stopped": monitor.reason,
            "dev": None,
        }
        if held_out:
            scores = [self.tagger_of(name).score(d.sentences, d.tags) for name, d in held_out.items()]
            self.card_["dev"] = float(np.mean(scores))
        return self

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.tagger, Tagger):
            raise DovetailError(f"tagger={self.tagger!r}: give a Tagger")
        self.tagger._check_settings()
        if self.tagger.l1:
            raise DovetailError("domains share their weights by a Gaussian prior: l1 must be 0; use l2")
        if self.sigma is not None and self.strategy != "hierarchical":
            raise DovetailError(f"sigma is for the strategy hierarchical; {self.strategy} says itself what is shared")

    def _sigmas(self, with_dev: bool) -> Sequence[float]:
        if self.sigma is not None:
            return (self.sigma,)
        return SIGMAS if with_dev else SIGMAS[:1]

    def _data(self, name: str, given: Input, what: str) -> _Data:
        corpus = self.tagger._examples(given, None, f"domain {name!r}: {what}")
        return _Data(corpus, [*self.tagger.tags_of(corpus)])

    def _compiled(self, data: Mapping[str, _Data], held_out: Mapping[str, _Data]) -> DomainTraining:
        tagger = replace(self.tagger)
        pooled = _pooled(data.values())
        labels = LabelSet.learn(pooled.tags, tagger.scheme)
        features = tagger.features_for(pooled.sentences, _pooled(held_out.values()).sentences if held_out else None)
        lacking = {c for c in features.optional for d in data.values() if not any(c in s.layers for s in d.sentences)}
        features = features.without_columns(lacking)  # what one domain has and another lacks tells domains apart
        training = tagger.prepared(tagger._learn_layers(features, pooled.sentences, lambda what: None), features)
        self.layers_ = tagger.layers_
        domains = []
        first = 0
        for one in data.values():
            own = _own_labels(labels, LabelSet.learn(one.tags, tagger.scheme)) if self.restrict else labels
            last = first + len(one.sentences)
            domains.append(Domain.of(training, first, last, own.encode(one.tags), own))
            first = last
        return DomainTraining(training, domains)

    def _best(
        self,
        made: DomainTraining,
        objective: HierarchicalObjective,
        monitor: Monitor,
        score: Callable[[HierarchicalObjective, Floats], float] | None,
        previous: tuple[HierarchicalObjective, Floats] | None,
    ) -> Floats:
        """The best weights, from zero or from those under another sigma."""
        if score is not None:
            monitor.dev_score = lambda weight: score(objective, weight)
        start = np.zeros(objective.parameters)
        if previous is not None:
            old, weight = previous
            start = objective.whole(old.top(weight), [old.weights_of(m, weight) for m in range(len(old.models))])
        hints: dict[str, Any] = {}
        if self.tagger.optimiser == "lbfgs":
            hints["curvature"] = made.curvature(objective)
        else:
            monitor.dev_every = 1
        found: Floats = self.tagger._optimiser().minimise(objective, made.training.prior, start, monitor, None, **hints)
        return found

    def _mean_scorer(
        self, made: DomainTraining, names: Sequence[str], held_out: Mapping[str, _Data]
    ) -> Callable[[HierarchicalObjective, Floats], float]:
        """A function from weights to the mean score over the domains with dev data."""
        chains = {names.index(n): made.dev_chains(names.index(n), d.sentences) for n, d in held_out.items()}
        scorers = {
            m: self.tagger.scorer_of(batch_of, made.domains[m].labels, held_out[names[m]].tags)
            for m, batch_of in chains.items()
        }

        def score(objective: HierarchicalObjective, weight: Floats) -> float:
            return float(np.mean([scorer(made.weights(objective, weight, m)) for m, scorer in scorers.items()]))

        return score

    def _all_tuned(self, model: DomainModel, held_out: Mapping[str, _Data]) -> DomainModel:
        domains = dict(model.domains)
        for name, dev in held_out.items():
            domains[name] = replace(domains[name], tuning=self._tuning(model.untuned(name), dev))
        tuning = self._tuning(model.shared, _pooled(held_out.values())) if held_out else model.tuning
        return replace(model, domains=domains, tuning=tuning)

    def _tuning(self, model: ChainModel, dev: _Data) -> Tuning:
        """What the settings of the tagger let dev decide."""
        tagger, threads = self.tagger, self.tagger._threads()
        factor = calibration(model, dev.sentences, dev.tags, threads) if tagger.calibrate else 1.0
        model = model.scaled(factor)
        if model.labels.scheme is not None:
            if tagger.agree:
                model = agreeing(model, dev.sentences, dev.tags, threads)
            if tagger.balance:
                model = balanced(model, dev.sentences, dev.tags, threads)
        return Tuning(factor, model.agreement, model.outside)

    # answers

    def tagger_of(self, domain: str | None = None) -> Tagger:
        """The tagger of a domain, with all that taggers can do; without a domain, that of the shared weights."""
        model = self._model()
        check_known(domain, model.domains)
        if domain is None and self.strategy == "target":
            raise DovetailError(
                f"these domains share no weights (strategy target): name one of {', '.join(model.domains)}"
            )
        if domain not in self._made:
            made = Tagger(**self.tagger.get_params())
            made.model_ = model.model_of(domain)
            made.card_, made.layers_ = self.card_, self.layers_
            self._made[domain] = made
        return self._made[domain].set_params(threads=self.tagger.threads)

    def predict(self, sentences: Input, domain: str | None = None) -> list[list[str]]:
        """The best tags of every sentence of a domain."""
        return self.tagger_of(domain).predict(sentences)

    def annotate(  # type: ignore[override]
        self, items: Any, domain: str | None = None, probabilities: bool = True
    ) -> Any:
        """Sentences, documents or texts of a domain, with their tags and entities: see ``Tagger.annotate``."""
        return self.tagger_of(domain).annotate(items, probabilities)

    def score(self, sentences: Input, domain: str | None = None) -> float:
        """Entity F1 in percent, or token accuracy in percent for plain labels."""
        return self.tagger_of(domain).score(sentences)

    # files

    def save(
        self, path: str | Path, *, half: bool = False, compact: bool = False, card: dict[str, Any] | None = None
    ) -> None:
        """Write the model of all domains to one file; ``half`` and ``compact`` as of `Tagger.save`."""
        check_storage(half, compact)
        model = self._model().with_short_keys() if compact else self._model()
        tagger = self.tagger.get_params() | {"features": model.shared.features.name, "ignore": list(self.tagger.ignore)}
        del tagger["threads"]
        settings = {"strategy": self.strategy, "sigma": self.sigma, "restrict": self.restrict, "tagger": tagger}
        header = {"kind": self.kind, "dovetail": __version__, "settings": settings, "card": self.card_ | (card or {})}
        version = {"version": COMPACT_VERSION} if compact else {}
        layers, arrays = self.layers_.packed(half, compact)
        save_model(path, header | version | model.header() | layers, model.arrays(half, compact) | arrays)

    @classmethod
    def load(cls, path: str | Path, functions: Sequence[Callable[..., Any]] = ()) -> MultiDomainTagger:
        """Read a model file. Python functions that served as templates are given again, by the same names."""
        header, arrays = load_model(path, cls.kind)
        try:
            settings = dict(header["settings"])
            known = {f.name for f in fields(Tagger) if f.init}
            tagger = Tagger(**{k: v for k, v in settings.pop("tagger").items() if k in known})
            found = cls(tagger=tagger, **{k: settings[k] for k in ("strategy", "sigma", "restrict")})
            found.model_ = DomainModel.from_file(header, arrays, [call(f) for f in functions])
            tagger.features = found.model_.shared.features
            found.layers_ = LayerTaggers.unpacked(header, arrays)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        found.card_ = header.get("card", {})
        return found

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().shared.features.columns if layer != "word")

    def _model(self) -> DomainModel:
        if self.model_ is None:
            raise DovetailError("this tagger is not trained: call fit, or load a model")
        return self.model_


def _check_domains(data: Mapping[str, _Data], held_out: Mapping[str, _Data]) -> None:
    """Every domain has data, dev data is of known domains, and all spell entities, or none does."""
    check_data({name: one.tags for name, one in data.items()})
    if strange := sorted(set(held_out) - set(data)):
        raise DovetailError(
            f"dev data of domains without training data: {', '.join(strange)}; there are {', '.join(data)}"
        )
    if empty := [name for name, one in held_out.items() if not any(map(len, one.tags))]:
        raise DovetailError(f"the dev data of {', '.join(empty)} has no sentences")
    plain = [name for name, one in data.items() if LabelSet.learn(one.tags).scheme is None]
    if plain and len(plain) < len(data):
        spelled = ", ".join(name for name in data if name not in plain)
        raise DovetailError(
            f"the tags of {', '.join(plain)} are plain labels, those of {spelled} spell entities (B-, I-, O): "
            f"domains of one model must have one kind of tags"
        )


def _pooled(parts: Iterable[_Data]) -> _Data:
    """The data of all domains, with numbers of documents that do not clash."""
    sentences: list[Sentence] = []
    tags: Tags = []
    first = 0
    for part in parts:
        numbers = [s.document for s in part.sentences if s.document is not None]
        sentences += [replace(s, document=None if s.document is None else s.document + first) for s in part.sentences]
        tags += part.tags
        first += max(numbers, default=-1) + 1
    return _Data(sentences, tags)


def _own_labels(labels: LabelSet, seen: LabelSet) -> LabelSet:
    """The labels of a domain: all that spell a type it has seen, also where no entity of it was long."""
    if labels.scheme is None:
        return seen
    types = set(seen.types)
    return LabelSet(tuple(name for name in labels.names if name == "O" or name[2:] in types), labels.scheme)
