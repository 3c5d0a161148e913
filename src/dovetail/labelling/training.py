"""A model of what has been labelled so far, its cross-validated score, and what to label next."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.errors import DovetailError
from dovetail.labelling.forecast import Point, interval
from dovetail.labelling.ranking import by_model
from dovetail.labelling.tasks import LAYER, TASKS, UNKNOWN
from dovetail.labelling.texts import tokens_of
from dovetail.text.sentence import Sentence

SAMPLE = 1_000
"""Sentences of the text on which a score is expected."""
OFF = 7.0
"""Points by which a score that is expected on a text may be off besides: in twelve trials on conll2003-en, with 40 to
400 sentences, chosen or random, the root of its mean square error was 4.5."""
PARTS = 5
"""Into which the labelled sentences are dealt to be judged."""
QUICK = 60
"""Passes over the data of a model that is only to rank sentences and to guess."""
FEWEST_JUDGED = 20
"""Sentences; fewer say next to nothing about a score."""


@dataclass(frozen=True)
class Job:
    """What is labelled, with the sentences that need not be ranked; ``careful`` also judges the model."""

    task: str
    labelled: list[Sentence]
    answers: int
    taken: Collection[int]
    careful: bool
    threads: int = 1
    seed: int = 1


@dataclass
class Outcome:
    """What came of a job; ``why`` says it where there is no model yet."""

    answers: int
    careful: bool
    packed: Any = None
    ranked: list[int] = field(default_factory=list)
    point: Point | None = None
    score: float | None = None
    """Cross-validated on the labelled sentences themselves."""
    seconds: float = 0.0
    processor: float = 0.0
    why: str = ""


def untrained(task: str, parts: int, threads: int = 1, seed: int = 1) -> Any:
    """The model of a task; with ``parts`` it is judged, and tuned, by so many parts of its data."""
    import dovetail
    from dovetail.labelling.judging import JudgedTagger

    how: dict[str, Any] = {"target": LAYER, "threads": threads, "seed": seed, "cross_validate": parts}
    if task == "nested":
        return dovetail.NestedTagger(min_count=1, **how)
    return JudgedTagger(iterations=None if parts else QUICK, **how)


def train(job: Job, sentences: Sequence[Sentence]) -> Outcome:
    """Train, judge if asked to, and rank; ``sentences`` are those that there are to label."""
    began, processor = time.perf_counter(), time.process_time()
    found = Outcome(job.answers, job.careful)
    labelled = [s for s in job.labelled if set(s.layers[LAYER]) != {UNKNOWN}]
    found.why = why_not(job.task, labelled)
    if not found.why:
        judged = job.careful and len(labelled) >= FEWEST_JUDGED
        model = untrained(job.task, PARTS if judged else 0, job.threads, job.seed)
        try:
            model.fit(labelled)
        except DovetailError as error:
            found.why = str(error)
        else:
            found.packed = model.packed()
            found.score = model.card_.get("cross_validated") if judged else None
            found.point = _point(job.task, labelled, model, sentences) if judged else None
            found.ranked = by_model(model, sentences, job.taken)
    found.seconds, found.processor = time.perf_counter() - began, time.process_time() - processor
    return found


def warm_up(task: str) -> None:
    """Load all that training needs, so that the first model is there at once."""
    kind = TASKS[task]
    names = kind.write(Sentence(("Ada", "slept")), ["X", "Y"] if task == "words" else [[0, 1, "X"]])
    train(Job(task, [names] * FEWEST_JUDGED, FEWEST_JUDGED, (), careful=True), [Sentence(("Ada", "Slept"))])


def why_not(task: str, labelled: Sequence[Sentence]) -> str:
    """What is missing before a model can learn; empty where nothing is."""
    seen = {tag for sentence in labelled for tag in sentence.layers[LAYER]} - {UNKNOWN}
    if task == "words":
        return "" if len(seen) > 1 else "a model needs words with two labels at least"
    if not seen - {"O"}:
        return "a model needs a labelled entity at least"
    return "" if "O" in seen else "a model needs words that belong to no entity, too"


def _point(task: str, labelled: Sequence[Sentence], model: Any, text: Sequence[Sentence]) -> Point | None:
    """The score to expect on the text; of nested entities, that on the labelled sentences."""
    score = model.card_.get("cross_validated")
    if score is None:
        return None
    tags = [tag for sentence in labelled for tag in sentence.layers[LAYER] if tag != UNKNOWN]
    things = len(tags) if task == "words" else sum(len(sentence.spans) for sentence in labelled)
    low, high = interval(score, things)
    shift = 0.0
    if hasattr(model, "expected_score"):
        shift = model.expected_score(text[:: max(1, len(text) // SAMPLE)][:SAMPLE]) - score
        low, high = score - math.hypot(score - low, OFF), score + math.hypot(high - score, OFF)
    ends = (min(max(end + shift, 0.0), 100.0) for end in (score, low, high))
    return Point(len(labelled), tokens_of(labelled), *ends)


def unpacked(task: str, packed: Any) -> Any:
    """The model that an outcome holds."""
    import dovetail

    assert task in TASKS
    return (dovetail.NestedTagger if task == "nested" else dovetail.Tagger).unpacked(*packed)
