"""``dovetail evaluate``: the scores of a model, or of somebody's predictions."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, some, warn
from dovetail.cli.corpus import Corpora
from dovetail.cli.domains import Domain, load_model
from dovetail.cli.kinds import KINDS, LAYERS, Kind, kind_of
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.scores import (
    Sentences,
    answers,
    calibration,
    label_of,
    odd_tags,
    score,
    spells_entities,
    tagset,
)
from dovetail.cli.words import evaluate_words
from dovetail.errors import DovetailError, InputError

if TYPE_CHECKING:
    from dovetail.evaluate import CalibrationReport, Comparison, ScoreInterval
    from dovetail.models.tagger.estimator import Tagger


def evaluate(
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="Annotated text to score the model on (may be .gz); - for standard input."),
        Reads(),
    ] = None,
    model: options.Model = None,
    gold: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of DATA: the correct annotations; needs --predicted."),
        Reads(),
    ] = None,
    predicted: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The annotations to score, of the same text as --gold."),
        Reads(),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Other annotations of the same text: test whether the difference in F1 is significant.",
        ),
        Reads(),
    ] = None,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    layer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The layer to score.", show_default="the model's, else ner"),
    ] = None,
    reliability: Annotated[
        Path | None,
        typer.Option(metavar="PICTURE", help="Draw a reliability diagram of the probabilities: .png, .svg or .pdf."),
        Writes(endings=(".png", ".svg", ".pdf")),
    ] = None,
    conlleval: Annotated[bool, typer.Option("--conlleval", help="Print the same report as conlleval.")] = False,
    max_length: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Leave out sentences with more words.", show_default="no limit"),
    ] = None,
    domain: Domain = None,
    as_json: options.AsJson = False,
    threads: options.Threads = None,
) -> None:
    """Score a model, or anyone's predictions, on annotated text.

    An entity is correct if its boundaries and its label are, as in conlleval; layers without entities are
    scored word by word. Scores are percentages, and the interval is a 95% bootstrap confidence interval. The
    expected calibration error is 0 if, of the answers given with probability 0.8, 80% are correct.
    """
    truth = data or gold
    if truth is None or (data is not None and gold is not None) or (gold is None) != (predicted is None):
        raise DovetailError("give DATA (and --model), or both --gold and --predicted")
    if predicted is not None and model is not None:
        raise DovetailError("give --model or --predicted, not both")
    if predicted is not None and domain is not None:
        raise DovetailError("--domain chooses a part of a model; it does not go with --predicted")
    if as_json and conlleval:
        raise DovetailError("--json and --conlleval are two ways to print the scores; choose one")
    if reliability is not None and find_spec("matplotlib") is None:
        raise DovetailError('--reliability needs matplotlib: pip install "dovetail[plot]"')
    tagger: Any = load_model(model, domain).set_params(threads=threads) if predicted is None else None
    if getattr(tagger, "words", False):
        evaluate_words(tagger, truth, encoding, as_json)
        return
    corpora = Corpora(input_format, options.names(columns), encoding)
    everything = corpora.sentences(truth)
    sentences = _up_to(max_length, everything, everything)
    if not any(map(len, sentences)):
        limit = f" of up to {max_length} words (--max-length)" if max_length is not None and everything else ""
        raise DovetailError(f"{truth}: no sentences{limit}, so there is nothing to score")

    def read(path: Path) -> Sentences:
        return _up_to(max_length, everything, corpora.sentences(path))

    kind = kind_of(tagger) or KINDS.get(LAYERS.get(layer or "", ""))
    if kind is not None:
        if compare or conlleval or reliability:
            raise DovetailError(
                "--compare, --conlleval and --reliability are for entities, and this model predicts none"
            )
        found = list(tagger.annotate(sentences)) if predicted is None else read(predicted)
        corpora.warn()
        _print_kind(kind, kind.scores(sentences, found), as_json)
        return
    if predicted is not None:
        layer = layer or "ner"
        if odd := odd_tags(tagset(sentences, layer)):
            warn(f"{truth}: tags that are not valid entity tags, read as O: {some(odd)}")
        found = read(predicted)
        _check_same_text(sentences, found, predicted)
    else:
        layer = layer or tagger.target
        _warn_of_unknown(tagger, sentences, layer)
        found = list(tagger.annotate(sentences))
    scores = score(sentences, found, layer)
    promise = calibration(sentences, found, layer)
    rival = read(compare) if compare is not None else None
    corpora.warn()
    interval, comparison = _bootstrap(sentences, found, rival, layer, compare)
    if conlleval:
        _print_conlleval(scores)
    elif as_json:
        print(json.dumps(_record(scores, interval, promise, comparison), ensure_ascii=False))
    else:
        print(_report(scores, interval, promise, comparison))
    if reliability is not None:
        _draw(promise, reliability)


def _up_to(longest: int | None, gold: Sentences, others: Sentences) -> Sentences:
    """Those of some sentences beside which the gold ones have up to so many words."""
    if longest is None or len(gold) != len(others):
        return others
    return [other for other, sentence in zip(others, gold, strict=True) if len(sentence) <= longest]


def _print_kind(kind: Kind, record: dict[str, Any], as_json: bool) -> None:
    print(json.dumps(record, ensure_ascii=False) if as_json else kind.report(record))


def _warn_of_unknown(tagger: Tagger, sentences: Sentences, layer: str) -> None:
    known = {label_of(tag) for tag in tagger.classes_} | {"O"}
    if unknown := sorted({label_of(tag) for tag in tagset(sentences, layer)} - known):
        warn(f"labels that the model does not know and will always miss: {some(unknown)}")


def _check_same_text(gold: Sentences, predicted: Sentences, path: Path) -> None:
    """Numbers of sentences and words must agree, which scoring checks; spelling may differ, with a warning."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(predicted)} sentences, but the gold file has {len(gold)}: give the same text", path)
    pairs = zip(gold, predicted, strict=False)
    differing = [n for n, (a, b) in enumerate(pairs, 1) if len(a) == len(b) and a.words != b.words]
    if differing:
        first = differing[0]
        warn(f"{path}: {count(len(differing), 'sentence')} with other words than the gold (first: sentence {first})")


