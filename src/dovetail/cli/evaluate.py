"""``dovetail evaluate``: the scores of a model, or of somebody's predictions."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import links, options, roles, scores
from dovetail.cli import pipeline as pipelines
from dovetail.cli.console import count, some, warn
from dovetail.cli.corpus import Corpora
from dovetail.cli.formats import CorpusFormat
from dovetail.cli.kinds import KINDS, LAYERS, kind_of, name_of
from dovetail.cli.layers import telling
from dovetail.cli.options import argument, option, switch
from dovetail.cli.pairs import LAYER, evaluate_pairs
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.scores import Sentences, label_of, spells_entities, tagset
from dovetail.cli.words import evaluate_words
from dovetail.errors import DovetailError, InputError
from dovetail.extras import lacking

if TYPE_CHECKING:
    from dovetail.evaluate import CalibrationReport, Comparison, ScoreInterval
    from dovetail.models.tagger.estimator import Tagger


def evaluate(
    data: Path | None = argument(
        "DATA", "Annotated text to score the model on (may be .gz); - for standard input.", Reads()
    ),
    model: Path | None = options.MODEL,
    pipeline: Path | None = pipelines.PIPELINE,
    strategy: pipelines.Strategy | None = pipelines.STRATEGY,
    samples: int | None = pipelines.SAMPLES,
    seed: int | None = pipelines.SEED,
    gold: Path | None = option("FILE", "Instead of DATA: the correct annotations; needs --predicted.", Reads()),
    gold_first: int = option("N", "For links between words: the number of the first word in --gold.", default=0, min=0),
    predicted: Path | None = option("FILE", "The annotations to score, of the same text as --gold.", Reads()),
    compare: Path | None = option(
        "FILE", "Other annotations of the same text: test whether the difference in F1 is significant.", Reads()
    ),
    input_format: CorpusFormat | None = options.CORPUS_FORMAT,
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    layer: str | None = option("NAME", "The layer to score.", shown="the model's, else ner"),
    reliability: Path | None = option(
        "PICTURE",
        "Draw a reliability diagram of the probabilities: .png, .svg or .pdf.",
        Writes(endings=(".png", ".svg", ".pdf")),
    ),
    html: Path | None = option(
        "PAGE",
        "Write a page on the errors: by kind, the worst sentences, calibration; .html.",
        Writes(endings=(".html", ".htm")),
    ),
    conlleval: bool = switch("Print the same report as conlleval."),
    max_length: int | None = option("N", "Leave out sentences with more words.", shown="no limit", min=1),
    gold_trees: bool = switch("For roles: use the trees of DATA, not those of the model's parser."),
    find_predicates: bool = switch("For roles: find predicates and senses, too, which are else given."),
    domain: str | None = options.DOMAIN,
    as_json: bool = options.AS_JSON,
    threads: int | None = options.THREADS,
) -> None:
    """Score a model, or anyone's predictions, on labelled text.

    An entity is correct if its boundaries and its label are, as in conlleval; layers without entities are
    scored word by word. Scores are percentages, and the interval is a 95% bootstrap confidence interval. The
    expected calibration error is 0 if, of the answers given with probability 0.8, 80% are correct.
    """
    truth = data or gold
    if truth is None or (data is not None and gold is not None) or (gold is None) != (predicted is None):
        raise DovetailError("give DATA (and --model), or both --gold and --predicted")
    if predicted is not None and (model is not None or pipeline is not None):
        raise DovetailError(f"give {'--model' if model else '--pipeline'} or --predicted, not both")
    if predicted is not None and domain is not None:
        raise DovetailError("--domain chooses a part of a model; it does not go with --predicted")
    if as_json and conlleval:
        raise DovetailError("--json and --conlleval are two ways to print the scores; choose one")
    if reliability is not None and find_spec("matplotlib") is None:
        raise lacking("--reliability", "matplotlib")
    if gold is not None and predicted is not None and (layer == links.LAYER or links.holds_links(gold, encoding)):
        links.evaluate_links(gold, predicted, gold_first, encoding, as_json)
        return
    tagger: Any = (
        pipelines.load(model, pipeline, domain, strategy, samples, seed, threads) if predicted is None else None
    )
    if html is not None and (getattr(tagger, "words", False) or LAYER in (name_of(tagger), layer)):
        raise DovetailError("--html is for entities, labels, trees, dependencies and roles, and this is something else")
    if getattr(tagger, "words", False):
        evaluate_words(tagger, truth, encoding, as_json)
        return
    if name_of(tagger) == LAYER or (tagger is None and layer == LAYER):
        evaluate_pairs(tagger, truth, predicted, encoding, as_json)
        return
    texts = _Texts(Corpora(input_format, options.names(columns), encoding), truth, max_length)
    kind = kind_of(tagger) or KINDS.get(LAYERS.get(layer or "", ""))
    if (gold_trees or find_predicates) and name_of(tagger) != "roles":
        raise DovetailError("--gold-trees and --find-predicates are for models of semantic roles")
    if kind is None:
        _evaluate_tags(texts, tagger, predicted, compare, layer, reliability, html, conlleval, as_json)
        return
    if compare or conlleval or reliability:
        raise DovetailError("--compare, --conlleval and --reliability are for entities, and this model predicts none")
    asked = texts.gold
    if name_of(tagger) == "roles":
        asked = roles.questions(asked, gold_trees or "tree" in tagger.needs, find_predicates)
    found = list(tagger.annotate(telling(tagger, asked))) if predicted is None else texts.read(predicted)
    texts.corpora.warn()
    record = kind.scores(texts.gold, found)
    print(json.dumps(record, ensure_ascii=False) if as_json else kind.report(record))
    if html is not None:
        from dovetail.evaluate.report_page import page_of_answers

        _write_page(html, page_of_answers(_title(texts.truth), kind.report(record), texts.gold, found))


def _title(path: Path) -> str:
    return f"How well is {path.name} annotated?" if str(path) != "-" else "How well is the text annotated?"


def _write_page(path: Path, text: str) -> None:
    from dovetail.text.files import atomic_writer

    with atomic_writer(path) as file:
        file.write(text)


class _Texts:
    """The gold sentences, those of more than so many words left out, and others of the same text."""

    def __init__(self, corpora: Corpora, truth: Path, longest: int | None) -> None:
        self.corpora = corpora
        self.truth = truth
        self.longest = longest
        self.everything = corpora.sentences(truth)
        self.gold = self._kept(self.everything)
        if not any(map(len, self.gold)):
            limit = f" of up to {longest} words (--max-length)" if longest is not None and self.everything else ""
            raise DovetailError(f"{truth}: no sentences{limit}, so there is nothing to score")

    def read(self, path: Path) -> Sentences:
        """The sentences of another file that go with the gold ones."""
        return self._kept(self.corpora.sentences(path))

    def _kept(self, others: Sentences) -> Sentences:
        if self.longest is None or len(self.everything) != len(others):
            return others
        return [other for other, s in zip(others, self.everything, strict=True) if len(s) <= self.longest]


def _evaluate_tags(
    texts: _Texts,
    tagger: Any,
    predicted: Path | None,
    compare: Path | None,
    layer: str | None,
    reliability: Path | None,
    html: Path | None,
    conlleval: bool,
    as_json: bool,
) -> None:
    """Scores of entities or of labels, found by a tagger or in a file."""
    from dovetail.evaluate import reliability_plot

    gold = texts.gold
    if predicted is not None:
        layer = layer or "ner"
        if odd := scores.odd_tags(tagset(gold, layer)):
            warn(f"{texts.truth}: tags that are not valid entity tags, read as O: {some(odd)}")
        found = texts.read(predicted)
        _check_same_text(gold, found, predicted)
    else:
        layer = layer or tagger.target
        _warn_of_unknown(tagger, gold, layer)
        found = list(tagger.annotate(telling(tagger, gold)))
    result: Any = scores.score(gold, found, layer)
    promise = scores.calibration(gold, found, layer)
    rival = texts.read(compare) if compare is not None else None
    texts.corpora.warn()
    interval, comparison = _bootstrap(gold, found, rival, layer, compare)
    record, lines = _results(result, promise, interval, comparison)
    if conlleval and not hasattr(result, "report"):
        raise DovetailError("--conlleval prints scores of entities, and this layer has none")
    shown = "\n".join(lines) + "\n" if not as_json else json.dumps(record, ensure_ascii=False) + "\n"
    print(result.report() if conlleval else shown, end="")
    if html is not None:
        from dovetail.evaluate.report_page import Evaluated

        _write_page(html, Evaluated(gold, found, layer, result, interval, promise).page(_title(texts.truth)))
    if reliability is not None and promise is None:
        raise DovetailError(f"{reliability}: nothing to draw: no entity was predicted with a probability")
    if reliability is not None and promise is not None:
        reliability_plot(promise, reliability, "Reliability of entity probabilities")


def _warn_of_unknown(tagger: Tagger, sentences: Sentences, layer: str) -> None:
    if not tagger.classes_:
        return
    known = {label_of(tag) for tag in tagger.classes_} | {"O"}
    if unknown := sorted({label_of(tag) for tag in tagset(sentences, layer)} - known):
        warn(f"labels that the model does not know and will always miss: {some(unknown)}")


def _check_same_text(gold: Sentences, predicted: Sentences, path: Path) -> None:
    """Numbers of sentences and words must agree, which scoring checks; spelling may differ, with a warning."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(predicted)} sentences, but the gold file has {len(gold)}: give the same text", path)
    pairs = zip(gold, predicted, strict=False)
    others = [n for n, (a, b) in enumerate(pairs, 1) if len(a) == len(b) and a.words != b.words]
    if others:
        warn(f"{path}: {count(len(others), 'sentence')} with other words than the gold (first: sentence {others[0]})")


