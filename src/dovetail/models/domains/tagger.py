"""MultiDomainTagger: taggers of several domains in one model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from dovetail.errors import DovetailError
from dovetail.modelfile import Arrays
from dovetail.models.choices import Tuning
from dovetail.models.domains.estimator import Corpora, MultiDomain, pooled
from dovetail.models.domains.model import Deviation, DomainModel
from dovetail.models.domains.settings import TaggerDomainSettings
from dovetail.models.domains.training import Domain, DomainTraining
from dovetail.models.linear.compact import CompactEstimator
from dovetail.models.tagger.domain import chain_domain
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainTraining
from dovetail.models.training import Run
from dovetail.text.sentence import Sentence


@dataclass(kw_only=True, eq=False)
class MultiDomainTagger(TaggerDomainSettings, CompactEstimator, MultiDomain):
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

    kind: ClassVar[str] = "domains"
    one: ClassVar[str] = "tagger"
    kinds: ClassVar = {"tagger": (Tagger, (0.1, 0.3))}

    tagger: Tagger = field(default_factory=Tagger)
    """What every domain's tagger is like: features, order, penalties, optimiser and all else."""
    model_: DomainModel | None = field(default=None, init=False, repr=False)
    _made: dict[str | None, Tagger] = field(default_factory=dict, init=False, repr=False)

    def tagger_of(self, domain: str | None = None) -> Tagger:
        """The tagger of a domain, with all that taggers can do; without a domain, that of the shared weights."""
        tagger: Tagger = self.model_of(domain)
        return tagger

    # training

    def _examples(  # type: ignore[override]
        self, given: Any, answers: Any, what: str
    ) -> dict[str, list[Sentence]]:
        found = super()._examples(given, answers, what)
        if what == "training":
            _check_tags({name: self.tagger.tags_of(some) for name, some in found.items()})
        return found

    def _pooled_training(self, model: Any, corpus: Corpora, held_out: Corpora | None, run: Run) -> ChainTraining:
        together = pooled(corpus.values())
        features = model.features_for(together, pooled(held_out.values()) if held_out else None)
        lacking = {c for c in features.optional for some in corpus.values() if not any(c in s.layers for s in some)}
        # What one domain has and another lacks tells domains apart.
        features = features.without_columns(lacking)
        training: ChainTraining = model.prepared(model._learn_layers(features, together, run.doing), features)
        return training

    def _domain(self, training: ChainTraining, low: int, high: int) -> Domain:
        return chain_domain(training, low, high, self.restrict)

    def _keep(self, model: Tagger, several: DomainTraining, weight: Any, held_out: Corpora | None) -> None:
        training, top, own = several.pooled, several.objective.top(weight), {}
        for m, name in enumerate(self.card_["domains"]):
            added = training.export(several.weights(m, weight) - top)
            own[name] = Deviation(several.domains[m].training.model.labels, added.parts, added.transition)
        self._made = {}
        assert model.model_ is not None
        self.model_ = untuned = DomainModel(model.model_, Tuning(), own)
        if held_out is not None:
            for m, name in enumerate(own):
                if name in held_out:
                    chains = several.domains[m].training.dev(training.as_stored(several.weights(m, weight)))
                    tuning, _ = model.tuning(untuned.untuned(name), held_out[name], chains)
                    own[name] = replace(own[name], tuning=tuning)
            together = pooled(held_out.values())
            tuning, _ = model.tuning(untuned.shared, together, training.dev_scorer(together)(training.as_stored(top)))
            self.model_ = replace(untuned, domains=own, tuning=tuning)

    # answers

    def _names(self) -> tuple[str, ...]:
        return tuple(self._model().domains)

    def _one(self, domain: str | None) -> Tagger:
        if domain not in self._made:
            self._made[domain] = copy(self.tagger)
            self._made[domain].model_, self._made[domain].layers_ = self._model().model_of(domain), self.layers_
        return self._made[domain]

    # files

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"tagger": self._one(None)._stored_settings()}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = DomainModel.from_file(header, arrays, functions)
        self.tagger = Tagger(**Tagger.settings_in(header["settings"]["tagger"], header.get("file", self.kind)))
        self.tagger.features = self.model_.shared.features


def _check_tags(tags: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """All domains spell entities, or none does."""
    plain = [name for name, some in tags.items() if LabelSet.learn(some).scheme is None]
    if plain and len(plain) < len(tags):
        spelled = ", ".join(name for name in tags if name not in plain)
        raise DovetailError(
            f"the tags of {', '.join(plain)} are plain labels, those of {spelled} spell entities (B-, I-, O): "
            f"domains of one model must have one kind of tags"
        )
