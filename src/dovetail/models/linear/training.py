"""A corpus made ready for a model that is linear in features: its objective, its prior, and the way back to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.errors import DovetailError
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.documents import nothing_left
from dovetail.learning.losses import LOSSES
from dovetail.learning.noise import Noise, Noising
from dovetail.learning.objective import Gold, Objective
from dovetail.learning.priors import Prior
from dovetail.memory import release_memory
from dovetail.models.linear.model import Model
from dovetail.models.pools import bits_of
from dovetail.models.training import Training
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.hidden_parts import LAYERED, Hidden, HiddenPart, HiddenWeights
from dovetail.scorers.parts import Form, PartsScorer
from dovetail.structures.contract import Floats, Integers
from dovetail.text.sentence import Sentence


def scorer_with(
    network: Any, sentences: Sequence[Sentence], form: Form, offsets: Integers, parts: Mapping[str, Any], threads: int,
    **how: Any,
) -> PartsScorer:  # fmt: skip
    """The scorer of sentences by features and, where there is one, by a network; ``how`` is for the latter's."""
    if network is None:
        return PartsScorer(form, offsets, parts, threads)
    from dovetail.neural.scorer import ModuleScorer

    read = network.inputs(sentences)
    return ModuleScorer(form, offsets, parts, threads, module=network.module, inputs=read, **how)


