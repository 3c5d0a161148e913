"""``dovetail train segmenter``: words in text without spaces, or entities as whole segments."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, warn, warn_all
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.layers import will_need
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train import resources
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.cli.train.summary import STOPPED
from dovetail.cli.train.tagger import Loss, Optimiser, Scheme
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.segmenter.estimator import Segmenter


class Family(StrEnum):
    """How segments are modelled."""

    markov = "markov"
    semi_markov = "semi-markov"


# The defaults of settings are those of Segmenter: an option that is not given is not passed on.
def train_segmenter(
    train: Annotated[
        Path,
        typer.Option(
            "--train",
            metavar="FILE",
            help="A .txt file with words separated by spaces, or annotated text with entities (may be .gz).",
        ),
        Reads(),
    ],
    output: options.ModelOutput,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out text, to stop at the best score and to tune on."),
        Reads(),
    ] = None,
    model: Annotated[
        Family | None,
        typer.Option(
            "--model",
            help="Model tags of tokens, or whole segments.",
            show_default="markov for words, semi-markov for entities",
        ),
    ] = None,
    association: resources.Associations = None,
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            "--unlabelled",
            metavar="RAW",
            help="Raw text for association and accessor variety, or for word clusters with entities; may be repeated.",
        ),
        Reads(),
    ] = None,
    clusters: resources.ClusterFiles = None,
    lexicon: resources.Lexicons = None,
    input_format: Annotated[
        CorpusFormat | None,
        typer.Option(help="Format of annotated text.", show_default="from the file name; .txt is words"),
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    target: Annotated[
        str | None, typer.Option(metavar="NAME", help="The layer to learn, in annotated text.", show_default="ner")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Layers that features must not use, such as pos,chunk.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="NAME", help="A named feature set.", show_default="depends on the model")
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            metavar="0|1|2", min=0, max=2, help="Number of previous labels that a label depends on.", show_default="1"
        ),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum length of a segment; for semi-markov.", show_default="covers 99.9%"
        ),
    ] = None,
    scheme: Annotated[Scheme | None, typer.Option(help="Tag scheme of the markov model.", show_default="iobes")] = None,
    width: Annotated[
        bool,
        typer.Option("--normalise-width/--keep-width", help="Treat full-width letters and digits as half-width ones."),
    ] = True,
    loss: Annotated[Loss | None, typer.Option(help="What training minimises.", show_default="likelihood")] = None,
    optimiser: Annotated[Optimiser | None, typer.Option(help="Optimiser.", show_default="lbfgs")] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="0.1")
    ] = None,
    l1: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, help="Penalty on absolute weights; gives smaller models.", show_default="0"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Maximum number of passes over the data.", show_default="depends on the optimiser"
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N scores on dev without improvement.", show_default="5"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Drop features that occur fewer than N times.", show_default="1 for words, else 2"
        ),
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
    """Train a segmenter of Chinese words, or of entities.

    Ctrl-C ends training early and saves the best weights so far; the exit code is then 0.
    """
    if patience is not None and dev is None:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    words = _is_words(train, input_format, target)
    from dovetail.models.segmenter.estimator import Segmenter

    given: dict[str, Any] = {
        "model": model, "features": features, "order": order, "longest": longest, "scheme": scheme, "loss": loss,
        "optimiser": optimiser, "l2": l2, "l1": l1, "iterations": iterations, "patience": patience,
        "min_count": min_count, "hash_bits": hash_bits, "seed": seed, "threads": threads, "normalise_width": width,
        "target": None if words else target or "ner", "ignore": options.names(ignore),
    }  # fmt: skip
    settings: dict[str, Any] = {
        name: v.value if isinstance(v, StrEnum) else v for name, v in given.items() if v is not None
    }
    corpora = Corpora(input_format, options.names(columns), encoding)
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        raw: dict[str, Any] = {
            "unlabelled": unlabelled or (), "clusters": clusters or (), "lexicons": lexicon or (),
            "association": association or (),
        }  # fmt: skip
        if words:
            made = _character_resources(reporter, width=width, encoding=encoding, **raw)
        else:
            made = resources.word_resources(reporter, encoding=encoding, threads=threads, **raw)
        segmenter = Segmenter(resources=made, **settings)
        reporter.doing(f"reading {train}")
        sentences = _read(train, words, corpora)
        corpora.check_training(sentences, train, layer=target or "ner", words=words)
        held_out = _read(dev, words, corpora) if dev is not None else None
        corpora.warn()
        if held_out == []:
            warn("the dev data has no sentences, so it is not used")
        warn_all(overlap_doubts(sentences, held_out))
        if not words:
            layers = segmenter._features_for(sentences).columns
            warn_all(will_need("segmenter", [layer for layer in layers if layer != "word"]))
        reporter.doing("extracting features")
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        segmenter.fit(sentences, dev=held_out or None, checkpoint=checkpoint, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        segmenter.save(output, half=half)
    if left_out := segmenter.card_["left_out"]:
        warn(f"{count(left_out, 'sentence')} left out because a segment is too long; see --longest")
    print(_summary(segmenter, held_out, output, seconds))


def _is_words(path: Path, format: CorpusFormat | None, target: str | None) -> bool:
    """Whether a file holds words separated by spaces: its name ends so, and nothing else was said."""
    from dovetail.text.formats import guess_format

    return format is None and target is None and guess_format(path) == "text"


def _read(path: Path, words: bool, corpora: Corpora) -> list[Any]:
    from dovetail.text.formats import guess_format
    from dovetail.text.words import read_segmented

    if not words:
        return list(corpora.sentences(path))
    if (told := guess_format(path)) not in (None, "text"):
        raise DovetailError(
            f"{path}: the training data is plain text with words separated by spaces, but this file is {told}"
        )
    return list(read_segmented(path, corpora.encoding))


def _character_resources(
    reporter: Reporter,
    *,
    unlabelled: Sequence[Path],
    clusters: Sequence[Path],
    lexicons: Sequence[str],
    association: Sequence[Path],
    width: bool,
    encoding: str,
) -> dict[str, Any]:
    """What was counted or read about characters, by name."""
    from dovetail.features.resources.clusters import Clusters
    from dovetail.features.resources.recipe import read_clusterings

    if Path("-") in unlabelled:
        raise DovetailError("--unlabelled -: raw text is read twice, for association and for variety; give a file")
    found: dict[str, Any] = {name: Clusters.of(c) for name, c in read_clusterings(clusters).items()}
    if raw := [*association, *unlabelled]:
        from dovetail.features.resources.association import Association

        reporter.doing("counting association")
        table = Association.count(raw, unit="char", normalise_width=width, encoding=encoding)
        found["association"] = table.transform("z-score")
    if unlabelled:
        from dovetail.features.resources.variety import Variety

        reporter.doing("counting accessor variety")
        found["variety"] = Variety.count(_characters(unlabelled, width, encoding))
    lists = resources.read_lexicons(lexicons, unit="char")
    if clash := found.keys() & lists.keys():
        raise DovetailError(f"--lexicon {clash.pop()}=...: this name is taken by another resource; use another one")
    return found | lists


def _characters(paths: Sequence[Path], width: bool, encoding: str) -> Iterator[str]:
    """The lines of raw texts without their spaces."""
    from dovetail.text.words import half_width, read_lines

    for line in chain.from_iterable(read_lines(path, encoding) for path in paths):
        yield "".join((half_width(line) if width else line).split())


def _summary(segmenter: Segmenter, dev: list[Any] | None, output: Path, seconds: float) -> str:
    """The scores on dev, and what was trained, how long, why it ended, and where it is."""
    lines = []
    if dev and segmenter.words:
        lines += [str(segmenter.word_scores(dev)), ""]
    elif dev:
        from dovetail.cli.scores import score
        from dovetail.evaluate import scores_table

        target = segmenter.target or ""
        lines += [scores_table(score(dev, list(segmenter.annotate(dev)), target)), ""]
    card = segmenter.card_
    stored = output.stat().st_size
    size = f"{stored / 1e6:.1f} MB" if stored >= 1e5 else f"{stored / 1e3:.0f} kB"
    data = f"{count(card['sentences'], 'sentence')}, {count(card['segments'], 'segment')}"
    lines += [
        f"trained on {data} in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size}, {segmenter.family})",
    ]
    return "\n".join(lines)
