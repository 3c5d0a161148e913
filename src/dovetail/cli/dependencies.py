"""Dependencies in commands: shown as a table, spelled out in JSON, scored by attachment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.cli.corpus import Corpora
    from dovetail.models.dependency.estimator import DependencyParser
    from dovetail.text.sentence import Document, Sentence

COLUMNS = ("pos", "xpos", "head", "deprel", "head_probability")


def show(documents: Iterable[Document], file: IO[str]) -> None:
    """A line for each word: its number, itself, its tag, its head, its relation and the probability of its arc."""
    for document in documents:
        for sentence in document:
            layers = [sentence.layers[name] for name in COLUMNS if name in sentence.layers]
            rows = [[str(i), *row] for i, row in enumerate(zip(sentence.words, *layers, strict=True), 1)]
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            for row in rows:
                file.write("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() + "\n")
            file.write("\n")


def picture(sentence: Sentence) -> str:
    """The arcs as SVG."""
    from dovetail.text.draw_dependencies import dependency_svg

    return dependency_svg(sentence, title=" ".join(sentence.words))


def details(parser: DependencyParser, sentences: Sequence[Sentence], k: int, marginals: bool) -> list[dict[str, Any]]:
    """``k_best``: ``{"probability", "heads"}``, best first; ``marginals``: for each word, each head's probability.

    Heads are counted from 0 with -1 for the root, as ``heads`` are; in ``marginals`` the root comes first.
    """
    found: list[dict[str, Any]] = [{} for _ in sentences]
    if k:
        for fields, trees in zip(found, parser.kbest(sentences, k), strict=True):
            fields["k_best"] = [{"probability": tree.probability, "heads": tree.heads} for tree in trees]
    if marginals:
        for fields, table in zip(found, parser.predict_marginals(sentences), strict=True):
            fields["marginals"] = table.round(6).tolist()
    return found


def check_heads(sentences: Sequence[Sentence], path: Path, corpora: Corpora) -> None:
    """Every sentence has heads that make a tree; an error says where in the file one has not."""
    from dovetail.errors import InputError
    from dovetail.text.dependencies import dependency_heads

    for number, sentence in enumerate(sentences, 1):
        try:
            if len(sentence):
                dependency_heads(sentence, number)
        except InputError as error:
            raise InputError(str(error), path, _line_of(number, path, corpora)) from None


def _line_of(number: int, path: Path, corpora: Corpora) -> int | None:
    """The line at which a sentence of JSON lines stands, or a sentence of any other format with columns begins."""
    from dovetail.cli.corpus import CorpusFormat
    from dovetail.text.files import open_text

    with open_text(path, corpora.encoding) as lines:
        filled = [bool(line.strip()) and not line.startswith("#") for line in lines]
    one_a_line = corpora.format_of(path) == CorpusFormat.jsonl
    begins = [i for i, here in enumerate(filled, 1) if here and (one_a_line or i == 1 or not filled[i - 2])]
    return begins[number - 1] if number <= len(begins) else None


def attachment_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Attachment scores, against the trees as they are and, as ``uas_projective``, made projective."""
    from dovetail.evaluate import bootstrap_interval
    from dovetail.evaluate.attachments import attachment_counts, attachment_scores

    record = attachment_scores(gold, predicted).as_dict()
    interval = bootstrap_interval(attachment_counts(gold, predicted))
    lifted = [projective(sentence) for sentence in gold]
    crossing = sum(one is not other for one, other in zip(gold, lifted, strict=True))
    return record | {
        "uas_interval": [interval.low, interval.high],
        "uas_projective": attachment_scores(lifted, predicted).uas,
        "crossing": crossing,
    }


def projective(sentence: Sentence) -> Sentence:
    """The sentence with heads that do not cross: itself where none do, or where its heads are no single tree."""
    from dovetail.errors import InputError
    from dovetail.text.dependencies import dependency_heads, projectivise

    try:
        heads, lifts = projectivise(dependency_heads(sentence)) if len(sentence) else ([], 0)
    except InputError:
        return sentence
    return sentence.with_layer("head", tuple(str(head + 1) for head in heads)) if lifts else sentence


def attachment_report(record: dict[str, Any]) -> str:
    """The scores on a few lines."""
    low, high = record["uas_interval"]
    lines = [
        f"{record['words']:,} words, {record['sentences']:,} sentences",
        f"UAS {record['uas']:.2f} (95% interval {low:.2f} to {high:.2f}), LAS {record['las']:.2f}, "
        f"relations {record['label_accuracy']:.2f}, whole trees {record['exact']:.2f}",
    ]
    if record["crossing"]:
        lines.append(
            f"{record['crossing']:,} gold trees have crossing arcs; made projective, UAS {record['uas_projective']:.2f}"
        )
    return "\n".join(lines)
