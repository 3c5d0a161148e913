"""What it costs to carry doubt through a pipeline: k-best lists and samples against the greedy pipeline, in one run.

    python benchmarks/pipeline.py --data $DOVETAIL_DATA/ewt [--model FILE] [--roles FILE] [--sentences 300]

The model is a parser, or a labeller of roles, that predicts what it reads: it is taken apart into tags, trees and
roles. Another file may have the roles. Without a file, a parser is trained here on a part of the data.

- *cost*: seconds of processor time on one thread, words a second, how often the greedy time, the score of the last
  stage, and how many different inputs each later stage is asked, by strategy and number of samples.
- *memory*: the most memory of a process that annotates a text, and one four times as long.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core is one core

from peak import peak_memory_mb

import dovetail
from dovetail.models.parser.estimator import Parser
from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.scoring import score
from dovetail.pipeline.stage import Stage
from dovetail.text.formats import sentences
from dovetail.text.sentence import Sentence

Row = dict[str, Any]
CONFIGURATIONS = (
    {"strategy": "greedy"},
    {"strategy": "kbest", "k": 10},
    {"strategy": "sample", "samples": 10},
    {"strategy": "sample", "samples": 25},
    {"strategy": "sample", "samples": 50},
    {"strategy": "sample", "samples": 100},
)


def corpus(folder: Path, split: str, longest: int) -> list[Sentence]:
    """The sentences of a part of a corpus that have trees and are not too long."""
    found = sentences(folder / f"{split}.jsonl.gz")
    return [s for s in found if s.tree is not None and 0 < len(s) <= longest]


def bare(gold: list[Sentence]) -> list[Sentence]:
    """Words, and the predicates whose arguments are asked for."""
    return [
        Sentence(s.words, frames=None if s.frames is None else tuple(f.with_arguments(()) for f in s.frames))
        for s in gold
    ]


def pipeline_of(model: str, roles: str | None, **how: Any) -> Pipeline:
    """The stages of a model, and of one that reads its trees, on one thread."""
    found: Any = dovetail.load(model)
    stages = list(Pipeline.of(found).stages)
    if roles is not None:
        stages.append(Stage("roles", dovetail.load(roles), reads=["tree"]))
    return Pipeline(stages, **how).set_params(threads=1)


def cost(model: str, roles: str | None, gold: list[Sentence]) -> list[Row]:
    """Seconds, scores and numbers of different inputs, by strategy."""
    text = bare(gold)
    words, rows, greedy = sum(map(len, text)), [], 0.0
    for how in CONFIGURATIONS:
        pipeline = pipeline_of(model, roles, **how)
        list(pipeline.annotate(text[:5]))  # compiled loops, as any second run finds them
        began = time.process_time()
        found = list(pipeline.annotate(text))
        seconds = time.process_time() - began
        greedy = greedy or seconds
        row = {**how, "seconds": seconds, "words_per_second": words / seconds, "times_greedy": seconds / greedy}
        row["score"] = score(gold, found, tuple(pipeline.last.writes or ()))
        if how["strategy"] != "greedy":
            some = pipeline.posterior(text[:100])
            row["different"] = {
                stage.name: sum(len(p[stage.writes[0]]) for p in some) / len(some)  # type: ignore[index]
                for stage in pipeline.stages[:-1]
            }
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def memory(model: str, folder: Path, longest: int, size: int) -> list[Row]:
    """The most memory of processes that sample through texts of two lengths."""
    rows = []
    for times in (1, 4):
        command = [sys.executable, __file__, "--data", folder, "--model", model, "--peak", size * times]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        rows.append({"sentences": size * times, "megabytes": float(done.stdout)})
    return rows


def peak(model: str, gold: list[Sentence], size: int) -> float:
    """Annotate so many sentences, and give the most memory that it took."""
    pipeline = pipeline_of(model, None, strategy="sample", samples=10)
    for _ in pipeline.annotate(islice(cycle(bare(gold)), size)):
        pass
    return peak_memory_mb()


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=None)
    parser.add_argument("--roles", default=None, help="a labeller of roles that reads trees, to come after them")
    parser.add_argument("--train", type=int, default=1000, help="sentences to train on, without a model")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--longest", type=int, default=40)
    parser.add_argument("--parts", nargs="+", default=["cost", "memory"])
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    dev = corpus(given.data, "dev", given.longest)[: given.sentences]
    if given.peak:
        print(peak(given.model, dev, given.peak))
        return
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or str(Path(folder) / "parser.dovetail")
        if given.model is None:
            train = corpus(given.data, "train", given.longest)[: given.train]
            Parser(kind="labelled-rules", iterations=5, threads=1).fit(train).save(model)
        found: Row = {}
        if "cost" in given.parts:
            found["cost"] = cost(model, given.roles, dev)
        if "memory" in given.parts:
            found["memory"] = memory(model, given.data, given.longest, given.sentences)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
