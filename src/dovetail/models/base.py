"""What all models have in common: scikit-learn manners, texts to annotate, and settings that are checked first."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, overload

import numpy as np

from dovetail.errors import DovetailError, ModelFileError
from dovetail.features.algebra.templates import call
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.losses import ROUGH
from dovetail.learning.monitor import Monitor, Progress
from dovetail.learning.optimisers.adam import Adam
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad, AveragedPerceptron
from dovetail.modelfile import Arrays, load_model, save_model
from dovetail.models.annotator import Annotator
from dovetail.models.answer import Answer
from dovetail.models.batching import in_batches
from dovetail.models.choices import Held
from dovetail.models.folds import Chosen, cross_validated, parts_of
from dovetail.models.inputs import annotated, as_sentences, check_count, check_type
from dovetail.models.layers import LayerTaggers
from dovetail.models.settings import OPTIMISERS, setting_of
from dovetail.models.training import Run, Training
from dovetail.spellings import known, original, respelled
from dovetail.structures.contract import at_most_one
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence
from dovetail.version import __version__

OPTIMISERS.update(lbfgs=LBFGS, sgd=SGD, adagrad=AdaGrad, adam=Adam, perceptron=AveragedPerceptron)

ENCODED = {"gain": 0.002, "batch": 16}
"""What adam has for networks, unless the settings say otherwise."""

FREE = frozenset(
    "threads iterations patience features resources clusters noise_text agree consistency engine balance calibrate "
    "cross_validate predict_layers".split()
)
"""Settings that may change between a training run and its continuation; features and resources are told by the data."""
NOT_STORED = frozenset({"threads", "resources", "clusters", "noise_text"})
"""Settings that are no part of a model file: the same data gives the same file on any number of cores."""


@dataclass(kw_only=True, eq=False)
class Estimator(Annotator):
    """A dataclass whose fields are its settings; those that training sets are no arguments of its constructor."""

    batch_size: ClassVar[int] = 100_000
    """How much text is scored at once, in tokens unless ``_size`` counts otherwise."""
    dev_every: ClassVar[int] = 10
    """After how many passes of a batch optimiser held-out sentences are scored; of others, after each."""

    model_: Any = field(default=None, init=False, repr=False)
    card_: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    layers_: LayerTaggers = field(default_factory=LayerTaggers, init=False, repr=False)
    """What predicts the layers that the model reads, where text has none."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; if ``deep``, with those of models among them as ``name__setting``."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        if deep:
            for name, value in list(found.items()):
                if isinstance(value, Estimator):
                    found |= {f"{name}__{inner}": v for inner, v in value.get_params().items()}
        return found

    def set_params(self, **settings: Any) -> Self:
        """Change settings; they take effect at the next ``fit``."""
        known = self.get_params()
        for name, value in respelled("settings", settings, *self._places(), warn=4).items():
            if name not in known:
                raise ValueError(f"no setting {name!r}; there are {', '.join(known)}")
            outer, _, inner = name.partition("__")
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks for before it fits or scores; nobody else calls this."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_trained()

    def _is_trained(self) -> bool:
        return getattr(self, "model_", None) is not None

    # training

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        dev: Any = None,
        init: Self | None = None,
        checkpoint: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        doing: Callable[[str], None] | None = None,
        sharing: Any = None,
    ) -> Self:
        """Train. With ``dev``, keep the weights that score best there and stop when they no longer get better.

        Without, models that have the setting ``cross_validate`` choose by parts of the training data what dev would.
        ``y`` has the answers, where the sentences ``X`` do not. ``init`` starts from another model's weights.
        ``checkpoint`` names a file from which training goes on if it exists, and which is deleted at the end.
        ``progress`` hears of every pass, ``doing`` of what is being prepared. ``sharing`` shares the passes out over
        several machines, with the same result: ``dovetail.machines.objective.Ray()``. Ctrl-C ends training early with
        the best weights so far; before the first pass, and while parts are held out, there are none, and it is raised.
        """
        self.check_settings()
        owner = next(c for c in type(self).__mro__ if "score" in vars(c))
        own = not owner.__module__.startswith("dovetail.") and "_dev_scorer" not in vars(owner)
        if own and (dev is not None or getattr(self, "cross_validate", 0) != 0):
            warnings.warn(f"dev and folds are not scored by {owner.__name__}.score: define _dev_scorer", stacklevel=2)
        if sharing is not None and (self._optimiser_name() != "lbfgs" or self._setting("pool") is not None):
            raise DovetailError("whole passes are shared out: use the optimiser lbfgs, and no pool")
        run = Run(init, checkpoint, progress, doing or (lambda what: None), sharing)
        self.card_, self.layers_ = {}, LayerTaggers()
        corpus = self._examples(X, y, "training")
        held_out = self._examples(dev, None, "dev") if dev is not None else None
        if held_out is not None and not any(map(len, held_out)):
            raise DovetailError("the dev data has no words; check the file and its format, or leave it out")
        self._train(corpus, held_out, run)
        sizes = {"sentences": len(corpus), "tokens": sum(map(len, corpus))}
        self.card_ = sizes | {"dev": None} | self.card_
        return self

    def _train(self, corpus: list[Any], held_out: list[Any] | None, run: Run) -> None:
        """Set the model, and in the card whatever there is to say of it."""
        training = self._prepare(corpus, held_out, run)
        monitor = self._monitor(run)
        if held_out is not None:
            held_out = self._filled(held_out)
            monitor.dev_score = self._dev_scorer(training, held_out)
            training.aside = held_out
        chosen = cross_validated(self, corpus, training, run) if held_out is None else None
        training.weight = self._minimise(training, monitor, run, None if chosen is None else chosen.passes)
        model = training.export(training.weight)
        self.card_["stopped"] = monitor.reason
        self.model_ = model
        if chosen is not None:
            self._keep_chosen(chosen)
        if held_out is not None:
            with self._keeping_what_there_is():
                self.model_ = self._tuned(model, held_out, training)
                self.card_["dev"] = self._held_out_score(held_out, training)
        self._finish(corpus, run)
        self._forget_checkpoint(run)

    def _examples(self, given: Any, answers: Any, what: str) -> list[Any]:
        """Sentences with their right answers in them, checked; ``what`` they are: training, dev or gold."""
        raise NotImplementedError

    def _prepare(self, corpus: list[Any], held_out: list[Any] | None, run: Run) -> Training:
        """What is trained."""
        raise NotImplementedError

    def _learn_layers(self, features: Any, corpus: Sequence[Sentence], doing: Callable[[str], None]) -> list[Sentence]:
        """Learn to predict the layers that the features read; the corpus, with these where a sentence lacks them."""
        names = features.columns if self._setting("predict_layers") else ()
        self.layers_ = LayerTaggers.learnt(names, corpus, self._threads(), self._setting("seed"), doing)
        return self._filled(corpus)

    def _filled(self, sentences: Sequence[Any]) -> list[Any]:
        """The sentences with the layers that they lack and the model can predict."""
        return self.layers_.filled(sentences, self._threads()) if self.layers_.taggers else list(sentences)

    def _dev_scorer(self, training: Any, held_out: list[Any]) -> Callable[[Any], float]:
        """A function from weights to the score on held-out sentences, which are looked at once."""
        raise NotImplementedError

    def _tuned(self, model: Any, held_out: list[Any], training: Any) -> Any:
        """The model with what is chosen on held-out sentences."""
        return model

    # choosing without dev: see ``models.folds``

    def _parts(self, training: Any, sentences: int) -> tuple[int, int]:
        """Into how many parts so many sentences are dealt, and how many are held out in turn: 0 for none."""
        return parts_of(self._setting("cross_validate") or 0, sentences)

    def _judges(self, item: Any) -> bool:
        """Whether the right answer to a training sentence is known in full, so that models can be judged by it."""
        return True

    def _comparable(self, training: Any, whole: Any) -> bool:
        """Whether what is trained on some of the data answers the same questions as what is trained on all of it."""
        return True

    def _dev_counter(self, training: Any, held_out: list[Any]) -> Callable[[Any], Any]:
        """As ``_dev_scorer``, but to counts [ways, 3] that can be added up: see ``models.choices``.

        Where there are several ways to answer, that with the best score counts. A score that has no counts is taken for
        that of as many things as there are words.
        """
        score, words = self._dev_scorer(training, held_out), float(sum(map(len, held_out)))
        return lambda weight: np.array([[words, words, words * score(weight) / 100.0]])

    def _part_counts(self, held_out: list[Any]) -> Any:
        """Counts [3] of what the trained model finds in sentences with right answers: see ``models.choices``.

        A score that has no counts is taken for that of as many things as there are words.
        """
        words = float(sum(map(len, held_out)))
        return words, words, words * self.score(held_out) / 100.0

    def _held_structures(self, model: Any, training: Any) -> Any:
        """What a model makes of the sentences held out from its training, where there is something to choose."""
        return None

    def _choice(self, held: Sequence[Held], model: Any) -> tuple[Any, float | None]:
        """What is best for a model of all the data, from parts held out from others like it; their score with that.

        None where there is nothing to choose but the number of passes.
        """
        return None, None

    def _applied(self, model: Any, choice: Any) -> Any:
        """The model with what ``_choice`` has found."""
        return model

    def _keep_chosen(self, chosen: Chosen) -> None:
        self.model_ = self._applied(self.model_, chosen.choice)
        self.card_["cross_validated"], self.card_["parts"] = chosen.score, chosen.parts
        if chosen.passes is not None and self.card_["stopped"] == "limit":
            self.card_["stopped"] = "cross-validation"

    def _held_out_score(self, held_out: list[Any], training: Any) -> float:
        """The score of the trained model on held-out sentences."""
        return self.score(held_out)

    def _finish(self, corpus: list[Any], run: Run) -> None:
        """Learn what there is besides the model."""

    def _monitor(self, run: Run) -> Monitor:
        return Monitor(report=run.progress, patience=self._setting("patience"), dev_every=self._dev_every())

    def _dev_every(self) -> int:
        return self.dev_every if self._optimiser_name() == "lbfgs" else 1

    def _loss(self) -> str:
        """The loss by name; the perceptron has its own."""
        return "perceptron" if self._setting("optimiser") == "perceptron" else str(self._setting("loss"))

    def _minimise(self, training: Any, monitor: Monitor, run: Run, passes: int | None = None) -> Any:
        """The best weights, after so many passes at most."""
        start, resume = training.start(None if run.init is None else run.init._model()), None
        if (saved := self._checkpoint(training, start, run)) is not None:
            resume, monitor.save = saved.load(), saved.save
            if resume is not None:
                monitor.restore(resume)
        optimiser = self._optimiser(training)
        if passes is not None:
            optimiser = replace(optimiser, limit=passes)
        hints = {"curvature": training.curvature()} if isinstance(optimiser, LBFGS) else {}
        with run.shared(training.objective) as objective:
            found = optimiser.minimise(objective, training.prior, start, monitor, resume, **hints)
        own = not type(optimiser).__module__.startswith("dovetail.")
        unheard = own and monitor.dev_score is not None and monitor.resumed_at is None
        if np.shape(found) != start.shape or unheard:
            what = "call monitor.after_pass, or dev has no effect" if unheard else f"give weights {list(start.shape)}"
            raise DovetailError(f"optimiser={self._optimiser_name()!r}: minimise must {what}")
        return found

    def _checkpoint(self, training: Any, start: Any, run: Run) -> Checkpoint | None:
        """Where the run is saved, and taken up again, if a user wants it."""
        if run.checkpoint is None:
            return None
        every = {name: v for name, v in self.get_params().items() if not isinstance(v, Estimator)}
        hashed = {name: value for name, value in every.items() if name.rpartition("__")[2] not in FREE}
        places = {name: getattr(self, name.rpartition("__")[0], self)._places() for name in hashed}
        settings = {original("settings", name, *places[name]): value for name, value in hashed.items()}
        return Checkpoint.of(run.checkpoint, settings, *training.fingerprint(), start)

    @contextmanager
    def _keeping_what_there_is(self) -> Iterator[None]:
        """Ctrl-C ends what is done here, and training keeps the model as it is."""
        try:
            yield
        except KeyboardInterrupt:
            self.card_["stopped"] = "interrupted"

    def _forget_checkpoint(self, run: Run) -> None:
        """Once all is trained, and nobody will want to go on."""
        if run.checkpoint is not None and self.card_["stopped"] != "interrupted":
            Checkpoint(Path(run.checkpoint), "").remove()

    # answers

    @property
    def needs(self) -> tuple[str, ...]:
        """The layers, besides the words, that a trained model reads in its input and cannot predict itself."""
        return tuple(name for name in self._layers_read() if name not in self.predicts) if self._is_trained() else ()

    @property
    def predicts(self) -> tuple[str, ...]:
        """The layers that a trained model reads in its input, and predicts where a sentence has none."""
        return tuple(self.layers_.taggers)

    def _layers_read(self) -> tuple[str, ...]:
        raise NotImplementedError

    def __call__(self, text: str, **how: Any) -> Document:
        """The document that a text is, annotated: ``model("Ada slept.")``. See ``annotate`` for many texts."""
        if not isinstance(text, str):
            raise DovetailError(f"give one text, a string; annotate takes many, or sentences (this is {text!r:.40})")
        found: Document = self.annotate(text, **how)
        return found

    @overload
    def annotate(self, items: str, probabilities: bool = True) -> Document: ...  # type: ignore[overload-overlap]
    @overload
    def annotate(self, items: Iterable[str] | Iterable[Document], probabilities: bool = True) -> Iterator[Document]: ...
    @overload
    def annotate(self, items: Iterable[Any], probabilities: bool = True) -> Iterator[Any]: ...

    def annotate(self, items: Any, probabilities: bool = True) -> Any:
        """Sentences, documents or texts with the answers of the model, as a stream that holds little at a time.

        Sentences come back as sentences. Documents come back as documents, and so do texts, with the place of every
        word in their characters: a string gives one document; a list, or any column of strings, a stream of them.
        """
        self._check_trained()
        given = self._given(items)
        return annotated(given, lambda sentences: self._annotated(sentences, probabilities), self._read)

    def _given(self, items: Any) -> Any:
        """What is to be annotated, if it is what the model can take."""
        return items

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """A stream of sentences with the answers in them."""
        for some in self._batches(sentences):
            for sentence, answer in zip(some, self._answers(some, probabilities), strict=True):
                yield answer.write(sentence)

    def _answers(self, sentences: list[Sentence], probabilities: bool) -> Iterable[Answer]:
        """The answers to a batch of sentences."""
        raise NotImplementedError

    def kbest(self, X: Any, k: int = 10) -> list[list[Answer]]:
        """The k most probable answers to every sentence, best first, each with its probability."""
        check_count("k", k)
        self._check_trained()
        return [answers for some in self._batches(self._tokens(X)) for answers in self._kbest(some, k)]

    def sample(self, X: Any, n: int = 1, seed: int | None = None) -> list[list[Answer]]:
        """``n`` answers to every sentence, drawn exactly from the model's distribution."""
        check_count("n", n)
        self._check_trained()
        rng = self._random(seed)
        return [answers for some in self._batches(self._tokens(X)) for answers in self._sample(some, n, rng)]

    def _kbest(self, sentences: list[Any], k: int) -> Iterable[list[Answer]]:
        batch = self._batch(sentences)
        found, scores = batch.kbest(k)
        chances = at_most_one(np.exp(scores - batch.log_partition()[:, None])).tolist()
        ranked = [self._decoded(batch, each, sentences) for each in found]
        for i in range(len(sentences)):
            there = [j for j in range(len(ranked)) if scores[i, j] > -np.inf]
            yield [replace(ranked[j][i], probability=chances[i][j]) for j in there]

    def _sample(self, sentences: list[Any], n: int, rng: np.random.Generator) -> Iterable[list[Answer]]:
        batch = self._batch(sentences)
        drawn, log_z = batch.sample(n, rng), batch.log_partition()
        both = [(self._decoded(batch, one, sentences), at_most_one(np.exp(batch.score(one) - log_z))) for one in drawn]
        return ([replace(own[i], probability=float(p[i])) for own, p in both] for i in range(len(sentences)))

    def structures(self, X: Any) -> Iterator[Any]:
        """The structures of sentences under the model, many at a time: for answers that no other method gives."""
        self._check_trained()
        return map(self._batch, self._batches(self._tokens(X)))

    def _batch(self, sentences: Sequence[Any]) -> Any:
        """The structures of sentences, with their potentials."""
        raise NotImplementedError

    def _decoded(self, batch: Any, found: Any, sentences: Sequence[Any]) -> Sequence[Answer]:
        """An answer of the structures, sentence by sentence."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None) -> float:
        """How good the answers are, in percent; ``y`` has the right ones, where the sentences do not."""
        raise NotImplementedError

    def _tokens(self, given: Any) -> Iterable[Any]:
        """What the model sees of what a user gives."""
        return as_sentences(given)

    def _batches(self, sentences: Iterable[Any]) -> Iterator[list[Any]]:
        """As much text at once as bounds memory and keeps threads busy, with the layers that are to be predicted."""
        return map(self._filled, in_batches(sentences, self.batch_size, self._size))

    @staticmethod
    def _size(sentence: Any) -> int:
        return len(sentence)

    def _read(self, text: str) -> Document:
        """The sentences and words of a text."""
        return Document(tuple(segment(text)), text)

    def _repr_html_(self) -> str:
        from dovetail.models.html import model_html

        return model_html(self)

    # files

    def save(
        self, path: str | Path, *, half: bool = False, compact: bool = False, card: dict[str, Any] | None = None
    ) -> None:
        """Write the model to one file.

        ``half`` stores weights in half precision, ``compact`` in a byte each, and all else as small as can be.
        """
        if half and compact:
            raise DovetailError(
                "half and compact are two ways to store weights: choose one (compact files are smaller)"
            )
        header, arrays = self.packed(half, compact)
        save_model(path, header | {"card": self.card_ | (card or {})}, arrays, compact)

    def packed(self, half: bool = False, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of a model file; ``compact`` if they are to be as small as can be."""
        model = self._model()
        settings = self._stored_settings()
        about = {"kind": self.stored_kind(), "dovetail": __version__, "settings": settings, "card": self.card_}
        header, arrays = self.layers_.packed(half, compact)
        return about | model.header() | header, model.arrays(half) | arrays

    def _stored_settings(self) -> dict[str, Any]:
        """The settings as JSON can hold them; what features and resources there are, the model says itself."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in NOT_STORED}
        if "ignore" in settings:
            settings["ignore"] = list(settings["ignore"])
        return settings

    @classmethod
    def load(cls, path: str | Path, functions: Sequence[Callable[..., Any]] = ()) -> Self:
        """Read a model file. Python functions that served as templates are given again, by the same names."""
        header, arrays = load_model(path, cls.stored_kind())
        with fitting(path):
            return cls.unpacked(header | {"file": str(path)}, arrays, functions)

    @classmethod
    def unpacked(cls, header: dict[str, Any], arrays: Arrays, functions: Sequence[Callable[..., Any]] = ()) -> Self:
        """From what ``packed`` gave."""
        made = cls(**cls.settings_in(header["settings"], header.get("file", "a model inside the model file")))
        made.card_ = header.get("card", {})
        made._unpack(header, arrays, [call(f) for f in functions])
        made.layers_ = LayerTaggers.unpacked(header, arrays)
        return made

    @classmethod
    def settings_in(cls, stored: dict[str, Any], where: str) -> dict[str, Any]:
        """Return the settings of a model file; a warning tells which of them this version does not know."""
        names, told = {f.name for f in fields(cls) if f.init}, dict(stored)
        if "consistency" in names and "agree" in told:  # of files of version 0.1
            told["consistency"] = "agree" if told.pop("agree") else "none"
        found = known("settings", told, names, where, cls.stored_kind())
        return {name: value for name, value in found.items() if name not in NOT_STORED}

    def _unpack(self, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any]) -> None:
        """Set what training sets."""
        raise NotImplementedError

    # inner workings

    def _model(self) -> Any:
        self._check_trained()
        return self.model_

    def _setting(self, name: str) -> Any:
        """A setting that not every model has."""
        return getattr(self, name, None)

    def _check_trained(self) -> None:
        if not self._is_trained():
            raise DovetailError(f"this {type(self).__name__} is not trained: call fit, or load a model")

    def check_settings(self) -> None:
        """Every setting has the right type, and a value that is within its bounds or among its choices."""
        settings = [(f, getattr(self, f.name)) for f in fields(self) if f.init]
        for f, value in settings:
            if (known := setting_of(f)) is not None and known.registry:
                known.check(f.name, value)
            check_type(f.name, value, str(f.type))
        for f, value in settings:
            if (known := setting_of(f)) is not None:
                known.check(f.name, value)
        if self._setting("encoder") is not None:
            chosen = self._setting("optimiser")
            if chosen not in ("adam", self._usual("optimiser")):
                raise DovetailError(f"optimiser={chosen!r}: an encoder is trained by adam")
            if self._setting("cross_validate"):
                raise DovetailError("cross_validate would train the encoder many times over: give dev data instead")
        if self._setting("cross_validate") == 1:
            raise DovetailError("cross_validate=1: choose 0, or 2 or more; one part leaves nothing to learn from")
        if self._setting("cross_validate") and self._setting("pool") is not None:
            raise DovetailError("cross_validate: a pool chooses on dev alone; leave out one of the two")
        loss = self._setting("loss")
        if self._setting("optimiser") == "perceptron" and loss not in (None, "likelihood", "perceptron"):
            raise DovetailError(f"loss={loss!r}: the optimiser perceptron has a loss of its own; take another one")
        if loss in ROUGH and self._optimiser_name() == "lbfgs":
            raise DovetailError(f"the {loss} loss is not smooth: use the optimiser perceptron, sgd, adagrad or adam")

    def _threads(self) -> int:
        threads: int | None = self.get_params(deep=False)["threads"]
        if threads is not None:
            check_count("threads", threads)
        return threads or os.cpu_count() or 1

    def _random(self, seed: int | None) -> np.random.Generator:
        """What samples are drawn with: from the given seed, or from that of the settings."""
        chosen = self.get_params(deep=False)["seed"] if seed is None else seed
        check_count("seed", chosen, 0)
        return np.random.default_rng(chosen)

    def _optimiser(self, training: Any = None) -> Any:
        """The optimiser that the settings ask for, with its own defaults for what they leave open."""
        name = self._optimiser_name()
        wanted = {"limit": "iterations"} | ({} if name == "lbfgs" else {n: n for n in ("batch", "gain", "seed")})
        wanted |= {"decay": "decay"} if name == "adam" else {}
        made = OPTIMISERS[name]
        takes = {f.name for f in fields(made)} if is_dataclass(made) else set()
        if "limit" not in takes or not hasattr(made, "minimise"):
            raise DovetailError(f"optimiser={name!r}: it must be a dataclass with a field limit and a method minimise")
        given = {argument: self._setting(setting) for argument, setting in wanted.items()}
        for lost in given.keys() - takes:
            if (value := given.pop(lost)) is not None and value != self._usual(wanted[lost]):
                raise DovetailError(f"{lost}={value}: the optimiser {name!r} has no such field; leave it out")
        if self._setting("encoder") is not None:
            given |= {a: ENCODED[a] for a in ENCODED if given[a] in (None, self._usual(wanted[a]))}
        return made(**{argument: value for argument, value in given.items() if value is not None})

    def _optimiser_name(self) -> str:
        """The optimiser: with an encoder, adam."""
        return "adam" if self._setting("encoder") is not None else str(self._setting("optimiser") or "lbfgs")

    def _usual(self, name: str) -> Any:
        """The default of a setting."""
        return next(f.default for f in fields(self) if f.name == name)

    def _encoder_network(self, words: Sequence[Sequence[str]], head: str, **described: Any) -> Any:
        """The encoder that the settings ask for, learnt from some sentences, with a head for a structure."""
        from dovetail.neural.heads import learn_encoder, learn_network
        from dovetail.neural.network import Network

        told = {name: self._setting(name) for name in ("encoder", "tune_encoder", "encoder_size", "dropout", "seed")}
        encoder = learn_encoder(words, *told.values())
        return Network(learn_network(encoder, told["seed"], head, **described))


@contextmanager
def fitting(path: str | Path) -> Iterator[None]:
    """While a model is made of a file: what does not fit together there is an error that names the file."""
    try:
        yield
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
        raise ModelFileError(f"{path}: the model does not fit together ({error}); train it again") from None
