"""What the scripts here share: finding the corpora, and printing a published figure beside ours."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail import Sentence, read


def data_folder() -> Path:
    """The folder that DOVETAIL_DATA names."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (conll2003-en/train.conll.gz, ...)")
    return Path(root)


def corpus(name: str, split: str, columns: Sequence[str] | None = None) -> list[Sentence]:
    """The sentences of a corpus under DOVETAIL_DATA."""
    path = data_folder() / name / f"{split}.conll.gz"
    if not path.exists():
        sys.exit(f"{path}: there is no such file")
    return [s for document in read(path, columns=columns) for s in document]


def arguments(description: str) -> argparse.Namespace:
    """The flags of every script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--split", default="dev", help="which part to score (default: dev)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], note: str, as_json: bool) -> None:
    """Print a table, or one JSON object."""
    if as_json:
        print(json.dumps({"title": title, "rows": [dict(zip(header, row, strict=True)) for row in rows], "note": note}))
        return
    cells = [
        list(header),
        *[[f"{c:.2f}" if isinstance(c, float) else "" if c is None else str(c) for c in row] for row in rows],
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    print(title)
    for row in cells:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))))
    print(note)
