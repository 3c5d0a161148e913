"""RoleLabeller: semantic roles in three stages, a tree, arguments over its constituents, and a joint choice of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from dovetail.errors import DovetailError, InputError
from dovetail.evaluate.roles import role_scores
from dovetail.learning.losses import LOSSES
from dovetail.learning.monitor import Monitor
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, Each
from dovetail.models.base import Estimator
from dovetail.models.inputs import as_sentences, check_examples, check_probability, labelled
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.decoding import (
    all_arguments,
    arguments_of,
    best_arguments,
    chosen,
    combined,
    ranked_arguments,
    worthwhile,
    written,
)
from dovetail.models.roles.explain import ArgumentExplanation, explain_argument
from dovetail.models.roles.model import RoleModel, role_text
from dovetail.models.roles.settings import RoleSettings
from dovetail.models.roles.training import RoleTraining
from dovetail.models.roles.voting import SEEN, elected
from dovetail.models.roles.words import WordModel
from dovetail.models.tagging import fold_numbers
from dovetail.models.training import Run, uninterrupted
from dovetail.structures.contract import Floats, Integers, at_most_one
from dovetail.text.frames import Frame
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Sentence

BATCH = 128
DRAWN = 50
"""Sets of arguments of a predicate that are drawn from, where no joint model has a list of them."""


@dataclass(kw_only=True, eq=False)
class RoleLabeller(RoleSettings, Estimator):
    """Who did what to whom: predicates, their senses and their arguments, trained on sentences with trees and frames.

    A tree is found first, by a parser that is trained with the labeller. Its constituents and words are candidates: a
    conditional random field over all sets of them without overlap, in which no core role is repeated, gives the best
    sets, and a joint model of whole frames chooses one. Trees and predicates that a sentence has are kept, and what
    it lacks is predicted.

    >>> from dovetail.text.brackets import parse_tree
    >>> tree = parse_tree("(S (NP (NNP Ada)) (VP (VBD sold) (NP (NNS boats))))")
    >>> frame = Frame(1, "sell.01", "sell", [(0, 1, "ARG0"), (2, 3, "ARG1")])
    >>> train = [Sentence(tree.words(), tree=tree, frames=[frame])] * 8
    >>> labeller = RoleLabeller(gold_trees=True, ranked=0).fit(train)
    >>> [(a.label, a.start, a.end) for a in labeller.predict([Sentence(tree.words(), tree=tree)])[0][0].arguments]
    [('ARG0', 0, 1), ('ARG1', 2, 3)]
    """

    kind: ClassVar[str] = "roles"
    target: ClassVar[str] = "frames"
    batch_size: ClassVar[int] = 10_000
    dev_every: ClassVar[int] = 5

    model_: RoleModel | None = field(default=None, init=False, repr=False)
    _given_trees: bool = field(default=False, init=False, repr=False)

    def check_settings(self) -> None:
        """As for any model; the parser is one."""
        super().check_settings()
        if self.parser is not None:
            if not isinstance(self.parser, Parser):
                raise DovetailError(f"parser={type(self.parser).__name__}: give a Parser")
            self.parser.check_settings()

    # training

    def _examples(self, given: Any, answers: Any, what: str) -> list[Sentence]:
        """Sentences with frames, and with trees unless they are to be parsed."""
        corpus = labelled(as_sentences(given), answers, with_frames, what)
        check_examples(corpus, None, what)
        for number, sentence in enumerate(corpus, 1):
            if sentence.frames is None and len(sentence):
                raise DovetailError(f"{what} sentence {sentence.id or number} has no frames; give sentences that have")
            if sentence.tree is None and len(sentence) and (what == "training" or self.gold_trees):
                raise DovetailError(f"{what} sentence {sentence.id or number} has no tree; give sentences that have")
        if what != "training":
            return corpus
        longest = self.max_length or max(map(len, corpus), default=0)
        kept = [sentence for sentence in corpus if 0 < len(sentence) <= longest]
        self.card_["left_out"] = len(corpus) - len(kept)
        if not any(frame.arguments for sentence in kept for frame in sentence.frames or ()):
            raise DovetailError("the training data has no arguments; check the file and its format")
        return kept

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> RoleTraining:
        fold = fold_numbers(corpus, self.folds)
        parser, parsed = self._jackknifed(corpus, fold, run.doing)
        words = WordModel.learnt(parsed, self._threads(), self.seed, run.doing)
        run.doing("extracting features")
        made = RoleTraining.prepare(
            parsed, fold, words, parser, self.reach, self.min_count, self.l2, LOSSES[self._loss()], self._threads()
        )
        arguments = sum(len(frame.arguments) for sentence in corpus for frame in sentence.frames or ())
        self.card_ |= {"predicates": made.size, "arguments": arguments, "unreachable": int(made.lost.sum())}
        return made

    def _jackknifed(
        self, corpus: list[Sentence], fold: Integers, doing: Callable[[str], Any]
    ) -> tuple[Parser | None, list[Sentence]]:
        """The parser, and the sentences with trees as parsers of the other parts of the data give them."""
        if self.gold_trees:
            parser = self.parser
            if parser is not None and not parser._is_trained():
                doing("training the parser")
                parser = uninterrupted(self._new_parser().fit(corpus))
            return parser, corpus
        doing("training the parser")
        whole = uninterrupted(self._new_parser().fit(corpus))
        if len(corpus) < 2 * self.folds:
            return whole, _with_trees(corpus, whole)
        found: list[Sentence] = list(corpus)
        for part in range(self.folds):
            doing(f"trees, part {part + 1} of {self.folds}")
            inside, rest = np.flatnonzero(fold == part).tolist(), np.flatnonzero(fold != part).tolist()
            parser = uninterrupted(self._new_parser().fit([corpus[i] for i in rest]))
            for i, sentence in zip(inside, _with_trees([corpus[i] for i in inside], parser), strict=True):
                found[i] = sentence
        return whole, found

    def _new_parser(self) -> Parser:
        if self.parser is not None:
            return type(self.parser)(**self.parser.get_params(deep=False))
        return Parser(kind="labelled-rules", clusters=self.clusters, seed=self.seed, threads=self.threads)

    def _train(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> None:
        training = self._prepare(corpus, held_out, run)
        monitor = self._monitor(run)
        if held_out is not None:
            held_out = self._parsed(held_out if self.gold_trees else _without_trees(held_out), training.model)
            monitor.dev_score = self._dev_scorer(training, held_out)
        training.weight = self._minimise(training, monitor, run)
        self.model_ = training.export(training.weight)
        self.card_ |= {"stopped": monitor.reason, **self.model_.sizes()}
        training.told = run.doing
        with self._keeping_what_there_is():
            self.model_ = self._tuned(self.model_, held_out or [], training)
            if held_out is not None:
                self.card_["dev"] = self.score(held_out, gold_trees=True)
        self._forget_checkpoint(run)

    def _tuned(self, model: RoleModel, held_out: list[Sentence], training: RoleTraining) -> RoleModel:
        """The model with a joint one, if it is to have one; held-out sentences decide nothing."""
        if not self.ranked:
            return model
        return replace(model, joint=training.joint(self.ranked, lambda own: self._minimised(own, training)))

    def _minimised(self, objective: Any, training: RoleTraining) -> Floats:
        start, monitor = np.zeros(objective.parameters), Monitor(watched=False)
        found: Floats = self._optimiser(training).minimise(objective, training.prior, start, monitor)
        return found

    def _dev_scorer(self, training: RoleTraining, held_out: list[Sentence]) -> Callable[[Floats], float]:
        some = [sentence for sentence in held_out if len(sentence)]
        model, frames = training.model, [sentence.frames or () for sentence in some]
        scorer = model.scorer(role_text(some, frames, self.reach), self._threads())

        def rate(weight: Floats) -> float:
            batch = scorer.batch(weight)
            found = written(model, batch, worthwhile(batch, batch.marginals().role, self.least), None, frames)
            return role_scores(some, [replace(s, frames=f) for s, f in zip(some, found, strict=True)]).f1

        return rate

    def _optimiser(self, training: Any = None) -> Any:
        made = super()._optimiser(training)
        if self.batch is None and self.optimiser != "perceptron" and hasattr(made, "batch"):
            made = replace(made, batch=min(BATCH, max(8, training.size // 50)))
        return made

    # answers

    @property
    def reads(self) -> tuple[str, ...]:
        """The tree, where it is to be given; else what the parser reads."""
        return ("tree",) if self._given_trees else super().reads

    @property
    def writes(self) -> tuple[str, ...]:
        """The frames, and trees with parts of speech where these are not given."""
        return ("frames",) if "tree" in self.reads else ("frames", "tree", "pos")

    def stages(self) -> list[Any]:
        """The models that work one after another: a tagger of parts of speech if there is one, a parser, and this."""
        parser = self._model().parser
        return [self] if parser is None or self._given_trees else [*parser.stages(), self.reading()]

    def reading(self) -> Self:
        """The labeller, that reads trees."""
        found = copy(self)
        found._given_trees = True
        return found

    def _scaled(self, factor: float) -> Any:
        return None  # what the joint model thinks of a list is no sum of potentials

    @property
    def elects(self) -> bool:
        """Where trees are given, the frames of several of them can be put together."""
        return "tree" in self.reads

    def all_parts(self, sentences: Sequence[Sentence]) -> list[Answer]:
        """Frames with all arguments that have a chance.

        Each set of arguments by itself: where several trees vote, the joint model adds its time and no more.
        """
        model = replace(self._model(), joint=None)
        every = (self._all_arguments(some, SEEN, model) for some in self._batches(sentences))
        return [Answer(frames=frames) for some in every for frames in some]

    def elected(self, votes: Sequence[tuple[float, Answer]]) -> Answer:
        """The frames of which the most is expected to be right: see ``voting``."""
        return Answer(frames=elected([(weight, answer.frames or ()) for weight, answer in votes], self.least))

    def _draws(self, sentences: Sequence[Any], counts: Sequence[int], rngs: Any) -> Iterator[list[Answer]]:
        """As ``_sample``, with a generator for each sentence."""
        model, (whole, frames) = self._model(), self._looked(sentences)
        some = [own for sentence, own in zip(whole, frames, strict=True) if len(sentence)]
        size = DRAWN if model.joint is None else model.joint.size
        batch, ranked = chosen(model, _words(whole), some, size, self._threads())
        shares, first = np.cumsum(ranked.chances, axis=1), 0
        for before, after, own, count, rng in zip(sentences, whole, frames, counts, rngs, strict=True):
            level, numbers = rng.random((count, len(own))), range(first, first + len(own))
            first += len(own)
            picks = [np.searchsorted(shares[n], level[:, i] * shares[n, -1]) for i, n in enumerate(numbers)]
            known: dict[Any, Answer] = {}
            drawn = []
            for pick in np.array(picks, np.int64).reshape(len(own), count).T.tolist():
                key = tuple(pick)
                if key not in known:
                    sets = [arguments_of(model, batch, ranked.labels[r], n) for r, n in zip(pick, numbers, strict=True)]
                    made = zip(own, sets, strict=True)
                    known[key] = _answer(before, after, tuple(frame.with_arguments(each) for frame, each in made))
                drawn.append(known[key])
            yield drawn

    def predict(self, X: Iterable[Any]) -> list[tuple[Frame, ...]]:
        """The frames of every sentence."""
        every = self._batches(as_sentences(X))
        return Each(answer.frames or () for some in every for answer in self._answers(some, False))

    def predict_marginals(self, X: Iterable[Any], least: float = 0.0) -> list[tuple[Frame, ...]]:
        """The frames of every sentence with all arguments that are more probable than ``least``; they may overlap."""
        check_probability("least", least)
        every = (self._all_arguments(some, least, self._model()) for some in self._batches(as_sentences(X)))
        return [frames for some in every for frames in some]

    def _all_arguments(self, sentences: list[Sentence], least: float, model: RoleModel) -> list[tuple[Frame, ...]]:
        whole, frames = self._looked(sentences)
        own = [each for sentence, each in zip(whole, frames, strict=True) if len(sentence)]
        full = iter(all_arguments(model, _words(whole), own, least, self._threads()))
        return [next(full) if len(sentence) else () for sentence in whole]

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterator[Answer]:
        """Frames; and trees with parts of speech, where sentences had none."""
        whole, frames = self._looked(sentences)
        some = [own for sentence, own in zip(whole, frames, strict=True) if len(sentence)]
        if not probabilities:
            some = [tuple(replace(frame, probability=None) for frame in own) for own in some]
        found = iter(best_arguments(self._model(), _words(whole), some, self.least, probabilities, self._threads()))
        for before, after in zip(sentences, whole, strict=True):
            yield _answer(before, after, next(found) if len(after) else ())

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        """The best answers for the best tree of each sentence."""
        whole, frames = self._looked(sentences)
        some = [own for sentence, own in zip(whole, frames, strict=True) if len(sentence)]
        ranked = iter(ranked_arguments(self._model(), _words(whole), some, k, self._threads()))
        for before, after, own in zip(sentences, whole, frames, strict=True):
            lists = [next(ranked) for _ in own]
            yield [replace(_answer(before, after, f), probability=p) for p, f in combined(own, lists, k)]

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        """Answers for the best tree of each sentence, by the joint model from its list of the best frames."""
        model, (whole, frames) = self._model(), self._looked(sentences)
        some = [own for sentence, own in zip(whole, frames, strict=True) if len(sentence)]
        if model.joint is None:
            batch = model.look(_words(whole), some, self._threads()).batch
            ends, log_z, drawn = np.cumsum([len(own) for own in some], dtype=int), batch.log_partition(), []
            for labels in batch.sample(n, rng):
                logs = np.split(batch.score(labels) - log_z, ends[:-1])
                drawn.append(zip(written(model, batch, labels, None, some), logs, strict=False))
            for before, after in zip(sentences, whole, strict=True):
                each = [next(one) if len(after) else ((), np.zeros(0)) for one in drawn]
                chances = at_most_one([np.exp(own.sum()) for _, own in each]).tolist()
                yield [replace(_answer(before, after, each[i][0]), probability=chances[i]) for i in range(n)]
            return
        ranked = iter(ranked_arguments(model, _words(whole), some, model.joint.size, self._threads()))
        for before, after, own in zip(sentences, whole, frames, strict=True):
            lists = [next(ranked) for _ in own]
            shares = [np.array([p for p, _ in each]) / sum(p for p, _ in each) for each in lists]
            picks = [rng.choice(len(share), size=n, p=share) for share in shares]
            every = ([[each[pick[i]]] for each, pick in zip(lists, picks, strict=True)] for i in range(n))
            yield [replace(_answer(before, after, f), probability=p) for one in every for p, f in combined(own, one, 1)]

    def _looked(self, sentences: Sequence[Sentence]) -> tuple[list[Sentence], list[tuple[Frame, ...]]]:
        """The sentences with trees, and their predicates, with lemmas and senses but without arguments."""
        model = self._model()
        whole = self._parsed(sentences, model)
        frames = iter(model.words.frames(_words(whole)))
        return whole, [next(frames) if len(sentence) else () for sentence in whole]

    def _parsed(self, sentences: Sequence[Sentence], model: RoleModel) -> list[Sentence]:
        """The sentences with trees: their own, or those of the parser."""
        bare = [sentence for sentence in sentences if sentence.tree is None and len(sentence)]
        if bare and model.parser is None:
            raise InputError(
                f"sentence {bare[0].id or sentences.index(bare[0]) + 1} has no tree, and this model has no parser: "
                f"give input that has trees, or train a model without gold_trees (--gold-trees)"
            )
        if not bare or model.parser is None:
            return list(sentences)
        parsed = iter(_with_trees(bare, model.parser.set_params(threads=self.threads)))
        return [next(parsed) if s.tree is None and len(s) else s for s in sentences]

    def score(
        self, X: Iterable[Any], y: Any = None, *, gold_trees: bool | None = None, find_predicates: bool = False
    ) -> float:
        """F1 of arguments in percent, as the scorer of CoNLL-2005 counts. ``y`` has the frames, where ``X`` has not.

        Predicates and senses are those that are right, unless all is to be found; trees are those of the parser, unless
        those of the sentences are to be used, or there is no parser.
        """
        gold = self._examples(X, y, "gold")
        with_trees = self._model().parser is None if gold_trees is None else gold_trees
        given = list(gold) if with_trees else _without_trees(gold)
        if find_predicates:
            given = [replace(sentence, frames=None) for sentence in given]
        return role_scores(gold, list(self.annotate(given, probabilities=False))).f1

    def explain(self, sentence: Any, predicate: int, start: int, end: int) -> ArgumentExplanation:
        """Why words ``start`` up to ``end`` are, or are not, an argument of the predicate at this position."""
        one = as_sentence(sentence)
        [whole], [frames] = self._looked([one])
        own = [frame for frame in frames if frame.predicate == predicate]
        if not own:
            known = ", ".join(f"{frame.predicate} {one.words[frame.predicate]!r}" for frame in frames)
            raise DovetailError(f"word {predicate} is no predicate; there are {known or 'none'}")
        return explain_argument(self._model(), whole, own[0], start, end)

    # files

    def _stored_settings(self) -> dict[str, Any]:
        stored = super()._stored_settings()
        del stored["parser"]
        return stored

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = RoleModel.from_file(header, arrays, self.reach)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels of arguments."""
        labels: tuple[str, ...] = self._model().labels
        return labels

    def _layers_read(self) -> tuple[str, ...]:
        parser: Parser | None = self._model().parser
        return ("tree",) if parser is None else parser.needs


def with_frames(sentence: Sentence, frames: Any) -> Sentence:
    """The sentence with its frames."""
    return replace(sentence, frames=tuple(frames))


def _without_trees(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [replace(sentence, tree=None) for sentence in sentences]


def _with_trees(sentences: Sequence[Sentence], parser: Parser) -> list[Sentence]:
    """The sentences with the trees of a parser, whatever they had."""
    bare = [replace(sentence, tree=None, spans=()) for sentence in sentences]
    return [replace(s, tree=tree) for s, tree in zip(sentences, parser.predict(bare), strict=True)]


def _words(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Those that have words."""
    return [sentence for sentence in sentences if len(sentence)]


def _answer(before: Sentence, after: Sentence, frames: tuple[Frame, ...]) -> Answer:
    """The frames of a sentence, and its tree if it had none."""
    if before.tree is after.tree or after.tree is None:
        return Answer(frames=frames)
    return Answer({"pos": after.tree.tags()}, tree=after.tree, frames=frames)
