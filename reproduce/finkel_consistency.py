"""Finkel 2010, tables 3.2 to 3.6: documents that agree with themselves, on CoNLL-2003 English and CMU seminars.

Table 3.2: Gibbs sampling without long links against Viterbi. Tables 3.3 and 3.4: how often linked phrases have two
types. Table 3.5: the local model, the penalties of the thesis, these with a reward (Wang 2014), today's two-pass
agreement, and association, by every engine, with processor seconds beside those of plain decoding. Table 3.6: forms of
seminars, five-fold over the e-mails that are at hand (301 of 485), F1 of tokens, the mean of four fields.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from common import corpus, data_folder, show

from dovetail import Sentence, Tagger, read
from dovetail.columns import Columns
from dovetail.evaluate import entity_counts, entity_scores, stratified_shuffling
from dovetail.joint import Graph
from dovetail.models.consistency.coupling import Consistency
from dovetail.models.consistency.links import KINDS, links_of
from dovetail.models.consistency.tables import association, counted, penalties
from dovetail.models.tagger.model import ChainModel

PUBLISHED_3_5 = {
    "Local+Viterbi": (88.16, 80.83, 78.51, 90.36, 85.51),
    "NonLoc+Gibbs": (88.51, 81.72, 80.43, 92.29, 86.86),
}
PUBLISHED_3_6 = {
    "Local+Viterbi": (96.67, 97.36, 83.39, 89.98, 91.85),
    "NonLoc+Gibbs": (97.11, 97.89, 84.16, 90.00, 92.29),
}
TYPES = ("LOC", "ORG", "MISC", "PER")
FIELDS = ("START_TIME", "END_TIME", "SPEAKER", "LOCATION")
REWARD = float(np.log(2.0))


def tags_of(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    return [s.layers["ner"] for s in sentences]


def counts_of(model: ChainModel, sentences: Sequence[Sentence]) -> np.ndarray:
    """How often types are linked: [kinds, T, T]."""
    types = np.append(model.of_label, -1)[model.labels.encode(tags_of(sentences))]
    return counted(links_of(Columns.of(sentences, ())), types, int(model.of_label.max()) + 1)


def models(counts: np.ndarray, outside: int, engines: Sequence[str]) -> dict[str, Consistency]:
    """The ways to be consistent that are compared."""
    tables = {
        "penalties": (penalties(counts, outside), 1.0),
        "penalties x 0.3": (penalties(counts, outside), 0.3),
        "penalties x 0.3, reward": (
            0.3 * penalties(counts, outside) + penalties(counts, outside, REWARD).clip(0.0),
            1.0,
        ),
        "association x 0.4": (association(counts), 0.4),
    }
    return {
        f"{name}, {engine}": Consistency(table, strength, engine)
        for name, (table, strength) in tables.items()
        for engine in engines
    }


def conll(args: argparse.Namespace) -> None:
    train, dev = corpus("conll2003-en", "train"), corpus("conll2003-en", args.split)
    # a Gaussian prior of variance one, weights for all pairs of feature and label, as in the published system
    how = {"consistency": "none", "cross_validate": 0, "threads": args.threads}
    tagger = Tagger(features="finkel-ner", l2=0.5, min_count=1, **how).fit(train)
    model = tagger.model_
    assert model is not None
    if "3.2" in args.tables:
        table_3_2(model, dev, args)
    counts = counts_of(model, train)
    if "3.3" in args.tables:
        table_3_3(model, counts)
    if "3.5" in args.tables:
        table_3_5(tagger, counts, dev, args)


def table_3_2(model: ChainModel, dev: Sequence[Sentence], args: argparse.Namespace) -> None:
    """Gibbs sampling of plain chains, from random labels, against Viterbi."""
    chains = model.batch(dev, 1)

    def f1(labels: np.ndarray) -> float:
        return entity_scores(tags_of(dev), model.labels.decode(labels, chains.offsets)).f1

    graph = Graph()
    node = graph.add(chains)
    sentence = np.repeat(np.arange(len(chains)), np.diff(chains.offsets))
    node.tokens(sentence, np.arange(chains.tokens) - chains.offsets[sentence])
    rows = [["Viterbi", 85.51, f1(chains.best())]]
    for seed in range(args.runs):
        found = graph.solve("gibbs", samples=args.samples, seed=seed, start="random", unsure=None)
        rows.append([f"Gibbs, seed {seed}", 85.51, f1(found[node])])
    note = f"{args.samples} samples, linear cooling. Published on test: mean 85.51, standard deviation 0.01."
    show("Table 3.2: sampling without long links, F1", ["", "published", "dovetail"], rows, note, args.json)


def table_3_3(model: ChainModel, counts: np.ndarray) -> None:
    """How often the types of linked words differ."""
    types = list(dict.fromkeys(model.types_of_labels()))
    for kind in (0, 1):
        title = f"Table 3.{3 + kind}: pairs of linked words of the kind {KINDS[kind]!r} in training, by their types"
        rows = [[name, *map(int, row)] for name, row in zip(types, counts[kind], strict=True)]
        show(
            title,
            ["", *types],
            rows,
            "Words, not phrases; each with the next few of its kind; O is counted, too.",
            False,
        )


def table_3_5(tagger: Tagger, counts: np.ndarray, dev: Sequence[Sentence], args: argparse.Namespace) -> None:
    """F1 with and without long links."""
    model = tagger.model_
    assert model is not None
    gold, outside = tags_of(dev), model.labels.names.index("O")
    model.batch(dev, 1)  # compiled loops are loaded before the clock starts
    start = time.process_time()
    chains = model.batch(dev, 1)
    local = model.labels.decode(chains.best(), chains.offsets)
    plain, base = time.process_time() - start, entity_counts(gold, local)
    rows = [[f"published, {name}", *figures, None, None] for name, figures in PUBLISHED_3_5.items()]

    def add(name: str, predicted: list[list[str]], seconds: float) -> None:
        scores = entity_scores(gold, predicted)
        p = stratified_shuffling(base, entity_counts(gold, predicted)).p_value if predicted is not local else None
        own = (scores.per_label[label].f1 for label in TYPES)
        rows.append([name, *own, scores.f1, None if p is None else f"{p:.4f}", f"{seconds / plain:.2f}"])

    add("local", local, plain)
    columns = Columns.of(dev, ())
    ways: dict[str, ChainModel] = {f"agree {s}": replace(model, agreement=s) for s in (0.4, 0.8)}
    for name, consistency in models(counts, outside, args.engines).items():
        ways[name] = replace(model, consistency=consistency)
    for name, way in ways.items():
        way.consistent(chains, columns)
        start = time.process_time()
        batch = way.consistent(chains, columns)
        predicted = way.labels.decode(batch.best(), batch.offsets)
        add(name, predicted, plain + time.process_time() - start)
    note = "p: stratified shuffling against local. time: processor seconds over those of plain decoding, with features."
    show(f"Table 3.5: CoNLL-2003 {args.split}, F1", ["", *TYPES, "ALL", "p", "time"], rows, note, args.json)


def field_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> list[float]:
    """F1 of the tokens of each field, and the mean of the four."""
    right, found = ([tag[2:] for tags in each for tag in tags] for each in (gold, predicted))
    scores = []
    for field in FIELDS:
        both = sum(a == b == field for a, b in zip(right, found, strict=True))
        scores.append(200.0 * both / max(right.count(field) + found.count(field), 1))
    return [*scores, float(np.mean(scores))]


def seminars(args: argparse.Namespace) -> None:
    """Table 3.6: each fifth of the e-mails is tagged by a model of the others."""
    mails = [list(document) for document in read(data_folder() / "cmu-seminars" / "train.jsonl.gz")]
    gold: list[Sequence[str]] = []
    answers: dict[str, list[list[str]]] = {}
    for fold in range(5):
        train = [s for i, mail in enumerate(mails) if i % 5 != fold for s in mail]
        test = [s for i, mail in enumerate(mails) if i % 5 == fold for s in mail]
        gold += tags_of(test)
        tagger = Tagger(features="finkel-template", consistency="none", cross_validate=0, threads=args.threads).fit(
            train
        )
        model, columns = tagger.model_, Columns.of(test, ())
        assert model is not None
        chains = model.batch(test, 1)
        ways: dict[str, ChainModel] = {"local": model, "agree 0.4": replace(model, agreement=0.4)}
        for name, consistency in models(counts_of(model, train), model.labels.names.index("O"), args.engines).items():
            ways[name] = replace(model, consistency=consistency)
        for name, way in ways.items():
            batch = way.consistent(chains, columns)
            answers.setdefault(name, []).extend(model.labels.decode(batch.best(), batch.offsets))
    rows = [[f"published, {name}", *figures] for name, figures in PUBLISHED_3_6.items()]
    rows += [[name, *field_f1(gold, found)] for name, found in answers.items()]
    note = "Published: five-fold over 485 e-mails; ours over 301 of them."
    show("Table 3.6: CMU seminars, F1 of tokens", ["", *FIELDS, "ALL"], rows, note, args.json)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tables", nargs="+", default=["3.2", "3.3", "3.5", "3.6"], choices=["3.2", "3.3", "3.5", "3.6"]
    )
    parser.add_argument("--engines", nargs="+", default=["bp", "gibbs", "dual"], choices=["bp", "gibbs", "dual", "ilp"])
    parser.add_argument("--samples", type=int, default=1000, help="of table 3.2")
    parser.add_argument("--runs", type=int, default=3, help="of table 3.2")
    parser.add_argument("--split", default="dev", help="which part of CoNLL-2003 to score (default: dev)")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print JSON objects")
    args = parser.parse_args()
    tables: dict[str, Callable[[argparse.Namespace], None]] = {"conll": conll, "seminars": seminars}
    if set(args.tables) - {"3.6"}:
        tables["conll"](args)
    if "3.6" in args.tables:
        tables["seminars"](args)


if __name__ == "__main__":
    main()