def _bootstrap(
    gold: Sentences, predicted: Sentences, rival: Sentences | None, layer: str, compare: Path | None
) -> tuple[ScoreInterval | None, Comparison | None]:
    from dovetail.evaluate import bootstrap_interval, entity_counts, paired_bootstrap

    if not spells_entities(gold, layer):
        if rival is not None:
            raise DovetailError(f"{compare}: --compare needs entities, and the layer {layer!r} has none")
        return None, None
    counts = entity_counts(*scores.answers(gold, predicted, layer))
    if rival is None:
        return bootstrap_interval(counts), None
    return bootstrap_interval(counts), paired_bootstrap(counts, entity_counts(*scores.answers(gold, rival, layer)))


def _results(
    result: Any, promise: CalibrationReport | None, interval: ScoreInterval | None, comparison: Comparison | None
) -> tuple[dict[str, Any], list[str]]:
    """All that is known, for programs, and as lines for people."""
    from dovetail.evaluate import scores_dict, scores_table

    record, lines = scores_dict(result), [scores_table(result)]
    if interval is not None:
        record["f1_interval"] = [interval.low, interval.high]
        lines.append(scores.interval_line(interval.f1, interval.low, interval.high))
    if promise is not None:
        names = ("expected_calibration_error", "maximum_calibration_error", "brier_score", "log_loss")
        record["calibration"] = {"answers": promise.count, **{name: getattr(promise, name) for name in names}}
        lines.append(scores.calibration_line(promise.expected_calibration_error, promise.count))
    if comparison is not None:
        record["comparison"] = asdict(comparison)
        lines.append(
            f"difference in F1: {comparison.difference:+.2f} (95% interval {comparison.low:+.2f} to "
            f"{comparison.high:+.2f}), p = {comparison.p_value:.3f}"
        )
    return record, lines
