"""DependencyParser: projective dependency trees with relations, and a probability for every arc."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError
from dovetail.learning.losses import LOSSES
from dovetail.learning.tuning import calibration, calibration_of
from dovetail.modelfile import Arrays
from dovetail.models.answer import Answer, Each
from dovetail.models.base import Estimator
from dovetail.models.batching import cut
from dovetail.models.choices import Held
from dovetail.models.dependency.model import DependencyModel, Heads, arc_rows, joined, surest
from dovetail.models.dependency.pool import ArcPool, trained_pool
from dovetail.models.dependency.relations import templates, with_arcs
from dovetail.models.dependency.settings import DependencySettings
from dovetail.models.dependency.training import ArcTraining, right_heads
from dovetail.models.inputs import as_sentences, labelled
from dovetail.models.layers import LayerTaggers
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import given_tags, layer_of, learn_tags, packed_tagger, pos_tagger, unpacked_tagger
from dovetail.models.training import Run
from dovetail.scorers.arcs import Strings
from dovetail.structures.contract import at_most_one
from dovetail.structures.projective import ProjectiveBatch
from dovetail.text.dependencies import Dependencies, dependency_heads, projectivise, with_dependencies
from dovetail.text.sentence import Sentence

LONGEST = 300  # words that are parsed as one: time grows with the cube of their number, memory with the square
FOLDS = 4  # parts of the training data, each of which is tagged by a tagger of the others
UNNAMED = "dep"
"""The relation of every word but the root where the model has learnt none."""
NO_HEADS = np.empty(0, np.int32)

Input = Sequence[Sentence] | Sequence[Sequence[str]]


class _Looked(NamedTuple):
    """Sentences with what the parser looks at: words and parts of speech."""

    sentences: list[Sentence]
    tags: list[tuple[str, ...]]


@dataclass(kw_only=True, eq=False)
class DependencyParser(DependencySettings, Estimator):
    """A conditional random field over projective dependency trees, and a classifier of relations given the tree.

    Sentences have the layers ``head`` (numbers of words from 1, "0" for the root) and ``deprel``, and parts of speech
    in ``pos`` or ``xpos``. Trees with crossing arcs are made projective for training, and counted.

    >>> layers = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}
    >>> train = [Sentence(("Ada", "wrote"), layers), Sentence(("Bob", "slept"), layers)] * 4
    >>> parser = DependencyParser(bits=12).fit(train)
    >>> parser.predict([Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")})])
    [Dependencies(heads=(1, -1), relations=('nsubj', 'root'))]
    """

    kind: ClassVar[str] = "dependency"
    target: ClassVar[str] = "head"
    batch_size: ClassVar[int] = 1_000_000
    dev_every: ClassVar[int] = 5

    model_: DependencyModel | ArcPool | None = field(default=None, init=False, repr=False)
    relations_: Tagger | None = field(default=None, init=False, repr=False)
    tagger_: Tagger | None = field(default=None, init=False, repr=False)

    @property
    def classes_(self) -> tuple[str, ...]:
        """The relations."""
        return self.relations_.classes_ if self.relations_ is not None else ("root", UNNAMED)

    # training

    def _examples(self, given: Any, answers: Sequence[Dependencies] | None, what: str) -> list[Sentence]:
        """Sentences with their trees; those too long to learn from are counted in the card."""
        corpus = labelled(as_sentences(given), answers, with_dependencies, what)
        if what == "gold":
            return corpus
        most = min(self.max_length or LONGEST, LONGEST) if what == "training" else LONGEST
        kept = [s for s in corpus if len(s) <= most]
        if what == "training":
            self.card_["left_out"] = len(corpus) - len(kept)
            if not any(map(len, kept)):
                raise DovetailError(
                    "the training data has no words to learn from; check the file, its format and max_length"
                )
        return kept

    def _train(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> None:
        if self.pool is not None and (run.init is not None or run.checkpoint is not None):
            raise DovetailError(
                "a pool is trained in one go, without init and checkpoints (--init, --resume): "
                "train its parsers one by one for that, and pool them"
            )
        super()._train(corpus, held_out, run)
        if self.pool is not None and self.card_["stopped"] != "interrupted":
            heads = [(own - 1).tolist() for own in gold_heads(corpus)[0]]
            trained_pool(self, corpus, self._learnt, heads, held_out, run)
        del self._learnt

    def _finish(self, corpus: list[Sentence], run: Run) -> None:
        self.relations_ = None
        if self.relations:
            run.doing("training the relations")
            heads, known = gold_heads(corpus)[0], [s.layers.get("deprel", ()) for s in corpus]
            arcs = [
                with_arcs(s.words, t, (h - 1).tolist(), self.clusters)
                for s, t, h in zip(corpus, self._learnt, heads, strict=True)
            ]
            self.relations_ = self._new_relations().fit(arcs, known, progress=run.progress)
            if self.relations_.card_["stopped"] == "interrupted":
                self.card_["stopped"] = "interrupted"

    def _prepare(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> ArcTraining:
        heads, self.card_["projectivised"] = gold_heads(corpus)
        tags = given_tags(corpus, self.tags)
        if self.relations:
            _check_relations(corpus)
        self.tagger_, self.layers_ = None, LayerTaggers()
        if self.predict_tags:
            self.tagger_, tags = self._learn_tags(corpus, tags, run.doing)
        elif self.predict_layers:
            known = [Sentence(s.words, {self.tags: t}) for s, t in zip(corpus, tags, strict=True)]
            self.layers_ = LayerTaggers.learnt([self.tags], known, self._threads(), self.seed, run.doing)
        self._learnt = tags
        run.doing("choosing the arcs to look at")
        training = ArcTraining.prepare(
            [s.words for s in corpus], tags, np.concatenate(heads), min_count=self.min_count, bits=self.bits,
            row_bits=max(8, self.bits - 6), l2=self.l2, threshold=self.threshold, clusters=self.clusters,
            threads=self._threads(), loss=LOSSES[self._loss()], network=self._network(corpus), seed=self.seed,
        )  # fmt: skip
        self.card_["pruned_gold_arcs"] = training.lost
        run.doing("training the parser")
        return training

    def _network(self, corpus: Sequence[Sentence]) -> Any:
        """The network that adds to the scores of arcs, with its first weights; None for none."""
        return None if self.encoder is None else self._encoder_network([s.words for s in corpus], "arcs")

    def _dev_scorer(self, training: ArcTraining, held_out: list[Sentence]) -> Callable[[NDArray[np.float64]], float]:
        looked = self._look(held_out)
        right, self.card_["projectivised_dev"] = gold_heads(held_out)
        return training.dev_scorer([s.words for s in held_out], looked.tags, np.concatenate([NO_HEADS, *right]))

    def _tuned(self, model: DependencyModel, held_out: list[Sentence], training: ArcTraining) -> DependencyModel:
        """Sentences whose tree lacks an arc, because it was not looked at, do not count."""
        if not self.calibrate or not len(training.dev_heads):
            return model
        return model.scaled(calibration(training.held_out(model), training.dev_heads))

    def _held_structures(self, model: DependencyModel, training: ArcTraining) -> Any:
        return training.dev(model.fine_weight), training.dev_heads

    def _choice(self, held: Sequence[Held], model: Any) -> tuple[float, float | None]:
        """The factor of all weights."""
        known = [h.seen for h in held if len(h.seen[1])]
        return calibration_of(known) if self.calibrate else 1.0, None

    def _applied(self, model: DependencyModel, choice: float) -> DependencyModel:
        return model.scaled(choice)

    def _held_out_score(self, held_out: list[Sentence], training: ArcTraining) -> float:
        batch = training.held_out(self._model())
        return right_heads(batch.best() if self.decode == "best" else surest(batch), training.dev_heads)

    def _learn_tags(
        self, corpus: Sequence[Sentence], tags: Sequence[tuple[str, ...]], told: Callable[[str], Any]
    ) -> tuple[Tagger, list[tuple[str, ...]]]:
        """A tagger of parts of speech, and the tags to learn to parse with."""
        bare = [Sentence(s.words, {self.tags: t}, document=s.document) for s, t in zip(corpus, tags, strict=True)]
        return learn_tags(lambda: pos_tagger(self.clusters, self.threads, layer=self.tags), bare, FOLDS, told)

    def _new_relations(self) -> Tagger:
        return Tagger(
            features=templates(self.clusters), order=0, target="deprel", iterations=60, calibrate=False,
            predict_layers=False, cross_validate=0, threads=self.threads,
        )  # fmt: skip

    # answers

    def predict(self, X: Input) -> list[Dependencies]:
        """The heads of every sentence, positions from 0 with -1 for the root, and the relations."""
        every = (answer for some in self._batches(as_sentences(X)) for answer in self._answers(some, False))
        return Each(Dependencies(answer.heads, answer.layers["deprel"]) for answer in every)

    def predict_marginals(self, X: Input) -> list[NDArray[np.float64]]:
        """For every sentence the probability of each head of each word, [words, words + 1]; column 0 is the root."""
        found = []
        for some in self._batches(self._tokens(X)):
            batch = self._batch(some)
            attach = at_most_one(batch.marginals().attach.sum(axis=1))
            for i, sentence in enumerate(some):
                size = len(sentence) + 1
                rows = attach[batch.places.arcs[i] : batch.places.arcs[i + 1]].reshape(size, size)
                found.append(np.ascontiguousarray(rows[:, 1:].T))
        return found

    def _decoded(self, batch: ProjectiveBatch, found: Heads, sentences: Sequence[Sentence]) -> list[Answer]:
        """Heads without relations."""
        each = np.split(found, batch.offsets[1:-1])
        return [Answer({"head": tuple(map(str, heads.tolist()))}) for heads in each]

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterator[Answer]:
        """The layers ``head`` and ``deprel``, and predicted tags where the parser has a tagger.

        With ``probabilities``, the layer ``head_probability`` has the probability of each word's arc.
        """
        looked = self._look(sentences)
        heads, sure = self._heads(looked, probabilities)
        relations = self._name(looked, heads)
        for i, own in enumerate(heads):
            layers = {"head": tuple(str(head + 1) for head in own), "deprel": relations[i]}
            if self.tagger_ is not None:
                layers[self.tagger_.target] = looked.tags[i]
            if probabilities:
                layers["head_probability"] = tuple(f"{p:.4f}" for p in sure[i])
            yield Answer(layers)

    # as a stage of a pipeline

    @property
    def writes(self) -> tuple[str, ...]:
        """Heads, relations, and parts of speech where the parser has a tagger."""
        return ("head", "deprel", *((self.tagger_.target,) if self.tagger_ is not None else ()))

    def stages(self) -> list[Any]:
        """The tagger that is trained with the parser, if it has one, and the parser that reads its tags."""
        return super().stages() if self.tagger_ is None else [self.tagger_, self.reading()]

    def reading(self) -> Self:
        """The parser, that reads parts of speech."""
        found = super().reading()
        if found.tagger_ is None:
            return found
        found = copy(found)
        found.tagger_ = None
        return found

    def _completed(self, sentences: Sequence[Sentence], found: list[list[Answer]]) -> list[list[Answer]]:
        """Lists of answers with relations, and tags where the parser has a tagger."""
        looked = self._look(sentences)
        every = {id(answer): (i, answer) for i, answers in enumerate(found) for answer in answers}
        some = _Looked([looked.sentences[i] for i, _ in every.values()], [looked.tags[i] for i, _ in every.values()])
        named = self._name(some, [answer.heads for _, answer in every.values()])
        whole = {}
        for (key, (_, answer)), relations, tags in zip(every.items(), named, some.tags, strict=True):
            more = {"deprel": relations} | ({} if self.tagger_ is None else {self.tagger_.target: tags})
            whole[key] = replace(answer, layers={**answer.layers, **more})
        return [[whole[id(answer)] for answer in answers] for answers in found]

    def score(self, X: Input, y: Sequence[Dependencies] | None = None) -> float:
        """Unlabelled attachment in percent of all words; gold trees with crossing arcs are made projective."""
        corpus = self._examples(X, y, "gold")
        known = [heads - 1 for heads in gold_heads(corpus)[0]]
        found = [np.array(d.heads) for d in self.predict(corpus)]
        words = sum(map(len, known))
        right = sum(int((a == b).sum()) for a, b in zip(known, found, strict=True))
        return 100.0 * right / words if words else 0.0

    # files

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file, with those of the relations and the tagger."""
        header, arrays = super().packed(half, compact)
        for name, tagger in (("relations", self.relations_), ("tagger", self.tagger_)):
            header[name], inner = packed_tagger(tagger, name, half, compact)
            arrays |= inner
        return header, arrays

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        self.model_ = (ArcPool if "arcs" in header else DependencyModel).from_file(header, arrays)
        self.clusters = self.model_.fine.clusters
        self.relations_ = unpacked_tagger(header["relations"], arrays, "relations")
        self.tagger_ = unpacked_tagger(header["tagger"], arrays, "tagger")

    @property
    def weights_(self) -> NDArray[np.float32]:
        """The weights of the features of arcs: what the parsers of several domains differ in."""
        weight: NDArray[np.float32] = self._model().fine_weight
        return weight

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        return (self.tags,) if self.tagger_ is None else ()

    def _filled(self, sentences: Sequence[Any]) -> list[Any]:
        """Where ``pos`` and ``xpos`` stand for each other, what has either of them lacks nothing."""
        there = [layer_of(sentence, self.tags) is not None for sentence in sentences]
        filled = iter(super()._filled([s for s, has in zip(sentences, there, strict=True) if not has]))
        return [s if has else next(filled) for s, has in zip(sentences, there, strict=True)]

    def _tokens(self, given: Any) -> list[Sentence]:
        """Sentences whose trees can be looked at as one."""
        corpus = as_sentences(given)
        for number, sentence in enumerate(corpus, 1):
            if len(sentence) > LONGEST:
                raise InputError(
                    f"sentence {sentence.id or number} has {len(sentence)} words, and a chart holds {LONGEST}; "
                    f"split it (predict and annotate parse such sentences in pieces)"
                )
        return corpus

    def _look(self, sentences: Sequence[Sentence]) -> _Looked:
        """Sentences and their parts of speech, predicted where the parser has a tagger."""
        if self.tagger_ is None:
            return _Looked(list(sentences), given_tags(sentences, self.tags))
        self.tagger_.set_params(threads=self.threads)
        tags = [tuple(t) for t in self.tagger_.predict([Sentence(s.words) for s in sentences])]
        tagged = [s.with_layer(self.tagger_.target, t) for s, t in zip(sentences, tags, strict=True)]
        return _Looked(tagged, tags)

    def _batch(self, sentences: Sequence[Sentence]) -> ProjectiveBatch:
        looked = self._look(sentences)
        return self._trees([s.words for s in looked.sentences], looked.tags)

    def _right_trees(self, sentences: Sequence[Sentence]) -> tuple[ProjectiveBatch, Heads]:
        """All trees of sentences that have one, and theirs."""
        known = self._filled([s for s in sentences if len(s) <= LONGEST])
        return self._batch(known), np.concatenate([NO_HEADS, *gold_heads(known)[0]])

    def _trees(self, words: Strings, tags: Strings) -> ProjectiveBatch:
        batch: ProjectiveBatch = self._model().batch(words, tags, self._threads())
        return batch

    def _heads(self, looked: _Looked, probabilities: bool) -> tuple[list[list[int]], list[list[float]]]:
        """Heads, positions from 0, and their probabilities; a sentence too long for a chart is parsed in pieces."""
        places = [(i, a, b) for i, s in enumerate(looked.sentences) for a, b in cut(s.words, LONGEST)]
        words = [looked.sentences[i].words[a:b] for i, a, b in places]
        batch = self._trees(words, [looked.tags[i][a:b] for i, a, b in places])
        marginals = batch.marginals() if probabilities or self.decode == "expected" else None
        found = batch.best() if self.decode == "best" else surest(batch, marginals)
        chances = arc_probabilities(batch, marginals, found) if probabilities else np.zeros(0)
        heads: list[list[list[int]]] = [[] for _ in looked.sentences]
        sure: list[list[float]] = [[] for _ in looked.sentences]
        for (i, _, _), (low, high) in zip(places, pairwise(batch.offsets.tolist()), strict=True):
            heads[i].append((found[low:high] - 1).tolist())
            sure[i] += chances[low:high].tolist()
        return [joined(parts) for parts in heads], sure

    @staticmethod
    def _size(sentence: Sentence) -> int:
        """How many arcs a sentence may have, at most."""
        return (min(len(sentence), LONGEST) + 1) * (len(sentence) + 1)

    def _name(self, looked: _Looked, heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        if self.relations_ is None:
            return [tuple("root" if h < 0 else UNNAMED for h in each) for each in heads]
        self.relations_.set_params(threads=self.threads)
        arcs = [
            with_arcs(s.words, t, h, self.clusters)
            for s, t, h in zip(looked.sentences, looked.tags, heads, strict=True)
        ]
        return [tuple(named) for named in self.relations_.predict(arcs)]


def gold_heads(corpus: Sequence[Sentence]) -> tuple[list[Heads], int]:
    """The projective heads of every sentence, from 1 with 0 for the root, and how many trees had crossing arcs."""
    found, crossing = [], 0
    for number, sentence in enumerate(corpus, 1):
        heads, lifts = projectivise(dependency_heads(sentence, number)) if len(sentence) else ([], 0)
        found.append(np.array(heads, np.int32) + np.int32(1))
        crossing += lifts > 0
    return found, crossing


def arc_probabilities(batch: ProjectiveBatch, marginals: Any, heads: Heads) -> NDArray[np.float64]:
    """The probability of each word's arc from its head: [words]."""
    chosen: NDArray[np.float64] = marginals.attach[arc_rows(batch.offsets, heads)].sum(axis=1)
    return at_most_one(chosen)


def _check_relations(corpus: Sequence[Sentence]) -> None:
    for number, sentence in enumerate(corpus, 1):
        if len(sentence) and "deprel" not in sentence.layers:
            raise InputError(
                f"sentence {sentence.id or number} has no layer 'deprel' with relations; give them, or train "
                f"without relations"
            )
