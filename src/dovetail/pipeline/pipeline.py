"""Pipeline: annotators one after another, with the doubt of each carried to the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from dovetail.errors import DovetailError
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.models.batching import in_batches
from dovetail.models.inputs import annotated, as_sentences, check_count, check_probability
from dovetail.pipeline.parts import Part
from dovetail.pipeline.running import Course, Runner, check_layers, read_layer
from dovetail.pipeline.scoring import score
from dovetail.pipeline.sources import Source
from dovetail.pipeline.stage import Stage, in_order, parents
from dovetail.pipeline.values import as_answer, without, written
from dovetail.pipeline.voting import Ballot
from dovetail.spellings import OfKind, respelled
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence

STRATEGIES = ("greedy", "kbest", "sample")
VOTES = ("parts", "answer")
TEMPERATURES = (0.5, 0.7, 1.0, 1.4, 2.0)


class PipelineWarning(UserWarning):
    """A stage fails on a sentence, which goes on without its layers."""


@dataclass(frozen=True)
class Posterior:
    """What the stages of a pipeline say of a sentence, with probabilities that have the doubt of all before them.

    ``posterior["pos"]`` has the different answers in a layer and how probable each is, the most probable first.
    """

    sentence: Sentence
    ballots: tuple[Ballot, ...]

    def __getitem__(self, layer: str) -> list[tuple[Any, float]]:
        return self._ballot(layer).layer(layer)

    def parts(self, layer: str) -> dict[Part, float]:
        """The probability of every part of a layer: ``(place, tag)``, ``(start, end, label)`` and so on."""
        return {part[1:]: p for part, p in self._ballot(layer).parts.items() if part[0] == layer}

    def answers(self) -> list[Answer]:
        """The different answers of the last stage, the most probable first."""
        return [as_answer(value, p) for value, p in self.ballots[-1].votes]

    def _ballot(self, layer: str) -> Ballot:
        for ballot in self.ballots:
            if layer in ballot.writes:
                return ballot
        there = ", ".join(name for ballot in self.ballots for name in ballot.writes)
        raise DovetailError(f"no stage has an answer in {layer!r}; there is {there or 'none'}")


@dataclass(eq=False)
class Pipeline(OfKind):
    """Stages that read what others write, in any directed acyclic graph.

    ``strategy``: ``greedy`` passes on the best answer of each stage; ``kbest`` its ``k`` best, 10 unless said, and the
    ``k`` most probable of all that follow; ``sample`` as many samples as ``samples`` says, each carried through all
    stages. The stages that nobody reads bring their ``k`` best answers to each input as votes, unless they write trees
    or frames; with ``k=0`` they are sampled too. Then there is a vote on every layer, by ``parts`` or by the ``answer``
    as a whole; ``least`` is the probability that a part must have to be worth answering. The same seed gives the same
    answers, whatever else is annotated with them.

    >>> def fruit_or_firm(sentence):
    ...     tags = [tuple("FIRM" if w == "Apple" else "-" for w in sentence), ("-",) * len(sentence)]
    ...     return [(sentence.with_layer("kind", tags[0]), 0.6), (sentence.with_layer("kind", tags[1]), 0.4)]
    >>> def sells(sentence):
    ...     return sentence.with_layer("said", tuple("yes" if k == "FIRM" else "no" for k in sentence.layers["kind"]))
    >>> first, then = Stage("kind", fruit_or_firm, writes=["kind"]), Stage("said", sells, ["kind"], ["said"])
    >>> pipeline = Pipeline([first, then], strategy="kbest")
    >>> pipeline.posterior([["Apple"]])[0]["said"]
    [(('yes',), 0.6), (('no',), 0.4)]
    """

    stages: Sequence[Stage]
    strategy: str = "sample"
    samples: int = 50
    k: int | None = None
    vote: str = "parts"
    least: float = 0.4
    seed: int = 1
    threads: int | None = None
    batch_size: int = field(default=2_000, repr=False)
    """Words that are looked at together."""
    told: Callable[[str], None] | None = field(default=None, repr=False)
    """What hears of sentences on which a stage fails; without it, they are warnings."""

    kind: ClassVar[str] = "pipeline"

    def __post_init__(self) -> None:
        self.stages = in_order(self.stages)
        self.check_settings()

    @classmethod
    def of(cls, model: Estimator, **settings: Any) -> Self:
        """The stages of a model: what predicts the layers that it reads, and itself."""
        made = model.stages()
        names = [one.writes[0] for one in made]
        stages = [Stage(name, one, source=(model, i)) for i, (name, one) in enumerate(zip(names, made, strict=True))]
        return cls(stages, **settings)

    # settings, as of any model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("told", "batch_size")}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; the number of threads is that of all models."""
        known = self.get_params()
        for name, value in respelled("settings", settings, *self._places(), warn=4).items():
            if name not in known:
                raise ValueError(f"no setting {name!r}; there are {', '.join(known)}")
            setattr(self, name, in_order(value) if name == "stages" else value)
        self.check_settings()
        for stage in self.stages if "threads" in settings else ():
            if not stage.is_function:
                stage.annotator.set_params(threads=self.threads)
        return self

    def check_settings(self) -> None:
        """Every setting has a value that it can have."""
        for name, value, known in (("strategy", self.strategy, STRATEGIES), ("vote", self.vote, VOTES)):
            if value not in known:
                raise DovetailError(f"{name}={value!r}: choose {', '.join(known[:-1])} or {known[-1]}")
        check_count("samples", self.samples)
        if self.k is not None:
            check_count("k", self.k, 0 if self.strategy == "sample" else 1)
        check_count("seed", self.seed, 0)
        check_probability("least", self.least)
        if self.threads is not None:
            check_count("threads", self.threads)

    @property
    def last(self) -> Stage:
        """The stage that the others lead to, or the last of them."""
        return self.stages[-1]

    @property
    def target(self) -> str:
        """The layer that the last stage is there for."""
        return str((self.last.writes or ("",))[0])

    @property
    def classes_(self) -> tuple[str, ...]:
        """The labels of the last stage, where it has some."""
        return tuple(getattr(self.last.annotator, "classes_", ()))

    @property
    def needs(self) -> tuple[str, ...]:
        """The layers, besides the words, that text must have: stages read them, and none writes them."""
        there = {layer for stage in self.stages for layer in stage.writes or ()} | {"words"}
        wanted = (
            layer
            for stage in self.stages
            for layer in stage.reads or ()
            if layer not in getattr(stage.annotator, "predicts", ())
        )
        return tuple(dict.fromkeys(layer for layer in wanted if layer not in there))

    # answers

    def __call__(self, text: str, **how: Any) -> Document:
        """The document that a text is, annotated: ``pipeline("Ada slept.")``. See ``annotate`` for many texts."""
        if not isinstance(text, str):
            raise DovetailError(f"give one text, a string; annotate takes many, or sentences (this is {text!r:.40})")
        found: Document = self.annotate(text, **how)
        return found

    def annotate(self, items: Any, probabilities: bool = True) -> Any:
        """Sentences, documents or texts with what all stages write, as a stream that holds little at a time.

        As ``Estimator.annotate``: sentences come back as sentences, documents and texts as documents.
        """
        return annotated(items, lambda sentences: self._annotated(sentences, probabilities), self._read)

    def predict(self, X: Any) -> list[Any]:
        """The answer of the last stage to every sentence, in the layer that it is there for."""
        every = self._annotated(as_sentences(X), False)
        return [read_layer(sentence, self.target) for sentence in every]

    def posterior(self, sentences: Any) -> list[Posterior]:
        """For every sentence all that the stages say of it, with probabilities; of ``kbest`` and ``sample``."""
        if self.strategy == "greedy":
            raise DovetailError("a greedy pipeline has one answer; choose the strategy kbest or sample")
        found = []
        for course in self._courses(as_sentences(sentences)):
            found.append(Posterior(course.sentence, tuple(one for one in course.ballots if isinstance(one, Ballot))))
        return found

    def kbest(self, X: Any, k: int = 10) -> list[list[Answer]]:
        """The k most probable answers of the last stage to every sentence, each with its probability."""
        check_count("k", k)
        return [posterior.answers()[:k] if posterior.ballots else [] for posterior in self.posterior(X)]

    def score(self, X: Any, y: None = None) -> float:
        """How good the answers of the last stage are, in percent of the parts: F1 of entities, of brackets, ..."""
        gold = as_sentences(X)
        return score(gold, list(self._annotated(gold, False)), tuple(self.last.writes or ()))

    def tune(self, dev: Any, temperatures: Sequence[float] = TEMPERATURES) -> Self:
        """Choose the temperature of each stage on dev, one stage after another; of equal ones, that nearest to 1."""
        gold = as_sentences(dev)
        if not any(map(len, gold)):
            raise DovetailError("the dev data has no words; check the file and its format")
        if self.strategy == "greedy":
            raise DovetailError("a greedy pipeline has no use for temperatures; choose the strategy kbest or sample")
        best = self.score(gold)
        for number in range(len(self.stages)):
            for temperature in sorted(temperatures, key=lambda t: abs(t - 1.0)):
                if temperature == self.stages[number].temperature:
                    continue
                before = self.stages
                self.stages = [
                    replace(stage, temperature=temperature) if i == number else stage for i, stage in enumerate(before)
                ]
                found = self.score(gold)
                if found > best + 1e-9:
                    best = found
                else:
                    self.stages = before
        return self

    # inner workings

    def _annotated(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        if self.strategy == "greedy":
            yield from self._greedily(sentences, probabilities)
            return
        for course in self._courses(sentences, self.vote == "parts" and self.k is None):
            found = course.sentence
            for ballot in course.ballots:
                if ballot is not None:
                    found = written(found, ballot.layers(self.vote, self.least, probabilities))  # type: ignore[arg-type]
            yield found

    def _courses(self, sentences: Iterable[Sentence], elect: bool = False) -> Iterator[Course]:
        runner = Runner(self.stages, self.strategy, self.samples, self.k, self.seed, self._told, elect)
        first = 1
        for some in in_batches(sentences, self.batch_size):
            yield from runner.run(some, first)
            first += len(some)

    def _greedily(self, sentences: Iterable[Sentence], probabilities: bool) -> Iterator[Sentence]:
        """The best answer of each stage, given those before it."""
        everything = {layer for stage in self.stages for layer in stage.writes or ()}
        first = 1
        for batch in in_batches(sentences, 10 * self.batch_size):
            bare = [without(sentence, everything) for sentence in batch]
            found: list[list[Answer | None]] = []
            for stage in self.stages:
                above = [self.stages.index(other) for other in parents(stage, self.stages)]
                where = [i for i, s in enumerate(bare) if len(s) and all(found[a][i] is not None for a in above)]
                inputs = []
                for i in where:
                    inputs.append(_answered(bare[i], [found[a][i] for a in above]))
                    check_layers(stage, inputs[-1], first + i)
                source = Source(stage, self._reporter(stage, batch, where, first))
                own: list[Answer | None] = [None] * len(bare)
                for i, answer in zip(where, source.best(inputs, probabilities), strict=True):
                    own[i] = answer
                found.append(own)
            for i, sentence in enumerate(bare):
                yield _answered(sentence, [own[i] for own in found])
            first += len(batch)

    def _reporter(
        self, stage: Stage, batch: Sequence[Sentence], where: Sequence[int], first: int
    ) -> Callable[[int, str], None]:
        def report(i: int, why: str) -> None:
            told = f" ({batch[where[i]].id})" if batch[where[i]].id else ""
            self._told(f"sentence {first + where[i]}{told}: the stage {stage.name!r} fails: {why}")

        return report

    def _told(self, line: str) -> None:
        if self.told is not None:
            self.told(line)
        else:
            warnings.warn(line, PipelineWarning, stacklevel=2)

    def _read(self, text: str) -> Document:
        """The sentences and words of a text: as the first stage finds them, if it is a model."""
        first = self.stages[0].annotator
        if isinstance(first, Estimator):
            return first._read(text)
        return Document(tuple(segment(text)), text)

    # files

    def save(self, path: str | Path, *, card: Mapping[str, Any] | None = None) -> None:
        """Write the pipeline with all its models to one file; functions are given again when it is loaded."""
        from dovetail.pipeline.files import save

        save(self, path, card or {})

    @classmethod
    def load(cls, path: str | Path, functions: Mapping[str, Callable[[Sentence], Any]] | None = None) -> Self:
        """Read a pipeline from one file, or from a TOML file that names its models.

        ``functions``: those that served as stages, by the names of the stages.
        """
        from dovetail.pipeline.files import load

        return load(cls, path, functions or {})


def _answered(sentence: Sentence, answers: Iterable[Answer | None]) -> Sentence:
    for answer in answers:
        if answer is not None:
            sentence = answer.write(sentence)
    return sentence
