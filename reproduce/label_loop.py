"""What ``dovetail label`` saves: sentences that its page chooses, beside random ones, with gold as the annotator.

A simulated annotator talks to the page's server as a browser does: it takes a sentence, answers with the gold entities,
and after every ten answers waits until the model is trained, which a person who reads would not notice. The models of
both ways are trained alike, by the settings of the page, and scored on dev.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from common import corpus, show

from dovetail import Sentence
from dovetail.labelling.training import PARTS, untrained
from dovetail.text.formats import write

BATCH = 10


class Page:
    """The server of a session, as a tab of a browser sees it."""

    def __init__(self, text: Path, labels: Sequence[str], seed: int) -> None:
        command = [
            sys.executable,
            "-m",
            "dovetail",
            "label",
            str(text),
            "--labels",
            ",".join(labels),
            "--seed",
            str(seed),
        ]
        command += "--tokenised --sentence-per-line --no-browser --port 0".split()
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        told = iter(self.process.stderr.readline, "")
        found = next((m for line in told if (m := re.search(r"http://\S+", line))), None)
        assert found is not None, "the server did not start"
        self.address = found[0].rstrip("/")

    def ask(self, path: str, fields: dict[str, Any] | None = None) -> Any:
        """One request: a GET, or with fields a POST."""
        data = None if fields is None else json.dumps({"tab": "simulated", **fields}).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read())

    def wait(self) -> dict[str, Any]:
        """Until all that was answered has been learnt."""
        while True:
            told: dict[str, Any] = self.ask("/label/status?tab=simulated")
            if told["training"]["error"]:
                sys.exit(told["training"]["error"])
            if not told["training"]["busy"]:
                return told
            time.sleep(0.2)


def chosen(train: Sequence[Sentence], number: int, seed: int, labels: Sequence[str]) -> tuple[list[Sentence], float]:
    """So many sentences as the page chooses them, and the processor seconds of the last training."""
    gold = {s.words: s for s in reversed(train)}
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        write(list(train), text, "text")
        page = Page(text, labels, seed)
        item, told = page.ask("/label/next", {})["item"], {}
        for count in range(1, number + 1):
            words = tuple(item["words"])
            entities = [[e.start, e.end, e.label] for e in gold[words].entities()]
            item = page.ask("/label/answer", {"number": item["number"], "answer": entities})["item"]
            if count % BATCH == 0:
                told = page.wait()
                item = page.ask("/label/next", {})["item"]
                print(f"seed {seed}: {count} sentences, {told['curve'][-1:]}", file=sys.stderr, flush=True)
        page.process.terminate()
        page.process.wait(30)
        found = {}
        for line in Path(folder, "text.labels.jsonl").read_text().splitlines():
            entry = json.loads(line)
            if entry.get("state") == "done":
                found[tuple(entry["words"])] = gold[tuple(entry["words"])]
        assert len(found) == number
        assert Path(folder, "text.labels.dovetail").exists()
        return list(found.values()), told["training"]["processor"]


def score(sentences: Sequence[Sentence], dev: Sequence[Sentence]) -> float:
    """F1 on dev of the page's model, trained on these."""
    bare = [Sentence(s.words, {"ner": s.layers["ner"]}) for s in sentences]
    return float(untrained("entities", PARTS).fit(bare).score(dev))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", default="conll2003-en")
    parser.add_argument("--chosen", type=int, default=200)
    parser.add_argument("--random", type=int, nargs="+", default=[200, 400])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train = [s for s in corpus(args.corpus, "train") if len(s)]
    dev = [s for s in corpus(args.corpus, "dev") if len(s)]
    labels = sorted({span.label for s in train for span in s.entities()})
    runs: dict[str, list[tuple[int, int, float]]] = {}

    def ran(name: str, sentences: Sequence[Sentence]) -> None:
        found = len(sentences), sum(map(len, sentences)), score(sentences, dev)
        runs.setdefault(name, []).append(found)
        print(name, *found, file=sys.stderr, flush=True)

    for seed in args.seeds:
        for number in args.random:
            ran(f"{number} at random", random.Random(seed).sample(train, number))
        sentences, seconds = chosen(train, args.chosen, seed, labels)
        print(f"seed {seed}: last training took {seconds} processor seconds", file=sys.stderr)
        ran("chosen by the page", sentences)
    rows = [[name, each[0][0], fmean(e[1] for e in each), fmean(e[2] for e in each)] for name, each in runs.items()]
    note = f"Means over seeds {', '.join(map(str, args.seeds))}, on {args.corpus} dev; single runs are told above."
    show("Labelling in the page, beside random sentences", ["way", "sentences", "tokens", "F1"], rows, note, args.json)
