"""Parser: constituent trees by a conditional random field, over a context-free grammar or over labels of spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError, InputError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import clean_tree
from dovetail.learning.losses import LOSSES
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.memory import release_memory
from dovetail.modelfile import Arrays
from dovetail.models.annotator import SpellingTagger
from dovetail.models.answer import Answer, Each
from dovetail.models.base import Estimator
from dovetail.models.batching import cut
from dovetail.models.inputs import as_sentences, check_probability, labelled
from dovetail.models.parser.brackets.decoding import BracketDecoder, Text
from dovetail.models.parser.brackets.explain import explain_bracket
from dovetail.models.parser.brackets.model import BracketModel
from dovetail.models.parser.brackets.training import BracketSettings, BracketTraining, of_model
from dovetail.models.parser.data import clean, gold_trees, treebank_of
from dovetail.models.parser.decoding import LONGEST, Decoder, Passage, Votes, answers
from dovetail.models.parser.explain import ConstituentExplanation, explain_constituent
from dovetail.models.parser.model import ParserModel
from dovetail.models.parser.pool import ParserPool, trained_pool
from dovetail.models.parser.settings import ConstituencySettings
from dovetail.models.parser.training import ParserSettings, ParserTraining, generative_model
from dovetail.models.tagging import learn_tags, pos_tagger
from dovetail.models.training import Run
from dovetail.structures.contract import Floats
from dovetail.text.given import as_sentence
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree
from dovetail.threads import run_shards

USUAL_THRESHOLD, USUAL_L2 = 1e-3, 1.0
SPAN_THRESHOLD, SPAN_L2 = 3e-4, 0.3  # without a grammar
CUT = f"a sentence of over {LONGEST} words is cut and parsed in parts; cut it yourself for this"


@dataclass(kw_only=True, eq=False)
class Parser(ConstituencySettings, Estimator):
    """A feature-rich constituency parser, trained on sentences that have a tree.

    Words are tagged first, by a tagger that is trained with the parser, which reads its tags and may overrule them.
    """

    target: ClassVar[str] = "tree"
    batch_size: ClassVar[int] = 500
    dev_every: ClassVar[int] = 5
    _stored: ClassVar[Any] = ParserModel

    model_: ParserModel | BracketModel | ParserPool | None = field(default=None, init=False, repr=False)
    tagged_: Any = field(default=None, init=False, repr=False)
    """A tagger and the tags of the training sentences, where a member of a pool is given them."""

    @classmethod
    def stored_kind(cls) -> str:
        """What model files say that it is."""
        return "parser"

    def check_settings(self) -> None:
        """As for any model; without a grammar there is none to annotate, relax or count."""
        super().check_settings()
        grammar = (("features", "full"), ("vertical", None), ("horizontal", None), ("head_tags", None), ("relax", None))
        if self._without_grammar:
            for name, usual in grammar:
                if getattr(self, name) != usual:
                    raise DovetailError(f"{name}={getattr(self, name)!r}: a parser of kind {self.kind} has no grammar")
        if self.features == "generative" and self.loss not in (None, "likelihood"):
            raise DovetailError(f"loss={self.loss!r}: a generative grammar is counted, and has no loss; leave it out")
        if self.encoder is not None and (not self._without_grammar or self.unaries != "joined"):
            raise DovetailError(
                "an encoder scores spans: choose kind='labelled' or another without a grammar, and joined unaries"
            )
        if self.unaries != "joined" and self.kind not in ("labelled", "labelled-rules"):
            raise DovetailError(f"unaries={self.unaries!r}: choose kind='labelled' or 'labelled-rules' for it")
        if self.pool is not None and (self.features != "full" or self.kind == "brackets"):
            wrong = f"kind={self.kind!r}" if self.kind == "brackets" else f"features={self.features!r}"
            raise DovetailError(f"pool={self.pool}: a pool is of parsers with all features and labels, not {wrong}")

    @property
    def _without_grammar(self) -> bool:
        return self.kind in ("brackets", "labelled", "labelled-rules")

    def _pool(self) -> ParserPool | None:
        """The pool, if the model is one; its members use as many threads as the parser itself."""
        if not isinstance(model := self._model(), ParserPool):
            return None
        for member in model.members:
            member.threads = self.threads
        return model

    @property
    def _by_recall(self) -> bool:
        return self._without_grammar if self.decode is None else self.decode == "recall"

    # training

    def _examples(self, given: Any, answers: Sequence[Tree] | None, what: str) -> list[Sentence]:
        """Sentences with trees; of training sentences those that are not too long, whose trees are clean."""
        corpus = labelled(as_sentences(given), answers, with_tree, what)
        if what == "gold":
            gold_trees(corpus, what)
            return corpus
        if what == "dev":
            return treebank_of(corpus, what)[0]
        kept = clean(corpus, what, self.max_length)
        self.card_["left_out"] = len(corpus) - len(kept)
        return kept

    def _train(self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run) -> None:
        if self.pool is not None:
            self.model_ = None
            trained_pool(self, corpus, held_out, run)
            self._finish(corpus, run)
        elif self.features == "generative":
            run.doing("counting the rules")
            self.model_ = generative_model(gold_trees(corpus, "training"), self._settings(), self.smoothing)
            score = self.score(held_out) if held_out is not None else None
            self.card_ |= {"stopped": "counted", "dev": score}
            self._finish(corpus, run)
        else:
            super()._train(corpus, held_out, run)

    def _finish(self, corpus: list[Sentence], run: Run) -> None:
        self.card_ |= self._model().sizes()

    def _prepare(
        self, corpus: list[Sentence], held_out: list[Sentence] | None, run: Run
    ) -> ParserTraining | BracketTraining:
        trees = gold_trees(corpus, "training")
        tagger, tags = self._tags(corpus, trees, run.doing)
        run.doing("pruning the charts")
        if self._without_grammar:
            words = [sentence.words for sentence in corpus]
            network = partial(self._network, words)
            made = BracketTraining.prepare(corpus, trees, tags, self._bracket_settings(), tagger, network)
            self.card_["pruned_gold_labels"] = made.lost
            release_memory()
            return made
        return ParserTraining.prepare(corpus, trees, tags, self._settings(), tagger)

    def _network(self, words: Sequence[Sequence[str]], labels: int) -> Any:
        """The network that adds to the scores of spans, with its first weights; None for none."""
        return None if self.encoder is None else self._encoder_network(words, "brackets", labels=labels)

    def _dev_scorer(self, training: Any, held_out: list[Sentence]) -> Callable[[Floats], float]:
        look = self._text if self._without_grammar else self._passages
        training.dev_text = look(training.model, [replace(s, spans=()) for s in held_out])
        if self._without_grammar:
            scorer: Callable[[Floats], float] = training.dev_scorer(training.dev_text, held_out, self._by_recall)
            return scorer
        rate = partial(self._score_of, self._dev_gold(held_out))
        usual: Callable[[Floats], float] = training.dev_scorer(training.dev_text, rate, self._by_recall)
        return usual

    def _dev_gold(self, held_out: list[Sentence]) -> list[Sentence]:
        """What answers are compared with while training."""
        return [replace(s, tree=clean_tree(s.tree)) for s in held_out if s.tree is not None]

    def _tuned(self, model: Any, held_out: list[Sentence], training: Any) -> Any:
        if not self.calibrate:
            return model
        if self._without_grammar:
            return model.scaled(training.calibration(model, held_out))
        factor = Decoder(model).calibration(training.dev_text, training.derivations(held_out), self._threads())
        return model.with_weights(model.weight * factor)

    def _held_out_score(self, held_out: list[Sentence], training: Any) -> float:
        if self._without_grammar:
            text = of_model(training.dev_text, self._model())
            return self._score_of(held_out, self._bracket_decoder().answers(text))
        decoder = Decoder(self._model(), self._by_recall)
        return self._score_of(held_out, answers(decoder, training.dev_text, self._threads())[0])

    def _score_of(self, gold: Sequence[Sentence], found: Sequence[Answer]) -> float:
        """Labelled bracket F1 in percent, as evalb counts."""
        return float(bracket_scores(gold_trees(gold, "gold"), [answer.tree for answer in found]).f1)

    def _settings(self) -> ParserSettings:
        """What shapes the model."""
        return ParserSettings(
            self._binarisation(), self.relax, self.features == "full", self.clusters or {},
            USUAL_THRESHOLD if self.threshold is None else self.threshold, self.min_count or 1, self._threads(),
            USUAL_L2 if self.l2 is None else self.l2, LOSSES[self._loss()],
        )  # fmt: skip

    def _bracket_settings(self) -> BracketSettings:
        """What shapes the model without a grammar."""
        return BracketSettings(
            Binarisation(direction="left" if self.direction == "left" else "right"), self.kind != "brackets",
            self.kind == "labelled-rules", self.clusters or {},
            SPAN_THRESHOLD if self.threshold is None else self.threshold, self.min_count or 2, self._threads(),
            SPAN_L2 if self.l2 is None else self.l2, LOSSES[self._loss()], self.seed, self.unaries,
        )  # fmt: skip

    def _optimiser(self, training: Any = None) -> Any:
        made = super()._optimiser(training)
        if self.batch is None and self.encoder is None and self.optimiser != "perceptron" and hasattr(made, "batch"):
            made = replace(made, batch=min(64, max(8, training.size // 50)))
        return replace(made, memory=training.memory) if isinstance(made, AdaGrad) else made

    def _loss(self) -> str:
        if self.loss is None and self.optimiser != "perceptron":
            return "softmax-margin" if self._without_grammar else "likelihood"
        return super()._loss()

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
        if self.tagged_ is not None:
            tagged: tuple[Any, list[tuple[str, ...]]] = self.tagged_
            return tagged
        if self.tags == "given":
            return None, [tree.tags() for tree in trees]
        return learn_tags(lambda: pos_tagger(self.clusters, self.threads, self.seed), corpus, self.folds, say)

    # answers

    def predict(self, X: Iterable[Any]) -> list[Tree]:
        """The tree of every sentence."""
        return Each(answer.tree for answer in self.parse(X) if answer.tree is not None)

    def parse(self, sentences: Iterable[Any], probabilities: bool = False) -> list[Answer]:
        """The tree of every sentence and how it was found; with probabilities, of every part and of the whole."""
        every = self._batches(as_sentences(sentences))
        return [answer for some in every for answer in self._answers(some, probabilities)]

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> list[Answer]:
        """Trees, with parts of speech in the layer ``pos``."""
        if pool := self._pool():
            _check_words(sentences)
            return list(pool.answers(sentences, probabilities, self._threads()))
        if self._without_grammar:
            return self._bracket_decoder(probabilities).answers(self._text(self._model(), sentences))
        decoder = Decoder(self._model(), self._by_recall, probabilities)
        return answers(decoder, self._passages(decoder.model, sentences), self._threads())[0]

    @staticmethod
    def _size(sentence: Any) -> int:
        return 1

    def predict_marginals(self, X: Iterable[Any], least: float = 0.0) -> list[list[Span]]:
        """For every sentence all constituents that are more probable than ``least``, with their probabilities."""
        check_probability("least", least)
        if pool := self._pool():
            return list(pool.spans(as_sentences(X), least))
        if self._without_grammar:
            return self._bracket_decoder().spans(self._text(self._model(), as_sentences(X)), least)
        decoder = Decoder(self._model())
        found = []
        for passages in self._passages(decoder.model, as_sentences(X)):
            spans, begin = [], 0
            for passage in passages:
                own = decoder.model.labels.spans(decoder.chart(passage), least)
                spans += [replace(s, start=s.start + begin, end=s.end + begin) for s in own]
                begin += len(passage.words)
            found.append(spans)
        return found

    def votes(self, sentences: Sequence[Sentence]) -> list[list[Votes | None]]:
        """What a member of a pool says of every sentence, or of the parts of one that is cut; None without a tree."""
        if self._without_grammar:
            return self._bracket_decoder().votes(self._text(self._model(), sentences))
        decoder = Decoder(self._model())
        text = self._passages(decoder.model, sentences)
        return run_shards(lambda passages: [decoder.vote(passage) for passage in passages], text, self._threads())

    def _kbest(self, sentences: list[Sentence], k: int) -> Iterator[list[Answer]]:
        """Trees that differ only in the parts that a long constituent is built from are one; so fewer may be found."""
        if pool := self._pool():
            yield from pool.kbest(sentences, k)
            return
        if self._without_grammar:
            yield from self._bracket_decoder().kbest(self._text(self._model(), sentences, whole=True), k)
            return
        decoder = Decoder(self._model())
        for passages in self._passages(decoder.model, sentences):
            yield decoder.kbest(_whole(passages), k)

    def _sample(self, sentences: list[Sentence], n: int, rng: np.random.Generator) -> Iterator[list[Answer]]:
        if pool := self._pool():
            yield from pool.draws(sentences, [n] * len(sentences), [rng] * len(sentences))
            return
        if self._without_grammar:
            yield from self._bracket_decoder().sample(self._text(self._model(), sentences, whole=True), n, rng)
            return
        decoder = Decoder(self._model())
        for passages in self._passages(decoder.model, sentences):
            yield decoder.sample(_whole(passages), n, rng)

    # as a stage of a pipeline

    @property
    def writes(self) -> tuple[str, ...]:
        """The tree, and the parts of speech that it is read with where they are not given."""
        return ("tree",) if "pos" in self.reads else ("tree", "pos")

    def stages(self) -> list[Any]:
        """The tagger that is trained with the parser, if it has one, and the parser that reads its tags."""
        tagger = self._model().tagger
        return [self] if tagger is None else [SpellingTagger(tagger, self._model().spelled), self.reading()]

    def reading(self) -> Self:
        """The parser, that reads parts of speech in the layer ``pos``."""
        pool = self._pool()
        if self.reads or (self._model().tagger is None and not pool):
            return self
        found = copy(self)
        found.tags = "given"
        if pool:
            found.model_ = pool.reading()
        return found

    def _scaled(self, factor: float) -> Any:
        model = self._model()
        if pool := self._pool():
            return pool.scaled(factor)
        if getattr(model, "is_generative", False):  # its words are scored by a lexicon, which has no weights
            return None
        return model.scaled(factor) if self._without_grammar else model.with_weights(model.weight * np.float32(factor))

    def _draws(self, sentences: Sequence[Any], counts: Sequence[int], rngs: Any) -> Iterator[list[Answer]]:
        if pool := self._pool():
            yield from pool.draws(sentences, counts, rngs)
            return
        if self._without_grammar:
            yield from self._bracket_decoder().draws(self._text(self._model(), sentences, whole=True), counts, rngs)
            return
        decoder = Decoder(self._model())
        for passages, count, rng in zip(self._passages(decoder.model, sentences), counts, rngs, strict=True):
            yield decoder.sample(_whole(passages), count, rng)

    def explain(self, sentence: Any, start: int, end: int, label: str | None = None) -> ConstituentExplanation:
        """Why words ``start`` up to ``end`` are a constituent of the best tree, with this label if one is given."""
        if self._pool():
            raise DovetailError("a pool has no weights of its own: explain one of its parsers, model.members_[0]")
        one = as_sentence(sentence)
        [found] = self.parse([one], probabilities=True)
        spans = found.tree.spans()[1:] if found.tree is not None else []
        matching = [s for s in spans if (s.start, s.end) == (start, end) and label in (None, s.label)]
        if not matching:
            there = ", ".join(f"{s.label} {' '.join(one.words[s.start : s.end])!r}" for s in spans)
            given = " ".join(one.words[start:end])
            raise DovetailError(f"{given!r} is not a {label or 'constituent'} of the best tree; it has {there}")
        span = matching[0]
        if self._without_grammar:
            text = self._text(self._model(), [one], whole=True)
            return explain_bracket(self._model(), text, start, end, span.label, float(span.probability or 0.0))
        [passages] = self._passages(self._model(), [one])
        passage = _whole(passages)
        return explain_constituent(
            self._model(), passage.words, passage.tags, start, end, span.label, float(span.probability or 0.0)
        )

    def _bracket_decoder(self, probabilities: bool = False) -> BracketDecoder:
        return BracketDecoder(self._model(), self._by_recall, probabilities, self._threads())

    def _text(self, model: BracketModel, corpus: Sequence[Sentence], whole: bool = False) -> Text:
        """Sentences as a parser without a grammar looks at them; ``whole``: none is so long that it is cut."""
        _check_words(corpus)
        spelled = [replace(sentence, words=model.spelled(sentence.words)) for sentence in corpus]
        text = Text.of(model, corpus, self._tags_for(model, spelled), self._threads())
        if whole and len(text.owner) > len(corpus):
            raise DovetailError(CUT)
        return text

    def _passages(self, model: ParserModel, corpus: Sequence[Sentence]) -> list[list[Passage]]:
        """Every sentence as what is parsed: itself, or the parts of a very long one."""
        _check_words(corpus)
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

    def _tags_for(self, model: ParserModel | BracketModel, corpus: Sequence[Sentence]) -> list[tuple[str, ...]]:
        if self.tags == "predicted" and isinstance(model, ParserModel) and model.is_generative:
            return [("",) * len(sentence) for sentence in corpus]
        if model.tagger is not None and self.tags != "given":
            return [tuple(tags) for tags in model.tagger.predict(corpus)]
        for number, sentence in enumerate(corpus, 1):
            if "pos" not in sentence.layers:
                raise InputError(
                    f"sentence {number} has no layer 'pos', which this parser reads: give input that has, or train a "
                    f"parser with tags='predicted' (--tags predicted)"
                )
        return [sentence.layers["pos"] for sentence in corpus]

    def score(self, X: Iterable[Sentence], y: Sequence[Tree] | None = None) -> float:
        """Labelled bracket F1 in percent, as evalb counts. ``y`` has the trees, where the sentences do not."""
        corpus = self._examples(X, y, "gold")
        return self._score_of(corpus, self.parse([replace(sentence, spans=()) for sentence in corpus]))

    # files

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        if "members" in header:
            self.model_ = ParserPool.from_file(header, arrays, Parser.unpacked)
            return
        stored: Any = BracketModel if self._without_grammar else self._stored
        self.model_ = stored.from_file(header, arrays)

    @property
    def members_(self) -> tuple[Parser, ...]:
        """The parsers of a pool; one that is none is alone."""
        pool = self._pool()
        return pool.members if pool else (self,)

    @property
    def weights_(self) -> NDArray[np.float32]:
        """The weights of the features: what the parsers of several domains differ in."""
        weight: NDArray[np.float32] = self._model().weight
        return weight

    def _layers_read(self) -> tuple[str, ...]:
        return ("pos",) if self.tags == "given" else ()


def _whole(passages: Sequence[Passage]) -> Passage:
    """What is parsed of a sentence, if that is all of it."""
    if len(passages) > 1:
        raise DovetailError(CUT)
    return passages[0]


def with_tree(sentence: Sentence, tree: Tree) -> Sentence:
    """The sentence with its tree."""
    if not isinstance(tree, Tree):
        raise TypeError(f"{tree!r} is not a tree")
    return replace(sentence, tree=tree)


def _check_words(corpus: Sequence[Sentence]) -> None:
    """An error where a sentence has no words."""
    if empty := [number for number, sentence in enumerate(corpus, 1) if not len(sentence)]:
        raise InputError(f"sentence {empty[0]} has no words, and so no tree; leave it out")
