"""Words in text without spaces: what ``annotate`` and ``evaluate`` do with a segmenter."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli.paths import format_by_name
from dovetail.cli.scores import f1_interval, interval_line
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.segmenter.estimator import Segmenter

LINES = 2000  # how many are looked at together


def annotate_words(
    segmenter: Segmenter, source: Any, output: Path | None, output_format: str | None, encoding: str
) -> None:
    """Write every line of a raw text with spaces between its words, or as a JSON object with probabilities."""
    from dovetail.text.documents import blocks
    from dovetail.text.files import open_target
    from dovetail.text.words import read_lines

    if source.format != "text":
        raise DovetailError(f"this model finds words in raw text, but the input is {source.format}; see --input-format")
    if output_format not in (None, "pretty", "jsonl"):
        raise DovetailError(f"words are written as lines of text or as jsonl, not as {output_format}")
    if output_format is None:
        format_by_name(output, ["text", "jsonl"])
    lines = read_lines(io.StringIO(source.argument) if source.is_text else source.argument, encoding)
    as_json = output_format == "jsonl" or (output is not None and ".jsonl" in output.suffixes)
    with open_target(output or "-") as file:
        for some in blocks(lines, LINES):
            file.writelines(_as_json(segmenter, some) if as_json else _as_text(segmenter, some))


def _as_text(segmenter: Segmenter, lines: list[str]) -> Iterator[str]:
    return (" ".join(words) + "\n" for words in segmenter.predict(lines))


def _as_json(segmenter: Segmenter, lines: list[str]) -> Iterator[str]:
    for line, spans in zip(lines, segmenter.predict_entities(lines), strict=True):
        text = "".join(line.split())
        words = [text[span.start : span.end] for span in spans]
        record = {"words": words, "probabilities": [round(span.probability or 0.0, 6) for span in spans]}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def evaluate_words(segmenter: Segmenter, data: Path, encoding: str, as_json: bool) -> None:
    """Print the scores of a segmenter on a file with words separated by spaces."""
    from dovetail.evaluate.words import word_counts, word_scores
    from dovetail.text.formats import guess_format
    from dovetail.text.words import read_segmented

    if (told := guess_format(data)) not in (None, "text"):
        raise DovetailError(f"{data}: this model needs text with words separated by spaces, but this file is {told}")
    gold = list(read_segmented(data, encoding))
    if not gold:
        raise DovetailError(f"{data}: no words, so there is nothing to score")
    found = segmenter.predict(["".join(words) for words in gold])
    scores = word_scores(gold, found, segmenter.known({word for words in gold for word in words}))
    interval = f1_interval(word_counts(gold, found))
    if as_json:
        print(json.dumps(scores.as_dict() | interval, ensure_ascii=False))
    else:
        print(scores, interval_line(scores.f1, *interval["f1_interval"]), sep="\n")
