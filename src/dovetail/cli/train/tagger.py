"""``dovetail train tagger``: a chain model that tags words, such as with named entities."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import say, some, warn_all
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.output import check_writable
from dovetail.cli.progress import reporting

if TYPE_CHECKING:
    from dovetail.models.tagger import Tagger
    from dovetail.text.sentence import Sentence


class Loss(StrEnum):
    """What training minimises."""

    likelihood = "likelihood"
    perceptron = "perceptron"
    softmax_margin = "softmax-margin"


class Optimiser(StrEnum):
    """How it is minimised."""

    lbfgs = "lbfgs"
    sgd = "sgd"
    adagrad = "adagrad"
    perceptron = "perceptron"


class Scheme(StrEnum):
    """How the model spells entities inside."""

    iob2 = "iob2"
    iobes = "iobes"


STOPPED = {
    "converged": "the objective no longer falls",
    "dev": "the score on dev no longer rises",
    "limit": "the last iteration allowed",
    "interrupted": "you interrupted it; these are the best weights so far",
}


# The defaults of settings are those of Tagger: an option that is not given is not passed on.
def tagger(
    train: Annotated[
        Path, typer.Option("--train", metavar="FILE", help="Annotated text to learn from (.gz too).")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model, one file.")
    ],
    dev: Annotated[
        Path | None,
        typer.Option(
            "--dev",
            metavar="FILE",
            help="Annotated text that decides when to stop, and which weights are the best.",
        ),
    ] = None,
    input_format: Annotated[
        CorpusFormat | None, typer.Option(help="Of both files.", show_default="told by the name, else conll")
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The layer to learn: a column of CoNLL.", show_default="ner"),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Layers that the features shall not read, such as pos,chunk."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="A named set of templates, or a TOML file with templates = [...] and extends = NAME.",
            metavar="NAME|FILE",
            show_default="ner",
        ),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            metavar="0|1|2", min=0, max=2, help="How many labels before it a label sees.", show_default="1"
        ),
    ] = None,
    scheme: Annotated[
        Scheme | None, typer.Option(help="How the model spells entities inside.", show_default="iob2")
    ] = None,
    loss: Annotated[Loss | None, typer.Option(show_default="likelihood")] = None,
    optimiser: Annotated[Optimiser | None, typer.Option(show_default="lbfgs")] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="0.5")
    ] = None,
    l1: Annotated[
        float | None,
        typer.Option(
            metavar="X", min=0, help="Penalty on absolute weights: a smaller model.", show_default="0"
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Passes over the data at most.", show_default="by the optimiser"
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Scores on dev without a rise before it stops.", show_default="5"
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Sentences a step; not for lbfgs.", show_default="by the optimiser"
        ),
    ] = None,
    gain: Annotated[
        float | None,
        typer.Option(
            metavar="X", min=0, help="Step size; for sgd and adagrad.", show_default="by the optimiser"
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur less often.", show_default="1"),
    ] = None,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=8, max=31, help="Hash features into 2**N: bounded memory.", show_default="off"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Of everything random.", show_default="1")
    ] = None,
    threads: options.Threads = None,
    init: Annotated[
        Path | None, typer.Option("--init", help="Start from the weights of this model.", metavar="MODEL")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Keep a checkpoint at OUTPUT.checkpoint, and go on from it if it is there already.",
        ),
    ] = False,
    half: Annotated[
        bool, typer.Option("--half", help="Store weights in half precision: a smaller file.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a tagger: named entities, chunks, parts of speech, any label a word.

    Ctrl-C ends training early: the best weights so far are saved, and the exit code is 0.
    """
    check_writable(output)
    from dovetail.features.sets import FeatureSet
    from dovetail.models.tagger import Tagger

    given: dict[str, Any] = {
        "features": features, "order": order, "target": target, "scheme": scheme, "loss": loss,
        "optimiser": optimiser, "l2": l2, "l1": l1, "iterations": iterations, "patience": patience,
        "batch": batch, "gain": gain, "min_count": min_count, "hash_bits": hash_bits, "seed": seed,
        "threads": threads, "ignore": options.names(ignore),
    }  # fmt: skip
    model = Tagger(**{name: _plain(value) for name, value in given.items() if value is not None})
    wanted = FeatureSet.of(model.features)
    start = Tagger.load(init) if init is not None else None
    corpora = Corpora(input_format, options.names(columns), encoding)
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        sentences = corpora.sentences(train)
        held_out = corpora.sentences(dev) if dev is not None else None
        corpora.warn()
        warn_all(doubts(sentences, held_out, model.target, wanted.columns, model.ignore))
        reporter.doing("compiling the features")
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        model.fit(sentences, dev=held_out, init=start, checkpoint=checkpoint, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        model.save(output, half=half)
    if checkpoint is not None and checkpoint.exists():
        say(f"run the same command again to go on from {checkpoint}")
    print(summary(model, held_out, output, seconds))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value


def doubts(
    train: Sequence[Sentence],
    dev: Sequence[Sentence] | None,
    target: str,
    wanted_layers: Sequence[str],
    ignored: Sequence[str],
) -> list[str]:
    """What a careful user would ask about the data before training."""
    from dovetail.text.tags import split_tag

    def labels(sentences: Sequence[Sentence]) -> set[str]:
        tags = {tag for sentence in sentences for tag in sentence.layers.get(target, ())}
        return {split_tag(tag)[1] or tag for tag in tags}

    found = []
    seen = labels(train)
    if len(seen) == 1:
        found.append(
            f"every word of the training data has the label {seen.pop()!r}: there is nothing to tell apart"
        )
    elif dev is not None and (unseen := sorted(labels(dev) - seen)):
        found.append(
            f"labels in dev that the training data lacks, and that no model can learn: {some(unseen)}"
        )
    has = {layer for sentence in train for layer in sentence.layers}
    missing = [name for name in wanted_layers if name != "word" and name not in has and name not in ignored]
    if missing and train:
        found.append(
            f"the training data has no layer {some(missing)}: the templates that read it are left out"
        )
    if not any(map(len, dev or ())) and dev is not None:
        found.append("the dev data has no sentences: it cannot tell when to stop")
    return found


def summary(model: Tagger, dev: Sequence[Sentence] | None, output: Path, seconds: float) -> str:
    """The scores on dev, and what was trained, how long, why it ended, and where it is."""
    from dovetail.cli.scores import score
    from dovetail.evaluate import scores_table

    trained = model.model_
    assert trained is not None
    lines = []
    if dev:
        lines += [scores_table(score(dev, list(model.annotate(dev, probabilities=False)), model.target)), ""]
    card = model.card_
    weights = len(trained.node.weight) + (len(trained.edge.weight) if trained.edge is not None else 0)
    stored = output.stat().st_size
    size = f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
    lines += [
        f"trained on {card['sentences']:,} sentences, {card['tokens']:,} tokens in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size}, {len(trained.labels.names)} labels, {weights:,} weights)",
    ]
    return "\n".join(lines)
