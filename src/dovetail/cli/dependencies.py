"""Dependencies in commands: shown as a table, spelled out in JSON, scored by attachment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.cli.corpus import Corpora
    from dovetail.models.answer import Answer
    from dovetail.models.dependency.estimator import DependencyParser
    from dovetail.text.sentence import Sentence

COLUMNS = ("pos", "xpos", "head", "deprel", "head_probability")


def show(sentence: Sentence) -> str:
    """A line for each word: its number, itself, its tag, its head, its relation and the probability of its arc."""
    layers = [sentence.layers[name] for name in COLUMNS if name in sentence.layers]
    rows = [[str(i), *row] for i, row in enumerate(zip(sentence.words, *layers, strict=True), 1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() + "\n" for row in rows)
    return "".join(lines) + "\n"


def picture(sentence: Sentence) -> str:
    """The arcs as SVG."""
    from dovetail.text.draw_dependencies import dependency_svg

    return dependency_svg(sentence, title=" ".join(sentence.words))


def answer(tree: Answer) -> dict[str, Any]:
    """Heads, counted from 0 with -1 for the root."""
    return {"heads": tree.heads}


def marginals(parser: DependencyParser, sentences: Sequence[Sentence]) -> list[Any]:
    """For each word, the probability of each head, the root first."""
    return [table.round(6).tolist() for table in parser.predict_marginals(sentences)]


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
    from dovetail.cli.formats import CorpusFormat
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
    return record | {
        "uas_interval": [interval.low, interval.high],
        "uas_projective": attachment_scores(lifted, predicted).uas,
        "crossing": sum(one is not other for one, other in zip(gold, lifted, strict=True)),
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