@dataclass
class LinearTraining(Training, Generic[Model]):
    """A corpus made ready: the objective, its prior, and the way back to a model.

    ``model`` is what is to be trained, without weights; ``form`` may forbid less in training than in answers.
    """

    model: Model
    parts: dict[str, CompiledPart | HiddenPart]
    objective: Objective
    prior: Prior

    @classmethod
    def prepare(
        cls,
        model: Model,
        form: Form,
        compiled: Mapping[str, Compiler],
        offsets: Integers,
        gold: Gold,
        *,
        observed: Mapping[str, NDArray[np.int32] | None],
        settings: PartSettings,
        loss: str,
        l2: float,
        l1: float,
        hidden: Hidden | None = None,
        network: Callable[[Form, Sequence[Sentence]], Any] = lambda form, sentences: None,
        sentences: Sequence[Sentence] = (),
        seed: int = 1,
        noise: Noise | None = None,
        noise_text: Sequence[Sentence] = (),
        trimmed: Any = lambda part, scorer: scorer,
    ) -> Self:
        """Compile the corpus and set up its objective.

        ``observed``: of parts that have parameters only for outputs that occur, those outputs [tokens]. ``hidden``: the
        layer of parts that can have one. ``network`` makes what scores ``sentences`` beside features, if anything does.
        ``noise_text``: raw sentences whose features are noised, too. ``trimmed`` takes from the scorer of a part the
        parameters that it cannot use.
        """
        model = replace(model, network=network(form, sentences))
        parts: dict[str, CompiledPart | HiddenPart] = {}
        for part, templates in model.templates().items():
            what = (compiled[part], list(templates), observed.get(part), form.outputs(part), settings)
            if hidden is not None and part in LAYERED and hidden.split(templates)[1]:
                parts[part] = HiddenPart.compile(*what, hidden)
            else:
                plain = CompiledPart.compile(*what)
                parts[part] = replace(plain, scorer=trimmed(part, plain.scorer))
        if hidden is not None and not any(isinstance(made, HiddenPart) for made in parts.values()):
            raise DovetailError(
                f"hidden_inputs={hidden.inputs!r}: there are no such features for a hidden layer to see"
            )
        whole = (form, offsets, {part: made.scorer for part, made in parts.items()}, settings.threads)
        scorer = scorer_with(model.network, sentences, *whole, training=True, seed=seed)
        if not scorer.after_parts and model.network is None:
            least = settings.spread.least if settings.spread is not None else 1
            raise nothing_left("feature", ("min_count", settings.min_count), ("min_documents", least))
        own = scorer.parameters - (0 if model.network is None else len(model.network.weights()))
        exempt = None if model.network is None else np.arange(scorer.parameters) >= own
        prior = Prior(l2, l1, scorer.scale() if l1 else None, exempt)
        found = cls(model, parts, Objective(scorer, gold, LOSSES[loss]), prior)
        if noise is not None:
            text = found.reader(noise_text, learns=True) if noise_text else None
            found.objective.noise = Noising(noise, text)
        release_memory()
        return found

    @property
    def scorer(self) -> PartsScorer:
        """The scorer of the training corpus; where there is a network, a ``ModuleScorer``, which is one too."""
        scorer = self.objective.scorer
        assert isinstance(scorer, PartsScorer)
        return scorer

    def reader(self, sentences: Sequence[Sentence], form: Form | None = None, learns: bool = False) -> PartsScorer:
        """The scorer of other sentences, compiled once, by the weights of this corpus.

        ``learns``: whether it is asked for gradients, too.
        """
        compiled = self.model.compilers(sentences)
        parts = {part: made.reader(compiled[part], learns) for part, made in self.parts.items()}
        whole = (form or self.scorer.form, offsets_of(sentences), parts, self.scorer.threads)
        return scorer_with(self.model.network, sentences, *whole)

    def dev_scorer(self, sentences: Sequence[Sentence]) -> Callable[[Floats], Any]:
        """A function from weights to the structures of other sentences, which are compiled once."""
        return self.reader(sentences).batch

    def held_out(self) -> Any:
        """The structures of held-out sentences under the weights that were found."""
        return self.dev(self.as_stored(self.weight))

    def as_stored(self, weight: Floats) -> Floats:
        """Weights as a model stores them: the tiny ones zero, and the others in single precision."""
        kept, scorer = weight.astype(np.float32).astype(np.float64), self.scorer
        for part, made in self.parts.items():
            scorer.of_part(part, kept)[~made.matters(scorer.of_part(part, weight))] = 0.0
        return kept

    def start(self, init: Model | None = None) -> Floats:
        """Zeros, or the weights of another model where it has the same features and labels."""
        weight, scorer = np.zeros(self.objective.parameters), self.scorer
        for part, made in self.parts.items():
            theirs = None if init is None else init.parts.get(part)
            if isinstance(made, CompiledPart) and isinstance(theirs, HiddenWeights):
                theirs = theirs.linear
            own = made.start() if theirs is None else made.initial(theirs, self.model.outputs_in(part, init))  # type: ignore[arg-type]
            scorer.of_part(part, weight)[:] = own
        if init is not None:
            scorer.of_tables(weight)[:] = self.shared_in(init)
        if (network := self.model.network) is not None:
            other: Any = None if init is None else init.network
            of_module: Floats = scorer.of_module(weight)  # type: ignore[attr-defined]
            of_module[:] = (other if network.is_like(other) else network).weights()
        return weight

    def shared_in(self, init: Model) -> Floats:
        """The parameters of tables as another model has them, [shared]."""
        return np.zeros(self.scorer.form.shared)

    def curvature(self) -> Floats | None:
        """A guess at the diagonal of the Hessian, for L-BFGS: ``2 l2 + 0.1 sqrt(places where the feature fires)``.

        There is none for hidden layers and networks, whose curvature depends on what comes after them.
        """
        if self.model.network is not None or any(isinstance(made, HiddenPart) for made in self.parts.values()):
            return None
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(self.scorer.firing())
        return guess

    def export(self, weight: Floats) -> Model:
        """The trained model."""
        scorer = self.scorer
        parts = {part: made.export(scorer.of_part(part, weight)) for part, made in self.parts.items()}
        tables = scorer.form.tables(scorer.of_tables(weight))
        stored = {name: t.astype(np.float32) for name, t in tables.items()}
        network = self.model.network
        if network is not None:
            network = network.with_weights(scorer.of_module(weight))  # type: ignore[attr-defined]
        return replace(self.model, parts=parts, tables=stored, network=network)

    def numbers(self, shared: int) -> NDArray[np.uint64]:
        """The number of each parameter's feature, where features are numbered; ``shared`` for those of the tables."""
        tables = np.full(self.scorer.form.shared, shared, np.uint64)
        numbers = [made.numbers() for made in self.parts.values() if isinstance(made, CompiledPart)]
        return np.concatenate([*numbers, tables])

    def share_of(self, expert: int) -> Integers:
        """The parameters that an expert of a pool has, by number; those of the tables are everyone's."""
        return bits_of(self.numbers(2**64 - 1), expert)

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to: the features and the data."""
        keys = [part.keys for part in self.parts.values()]
        noise = self.objective.noise
        raw = [] if noise is None or noise.text is None else noise.text.fingerprint()
        return [np.array([self.objective.parameters]), self.scorer.offsets, *keys, *raw]
