"""Entailment: whether a hypothesis follows from a text, with a probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective, of_tokens
from dovetail.learning.priors import Prior
from dovetail.learning.tuning import calibration
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.models.entailment.analysis import Analyser, Analysis
from dovetail.models.entailment.explain import Reasons, reasons_of
from dovetail.models.entailment.model import PairModel, PairTraining
from dovetail.models.entailment.settings import EntailmentSettings
from dovetail.models.inputs import check_as_many, is_file_name
from dovetail.models.tagging import prefixed
from dovetail.models.training import Run
from dovetail.scorers.dense import DenseScorer, choices
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Floats, Labels, at_most_one
from dovetail.text.given import kind_of
from dovetail.text.pairs import LABELS, Pair

ENGLISH, NO = "english", "none"
YES = LABELS.index("yes")
STAGES = {"names": ("tagger", "segmenter", "nested", "joint"), "parser": ("parser", "dependency", "joint")}
"""What kinds of models may serve at each stage."""
GIVE = "give a list of pairs: Pair objects, or a text and a hypothesis each"


@dataclass(frozen=True)
class Judgement(Answer):
    """An answer to a pair: its label, which ``write`` puts into the pair."""

    entails: float | None = None
    """The probability that the hypothesis follows, whatever the label is."""

    @property
    def label(self) -> str:
        """``yes`` or ``no``."""
        return self.tags[0]

    def write(self, sentence: Any) -> Any:
        """The pair with the label, and with the probability that the hypothesis follows."""
        pair: Pair = getattr(sentence, "pair", sentence)
        return replace(pair, label=self.label, probability=self.entails)


@dataclass(kw_only=True, eq=False)
class Entailment(EntailmentSettings, Estimator):
    """A MaxEnt classifier of pairs of texts, by features of how the words of one are aligned with those of the other.

    Pairs are ``Pair`` objects, or texts and hypotheses in twos. Labels are ``yes`` and ``no``, in the pairs or given
    to ``fit``. Names and trees come from other models, the best analysis alone or, with ``samples``, so many of them,
    drawn from their distributions, which vote.

    >>> pairs = [("Ada wrote notes.", "Ada wrote notes."), ("Ada wrote notes.", "Bob slept.")] * 6
    >>> judge = Entailment(names="none", l2=0.1).fit(pairs, ["yes", "no"] * 6)
    >>> judge.predict([("Bela reads a book.", "Bela reads.")])
    ['yes']
    """

    kind: ClassVar[str] = "entailment"
    target: ClassVar[str] = "label"
    classes_: ClassVar[tuple[str, ...]] = LABELS
    batch_size: ClassVar[int] = 20_000
    dev_every: ClassVar[int] = 1

    model_: PairModel | None = field(default=None, init=False, repr=False)
    _stages: Analyser | None = field(default=None, init=False, repr=False)

    # training

    def _examples(self, given: Any, answers: Any, what: str) -> list[Pair | Analysis]:
        """Pairs with their labels."""
        pairs = list(as_pairs(given))
        if answers is not None:
            if isinstance(answers, str) or not isinstance(answers, Iterable):
                raise DovetailError(f"give the labels as a list of yes and no, not {kind_of(answers)}")
            labels = list(answers)
            check_as_many(pairs, labels, what, "labels")
            pairs = [_labelled(pair, label) for pair, label in zip(pairs, labels, strict=True)]
        for number, pair in enumerate(pairs, 1):
            if _pair(pair).label is None:
                raise DovetailError(f"{what} pair {number} has no label; give yes or no")
        if what == "training" and not pairs:
            raise DovetailError("the training data has no words: give some pairs of texts")
        return pairs

    def _prepare(self, corpus: list[Any], held_out: list[Any] | None, run: Run) -> PairTraining:
        self._stages = None
        run.doing("analysing the pairs")
        analyses = self._filled(corpus)
        model = PairModel.learnt(analyses, self.task)
        gold = _gold(analyses)
        scorer = DenseScorer(model.values(analyses), len(LABELS), self._threads())
        target = of_tokens(gold, np.arange(len(gold) + 1))
        return PairTraining(model, gold, Objective(scorer, target, LOSSES[self._loss()]), Prior(self.l2))

    def _dev_scorer(self, training: PairTraining, held_out: list[Any]) -> Callable[[Floats], float]:
        scorer, gold = DenseScorer(training.model.values(held_out), len(LABELS)), _gold(held_out)
        return lambda weight: 100.0 * float(np.mean(scorer.batch(weight).best() == gold))

    def _tuned(self, model: PairModel, held_out: list[Any], training: Any) -> PairModel:
        return model.scaled(calibration(model.batch(held_out), _gold(held_out))) if self.calibrate else model

    # answers

    def predict(self, X: Any) -> list[str]:
        """``yes`` or ``no`` for every pair."""
        self._check_trained()
        return [LABELS[y] for some in self._batches(self._tokens(X)) for y in self._batch(some).best().tolist()]

    def predict_marginals(self, X: Any) -> list[Floats]:
        """For every pair the probability of each label, [labels]; as ``classes_``."""
        self._check_trained()
        every = map(self._batch, self._batches(self._tokens(X)))
        return [row for batch in every for row in at_most_one(batch.marginals().unary)]

    def score(self, X: Any, y: Any = None) -> float:
        """The share of pairs with the right label, in percent."""
        pairs = self._examples(X, y, "gold")
        right = [_pair(pair).label == label for pair, label in zip(pairs, self.predict(pairs), strict=True)]
        return 100.0 * sum(right) / max(len(right), 1)

    def annotate(self, items: Any, probabilities: bool = True) -> Any:
        """A stream of the pairs with their labels, and with the probability that the hypothesis follows."""
        self._check_trained()
        return self._judged(self._tokens(items), probabilities)

    def _judged(self, pairs: Iterable[Pair | Analysis], probabilities: bool) -> Iterator[Pair]:
        for some in self._batches(pairs):
            for pair, answer in zip(some, self._answers(some, probabilities), strict=True):
                yield answer.write(pair)

    def __call__(self, text: str, hypothesis: str = "", **how: Any) -> Any:
        """One pair, judged: ``model("It rained all day.", "It rained.").probability``."""
        if not isinstance(text, str) or not hypothesis:
            raise DovetailError("give one text and one hypothesis, two strings; annotate takes many pairs")
        [found] = self.annotate([(text, hypothesis)], **how)
        return found

    def analyse(self, X: Any, samples: int = 0) -> list[list[Analysis]]:
        """The analyses of every pair: the best one, or so many samples."""
        found = self._filled(list(self._tokens(X)))
        return self._drawn(found, samples) if samples else [[one] for one in found]

    def judge(self, analyses: Sequence[Analysis], weights: Sequence[float] | None = None) -> float:
        """The probability that a hypothesis follows, as several analyses of the same pair vote on it.

        ``weights`` of the votes, such as the probabilities of analyses on a k-best list; samples weigh the same.
        """
        if not analyses:
            raise DovetailError("give at least one analysis of the pair; see analyse")
        weight = np.ones(len(analyses)) if weights is None else np.asarray(weights, np.float64)
        if weight.shape != (len(analyses),) or not (weight >= 0).all() or not weight.sum() > 0:
            raise DovetailError(f"weights={weights!r:.60}: give a number for every analysis, 0 or more, not all 0")
        votes = self._model().batch(analyses).marginals().unary[:, YES]
        return float(votes @ weight / weight.sum())

    def explain(self, pair: Any) -> Reasons:
        """Why a pair has its label: the features for and against, and what its words are aligned with."""
        model = self._model()
        [one] = self._filled(list(self._tokens([pair])))
        return reasons_of(model, one, float(self._batch([one]).marginals().unary[0, YES]))

    def _answers(self, sentences: list[Any], probabilities: bool) -> Iterator[Judgement]:
        batch = self._batch(sentences)
        yield from self._decoded(batch, batch.best(), sentences, probabilities)

    def _decoded(
        self, batch: ChainBatch, found: Labels, sentences: Sequence[Any], probabilities: bool = True
    ) -> list[Judgement]:
        chances = at_most_one(batch.marginals().unary[:, YES]).tolist() if probabilities else [None] * len(found)
        return [Judgement({self.target: (LABELS[y],)}, entails=p) for y, p in zip(found.tolist(), chances, strict=True)]

    def _batch(self, sentences: Sequence[Any]) -> ChainBatch:
        """The choices between the labels; with samples, those whose probabilities are the means of what they say."""
        model, threads = self._model(), self._threads()
        if not self.samples:
            best: ChainBatch = model.batch(sentences, threads)
            return best
        drawn = self._drawn(sentences, self.samples)
        every = model.batch([one for some in drawn for one in some], threads).marginals().unary
        mean = every.reshape(len(sentences), -1, len(LABELS)).mean(axis=1)
        return choices(np.log(np.maximum(mean, 1e-300)), threads)

    def _drawn(self, analyses: Sequence[Analysis], n: int) -> list[list[Analysis]]:
        return self._analyser().drawn(analyses, n, self.seed)

    @property
    def writes(self) -> tuple[str, ...]:
        """Nothing that a sentence could hold: stages of a pipeline see sentences, one by one."""
        raise DovetailError("a model of entailment judges pairs of texts, and is no stage of a pipeline; see samples=")

    # files

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file, with those of the models that analyse the pairs."""
        header, arrays = super().packed(half, compact)
        stages = self._analyser()._asdict() | ({"names": None} if self.names == ENGLISH else {})
        header["stages"] = {}
        for name, model in stages.items():
            if model is not None:
                header["stages"][name], inner = model.packed(half, compact)
                arrays |= {f"{name}.{part}": array for part, array in inner.items()}
        return header, arrays

    def _stored_settings(self) -> dict[str, Any]:
        stored = super()._stored_settings()
        kept = self.names if self.names in (ENGLISH, NO, None) else NO
        return {name: value for name, value in stored.items() if name != "parser"} | {"names": kept}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = PairModel.from_file(header, arrays)
        for name, inner in header["stages"].items():
            if name not in STAGES:
                raise ValueError(f"unknown stage {name!r}")
            setattr(self, name, _kind_of(inner).unpacked(inner, prefixed(arrays, f"{name}.")))

    # inner workings

    def _tokens(self, given: Any) -> Iterator[Pair | Analysis]:
        return as_pairs(given)

    def _filled(self, sentences: Sequence[Any]) -> list[Any]:
        """The pairs analysed, where they are not."""
        fresh = iter(self._analyser().best([one for one in sentences if isinstance(one, Pair)]))
        return [next(fresh) if isinstance(one, Pair) else one for one in sentences]

    def _analyser(self) -> Analyser:
        """The models that look at pairs, loaded once."""
        if self._stages is None:
            self._stages = Analyser(_stage("names", self.names), _stage("parser", self.parser))
        for model in filter(None, self._stages):
            model.set_params(threads=self.threads)
        return self._stages

    def set_params(self, **settings: Any) -> Any:
        """Change settings; other models of names or trees serve from then on."""
        if {"names", "parser"} & settings.keys():
            self._stages = None
        return super().set_params(**settings)

    def _layers_read(self) -> tuple[str, ...]:
        return ()


