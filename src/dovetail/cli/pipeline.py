"""``dovetail pipeline``, and what other commands need to run one: its file, and how answers are passed on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

from dovetail.cli import options
from dovetail.cli.console import warn
from dovetail.cli.corpus import Corpora
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.kinds import load_model
from dovetail.cli.options import REQUIRED, argument, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.train.training import file_size
from dovetail.errors import DovetailError

Strategy = StrEnum("Strategy", "greedy kbest sample")
"""What each stage passes on to the next."""

PIPELINE = option("FILE", "A pipeline: a TOML file that names its stages and their models.", Reads())
STRATEGY = option(
    None,
    "What a stage passes on: its best answer, its k best, or samples. A single model with parts of its own, such as "
    "a parser with its tagger, is taken apart.",
    shown="as the pipeline says",
)
SAMPLES = option("N", "Samples that are carried through a pipeline.", shown="as the pipeline says, else 50", min=1)
SEED = option("N", "Seed of the samples of a pipeline.", shown="as the pipeline says, else 1", min=0)


def load(
    model: Path | None,
    pipeline: Path | None,
    domain: str | None,
    strategy: Strategy | None,
    samples: int | None,
    seed: int | None,
    threads: int | None,
) -> Any:
    """A model, or a pipeline from a file of its own or from a TOML file, with the settings that were given."""
    from dovetail.pipeline.pipeline import Pipeline

    if pipeline is not None:
        if model is not None or domain is not None:
            raise DovetailError("--pipeline names its models itself; leave out --model and --domain")
        found: Any = Pipeline.load(pipeline)
    else:
        found = load_model(model, domain)
    wishes = {"strategy": strategy and str(strategy), "samples": samples, "seed": seed}
    given = {name: value for name, value in wishes.items() if value is not None}
    if not isinstance(found, Pipeline) and given:
        if strategy is None:
            raise DovetailError("--samples and --seed are of pipelines; give --pipeline, or a --strategy for the model")
        found = Pipeline.of(found)
    if isinstance(found, Pipeline):
        found.set_params(**given)
        found.told = warn
    return found.set_params(threads=threads)


def pipeline(
    pipeline: Path = argument("PIPELINE", "A TOML file that names stages and their models.", Reads(), default=REQUIRED),
    output: Path = options.output("FILE", "Write the pipeline with all its models to this file.", Writes()),
    dev: Path | None = option("FILE", "Annotated text on which the temperature of each stage is chosen.", Reads()),
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    strategy: Strategy | None = STRATEGY,
    samples: int | None = SAMPLES,
    seed: int | None = SEED,
    threads: int | None = options.THREADS,
) -> None:
    """Put a pipeline and all its models into one file.

    The file is used wherever a model is: dovetail annotate --model FILE. With --dev, the temperature of each stage is
    chosen there: how much of its doubt it passes on.
    """
    found = load(None, pipeline, None, strategy, samples, seed, threads)
    card: dict[str, Any] = {}
    if dev is not None:
        corpora = Corpora(input_format, options.names(columns), encoding)
        sentences = corpora.sentences(dev)
        corpora.warn()
        found.tune(sentences)
        card = {"dev": found.score(sentences)}
        for stage in found.stages:
            print(f"stage {stage.name}: temperature {stage.temperature:g}")
        print(f"score on {dev}: {card['dev']:.2f}")
    found.save(output, card=card)
    print(f"saved {output} ({file_size(output)})")
