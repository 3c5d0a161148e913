"""Make the sample that the demo trains on: random sentences of UNER English-EWT (CC BY-SA 4.0).

DOVETAIL_DATA=... python tools/make_sample.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from dovetail import Sentence, read, write

DATA = Path(__file__).parent.parent / "src" / "dovetail" / "data"
SIZES = {"train": 1500, "dev": 400}


def main() -> None:
    """Draw and write."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    rng = np.random.default_rng(0)
    for name, size in SIZES.items():
        source = [s for document in read(Path(root) / "uner-en-ewt" / f"{name}.conll.gz") for s in document]
        chosen = sorted(rng.choice(len(source), size, replace=False))
        write([Sentence(source[i].words, source[i].layers) for i in chosen], DATA / f"sample-{name}.conll.gz")


if __name__ == "__main__":
    main()