def _bootstrap(
    gold: Sentences, predicted: Sentences, rival: Sentences | None, layer: str, compare: Path | None
) -> tuple[ScoreInterval | None, Comparison | None]:
    from dovetail.evaluate import bootstrap_interval, entity_counts, paired_bootstrap

    if not spells_entities(gold, layer):
        if rival is not None:
            raise DovetailError(f"{compare}: --compare needs entities, and the layer {layer!r} has none")
        return None, None
    counts = entity_counts(*answers(gold, predicted, layer))
    if rival is None:
        return bootstrap_interval(counts), None
    return bootstrap_interval(counts), paired_bootstrap(counts, entity_counts(*answers(gold, rival, layer)))


def _draw(promise: CalibrationReport | None, path: Path) -> None:
    if promise is None:
        raise DovetailError(f"{path}: nothing to draw: no entity was predicted with a probability")
    from dovetail.evaluate import reliability_plot

    reliability_plot(promise, path, "Reliability of entity probabilities")


def _print_conlleval(scores: Any) -> None:
    if not hasattr(scores, "report"):
        raise DovetailError("--conlleval prints scores of entities, and this layer has none")
    print(scores.report(), end="")


def _record(
    scores: Any,
    interval: ScoreInterval | None,
    promise: CalibrationReport | None,
    comparison: Comparison | None,
) -> dict[str, Any]:
    from dovetail.evaluate import scores_dict

    record = scores_dict(scores)
    if interval is not None:
        record["f1_interval"] = [interval.low, interval.high]
    if promise is not None:
        record["calibration"] = {
            "answers": promise.count,
            "expected_calibration_error": promise.expected_calibration_error,
            "maximum_calibration_error": promise.maximum_calibration_error,
            "brier_score": promise.brier_score,
            "log_loss": promise.log_loss,
        }
    if comparison is not None:
        record["comparison"] = asdict(comparison)
    return record


def _report(
    scores: Any,
    interval: ScoreInterval | None,
    promise: CalibrationReport | None,
    comparison: Comparison | None,
) -> str:
    from dovetail.evaluate import scores_table

    lines = [scores_table(scores)]
    if interval is not None:
        lines.append(f"F1 {interval.f1:.2f}, 95% interval {interval.low:.2f} to {interval.high:.2f}")
    if promise is not None:
        error = promise.expected_calibration_error
        lines.append(f"calibration: expected error {error:.4f} over {promise.count:,} predicted entities")
    if comparison is not None:
        lines.append(
            f"difference in F1: {comparison.difference:+.2f} (95% interval {comparison.low:+.2f} to "
            f"{comparison.high:+.2f}), p = {comparison.p_value:.3f}"
        )
    return "\n".join(lines)
