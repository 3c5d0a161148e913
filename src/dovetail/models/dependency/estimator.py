"""DependencyParser: projective dependency trees with relations, and a probability for every arc."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.monitor import Monitor, Progress
from dovetail.modelfile import Arrays, load_model, save_model
from dovetail.models.base import check_choice
from dovetail.models.batching import cut, in_batches
from dovetail.models.dependency.model import DependencyModel, Heads, arc_rows
from dovetail.models.dependency.pieces import joined
from dovetail.models.dependency.relations import TEMPLATES, with_arcs
from dovetail.models.dependency.training import ArcTraining
from dovetail.models.dependency.tuning import calibrated, surest
from dovetail.models.fitting import Learner, check_learner, minimised
from dovetail.models.inputs import as_sentences, check_count, labelled
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagging import given_tags, learn_tags, packed_tagger, pos_tagger, unpacked_tagger
from dovetail.structures.projective import ProjectiveBatch
from dovetail.text.dependencies import Dependencies, dependency_heads, projectivise, with_dependencies
from dovetail.text.sentence import Sentence
from dovetail.version import __version__

LONGEST = 300  # words that are parsed as one: time grows with the cube of their number, memory with the square
DEV_EVERY = 5  # passes
FOLDS = 4  # parts of the training data, each of which is tagged by a tagger of the others
BATCH_ARCS = 1_000_000  # how much is scored at once: bounds memory
UNNAMED = "dep"
"""The relation of every word but the root where the model has learnt none."""

NO_HEADS = np.empty(0, np.int32)

Input = Sequence[Sentence] | Sequence[Sequence[str]]


@dataclass(frozen=True)
class DependencyTree:
    """One of the best trees of a sentence, with its exact probability; heads are positions from 0, -1 for the root."""

    heads: tuple[int, ...]
    probability: float


class _Looked(NamedTuple):
    """Sentences with what the parser looks at: words and parts of speech."""

    sentences: list[Sentence]
    tags: list[tuple[str, ...]]


@dataclass(kw_only=True, eq=False)
class DependencyParser(Learner):
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

    tags: str = "pos"
    """The layer with parts of speech; pos and xpos stand for each other where a sentence has only one."""
    predict_tags: bool = False
    """Train a tagger of parts of speech as well, and parse with its tags: for text that has none."""
    relations: bool = True
    """Learn the relations too."""
    clusters: Mapping[str, Clusters] = field(default_factory=dict)
    """Clusters of words, by name, whose classes are features of heads and dependents."""
    decode: str = "expected"
    """``expected``: the tree of the most probable arcs; ``best``: the most probable tree."""
    loss: str = "likelihood"
    """likelihood, perceptron or softmax-margin; the optimiser perceptron has its own."""
    optimiser: str = "lbfgs"
    """lbfgs, sgd, adagrad or perceptron."""
    l2: float = 3.0
    """Penalty on squared weights: 1 / (2 variance)."""
    iterations: int | None = None
    """The most passes over the data; None for the optimiser's own limit."""
    batch: int | None = None
    """Sentences per step, for online optimisers."""
    gain: float | None = None
    """Step size, for sgd and adagrad."""
    min_count: int = 5
    """Words that occur less often are represented by their endings alone."""
    bits: int = 22
    """2**bits weights of pairs of head and dependent, by hashing."""
    threshold: float = 1e-4
    """Arcs less probable than this under a small model are not considered; 0 considers all."""
    max_length: int | None = None
    """Longer sentences are left out of training, and counted."""
    calibrate: bool = True
    """Choose on dev how confident to be: one factor for all weights, which changes probabilities."""
    patience: int = 3
    """Dev measurements without progress before training stops."""
    seed: int = 1
    """The seed of all random numbers."""
    threads: int | None = None
    """How many cores to use; None for all. The result does not depend on it."""

    model_: DependencyModel | None = field(default=None, init=False, repr=False)
    relations_: Tagger | None = field(default=None, init=False, repr=False)
    tagger_: Tagger | None = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def target(self) -> str:
        """The layer that holds the answers."""
        return "head"

    @property
    def classes_(self) -> tuple[str, ...]:
        """The relations."""
        return self.relations_.classes_ if self.relations_ is not None else ("root", UNNAMED)

    # training

    def fit(
        self,
        sentences: Input,
        gold: Sequence[Dependencies] | None = None,
        *,
        dev: Input | None = None,
        init: DependencyParser | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        told: Callable[[str], Any] = lambda _: None,
    ) -> DependencyParser:
        """Train. With ``dev``, keep the weights that attach best there and stop when they no longer get better.

        ``gold`` has the trees, where the sentences do not. ``init`` starts from another parser's weights.
        ``checkpoint`` names a file from which training goes on if it exists, and which is deleted at the end. ``told``
        is called with each step that begins. Ctrl-C ends a step early with the best weights so far.
        """
        self._check_settings()
        self.card_ = {}
        given = labelled(as_sentences(sentences), gold, with_dependencies, "training")
        corpus = self._short_enough(given)
        if not any(map(len, corpus)):
            raise DovetailError(
                "the training data has no words to learn from; check the file, its format and max_length"
            )
        heads, self.card_["projectivised"] = gold_heads(corpus)
        tags = given_tags(corpus, self.tags)
        if self.relations:
            _check_relations(corpus)
        self.tagger_ = None
        if self.predict_tags:
            self.tagger_, tags = self._learn_tags(corpus, tags, told)
        told("choosing the arcs to look at")
        training = ArcTraining.prepare(
            [s.words for s in corpus], tags, np.concatenate(heads), min_count=self.min_count, bits=self.bits,
            row_bits=max(8, self.bits - 6), l2=self.l2, threshold=self.threshold, clusters=self.clusters,
            threads=self._threads(), loss=self._loss(),
        )  # fmt: skip
        if init is not None:
            training.start = training.started(init._model())
        monitor = Monitor(report=progress, patience=self.patience, dev_every=DEV_EVERY if self._is_batch() else 1)
        held_out: _Looked | None = None
        right: list[Heads] = []
        if dev is not None:
            held_out = self._look([s for s in as_sentences(dev) if len(s) <= LONGEST])
            right, self.card_["projectivised_dev"] = gold_heads(held_out.sentences)
            words = [s.words for s in held_out.sentences]
            monitor.dev_score = training.dev_scorer(words, held_out.tags, np.concatenate([NO_HEADS, *right]))
        told("training the parser")
        weight = minimised(training, self._optimiser(), monitor, checkpoint, self._task())
        self.model_ = training.export(weight)
        if held_out is not None and self.calibrate:
            self.model_ = calibrated(
                self.model_, [s.words for s in held_out.sentences], held_out.tags, right, self._threads()
            )
        self.card_ |= {
            "sentences": len(corpus),
            "tokens": sum(map(len, corpus)),
            "stopped": monitor.reason,
            "dev": None,
            "pruned_gold_arcs": training.lost,
        }
        self.relations_ = None
        if self.relations:
            told("training the relations")
            arcs = [with_arcs(s.words, t, (h - 1).tolist()) for s, t, h in zip(corpus, tags, heads, strict=True)]
            known = [s.layers.get("deprel", ()) for s in corpus]
            self.relations_ = self._new_relations().fit(arcs, known, progress=progress)
        if held_out is not None:
            self.card_["dev"] = self.score(held_out.sentences)
        return self

    def _learn_tags(
        self, corpus: Sequence[Sentence], tags: Sequence[tuple[str, ...]], told: Callable[[str], Any]
    ) -> tuple[Tagger, list[tuple[str, ...]]]:
        """A tagger of parts of speech, and the tags to learn to parse with."""
        bare = [Sentence(s.words, {self.tags: t}, document=s.document) for s, t in zip(corpus, tags, strict=True)]
        return learn_tags(lambda: pos_tagger(self.clusters, self.threads, layer=self.tags), bare, FOLDS, told)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("decode", self.decode, ("expected", "best"))
        check_learner(self.loss, self.optimiser)

    def _short_enough(self, corpus: list[Sentence]) -> list[Sentence]:
        """Sentences to learn from; those too long are counted in the card."""
        most = min(self.max_length or LONGEST, LONGEST)
        kept = [s for s in corpus if len(s) <= most]
        self.card_["left_out"] = len(corpus) - len(kept)
        return kept

    def _new_relations(self) -> Tagger:
        return Tagger(
            features=list(TEMPLATES),
            order=0,
            target="deprel",
            iterations=60,
            calibrate=False,
            threads=self.threads,
        )

    # answers

    def predict(self, sentences: Input) -> list[Dependencies]:
        """The heads of every sentence, positions from 0 with -1 for the root, and the relations."""
        return [dependencies for _, dependencies, _ in self._parsed(as_sentences(sentences), False)]

    def predict_marginals(self, sentences: Input) -> list[NDArray[np.float64]]:
        """For every sentence the probability of each head of each word, [words, words + 1]; column 0 is the root."""
        found = []
        for some in in_batches(self._checked(sentences), BATCH_ARCS, _arcs):
            batch = self._batch(self._look(some))
            attach = batch.marginals().attach.sum(axis=1)
            for i, sentence in enumerate(some):
                size = len(sentence) + 1
                rows = attach[batch.places.arcs[i] : batch.places.arcs[i + 1]].reshape(size, size)
                found.append(np.ascontiguousarray(rows[:, 1:].T))
        return found

    def kbest(self, sentences: Input, k: int = 10) -> list[list[DependencyTree]]:
        """The k most probable trees of every sentence, with their probabilities, best first."""
        check_count("k", k)
        found = []
        for some in in_batches(self._checked(sentences), BATCH_ARCS, _arcs):
            batch = self._batch(self._look(some))
            heads, scores = batch.kbest(k)
            probabilities = np.exp(scores - batch.log_partition()[:, None])
            for i in range(len(batch)):
                own = slice(int(batch.offsets[i]), int(batch.offsets[i + 1]))
                ranked = [j for j in range(k) if scores[i, j] > -np.inf]
                found.append(
                    [DependencyTree(tuple((heads[j, own] - 1).tolist()), float(probabilities[i, j])) for j in ranked]
                )
        return found

    def sample(self, sentences: Input, n: int = 1, seed: int = 1) -> list[list[tuple[int, ...]]]:
        """The heads of ``n`` trees of every sentence, drawn exactly from the model's distribution."""
        check_count("n", n)
        rng = self._random(seed)
        found = []
        for some in in_batches(self._checked(sentences), BATCH_ARCS, _arcs):
            batch = self._batch(self._look(some))
            drawn = batch.sample(n, rng) - 1
            found += [[tuple(row.tolist()) for row in part] for part in np.split(drawn, batch.offsets[1:-1], axis=1)]
        return found

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """The sentences with the layers ``head`` and ``deprel``, and predicted tags where the parser has a tagger.

        With ``probabilities``, the layer ``head_probability`` has the probability of each word's arc.
        """
        for sentence, dependencies, sure in self._parsed(sentences, probabilities):
            found = with_dependencies(sentence, dependencies)
            if sure is not None:
                found = found.with_layer("head_probability", tuple(f"{p:.4f}" for p in sure))
            yield found

    def score(self, sentences: Input, gold: Sequence[Dependencies] | None = None) -> float:
        """Unlabelled attachment in percent of all words; gold trees with crossing arcs are made projective."""
        corpus = labelled(as_sentences(sentences), gold, with_dependencies, "gold")
        known = [heads - 1 for heads in gold_heads(corpus)[0]]
        found = [np.array(d.heads) for d in self.predict(corpus)]
        words = sum(map(len, known))
        right = sum(int((a == b).sum()) for a, b in zip(known, found, strict=True))
        return 100.0 * right / words if words else 0.0

    # files

    def save(self, path: str | Path, *, half: bool = False, card: dict[str, Any] | None = None) -> None:
        """Write the model to one file, with its tagger if it has one; ``half`` stores weights in half precision."""
        save_model(path, *self._packed(card, half))

    def _packed(self, card: dict[str, Any] | None = None, half: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        model = self._model()
        settings = {n: v for n, v in self.get_params().items() if n not in ("threads", "clusters")}
        header: dict[str, Any] = {
            "kind": self.kind,
            "dovetail": __version__,
            "settings": settings,
            "card": self.card_ | (card or {}),
            **model.header(),
        }
        arrays = model.arrays(half)
        for name, tagger in (("relations", self.relations_), ("tagger", self.tagger_)):
            header[name], inner = packed_tagger(tagger, name, half)
            arrays |= inner
        return header, arrays

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model file."""
        return cls._unpacked(path, *load_model(path, cls.kind))

    @classmethod
    def _unpacked(cls, path: str | Path, header: dict[str, Any], arrays: Arrays) -> Self:
        """From the header and the arrays of a model file."""
        try:
            known = {f.name for f in fields(cls) if f.init}
            parser = cls(**{k: v for k, v in header["settings"].items() if k in known})
            parser.model_ = DependencyModel.from_file(header, arrays)
            parser.clusters = parser.model_.fine.clusters
            parser.relations_ = unpacked_tagger(header["relations"], arrays, "relations")
            parser.tagger_ = unpacked_tagger(header["tagger"], arrays, "tagger")
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        parser.card_ = header.get("card", {})
        return parser

    @property
    def weights_(self) -> NDArray[np.float32]:
        """The weights of the features of arcs: what the parsers of several domains differ in."""
        return self._model().fine_weight

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """A parser like this one with other weights of arcs."""
        made = type(self)(**self.get_params())
        made.model_ = self._model().with_weights(weight)
        made.relations_, made.tagger_, made.card_ = self.relations_, self.tagger_, dict(self.card_)
        return made

    # inner workings

    def _layers_read(self) -> tuple[str, ...]:
        return (self.tags,) if self.tagger_ is None else ()

    def _model(self) -> DependencyModel:
        if self.model_ is None:
            raise DovetailError("this parser is not trained: call fit, or load a model")
        return self.model_

    def _checked(self, sentences: Input) -> list[Sentence]:
        """Sentences whose trees can be looked at as one."""
        corpus = as_sentences(sentences)
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

    def _batch(self, looked: _Looked) -> ProjectiveBatch:
        return self._model().batch([s.words for s in looked.sentences], looked.tags, self._threads())

    def _parsed(
        self, sentences: Iterable[Sentence], probabilities: bool
    ) -> Iterator[tuple[Sentence, Dependencies, list[float] | None]]:
        """Every sentence, tagged where the parser does that, its dependencies, and the probabilities of its arcs."""
        for some in in_batches(sentences, BATCH_ARCS, _arcs):
            looked = self._look(some)
            heads, sure = self._heads(looked, probabilities)
            relations = self._name(looked, heads)
            for i, sentence in enumerate(looked.sentences):
                yield (
                    sentence,
                    Dependencies(tuple(heads[i]), relations[i]),
                    sure[i] if probabilities else None,
                )

    def _heads(self, looked: _Looked, probabilities: bool) -> tuple[list[list[int]], list[list[float]]]:
        """Heads, positions from 0, and their probabilities; a sentence too long for a chart is parsed in pieces."""
        cuts = [cut(s.words, LONGEST) for s in looked.sentences]
        places = [(i, a, b) for i, c in enumerate(cuts) for a, b in c]
        pieces = _Looked(
            [Sentence(looked.sentences[i].words[a:b]) for i, a, b in places],
            [looked.tags[i][a:b] for i, a, b in places],
        )
        batch = self._batch(pieces)
        marginals = batch.marginals() if probabilities or self.decode == "expected" else None
        found = batch.best() if self.decode == "best" else surest(batch, marginals)
        split = [part.tolist() for part in np.split(found - 1, batch.offsets[1:-1])]
        heads: list[list[list[int]]] = [[] for _ in cuts]
        sure: list[list[float]] = [[] for _ in cuts]
        chances = arc_probabilities(batch, marginals, found) if probabilities and marginals is not None else None
        for (i, _, _), part, low, high in zip(places, split, batch.offsets[:-1], batch.offsets[1:], strict=True):
            heads[i].append(part)
            if chances is not None:
                sure[i] += chances[low:high].tolist()
        return [joined(parts) for parts in heads], sure

    def _name(self, looked: _Looked, heads: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        if self.relations_ is None:
            return [tuple("root" if h < 0 else UNNAMED for h in each) for each in heads]
        self.relations_.set_params(threads=self.threads)
        arcs = [with_arcs(s.words, t, h) for s, t, h in zip(looked.sentences, looked.tags, heads, strict=True)]
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
    return np.minimum(chosen, 1.0)


def _check_relations(corpus: Sequence[Sentence]) -> None:
    for number, sentence in enumerate(corpus, 1):
        if len(sentence) and "deprel" not in sentence.layers:
            raise InputError(
                f"sentence {sentence.id or number} has no layer 'deprel' with relations; give them, or train "
                f"without relations"
            )


def _arcs(sentence: Sentence) -> int:
    """How many arcs a sentence may have, at most."""
    return (min(len(sentence), LONGEST) + 1) * (len(sentence) + 1)
