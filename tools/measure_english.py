"""An old and a new English model on each kind of text, side by side: as it is written, in lower case, in capitals.

DOVETAIL_DATA=... python tools/measure_english.py OLD NEW
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from english_corpora import as_it_is, corpora, in_capitals, in_lower_case, other_texts

from dovetail import Sentence, Tagger, entity_scores

WRITTEN: dict[str, Callable[[Sentence], Sentence]] = {
    "as it is": as_it_is, "lower": in_lower_case, "capitals": in_capitals,
}  # fmt: skip
LOADED = """
import sys, time
import dovetail

begin = time.process_time()
dovetail.load(sys.argv[1])
print(time.process_time() - begin)
"""


def f1(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """Entity F1 in percent."""
    return entity_scores([s.layers["ner"] for s in sentences], tagger.predict(sentences)).f1


def speed(tagger: Tagger, sentences: Sequence[Sentence]) -> float:
    """Words a second on one thread, in processor time, once all is compiled."""
    tagger.set_params(threads=1)
    tagger.predict(sentences)
    begin = time.process_time()
    tagger.predict(sentences)
    return sum(map(len, sentences)) / (time.process_time() - begin)


def seconds_to_load(path: Path) -> float:
    """Processor time, the best of five fresh processes."""
    commands = [[sys.executable, "-c", LOADED, str(path)]] * 5
    return min(float(subprocess.run(c, check=True, capture_output=True, text=True).stdout) for c in commands)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--as-it-is", action="store_true", help="leave out other cases, and times")
    args = parser.parse_args()
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora")
    taggers = [Tagger.load(path).set_params(threads=1) for path in args.models]
    texts = {t.name: t.dev for t in corpora(Path(root))} | other_texts(Path(root))
    cases = list(WRITTEN)[:1] if args.as_it_is else list(WRITTEN)
    print(f"{'F1':38} {'names':>6}  " + "  ".join(f"{case:>{6 * len(taggers)}}" for case in cases))
    for name, sentences in texts.items():
        rows = [[f"{f1(t, [WRITTEN[case](s) for s in sentences]):6.1f}" for t in taggers] for case in cases]
        names = sum(len(s.entities()) for s in sentences)
        print(f"{name:38} {names:6}  " + "  ".join("".join(row) for row in rows), flush=True)
    if not args.as_it_is:
        for path, tagger in zip(args.models, taggers, strict=True):
            size, words = path.stat().st_size / 1e6, speed(tagger, texts["web"])
            print(f"{path.name}: {size:.1f} MB, {words:,.0f} words/s, loads in {seconds_to_load(path):.2f} s")


if __name__ == "__main__":
    main()
