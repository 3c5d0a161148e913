"""Engines on graphs of documents: what each costs, how good its answers are, and how much of them it proves.

    python benchmarks/engines.py --data $DOVETAIL_DATA/conll2003-en [--model MODEL] [--strength 0.4] [--engines bp ilp]

A tagger with the features of Finkel (2009), trained here unless a model is given, and every document of dev as a graph:
its sentences are chains, and words that may be names are linked to the same words elsewhere in the document. A table of
pairs of types, counted in train, says how well the types of linked words go together. All engines answer the same
graph. Processor seconds are those of one thread, the smallest of so many --rounds; those of the features come on top.
*lost* is how far the score is below the best that any engine found, *gap* how far it may be below the best there is.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread is measured

import numpy as np

from dovetail import Tagger, read
from dovetail.columns import Columns
from dovetail.evaluate import entity_scores
from dovetail.joint import Graph, Table
from dovetail.models.consistency.links import KINDS, links_of
from dovetail.models.consistency.tables import association, counted

ENGINES: dict[str, tuple[str, dict[str, Any]]] = {
    "bp": ("bp", {}),
    "bp, 3 rounds, one temperature": ("bp", {"iterations": 3, "temperatures": (1.0,)}),
    "dual": ("dual", {}),
    "dual, 30 subgradients": ("dual", {"method": "subgradient", "iterations": 30}),
    "dual, smooth": ("dual", {"method": "smooth"}),
    "gibbs, 50 samples": ("gibbs", {"samples": 50}),
    "gibbs": ("gibbs", {}),
    "gibbs, 1000 samples": ("gibbs", {"samples": 1000}),
    "gibbs, 50 samples of sentences": ("gibbs", {"samples": 50, "moves": "blocks"}),
    "ilp": ("ilp", {"time_limit": 120.0}),
}


class Documents:
    """The graph of all linked sentences of a corpus, and what its answers are worth."""

    def __init__(self, tagger: Tagger, train: list[Any], dev: list[Any], strength: float) -> None:
        model = tagger._model()
        self.dev, self.labels = dev, model.labels
        names = [label if label == "O" else label.partition("-")[2] for label in self.labels.names]
        types = sorted(set(names))
        of_label = np.array([types.index(name) for name in names])
        gold = of_label[self.labels.encode([s.layers["ner"] for s in train])]
        table = strength * association(counted(links_of(Columns.of(train, ())), gold, len(types)))
        links = links_of(Columns.of(dev, ()))
        model.batch(dev[:10], 1)  # loads compiled loops
        begun = time.process_time()
        self.chains = model.batch(dev, 1)
        self.features = time.process_time() - begun
        offsets = self.chains.offsets
        self.links = len(links)
        tokens, place = np.unique(np.concatenate([links.first, links.second]), return_inverse=True)
        sentence = np.searchsorted(offsets, tokens, side="right") - 1
        self.linked, number = np.unique(sentence, return_inverse=True)
        self.graph = Graph()
        self.node = self.graph.add(self.chains.take(self.linked))
        values = [np.flatnonzero(of_label == k).tolist() for k in range(len(types))]
        words = self.node.tokens(number, tokens - offsets[sentence], values)
        first, second = place[: len(links)], place[len(links) :]
        for kind in range(len(KINDS)):
            which = np.flatnonzero(links.kind == kind)
            if which.size and table[kind].any():
                self.graph.couple(Table(table[kind], name=KINDS[kind]), words[first[which]], words[second[which]])
        documents = sorted({s.document for s in dev})
        self.document = np.array([documents.index(dev[s].document) for s in self.linked])

    def f1(self, answer: Any) -> float:
        """Entity F1 when the linked sentences have these labels."""
        every = self.chains.best()
        tokens = np.concatenate([np.arange(*self.chains.offsets[s : s + 2]) for s in self.linked])
        every[tokens] = answer
        found = self.labels.decode(every, self.chains.offsets)
        return float(entity_scores([s.layers["ner"] for s in self.dev], found).f1)

    def exact(self, certain: Any) -> float:
        """The share of documents with links all of whose problems are proved, in percent."""
        open_ = np.unique(self.document[~certain[self.graph.wiring.component]])
        return 100.0 * (1.0 - len(open_) / len(np.unique(self.document)))


def row(documents: Documents, engine: str, how: dict[str, Any], rounds: int) -> dict[str, Any]:
    graph = documents.graph
    graph.wiring  # noqa: B018  made once, whatever engine asks
    seconds = []
    for _ in range(rounds):
        begun = time.process_time()
        found = graph.solve(engine, **how)
        seconds.append(time.process_time() - begun)
    gap = float(found.gaps.sum())
    return {"seconds": min(seconds), "score": found.score, "gap": gap, "f1": documents.f1(found[documents.node]),
            "exact": documents.exact(found.certain), "problems_exact": 100.0 * float(found.certain.mean())}  # fmt: skip


def plain(documents: Documents, rounds: int) -> dict[str, Any]:
    """Each sentence by itself: Viterbi over all of dev, and its score in the graph."""
    seconds = []
    for _ in range(rounds):
        begun = time.process_time()
        documents.chains.best()
        seconds.append(time.process_time() - begun)
    wiring = documents.graph.wiring
    answers, values, _ = wiring.best(np.zeros(wiring.states))
    score = float(wiring.scores(values, answers).sum())
    return {"seconds": min(seconds), "score": score, "f1": documents.f1(answers[0])}


def main() -> None:
    default = os.environ.get("DOVETAIL_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(default) / "conll2003-en" if default else None)
    parser.add_argument("--model", type=Path, help="a tagger; trained on train unless given")
    parser.add_argument("--strength", type=float, default=0.4, help="what the table is multiplied by")
    parser.add_argument("--engines", nargs="+", choices=sorted({name for name, _ in ENGINES.values()}))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give --data, or set DOVETAIL_DATA")
    train, dev = ([s for d in read(args.data / f"{part}.conll.gz") for s in d] for part in ("train", "dev"))
    if args.model is None:
        tagger = Tagger(features="finkel-ner", consistency="none", cross_validate=0, iterations=60).fit(train)
    else:
        tagger = Tagger.load(args.model)
    documents = Documents(tagger, train, dev, args.strength)
    if not documents.links:
        parser.error("no document of dev has a name twice: there is nothing to couple")
    wiring = documents.graph.wiring
    rows: dict[str, dict[str, Any]] = {"plain decoding": plain(documents, args.rounds)}
    for name, (engine, how) in ENGINES.items():
        if args.engines is None or engine in args.engines:
            rows[name] = row(documents, engine, how, args.rounds)
    if args.json:
        print(json.dumps(rows))
        return
    linked, loops = len(documents.linked), int(wiring.loops.sum())
    print(f"{len(np.unique(documents.document))} documents, {documents.links} links, {linked} linked sentences of")
    print(f"{len(dev)}; {wiring.components} problems, of which {loops} have loops; features {documents.features:.3f} s")
    print(f"{'':32} {'seconds':>8} {'lost':>9} {'gap':>9} {'documents exact':>16} {'F1':>6}")
    best = max(each["score"] for each in rows.values())
    for name, each in rows.items():
        gap, lost = each.get("gap", np.inf), best - each["score"]
        shown, exact = (f"{gap:9.2f}", f"{each['exact']:.1f} %") if np.isfinite(gap) else (f"{'-':>9}", "-")
        print(f"{name:32} {each['seconds']:8.3f} {lost:9.2f} {shown} {exact:>16} {each['f1']:6.2f}")


if __name__ == "__main__":
    main()
