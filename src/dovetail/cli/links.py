"""Links between words: what ``evaluate`` does with files of them."""

from __future__ import annotations

import json
from pathlib import Path

from dovetail.errors import DovetailError, InputError

LAYER = "links"
"""What ``evaluate --layer`` calls links between words."""


def holds_links(path: Path, encoding: str) -> bool:
    """Whether the first line of a file that is not empty is one of links."""
    from dovetail.text.files import open_text
    from dovetail.text.links import parse_links

    if str(path) == "-":
        return False
    with open_text(path, encoding) as lines:
        line = next((line for line in lines if line.strip()), "")
    try:
        return bool(parse_links(line))
    except ValueError:
        return False


def evaluate_links(gold: Path, predicted: Path, first: int, encoding: str, as_json: bool) -> None:
    """Print alignment error rate, precision and recall, and how well probabilities keep their promise."""
    from dovetail.evaluate.alignment import alignment_scores, link_calibration
    from dovetail.text.links import read_links

    right = list(read_links(gold, first=first, encoding=encoding))
    found = list(read_links(predicted, encoding=encoding))
    if len(right) != len(found):
        short, long = (gold, predicted) if len(right) < len(found) else (predicted, gold)
        line = min(len(right), len(found))
        message = f"{short} ends after line {line}, so this line has no partner; give links of the same text"
        raise InputError(message, long, line + 1)
    if not any(right):
        raise DovetailError(f"{gold}: no links, so there is nothing to score")
    scores, promise = alignment_scores(right, found), link_calibration(right, found)
    record = scores.as_dict()
    if promise is not None:
        record["expected_calibration_error"] = promise.expected_calibration_error
    if as_json:
        print(json.dumps(record))
        return
    print(scores)
    if promise is not None:
        error = promise.expected_calibration_error
        print(f"calibration: expected error {error:.4f} over {promise.count:,} predicted links")
