"""What taggers, segmenters and nested taggers do alike: settings, pools, and what held-out sentences choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.learning.losses import ROUGH
from dovetail.learning.monitor import Monitor
from dovetail.learning.noise import Noise
from dovetail.learning.tuning import best_bias, calibration_of, likely_bias
from dovetail.models.base import Estimator
from dovetail.models.choices import Held, Tuning, best_f1, f1_of, summed
from dovetail.models.consistency.coupling import STRENGTHS, USUAL, Consistency
from dovetail.models.documents import whole_documents
from dovetail.models.inputs import as_sentences
from dovetail.models.linear.model import leaning
from dovetail.models.plans import PoolPlan
from dovetail.models.pools import ASIDE, Pooling, membership
from dovetail.models.selection import by_template, selected
from dovetail.models.training import Run, uninterrupted
from dovetail.scorers.compiled import PartSettings
from dovetail.scorers.hidden_parts import Hidden
from dovetail.scorers.parts import Form
from dovetail.structures.contract import Floats, Integers
from dovetail.text.sentence import Sentence

COARSE_BALANCES = (0.0, -0.8, -1.6)  # tried while training, to choose weights that will score well when balanced
BALANCES = np.round(np.arange(-3.0, 1.01, 0.2), 1)  # what may be added to the score of O


@dataclass(kw_only=True, eq=False)
class LinearEstimator(Estimator):
    """What taggers, segmenters and nested taggers do alike."""

    _kept: frozenset[str] | None = field(default=None, init=False, repr=False)
    """The templates that were selected, where they are."""
    _selecting: bool = field(default=False, init=False, repr=False)
    _mixing: Floats | None = field(default=None, init=False, repr=False)
    """The weights of the experts of a pool, where they are learnt beforehand."""

    def _train(self, corpus: list[Any], held_out: list[Any] | None, run: Run) -> None:
        """As any model; templates are selected first, and without dev data mixing weights are learnt beforehand."""
        self._kept, self._mixing = None, None
        if self._setting("select_templates"):
            self._selecting = True
            try:
                kept = selected(self._prepare(corpus, held_out, run), self, run)
            finally:
                self._selecting = False
            self._kept = frozenset(kept)
        plan = PoolPlan.of(self._setting("pool"))
        if plan is not None and self._setting("pool_weights") == "learnt" and held_out is None:
            self._mixing = self._mixing_inside(corpus, plan, run)
        super()._train(corpus, held_out, run)

    def _mixing_inside(self, corpus: list[Any], plan: PoolPlan, run: Run) -> Floats:
        """The mixing weights of experts of most of the corpus, learnt on the rest of it."""
        cut = len(corpus) - len(corpus) // ASIDE
        if plan.kind == "elitist" or cut == len(corpus):
            return np.full(plan.experts, 1.0 / plan.experts)
        run.doing("learning mixing weights on a part of the training data")
        part = type(self)(**self.get_params(deep=False))
        part._train(corpus[:cut], corpus[cut:], run._replace(checkpoint=None))
        uninterrupted(part)
        return np.array(list(part.card_["pool"].values()))

    def _minimise(self, training: Any, monitor: Monitor, run: Run, passes: int | None = None) -> Any:
        plan = PoolPlan.of(self._setting("pool"))
        if plan is None:
            return super()._minimise(training, monitor, run, passes)
        plan.check_used([t for each in training.model.templates().values() for t in each])
        start = training.start(None if run.init is None else run.init._model())
        pooling = Pooling(plan, self, training, monitor, run.doing, self._mixing)
        return pooling.minimise(start, self._checkpoint(training, start, run))

    def check_settings(self) -> None:
        """As for any model; noise is of a known kind, and a pool is one that can be made."""
        super().check_settings()
        if (told := self._setting("noise")) is not None:
            Noise.of(told)
            if self._setting("hidden") or self._setting("encoder") is not None:
                raise DovetailError(
                    f"noise={told!r} is for features without a hidden layer or an encoder: leave out one of the two"
                )
            if self._loss() in ROUGH:
                raise DovetailError(
                    f"noise={told!r} needs probabilities: use the optimiser lbfgs, sgd or adagrad, and "
                    "a loss other than perceptron"
                )
        elif self._setting("noise_text"):
            raise DovetailError("noise_text is raw text for noise: choose some, such as noise='dropout:0.5'")
        plan = PoolPlan.of(self._setting("pool"))
        if plan is not None and plan.kind == "elitist" and self._setting("optimiser") == "perceptron":
            raise DovetailError("elitist experts need proximal steps: use the optimiser sgd or adagrad")
        network = self._setting("hidden") or self._setting("encoder") is not None
        if (plan is not None or self._setting("select_templates")) and network:
            raise DovetailError(
                "pool and select_templates are for features without a hidden layer or an encoder; leave out one of them"
            )

    def _usable(self, features: Any, corpus: Sequence[Sentence], hidden: set[str]) -> Any:
        """A feature set, less what reads hidden layers, or layers that a named set wants and no sentence has.

        Where templates are selected, only those that are left.
        """
        missing = {c for c in features.columns if c != "word" and not any(c in s.layers for s in corpus)}
        features = features.without_columns(hidden | set(self._setting("ignore")) | (missing & features.optional))
        if not features.templates:
            raise DovetailError("no feature template is left; give some that read words or layers that the data has")
        if self._kept is not None:
            features = replace(features, templates=tuple(t for t in features.templates if str(t) in self._kept))
        return features

    def _how(self, min_count: int, **more: Any) -> dict[str, Any]:
        """What the settings say of ``LinearTraining.prepare``."""
        settings = PartSettings(min_count, self._setting("hash_bits"), threads=self._threads(), **more)
        if self._selecting:
            settings = settings._replace(apart=by_template)
        elif (plan := PoolPlan.of(self._setting("pool"))) is not None:
            settings = settings._replace(apart=membership(plan, self._setting("seed")))
        found: dict[str, Any] = {"settings": settings, "loss": self._loss()}
        found |= {name: self._setting(name) for name in ("l2", "l1", "seed")} | {"network": self._network}
        if size := self._setting("hidden"):
            told = (self._setting(name) for name in ("activation", "hidden_inputs", "seed"))
            found["hidden"] = Hidden(size, *told)
        return found | self._noise()

    def _network(self, form: Form, corpus: Sequence[Sentence]) -> Any:
        """The network, with its first weights, that scores parts of a form beside features; None for none."""
        if self._setting("encoder") is None:
            return None
        from dovetail.neural.heads import TokenHead

        return self._encoder_network([s.words for s in corpus], TokenHead.kind, **TokenHead.for_form(form))

    def _noise(self) -> dict[str, Any]:
        """What the settings say of noise; raw sentences have the layers that the model predicts."""
        told = self._setting("noise")
        if told is None:
            return {}
        return {"noise": Noise.of(told), "noise_text": self._filled(self._raw(self._setting("noise_text") or ()))}

    def _raw(self, text: Any) -> list[Sentence]:
        """Raw sentences as the model sees them."""
        return as_sentences(text)

    def _balances(self, model: Any) -> bool:
        """Whether held-out sentences say how readily to answer O."""
        raise NotImplementedError

    def _counter(self, model: Any, held_out: list[Sentence]) -> Callable[[Any], Integers]:
        """A function from the answers of a model to held-out sentences to counts, [3]: see ``models.choices``."""
        raise NotImplementedError

    def _answered(self, held_out: list[Sentence]) -> tuple[Sequence[Sentence], Sequence[Any]]:
        """Held-out sentences as the model sees them, and the right answers."""
        raise NotImplementedError

    def _dev_scorer(self, training: Any, held_out: list[Sentence]) -> Callable[[Floats], float]:
        """The score under the best of some biases of O."""
        count = self._dev_counter(training, held_out)
        return lambda weight: best_f1(count(weight))

    def _dev_counter(self, training: Any, held_out: list[Sentence]) -> Callable[[Floats], Integers]:
        model, training.dev = training.model, training.dev_scorer(self._seen(held_out))
        count, biases = self._counter(model, held_out), COARSE_BALANCES if self._balances(model) else (0.0,)

        def counts(weight: Floats) -> Integers:
            batch = training.dev(weight)
            return np.array([count(model.best_with(batch, bias)) for bias in biases])

        return counts

    def _linked(self, model: Any, corpus: Sequence[Sentence], types: Callable[[Any], Integers]) -> Any:
        """The model with what the documents of a corpus say of linked words; ``types`` gives those of words, [N]."""
        if self._setting("consistency") != "graph" or all(s.document is None for s in corpus):
            return model
        count, engine = len(set(model.types_of_labels())), self._setting("engine")
        return replace(model, consistency=Consistency.learnt(Columns.of(corpus, ()), types(model), count, engine))

    def _held_out_score(self, held_out: list[Any], training: Any) -> float:
        return f1_of(self._counter(self._model(), held_out)(self._model().best(training.tuned)))

    # what held-out sentences choose: of one model, or of several that are alike and see a part each

    def _held_structures(self, model: Any, training: Any) -> Any:
        return training.held_out()

    def _tuned(self, model: Any, held_out: list[Sentence], training: Any) -> Any:
        tuning, [found] = self._tuning([Held(model, held_out, training.held_out())])
        training.tuned = found.seen
        return tuning.applied(model)

    def _choice(self, held: Sequence[Held], model: Any) -> tuple[Any, float]:
        tuning, found = self._tuning(held, model)
        counts = [self._counter(each.model, each.sentences)(each.model.best(each.seen)) for each in found]
        return tuning, f1_of(summed(counts))

    def _applied(self, model: Any, choice: Any) -> Any:
        return choice.applied(model)

    def _agrees(self, model: Any) -> bool:
        """Whether the names of a document may agree."""
        return bool(self._setting("consistency") != "none")

    def _tuning(self, held: Sequence[Held], whole: Any = None) -> tuple[Tuning, list[Held]]:
        """What is best for held-out sentences, as far as the settings let them choose, and these so tuned.

        ``whole`` is the model that is to be trained on all that is held out in turn, if there is one.
        """
        factor = 1.0
        if self._setting("calibrate"):
            factor = calibration_of(one for h in held for one in h.model.known(h.seen, *self._answered(h.sentences)))
        tried, strength, found = self._agreeing(
            [h._replace(seen=h.seen.scaled(factor)) for h in held], whole is not None
        )
        bias = self._best_bias(found, parts=whole is not None) if self._balances(found[0].model) else 0.0
        if bias:
            found = [h._replace(model=replace(h.model, outside=bias)) for h in found]
        model = held[0].model if whole is None else whole
        if tried:
            model = leaning(model, strength)
        linked = USUAL if model.consistency is None else model.consistency.strength
        return Tuning(factor, model.agreement, linked, bias), found

    def _agreeing(self, held: Sequence[Held], parts: bool = False) -> tuple[bool, float | None, list[Held]]:
        """Whether documents may agree, how strongly if held-out ones are to score best, and these, with models so.

        Of equal strengths, the least. Without documents nothing is tried: agreement is for text whose sentences belong
        together. ``parts`` of training data whose documents have gaps do not show what whole ones gain: then the usual
        strength is taken.
        """
        columns = [Columns.of(self._seen(h.sentences), ()) for h in held]
        alike = all(s.document is None for h in held for s in h.sentences)
        if not self._agrees(held[0].model) or alike:
            alone = [h._replace(seen=h.model.consistent(h.seen, own)) for h, own in zip(held, columns, strict=True)]
            return False, None, alone
        gaps = parts and not whole_documents([s for h in held for s in self._seen(h.sentences)], None)
        count = [self._counter(h.model, h.sentences) for h in held]
        best: tuple[float, float | None, list[Held]] = (-1.0, None, list(held))
        for number, strength in enumerate((None,) if gaps else STRENGTHS):
            models = [leaning(h.model, strength) for h in held]
            seen = [one.consistent(h.seen, own) for one, h, own in zip(models, held, columns, strict=True)]
            score = f1_of(summed(c(one.best(own)) for c, one, own in zip(count, models, seen, strict=True)))
            tried = [Held(one, h.sentences, own) for one, h, own in zip(models, held, seen, strict=True)]
            best = max(best, (score - 1e-9 * number, strength, tried), key=lambda one: one[0])
        return True, *best[1:]

    def _best_bias(self, held: Sequence[Held], parts: bool = False) -> float:
        """The bias of O that scores best on held-out sentences; of equal ones, the smallest.

        ``parts`` of training data may be few sentences: there it is the bias to expect.

        Few labels make a tagger timid: it misses more entities than it invents. The best F1 wants them balanced. Only
        the search for the best answer uses the bias; probabilities stay as they are.
        """
        count = [self._counter(h.model, h.sentences) for h in held]

        def f1(bias: float) -> float:
            return f1_of(summed(c(h.model.best_with(h.seen, bias)) for c, h in zip(count, held, strict=True)))

        if parts:
            return likely_bias(
                BALANCES, f1, int(summed(c(h.model.best(h.seen)) for c, h in zip(count, held, strict=True))[0])
            )
        return best_bias(BALANCES, f1)

    def _seen(self, sentences: list[Sentence]) -> list[Sentence]:
        """Sentences with right answers, as the model sees them."""
        return sentences

    def _batch(self, sentences: Sequence[Sentence]) -> Any:
        return self._model().structures(sentences, self._threads())

    def _stored_settings(self) -> dict[str, Any]:
        return super()._stored_settings() | {"features": self._model().features.name}

    def _layers_read(self) -> tuple[str, ...]:
        return tuple(layer for layer in self._model().features.columns if layer != "word")
