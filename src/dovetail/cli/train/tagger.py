"""``dovetail train tagger``: a chain model that tags words, such as with named entities."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import say, warn_all
from dovetail.cli.corpus import Corpora, CorpusFormat
from dovetail.cli.domains import named_files
from dovetail.cli.output import check_writable
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train import resources
from dovetail.cli.train.domains import DomainFiles, Strategy, check_files, train_domains
from dovetail.cli.train.doubts import doubts
from dovetail.cli.train.summary import summary
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.features.sets import FeatureSet


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


# The defaults of settings are those of Tagger: an option that is not given is not passed on.
def train_tagger(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model, one file.")],
    train: Annotated[
        Path | None, typer.Option("--train", metavar="FILE", help="Annotated text to learn from (.gz too).")
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            "--dev",
            metavar="FILE",
            help="Annotated text that decides when to stop, and which weights are the best.",
        ),
    ] = None,
    domain: DomainFiles = None,
    dev_domain: Annotated[
        list[str] | None,
        typer.Option("--dev-domain", metavar="NAME=FILE", help="Instead of --dev: such text of some or all domains."),
    ] = None,
    strategy: Annotated[
        Strategy | None, typer.Option(help="What domains learn from each other.", show_default="hierarchical")
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            metavar="X", min=0, help="How far a domain goes its own way.", show_default="chosen on dev, else 0.1"
        ),
    ] = None,
    restrict: Annotated[
        bool, typer.Option("--restrict/--no-restrict", help="A domain knows only the labels of its own data.")
    ] = True,
    input_format: Annotated[
        CorpusFormat | None, typer.Option(help="Of all files.", show_default="told by the name, else conll")
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
        typer.Option(metavar="0|1|2", min=0, max=2, help="How many labels before it a label sees.", show_default="1"),
    ] = None,
    scheme: Annotated[
        Scheme | None, typer.Option(help="How the model spells entities inside.", show_default="iob2")
    ] = None,
    loss: Annotated[Loss | None, typer.Option(show_default="likelihood")] = None,
    optimiser: Annotated[Optimiser | None, typer.Option(show_default="lbfgs")] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="0.1")
    ] = None,
    l1: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, help="Penalty on absolute weights: a smaller model.", show_default="0"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Passes over the data at most.", show_default="by the optimiser"),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Scores on dev without a rise before it stops.", show_default="5"),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Sentences a step; not for lbfgs.", show_default="by the optimiser"),
    ] = None,
    gain: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, help="Step size; for sgd and adagrad.", show_default="by the optimiser"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur less often.", show_default="2"),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur in fewer documents.", show_default="1"),
    ] = None,
    hash_bits: Annotated[
        int | None,
        typer.Option(metavar="N", min=8, max=31, help="Hash features into 2**N: bounded memory.", show_default="off"),
    ] = None,
    observed_only: Annotated[
        bool,
        typer.Option("--observed-only", help="No weights for pairs of feature and label never seen: a smaller model."),
    ] = False,
    unlabelled: resources.Unlabelled = None,
    clusters: resources.ClusterFiles = None,
    lexicon: resources.Lexicons = None,
    association: resources.Associations = None,
    save_clusters: resources.SaveClusters = None,
    agree: Annotated[
        bool,
        typer.Option("--agree/--no-agree", help="Choose on dev how far a name's places in a document agree on a type."),
    ] = True,
    balance: Annotated[
        bool, typer.Option("--balance/--no-balance", help="Choose on dev how readily to answer O, for the best F1.")
    ] = True,
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Choose on dev how sure the probabilities are.")
    ] = True,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Of everything random.", show_default="1")] = None,
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
    half: Annotated[bool, typer.Option("--half", help="Store weights in half precision: a smaller file.")] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Store weights in a byte each, and short keys: the smallest file.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a tagger: named entities, chunks, parts of speech, any label a word.

    Ctrl-C ends training early: the best weights so far are saved, and the exit code is 0.
    """
    check_writable(output)
    if half and compact:
        raise DovetailError(
            "--half and --compact are two ways to store weights: choose one (compact files are smaller)"
        )
    if batch is not None and optimiser in (None, Optimiser.lbfgs):
        raise DovetailError("--batch is for --optimiser sgd, adagrad or perceptron")
    if gain is not None and optimiser not in (Optimiser.sgd, Optimiser.adagrad):
        raise DovetailError("--gain is for --optimiser sgd or adagrad")
    if patience is not None and dev is None and not dev_domain:
        raise DovetailError("--patience counts scores on dev: it needs --dev")
    files, dev_files = named_files(domain, "--domain"), named_files(dev_domain, "--dev-domain")
    if files:
        check_files(train, True, dev=dev, init=init, resume=resume)
    else:
        loose = sigma is not None
        check_files(train, False, dev_domain=dev_files, strategy=strategy, sigma=loose, no_restrict=not restrict)
    from dovetail.features import sets
    from dovetail.models.tagger import Tagger

    given: dict[str, Any] = {
        "features": features, "order": order, "target": target, "scheme": scheme, "loss": loss,
        "optimiser": optimiser, "l2": l2, "l1": l1, "iterations": iterations, "patience": patience,
        "batch": batch, "gain": gain, "min_count": min_count, "min_documents": min_documents,
        "hash_bits": hash_bits, "seed": seed, "threads": threads, "ignore": options.names(ignore),
        "observed_only": observed_only, "balance": balance, "calibrate": calibrate, "agree": agree,
    }  # fmt: skip
    model = Tagger(**{name: _plain(value) for name, value in given.items() if value is not None})
    base = sets.FeatureSet.of(model.features)  # a wrong name is told before anything is read
    start = Tagger.load(init) if init is not None else None
    corpora = Corpora(input_format, options.names(columns), encoding)
    began = time.perf_counter()

    def features_with_resources(reporter: Reporter) -> FeatureSet:
        made = resources.word_resources(
            reporter, unlabelled=unlabelled or (), clusters=clusters or (), lexicons=lexicon or (),
            association=association or (), encoding=encoding, threads=threads, keep=save_clusters,
        )  # fmt: skip
        return base.joined(**made)

    if train is None:
        several = {"strategy": _plain(strategy), "sigma": sigma, "restrict": restrict}
        train_domains(model, several, files, dev_files, corpora, features_with_resources, output, half, compact, quiet)
        return
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        sentences = corpora.sentences(train)
        held_out = corpora.sentences(dev) if dev is not None else None
        corpora.warn()
        warn_all(doubts(sentences, held_out, model.target))
        model.features = features_with_resources(reporter)
        reporter.doing("compiling the features")
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        model.fit(sentences, dev=held_out or None, init=start, checkpoint=checkpoint, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        model.save(output, half=half, compact=compact)
    if checkpoint is not None and checkpoint.exists():
        say(f"run the same command again to go on from {checkpoint}")
    print(summary(model, held_out, output, seconds))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value
