"""Training with features on disk: ten times the text, in how much of the memory and the time of a tenth of it?

    DOVETAIL_DATA=/path/to/corpora python benchmarks/out_of_core.py

The text is that of conll2003-en, and ten copies of it in which words are changed: each copy has spellings of its own
for most words of five letters and more, so that features grow with the text. Each training is a process of its own, of
as many passes, with hashed features, so that weights are the same number whatever the text. *Own* memory is what a
process has for itself (``VmHWM`` less the files mapped into it), *resident* all that is there of it, files that it has
mapped among them, which the system drops when it needs the room.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

DATA = Path(os.environ.get("DOVETAIL_DATA", "data"))


def changed(word: str, copy: int) -> str:
    """A word as a copy spells it: one of its letters is another one."""
    if not copy or len(word) < 5 or not word.isalpha():
        return word
    place = 1 + sum(map(ord, word)) % (len(word) - 2)
    letter = chr(ord("a") + (ord(word[place].lower()) - ord("a") + copy) % 26) if word[place].isascii() else word[place]
    return word[:place] + letter + word[place + 1 :]


def write_copies(target: Path, copies: int, limit: int | None) -> None:
    """The training text so many times, words and tags alone."""
    with gzip.open(DATA / "conll2003-en" / "train.conll.gz", "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")[:limit]
    with target.open("w", encoding="utf-8") as out:
        for copy in range(copies):
            for line in lines:
                fields = line.split("\t" if "\t" in line else None)
                out.write(f"{changed(fields[0], copy)}\t{fields[-1]}\n" if fields else "\n")
            out.write("\n")


def watched(command: list[str]) -> tuple[float, float, float]:
    """Processor seconds of a command, and the most memory in MB: its own, and all that is resident."""
    before = os.times()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    most = {"RssAnon": 0, "VmRSS": 0}

    def watch() -> None:
        while process.poll() is None:
            try:
                lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            except OSError:
                return
            for line in lines:
                name, _, value = line.partition(":")
                if name in most:
                    most[name] = max(most[name], int(value.split()[0]))
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    if process.wait():
        raise SystemExit(f"failed: {' '.join(command)}")
    watcher.join()
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, most["RssAnon"] / 1e3, most["VmRSS"] / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--bits", type=int, default=20, help="features are hashed into 2^BITS; 0 for not at all")
    parser.add_argument("--lines", type=int, help="so many lines of the text, for a quick look")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, copies, scratch in (("in memory", 1, False), ("on disk", 1, True), ("on disk", args.copies, True)):
            text = Path(folder, f"{copies}.conll")
            if not text.exists():
                write_copies(text, copies, args.lines)
            command = [sys.executable, "-m", "dovetail", "train", "tagger", "--train", str(text), "--threads", "1"]
            command += ["--output", str(Path(folder, "model.dovetail")), "--iterations", str(args.iterations)]
            command += ["--cross-validate", "0", "--ignore", "pos", "--consistency", "none", "--quiet"]
            command += ["--hash-bits", str(args.bits)] if args.bits else []
            command += ["--scratch", folder] if scratch else []
            found[name, copies] = watched(command)
            seconds, own, resident = found[name, copies]
            print(
                f"{name:10} {copies:3} times  {seconds:7.1f} s  own {own:6.0f} MB  resident {resident:6.0f} MB",
                flush=True,
            )
    one, ten = found["in memory", 1], found["on disk", args.copies]
    print(
        f"{args.copies} times the text on disk beside once in memory: time {ten[0] / one[0]:.2f}, own memory "
        f"{ten[1] / one[1]:.2f}, resident {ten[2] / one[2]:.2f}"
    )


if __name__ == "__main__":
    main()
