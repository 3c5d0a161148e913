"""``dovetail train tagger``: a chain model that tags words, such as with named entities."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import say, warn, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.domains import named_files
from dovetail.cli.layers import check_named, read_by, will_need
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train import resources
from dovetail.cli.train.domains import DomainFiles, Strategy, check_files, train_domains
from dovetail.cli.train.doubts import doubts
from dovetail.cli.train.summary import summary, weights_of
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.features.algebra.sets import FeatureSet


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
    output: options.ModelOutput,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="FILE",
            help="Annotated text to learn from (may be .gz); required, unless --domain is given.",
        ),
        Reads(),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            "--dev",
            metavar="FILE",
            help="Held-out annotated text, to stop at the best score and to tune on.",
        ),
        Reads(),
    ] = None,
    domain: DomainFiles = None,
    dev_domain: Annotated[
        list[str] | None,
        typer.Option("--dev-domain", metavar="NAME=FILE", help="Instead of --dev: held-out text of a domain; repeat."),
        Reads(named=True),
    ] = None,
    strategy: Annotated[
        Strategy | None, typer.Option(help="How domains share weights.", show_default="hierarchical")
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0,
            help="How far a domain may deviate from the others.",
            show_default="chosen on dev, else 0.1",
        ),
    ] = None,
    restrict: Annotated[
        bool, typer.Option("--restrict/--no-restrict", help="Let a domain predict only labels seen in its own data.")
    ] = True,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    target: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The layer to learn, such as a CoNLL column.", show_default="ner"),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Layers that features must not use, such as pos,chunk."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="A named feature set, or a TOML file of templates.",
            metavar="NAME|FILE",
            show_default="ner",
        ),
        Reads(folders=False),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            metavar="0|1|2", min=0, max=2, help="Number of previous labels that a label depends on.", show_default="1"
        ),
    ] = None,
    scheme: Annotated[
        Scheme | None, typer.Option(help="Tag scheme used inside the model.", show_default="iob2")
    ] = None,
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
    batch: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Sentences per step; not for lbfgs.", show_default="depends on the optimiser"
        ),
    ] = None,
    gain: Annotated[
        float | None,
        typer.Option(metavar="X", min=0, help="Step size of sgd and adagrad.", show_default="depends on the optimiser"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur fewer than N times.", show_default="2"),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur in fewer than N documents.", show_default="1"),
    ] = None,
    hash_bits: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=8, max=31, help="Hash features into 2**N buckets, to bound memory.", show_default="off"
        ),
    ] = None,
    observed_only: Annotated[
        bool,
        typer.Option(
            "--observed-only", help="Only give weights to pairs of feature and label seen in training; smaller."
        ),
    ] = False,
    unlabelled: resources.Unlabelled = None,
    clusters: resources.ClusterFiles = None,
    lexicon: resources.Lexicons = None,
    association: resources.Associations = None,
    save_clusters: resources.SaveClusters = None,
    agree: Annotated[
        bool,
        typer.Option(
            "--agree/--no-agree", help="Favour one type per name in a document, as strongly as is best on dev."
        ),
    ] = True,
    balance: Annotated[
        bool, typer.Option("--balance/--no-balance", help="Balance precision and recall for the best F1 on dev.")
    ] = True,
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Calibrate the probabilities on dev.")
    ] = True,
    seed: options.Seed = None,
    threads: options.Threads = None,
    init: options.Init = None,
    resume: options.Resume = False,
    half: options.Half = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Store a weight in one byte, with short keys: the smallest file.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a tagger of entities, chunks or parts of speech.

    Ctrl-C ends training early and saves the best weights so far; the exit code is then 0.
    """
    if half and compact:
        raise DovetailError("--half and --compact are two ways to store weights: choose one (compact is smaller)")
    if batch is not None and optimiser in (None, Optimiser.lbfgs):
        raise DovetailError("--batch is for --optimiser sgd, adagrad or perceptron")
    if gain is not None and optimiser not in (Optimiser.sgd, Optimiser.adagrad):
        raise DovetailError("--gain is for --optimiser sgd or adagrad")
    if patience is not None and dev is None and not dev_domain:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    files, dev_files = named_files(domain, "--domain"), named_files(dev_domain, "--dev-domain")
    if files:
        check_files(train, True, dev=dev, init=init, resume=resume)
    else:
        loose = sigma is not None
        check_files(train, False, dev_domain=dev_files, strategy=strategy, sigma=loose, no_restrict=not restrict)
    from dovetail.features.algebra import sets
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.structures import ahead

    given: dict[str, Any] = {
        "features": features, "order": order, "target": target, "scheme": scheme, "loss": loss,
        "optimiser": optimiser, "l2": l2, "l1": l1, "iterations": iterations, "patience": patience,
        "batch": batch, "gain": gain, "min_count": min_count, "min_documents": min_documents,
        "hash_bits": hash_bits, "seed": seed, "threads": threads, "ignore": options.names(ignore),
        "observed_only": observed_only, "balance": balance, "calibrate": calibrate, "agree": agree,
    }  # fmt: skip
    model = Tagger(**{name: _plain(value) for name, value in given.items() if value is not None})
    base = sets.FeatureSet.of(model.features)  # a wrong name is reported before anything is read
    ahead.compile_chains()
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
        corpora.check_training(sentences, train, layer=model.target)
        held_out = corpora.sentences(dev) if dev is not None else None
        corpora.warn()
        warn_all(doubts(sentences, held_out, model.target))
        warn_all(check_named(base, sentences, model.ignore))
        warn_all(will_need("tagger", read_by(base, sentences, {model.target, *model.ignore})))
        model.features = features_with_resources(reporter)
        reporter.doing("extracting features")
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        model.fit(sentences, dev=held_out or None, init=start, checkpoint=checkpoint, progress=reporter.trained)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        model.save(output, half=half, compact=compact)
    if checkpoint is not None and checkpoint.exists():
        say(f"run the same command again to continue from {checkpoint}")
    if not weights_of(model):
        warn("no feature got a weight, so the answers are the same for any words: train on more, or with --min-count 1")
    print(summary(model, held_out, output, seconds))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value