def as_pairs(given: Any) -> Iterator[Pair | Analysis]:
    """Pairs from whatever a user gives: Pair objects, analyses of them, or a text and a hypothesis each.

    >>> list(as_pairs([("It rains.", "It is wet.")]))[0].hypothesis
    'It is wet.'
    """
    if isinstance(given, PathLike | str):
        named = not isinstance(given, str) or is_file_name(given)
        told = f"a file name? read it with dovetail.read_pairs({str(given)!r})" if named else "this is running text"
        raise DovetailError(f"{GIVE}; {told}")
    if isinstance(given, Pair | Analysis | bytes | Mapping) or hasattr(given, "columns"):
        raise DovetailError(f"{GIVE}; this is {kind_of(given)}")
    if not isinstance(given, Iterable):
        raise DovetailError(f"{GIVE}; this is {kind_of(given)}")
    for number, item in enumerate(given, 1):
        if isinstance(item, Pair | Analysis):
            yield item
        elif isinstance(item, tuple | list) and len(item) == 2 and all(isinstance(each, str) for each in item):
            yield Pair(*item)
        else:
            raise DovetailError(f"{GIVE}; item {number} is {kind_of(item)}")


def _pair(given: Pair | Analysis) -> Pair:
    return given if isinstance(given, Pair) else given.pair


