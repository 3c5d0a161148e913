"""Parser: constituent trees by a conditional random field over a context-free grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.features.resources.clusters import Clusters
from dovetail.grammars.binarise import Binarisation
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.modelfile import Arrays, load_model, save_model
from dovetail.models.base import check_choice
from dovetail.models.batching import cut
from dovetail.models.fitting import Learner, check_learner, minimised
from dovetail.models.inputs import as_sentences, check_count, check_probability, labelled
from dovetail.models.parser.data import gold_trees, treebank_of
from dovetail.models.parser.decoding import LONGEST, Decoder, Parse, Passage, answers
from dovetail.models.parser.explain import ConstituentExplanation, explain_constituent
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.training import ParserSettings, ParserTraining, generative_model
from dovetail.models.parser.tuning import calibration
from dovetail.models.tagging import learn_tags, pos_tagger
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.version import __version__

BATCH_SENTENCES = 500
DEV_EVERY = 5  # passes of a batch optimiser


@dataclass(kw_only=True, eq=False)
class Parser(Learner):
    """A feature-rich constituency parser, trained on sentences that have a tree.

    Words are tagged first, by a tagger that is trained with the parser, which reads its tags and may overrule them.
    """

    features: str = "full"
    """full; rules: words for their parts of speech, and the rules themselves; generative: counted probabilities."""
    vertical: int | None = None
    """How many labels on the way to the root a symbol shows: 2 is parent annotation. 1, or 2 for generative."""
    horizontal: int | None = None
    """How many siblings a partial symbol shows. 0, or 1 for generative."""
    direction: str = "right"
    """Where long constituents branch when they are made binary: right or left."""
    head_tags: bool | None = None
    """Whether verb phrases show the part of speech of their head. No, but yes for generative."""
    relax: int | None = None
    """Share rules between symbols that have more than this many and differ only in annotation; None for no sharing."""
    tags: str = "predicted"
    """predicted: by a tagger that is trained with the parser. given: from the layer pos, in training and later."""
    clusters: Mapping[str, Clusters] | None = None
    """Clusters of words, for the features of tagger and parser."""
    folds: int = 5
    """How many parts the training data is cut into; each is tagged by a tagger trained on the others."""
    max_length: int | None = None
    """Leave longer sentences out of training; those of over 250 words are left out anyway."""
    threshold: float = 1e-3
    """Constituents less probable than this under a small generative grammar are not considered."""
    smoothing: float = 5.0
    """How many occurrences of a symbol its rules without annotation are worth; for generative."""
    loss: str = "likelihood"
    """likelihood, perceptron or softmax-margin; the optimiser perceptron has its own."""
    optimiser: str = "adagrad"
    """lbfgs, sgd, adagrad or perceptron."""
    l2: float = 1.0
    """Penalty on squared weights: 1 / (2 variance)."""
    iterations: int = 10
    """The most passes over the data."""
    batch: int | None = None
    """Sentences per step; None for 64, or fewer where that makes less than 50 steps per pass."""
    gain: float = 0.1
    """Step size, for sgd and adagrad."""
    min_count: int = 1
    """Drop features that occur with a rule, symbol or tag less often."""
    decode: str = "viterbi"
    """viterbi: the most probable tree. recall: the tree with the most constituents expected to be right."""
    calibrate: bool = False
    """Choose on dev how confident to be: one factor for all weights, which changes probabilities but no ranking."""
    patience: int = 3
    """Passes without progress on dev before training stops."""
    seed: int = 1
    """The seed of all random numbers."""
    threads: int | None = None
    """How many cores to use; None for all. The result does not depend on it."""

    kind: ClassVar[str] = "parser"
    target: ClassVar[str] = "tree"
    _stored: ClassVar[Any] = ParserModel

    model_: ParserModel | None = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    # training

    def fit(
        self,
        sentences: Iterable[Sentence],
        gold: Sequence[Tree] | None = None,
        *,
        dev: Iterable[Sentence] | None = None,
        init: Parser | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
    ) -> Parser:
        """Train on sentences with trees. With ``dev``, keep the weights that score best there, and stop in time.

        ``gold`` has the trees, where the sentences do not. ``init`` starts from another parser's weights of what both
        have. ``checkpoint`` names a file from which training goes on if it exists, and which is deleted at the end.
        ``doing`` is called with what is being prepared. Ctrl-C ends training early with the best weights so far.
        """
        self._check_settings()
        everything = labelled(as_sentences(sentences), gold, with_tree, "training")
        corpus, trees = treebank_of(everything, "training", self.max_length)
        say = doing or (lambda what: None)
        kept, right = treebank_of(as_sentences(dev), "dev") if dev is not None else ([], [])
        settings = self._settings()
        self.card_ = {
            "sentences": len(corpus), "tokens": sum(map(len, corpus)), "left_out": len(everything) - len(corpus)
        }  # fmt: skip
        if self.features == "generative":
            say("counting the rules")
            self.model_ = generative_model(trees, settings, self.smoothing)
            score = self.score(kept) if dev is not None else None
            self.card_ |= self._sizes(self.model_) | {"stopped": "counted", "dev": score}
            return self
        tagger, tags = self._tags(corpus, trees, say)
        say("pruning the charts")
        training = ParserTraining.prepare(corpus, trees, tags, settings, tagger)
        monitor = Monitor(report=progress)
        held_out = [replace(sentence, tree=tree) for sentence, tree in zip(kept, right, strict=True)]
        text = self._passages(training.model, held_out)
        self.model_ = self._learn(training, len(corpus), text, held_out, monitor, init, checkpoint)
        best = monitor.best_dev if monitor.best is not None else None
        self.card_ |= self._sizes(self.model_) | {"stopped": monitor.reason, "dev": best}
        return self

    def _learn(
        self,
        training: ParserTraining,
        sentences: int,
        text: Sequence[Sequence[Passage]],
        dev: Sequence[Sentence],
        monitor: Monitor,
        init: Parser | None,
        checkpoint: str | Path | None,
    ) -> Any:
        """The model that training comes to. text: what is parsed of dev, compiled once."""
        if init is not None:
            training.start = training.started(init._model())
        monitor.dev_every, monitor.patience = DEV_EVERY if self._is_batch() else 1, self.patience
        if dev:
            monitor.dev_score = training.dev_scorer(text, dev, self.decode == "recall")
        optimiser = self._steps(sentences)
        if isinstance(optimiser, AdaGrad):
            optimiser = replace(optimiser, memory=training.memory)
        model = training.export(minimised(training, optimiser, monitor, checkpoint, self._task()))
        if dev and self.calibrate:
            factor = calibration(model, text, training.derivations(dev), self._threads())
            model = model.with_weights(model.weight * factor)
        return model

    def _settings(self) -> ParserSettings:
        """What shapes the model."""
        return ParserSettings(
            self._binarisation(), self.relax, self.features == "full", self.clusters or {}, self.threshold,
            self.min_count, self._threads(), self.l2, self._loss(),
        )  # fmt: skip

    def _steps(self, sentences: int) -> Any:
        """The optimiser for so many sentences."""
        if self.batch is not None or self.optimiser in ("lbfgs", "perceptron"):
            return self._optimiser()
        return replace(self._optimiser(), batch=min(64, max(8, sentences // 50)))

    @staticmethod
    def _sizes(model: ParserModel) -> dict[str, int]:
        grammar = model.treebank.grammar
        return {"symbols": grammar.symbols, "rules": grammar.rules + grammar.unaries, "weights": len(model.weight)}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("features", self.features, ("full", "rules", "generative"))
        check_choice("direction", self.direction, ("right", "left"))
        check_choice("tags", self.tags, ("predicted", "given"))
        check_learner(self.loss, self.optimiser)
        check_choice("decode", self.decode, ("viterbi", "recall"))

    def _binarisation(self) -> Binarisation:
        counted = self.features == "generative"
        return Binarisation(
            (2 if counted else 1) if self.vertical is None else self.vertical,
            int(counted) if self.horizontal is None else self.horizontal,
            "left" if self.direction == "left" else "right",
            counted if self.head_tags is None else self.head_tags,
        )

    def _tags(
        self, corpus: Sequence[Sentence], trees: Sequence[Tree], say: Callable[[str], None]
    ) -> tuple[Any, list[tuple[str, ...]]]:
        """The tagger, and the tags that the training features read: as the tagger gives them to new text."""
        if self.tags == "given":
            return None, [tree.tags() for tree in trees]

        return learn_tags(lambda: pos_tagger(self.clusters, self.threads, self.seed), corpus, self.folds, say)

    # answers

    def predict(self, sentences: Iterable[Any]) -> list[Tree]:
        """The tree of every sentence."""
        return [each.tree for each in self.parse(sentences)]

    def parse(self, sentences: Iterable[Any], probabilities: bool = False) -> list[Parse]:
        """The tree of every sentence and how it was found; with probabilities, of every part and of the whole."""
        corpus = as_sentences(sentences)
        model = self._model()
        found: list[Parse] = []
        for first in range(0, len(corpus), BATCH_SENTENCES):
            text = self._passages(model, corpus[first : first + BATCH_SENTENCES])
            found += answers(Decoder(model, self.decode == "recall", probabilities), text, self._threads())[0]
        return found

    def predict_marginals(self, sentences: Iterable[Any], least: float = 0.0) -> list[list[Span]]:
        """For every sentence all constituents that are more probable than ``least``, with their probabilities."""
        check_probability("least", least)
        decoder = Decoder(self._model())
        found = []
        for passages in self._passages(decoder.model, as_sentences(sentences)):
            spans, begin = [], 0
            for passage in passages:
                own = decoder.model.labels.spans(decoder.chart(passage), least)
                spans += [replace(s, start=s.start + begin, end=s.end + begin) for s in own]
                begin += len(passage.words)
            found.append(spans)
        return found

    def kbest(self, sentences: Iterable[Any], k: int = 10) -> list[list[tuple[Tree, float]]]:
        """The k most probable trees of every sentence, best first, each with its probability among those considered.

        Trees that differ only in the parts that a long constituent is built from are one tree; so fewer may be found.
        """
        answers = []
        for parses in self.kbest_parses(sentences, k):
            found: dict[Tree, float] = {}
            for parse in parses:
                found[parse.tree] = found.get(parse.tree, 0.0) + (parse.probability or 0.0)
            answers.append(sorted(found.items(), key=lambda pair: -pair[1]))
        return answers

    def kbest_parses(self, sentences: Iterable[Any], k: int = 10) -> list[list[Parse]]:
        """As :meth:`kbest`; of a joint parser with entities, each answer a tree and its entities."""
        check_count("k", k)
        decoder = Decoder(self._model())
        every = self._passages(decoder.model, as_sentences(sentences))
        return [decoder.kbest(_whole(passages), k) for passages in every]

    def sample(self, sentences: Iterable[Any], n: int = 1, seed: int | None = None) -> list[list[Tree]]:
        """``n`` trees of every sentence, drawn exactly from the model's distribution over those that pruning leaves."""
        check_count("n", n)
        decoder = Decoder(self._model())
        rng = self._random(seed)
        found = []
        for passage in map(_whole, self._passages(decoder.model, as_sentences(sentences))):
            drawn = decoder.chart(passage).sample(n, rng)
            found.append([decoder.rooted(tree, passage.shown) for tree in drawn])
        return found

    def explain(self, sentence: Any, start: int, end: int, label: str | None = None) -> ConstituentExplanation:
        """Why words ``start`` up to ``end`` are a constituent of the best tree, with this label if one is given."""
        one = as_sentence(sentence)
        [found] = self.parse([one], probabilities=True)
        matching = [s for s in found.tree.spans()[1:] if (s.start, s.end) == (start, end) and label in (None, s.label)]
        if not matching:
            there = ", ".join(f"{s.label} {' '.join(one.words[s.start : s.end])!r}" for s in found.tree.spans()[1:])
            given = " ".join(one.words[start:end])
            raise DovetailError(f"{given!r} is not a {label or 'constituent'} of the best tree; it has {there}")
        [passages] = self._passages(self._model(), [one])
        passage, span = _whole(passages), matching[0]
        return explain_constituent(
            self._model(), passage.words, passage.tags, start, end, span.label, float(span.probability or 0.0)
        )

    def _passages(self, model: ParserModel, corpus: Sequence[Sentence]) -> list[list[Passage]]:
        """Every sentence as what is parsed: itself, or the parts of a very long one."""
        spelled = [replace(sentence, words=model.spelled(sentence.words)) for sentence in corpus]
        tags = self._tags_for(model, spelled)
        places = [(i, begin, end) for i, sentence in enumerate(corpus) for begin, end in cut(sentence.words, LONGEST)]
        words = [spelled[i].words[begin:end] for i, begin, end in places]
        known = [tags[i][begin:end] for i, begin, end in places]
        found: list[list[Passage]] = [[] for _ in corpus]
        for place, lists, spelling, given in zip(places, model.lists(words, known), words, known, strict=True):
            i, begin, end = place
            found[i].append(Passage(lists, spelling, given, corpus[i].words[begin:end]))
        return found

    def _tags_for(self, model: ParserModel, corpus: Sequence[Sentence]) -> list[tuple[str, ...]]:
        if self.tags == "predicted" and model.is_generative:
            return [("",) * len(sentence) for sentence in corpus]
        if model.tagger is not None:
            return [tuple(tags) for tags in model.tagger.predict(corpus)]
        for number, sentence in enumerate(corpus, 1):
            if "pos" not in sentence.layers:
                raise InputError(
                    f"sentence {number} has no layer 'pos', which this parser reads: give input that has, or train a "
                    f"parser with tags='predicted' (--tags predicted)"
                )
        return [sentence.layers["pos"] for sentence in corpus]

    def score(self, sentences: Iterable[Sentence], gold: Sequence[Tree] | None = None) -> float:
        """Labelled bracket F1 in percent, as evalb counts. ``gold`` has the trees, where the sentences do not."""
        corpus = labelled(as_sentences(sentences), gold, with_tree, "gold")
        return float(bracket_scores(gold_trees(corpus, "gold"), self.predict(corpus)).f1)

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """The sentences with their trees, and their parts of speech in the layer ``pos``."""
        stream = iter(sentences)
        while some := list(islice(stream, BATCH_SENTENCES)):
            for sentence, found in zip(some, self.parse(some, probabilities), strict=True):
                yield replace(sentence, tree=found.tree).with_layer("pos", found.tree.tags())

    # files

    def save(self, path: str | Path, *, card: dict[str, Any] | None = None) -> None:
        """Write the model to one file."""
        save_model(path, *self._packed(card))

    def _packed(self, card: dict[str, Any] | None = None) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file."""
        model = self._model()
        settings = {k: v for k, v in self.get_params().items() if k not in ("threads", "clusters")}
        header = {
            "kind": self.kind,
            "dovetail": __version__,
            "settings": settings,
            "card": self.card_ | (card or {}),
            **model.header(),
        }
        return header, model.arrays()

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
            parser.model_ = cls._stored.from_file(header, arrays)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
        parser.card_ = header.get("card", {})
        return parser

    @property
    def weights_(self) -> NDArray[np.float32]:
        """The weights of the features: what the parsers of several domains differ in."""
        return self._model().weight

    def with_weights(self, weight: NDArray[np.floating[Any]]) -> Self:
        """A parser like this one with other weights."""
        made = type(self)(**self.get_params())
        made.model_ = self._model().with_weights(weight)
        made.card_ = dict(self.card_)
        return made

    def _layers_read(self) -> tuple[str, ...]:
        return ("pos",) if self.tags == "given" else ()

    def _model(self) -> ParserModel:
        if self.model_ is None:
            raise DovetailError("this parser is not trained: call fit, or load a model")
        return self.model_


def _whole(passages: Sequence[Passage]) -> Passage:
    """What is parsed of a sentence, if that is all of it."""
    if len(passages) > 1:
        raise DovetailError(f"a sentence of over {LONGEST} words is cut and parsed in parts; cut it yourself for this")
    return passages[0]


def with_tree(sentence: Sentence, tree: Tree) -> Sentence:
    """The sentence with its tree."""
    if not isinstance(tree, Tree):
        raise TypeError(f"{tree!r} is not a tree")
    return replace(sentence, tree=tree)
