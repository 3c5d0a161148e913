"""``dovetail pool``: one model from several."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

from dovetail.cli import options
from dovetail.cli.corpus import Corpora
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.kinds import refuse_aligner
from dovetail.cli.options import REQUIRED, argument, option, switch
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.train.training import file_size
from dovetail.errors import DovetailError

Weights = StrEnum("Weights", "uniform learnt")
MODELS = argument("MODEL", "Model files of one kind, with the same labels.", Reads(), default=REQUIRED)


def pool(
    models: list[Path] = MODELS,
    output: Path = options.output("FILE", "Write the pool to this file.", Writes()),
    weights: Weights = option(
        None, "How much each model counts; learnt: as is most likely on --dev.", default="uniform"
    ),
    dev: Path | None = option("FILE", "Annotated text that no model was trained on, to tune the pool on.", Reads()),
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    half: bool = switch("Store weights in half precision, for a smaller file."),
    threads: int | None = options.THREADS,
) -> None:
    """Make one model of several.

    The pool is a product of them. Train them with other seeds, features, settings or parts of the data, but with the
    same labels. With --dev, the pool is calibrated and balanced there. It is used wherever a model is: dovetail
    annotate --model FILE.
    """
    import dovetail

    if len(models) < 2:
        raise DovetailError("give two models at least, as in dovetail pool A.dovetail B.dovetail --output C.dovetail")
    if weights is Weights.learnt and dev is None:
        raise DovetailError("--weights learnt needs --dev: annotated text to learn them on")
    loaded: list[Any] = [dovetail.load(path) for path in models]
    for path, model in zip(models, loaded, strict=True):
        refuse_aligner(model, path)
        model.set_params(threads=threads)
    sentences = None
    if dev is not None:
        sentences = _sentences(loaded[0], dev, Corpora(input_format, options.names(columns), encoding), encoding)
    found = dovetail.pool(loaded, weights.value, sentences)
    found.save(output, half=half)
    for path, share in zip(models, found.card_["pool"], strict=True):
        print(f"{share:.3f}  {path}")
    if found.card_["dev"] is not None:
        print(f"score on {dev}: {found.card_['dev']:.2f}")
    print(f"model: {output} ({file_size(output)})")


def _sentences(model: Any, path: Path, corpora: Corpora, encoding: str) -> list[Any]:
    """What a model of this kind is trained and scored on."""
    if getattr(model, "words", False) is True:
        from dovetail.text.words import read_segmented

        return list(read_segmented(path, encoding))
    found = corpora.sentences(path)
    corpora.warn()
    return found