def _labelled(given: Pair | Analysis, label: Any) -> Pair | Analysis:
    if label not in LABELS:
        raise DovetailError(f"the label {label!r:.40}: give yes or no for each pair")
    pair = replace(_pair(given), label=label)
    return pair if isinstance(given, Pair) else replace(given, pair=pair)


def _gold(analyses: Sequence[Analysis]) -> Labels:
    return np.array([LABELS.index(one.pair.label or "no") for one in analyses], np.int32)


def _stage(name: str, given: Any) -> Any:
    """The model of a stage, from itself, a file, or the name of what comes with dovetail; None for none."""
    if given is None or given == NO:
        return None
    found: Any = given if isinstance(given, Estimator) else _dovetail().load(None if given == ENGLISH else given)
    if found.stored_kind() not in STAGES[name]:
        raise DovetailError(f"{name}={given!r:.60}: give a model of one of the kinds {', '.join(STAGES[name])}")
    if name == "names" and found.target not in ("ner", "nested", "tree"):
        raise DovetailError(f"{name}={given!r:.60}: this model predicts the layer {found.target!r}, not entities (ner)")
    return found


def _kind_of(header: Mapping[str, Any]) -> Any:
    return getattr(_dovetail(), _dovetail()._KINDS[header["kind"]][0])


def _dovetail() -> Any:
    """The library as users see it, which knows all kinds of models; what it knows, this room may not import."""
    return import_module("dovetail")
