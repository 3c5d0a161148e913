"""``dovetail train nested``: entities within entities."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, some, warn, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.layers import will_need
from dovetail.cli.nested import nested_record, nested_report
from dovetail.cli.paths import Reads
from dovetail.cli.progress import reporting
from dovetail.cli.train import resources
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.cli.train.summary import STOPPED
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.text.sentence import Sentence


class PartsOfSpeech(StrEnum):
    """Where parts of speech come from."""

    given = "given"
    joint = "joint"


class NestedOptimiser(StrEnum):
    """How weights are found."""

    adagrad = "adagrad"
    lbfgs = "lbfgs"
    sgd = "sgd"


# The defaults of settings are those of NestedTagger: an option that is not given is not passed on.
def train_nested(
    train: Annotated[
        Path,
        typer.Option("--train", metavar="FILE", help="Sentences with entities, nested or not (may be .gz)."),
        Reads(),
    ],
    output: options.ModelOutput,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out text, to stop at the best score and to tune on."),
        Reads(),
    ] = None,
    clusters: resources.ClusterFiles = None,
    lexicon: resources.Lexicons = None,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The layer with entities, in files without nested ones.", show_default="ner"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="NAMES", help="Layers that features must not use, such as pos,chunk."),
    ] = None,
    pos: Annotated[
        PartsOfSpeech | None,
        typer.Option("--pos", help="Read parts of speech, or predict them with the entities.", show_default="given"),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Leave longer sentences out of training.", show_default="no limit"),
    ] = None,
    longest: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of words of an entity.", show_default="100")
    ] = None,
    optimiser: Annotated[NestedOptimiser | None, typer.Option(help="Optimiser.", show_default="adagrad")] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="4")
    ] = None,
    l1: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, help="Penalty on absolute weights; gives smaller models.", show_default="0"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of passes over the data.", show_default="15; 200 for lbfgs"
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N scores on dev without improvement.", show_default="4"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur fewer than N times.", show_default="2"),
    ] = None,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=8, max=31, help="Hash features into 2**N buckets, to bound memory.", show_default="off"
        ),
    ] = None,
    seed: options.Seed = None,
    threads: options.Threads = None,
    resume: options.Resume = False,
    half: options.Half = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a tagger of entities within entities.

    Ctrl-C ends training early and saves the best weights so far; the exit code is then 0.
    """
    if patience is not None and dev is None:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    from dovetail.models.nested.estimator import NestedTagger

    given: dict[str, Any] = {
        "target": target, "ignore": tuple(options.names(",".join(ignore or ())) or ()), "pos": pos and pos.value,
        "max_length": max_length,
        "longest": longest, "optimiser": optimiser and optimiser.value, "l2": l2, "l1": l1, "iterations": iterations,
        "patience": patience, "min_count": min_count, "hash_bits": hash_bits, "seed": seed, "threads": threads,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    corpora = Corpora(input_format, options.names(columns), encoding)
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        made = resources.word_resources(
            reporter, clusters=clusters or (), lexicons=lexicon or (), encoding=encoding, threads=threads
        )
        tagger = NestedTagger(resources=made, **settings)
        reporter.doing(f"reading {train}")
        sentences = corpora.sentences(train)
        corpora.check_training(sentences, train)
        held_out = corpora.sentences(dev) if dev is not None else None
        # nested entities are what this model learns from: that no layer of tags can hold them is no news
        warn_all(line for line in corpora.report.lines() if "kept in the spans" not in line)
        if held_out == []:
            warn("the dev data has no sentences, so it is not used")
        warn_all(overlap_doubts(sentences, held_out))
        layers = tagger._features_for(sentences).columns
        warn_all(will_need("nested", [layer for layer in layers if layer != "word"]))
        reporter.doing("extracting features")
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        tagger.fit(sentences, dev=held_out or None, checkpoint=checkpoint, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        tagger.save(output, half=half)
    warn_all(_doubts(tagger, held_out or ()))
    print(_summary(tagger, held_out, output, seconds))


def _doubts(tagger: NestedTagger, dev: Any) -> list[str]:
    """What was left out of training, and what no model can learn."""
    card = tagger.card_
    found = [
        f"{count(number, 'training entity').replace('entitys', 'entities')} left out: {reason}"
        for reason, number in card["left_out"].items()
    ]
    if card["too_long"]:
        found.append(f"{count(card['too_long'], 'training sentence')} left out: longer than --max-length")
    unseen = {span.label for sentence in dev for span in tagger.entities(sentence)} - set(tagger.classes_)
    if unseen:
        found.append(
            f"labels in dev that are not in the training data, so they cannot be learnt: {some(sorted(unseen))}"
        )
    return found


def _summary(tagger: NestedTagger, dev: list[Sentence] | None, output: Path, seconds: float) -> str:
    """The scores on dev, and what was trained, how long, why it ended, and where it is."""
    lines = []
    if dev:
        lines += [nested_report(nested_record(dev, list(tagger.annotate(dev)))), ""]
    card = tagger.card_
    stored = output.stat().st_size
    size = f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
    data = f"{count(card['sentences'], 'sentence')}, {card['entities']:,} entities"
    lines += [
        f"trained on {data} in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size}, {count(len(tagger.classes_), 'label')})",
    ]
    return "\n".join(lines)
