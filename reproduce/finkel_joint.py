"""Finkel 2010, table 5.14, and Finkel and Manning 2010, table 2: trees and entities, apart and together.

The published corpora are parts of OntoNotes; ours are the genres of GUM (named entities, of nested ones the outermost)
and GENIA. For every genre: a parser by itself, a tagger of entities by itself with the features that the joint model
has for them, the joint model, and the hierarchical joint model, which takes trees from every other of the remaining
genres and entities from the rest of them (of GENIA, from other abstracts). All genres have the same settings.

With --coupling soft, the joint models are two structures with coupled spans (Naradowsky, Vieira and Smith 2012), and
the parser by itself has no grammar.

The published models read clusters of words, ours with --clusters. A genre has few entities to score in dev: with
--folds, its training part is scored instead, by models that have not seen the documents they are scored on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from common import show

from dovetail import JointParser, Parser, Sentence, Span, Tagger
from dovetail.evaluate import bracket_counts, entity_counts, stratified_shuffling
from dovetail.evaluate.significance import f1_of
from dovetail.features.resources.clusters import Clusters
from dovetail.machines.runs import worked
from dovetail.models.joint.training import entity_feature_set
from dovetail.models.tagging import learn_tags, pos_tagger
from dovetail.text.formats import sentences as read_sentences
from dovetail.text.spans import outermost

PUBLISHED = {  # parse F1 of parser, joint and hierarchical joint model, then entity F1 of tagger, joint, hierarchical
    "ABC": (69.8, 70.3, 74.9, 76.0, 77.8, 83.9),
    "MNB": (63.6, 63.9, 71.4, 57.5, 67.0, 74.9),
    "NBC": (61.8, 61.6, 70.2, 62.4, 65.7, 73.4),
    "PRI": (76.9, 78.3, 78.8, 79.5, 86.2, 84.8),
    "VOA": (77.0, 77.5, 78.8, 82.7, 87.1, 88.3),
}
"""Table 2 of Finkel and Manning 2010: table 5.14 of the thesis, run again on newer data, with one more model."""
HEADER = ["", "sentences", "parse", "joint", "hierarchical", "entities", "joint ", "hierarchical ", "gold", "p", "time"]
Corpus = dict[str, list[Sentence]]


def load(name: str, split: str, longest: int | None) -> Corpus:
    """The sentences of each genre, with trees and flat entities."""
    root = os.environ.get("DOVETAIL_DATA")
    if not root:
        sys.exit("set DOVETAIL_DATA to the folder with the corpora (gum/train.jsonl.gz, ...)")
    path = Path(root) / name / f"{split}.jsonl.gz"
    found: Corpus = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for sentence, line in zip(read_sentences(path), lines, strict=True):
            one = json.loads(line)
            named = one.get("named", [True] * len(one["entities"]))
            spans = outermost([Span(*e) for e, is_named in zip(one["entities"], named, strict=True) if is_named])
            if longest is None or len(sentence) <= longest:
                genre = one.get("domain", name) if name == "gum" else name
                found.setdefault(genre, []).append(replace(sentence, spans=tuple(spans)))
    return found


def word_clusters(path: str) -> dict[str, Clusters]:
    """Clusters of words from a file, by its name."""
    return {Path(path).stem: Clusters.read(path)}


@dataclass
class Counts:
    """Counts of every dev sentence, [sentences, 3]: of brackets and of entities, of each model that has them.

    ``seconds``: processor time of training the parser, the joint model and the hierarchical one.
    """

    brackets: list[np.ndarray]
    entities: list[np.ndarray]
    seconds: list[float]


def tag_entities(
    train: Sequence[Sentence],
    bare: Sequence[Sentence],
    clusters: Mapping[str, Clusters],
    threads: int | None,
    min_documents: int = 1,
) -> list[Sequence[Span]]:
    """The entities of some sentences by a chain, with the features and the predicted tags that joint models have."""
    tagger, tags = learn_tags(lambda: pos_tagger(clusters, threads=threads), train, Parser.folds, lambda what: None)
    tagged = [
        Sentence(s.words, {"pos": t}, document=s.document).with_entities(s.spans)
        for s, t in zip(train, tags, strict=True)
    ]
    features = entity_feature_set(clusters)
    kinds = {"min_documents": min_documents, "consistency": "none", "cross_validate": 0}
    model = Tagger(features=features, threads=threads, **kinds).fit(tagged)
    found = [Sentence(s.words, {"pos": tuple(t)}) for s, t in zip(bare, tagger.predict(bare), strict=True)]
    return [s.spans for s in model.annotate(found)]


def models(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    trees: Sequence[Sentence],
    entities: Sequence[Sentence],
    args: argparse.Namespace,
) -> Counts:
    """Train and score all models of one genre."""
    settings = {
        "iterations": args.iterations,
        "threads": args.threads,
        "clusters": args.clusters,
        "decode": args.decode,
    }
    bare = [replace(s, tree=None, spans=(), layers={}) for s in dev]
    gold = [s.tree for s in dev]
    began = time.process_time()
    kind = "labelled" if args.coupling == "soft" else "grammar"
    parser = Parser(**settings, kind=kind).fit(train)
    seconds = time.process_time() - began
    counts = Counts([bracket_counts(gold, parser.predict(bare))], [], [seconds])
    counts.entities.append(
        entity_counts(
            [s.spans for s in dev], tag_entities(train, bare, args.clusters, args.threads, args.min_documents)
        )
    )
    extras = [{}, {"trees_only": trees, "entities_only": entities}] if args.hierarchical else [{}]
    for extra in extras:
        began = time.process_time()
        made = JointParser(**settings, entity_min_documents=args.min_documents, coupling=args.coupling)
        joint = made.fit(train, **extra)
        counts.seconds.append(time.process_time() - began)
        found = list(joint.annotate(bare, False))
        counts.brackets.append(bracket_counts(gold, [s.tree for s in found]))
        counts.entities.append(entity_counts([s.spans for s in dev], [s.spans for s in found]))
    return counts


def folds(sentences: Sequence[Sentence], parts: int) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """What to train on and what to score, for each part of the documents; all in a part are of other documents."""
    documents = list(dict.fromkeys(s.document for s in sentences))
    if len(documents) < parts:
        sys.exit(f"--folds {parts}: there are {len(documents)} documents")
    part = {document: i % parts for i, document in enumerate(documents)}
    for one in range(parts):
        yield (
            [s for s in sentences if part[s.document] != one],
            [s for s in sentences if part[s.document] == one],
        )


def added(some: Sequence[Counts]) -> Counts:
    """The counts of all sentences, and the time of all models."""
    brackets, entities = (
        [np.concatenate(each) for each in zip(*every, strict=True)]
        for every in ([c.brackets for c in some], [c.entities for c in some])
    )
    return Counts(brackets, entities, np.sum([c.seconds for c in some], axis=0).tolist())


def of_genre(train: Corpus, dev: Corpus, args: argparse.Namespace, genre: str) -> Counts:
    """Train and score all models of one genre, on dev or on parts of its training documents."""
    others = [g for g in sorted(train) if g != genre]
    trees, entities = (
        [s for round_ in zip(*(train[g] for g in others[k::2]), strict=False) for s in round_][: args.others]
        for k in (1, 0)
    )
    own = train[genre][: args.sentences]
    parts = folds(own, args.folds) if args.folds else [(own, dev[genre])]
    return added([models(*part, trees, entities, args) for part in parts])


def numbered_genre(task: tuple[int, str], data: tuple[Corpus, Corpus, argparse.Namespace]) -> tuple[int, Counts]:
    """The counts of a genre, with its number."""
    return task[0], of_genre(*data, task[1])


def of_genres(train: Corpus, dev: Corpus, args: argparse.Namespace, genres: Sequence[str]) -> Iterator[Counts]:
    """The counts of some genres, as many of them at a time as ``args`` say."""
    work = partial(of_genre, train, dev, args)
    if args.ray:
        found = dict(worked(numbered_genre, list(enumerate(genres)), (train, dev, args)))
        yield from (found[number] for number in range(len(genres)))
    elif args.jobs == 1:
        yield from map(work, genres)
    else:
        with ProcessPoolExecutor(args.jobs, get_context("spawn")) as pool:
            yield from pool.map(work, genres)


def figures(counts: Counts) -> list[float | None]:
    """F1 of the columns of the table."""
    both = [[float(f1_of(c.sum(axis=0))) for c in each] for each in (counts.brackets, counts.entities)]
    return [value for each in both for value in [*each, None][:3]]


def significance(everything: Sequence[Counts]) -> str:
    """Differences over all sentences of all genres, with their p-values."""
    lines = []
    for name, per_genre in (
        ("parse", [c.brackets for c in everything]),
        ("entities", [c.entities for c in everything]),
    ):
        pooled = [np.concatenate(each) for each in zip(*per_genre, strict=True)]
        for title, a, b in (("joint against apart", 1, 0), ("hierarchical against joint", 2, 1)):
            if a < len(pooled):
                test = stratified_shuffling(pooled[a], pooled[b])
                lines.append(f"{name}, {title}: {test.difference:+.2f} F1 over all sentences, p = {test.p_value:.4f}")
    return "\n".join(lines)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--corpus", choices=("gum", "genia"), default="gum")
    options.add_argument("--genres", nargs="*", help="which (default: all with fewer than 800 sentences)")
    options.add_argument("--sentences", type=int, default=None, help="at most so many with both (genia: 500)")
    options.add_argument("--others", type=int, default=1000, help="at most so many with trees, and with entities")
    options.add_argument("--no-hierarchical", dest="hierarchical", action="store_false")
    options.add_argument("--split", default="dev", help="which part to score (default: dev)")
    options.add_argument(
        "--folds", type=int, help="cross-validate over so many parts of the training documents instead"
    )
    options.add_argument("--clusters", type=word_clusters, default={}, help="a file of Brown clusters, for all models")
    options.add_argument("--decode", choices=("viterbi", "recall"), help="(default: as the models do by themselves)")
    options.add_argument("--coupling", choices=("grammar", "soft"), default="grammar", help="of the joint models")
    options.add_argument("--min-documents", type=int, default=1, help="of a feature of entities, for all models")
    options.add_argument("--max-length", type=int, help="words of a sentence at most (default: any; published: 40)")
    options.add_argument("--iterations", type=int, default=10)
    options.add_argument("--threads", type=int, default=None)
    options.add_argument("--jobs", type=int, default=1, help="so many genres at a time, each on one thread")
    options.add_argument("--ray", action="store_true", help="share the genres out over a Ray cluster instead")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    args = options.parse_args()
    if args.jobs < 1:
        options.error(f"--jobs {args.jobs}: give 1 or more")
    if args.jobs > 1 or args.ray:
        args.threads = 1
    train, dev = (load(args.corpus, split, args.max_length) for split in ("train", args.split))
    if args.corpus == "genia":  # the first abstracts have both, then come those with trees, then those with entities
        size = args.sentences or 500
        whole = train["genia"]
        train = {"genia": whole[:size], "trees": whole[size::2], "entities": whole[size + 1 :: 2]}
        dev["genia"] = dev["genia"][:500]
    chosen = args.genres or [g for g in sorted(train, key=lambda g: len(train[g])) if g in dev and len(train[g]) < 800]
    rows, everything = [], []
    for genre, counts in zip(chosen, of_genres(train, dev, args, chosen), strict=True):
        everything.append(counts)
        ratio = counts.seconds[1] / counts.seconds[0]
        chance = stratified_shuffling(counts.entities[1], counts.entities[0]).p_value
        size, gold = len(train[genre][: args.sentences]), int(counts.entities[0][:, 0].sum())
        rows.append([genre, size, *figures(counts), gold, chance, ratio])
        print(*rows[-1], *map(round, counts.seconds), file=sys.stderr, flush=True)
    means = [
        float(np.mean(column)) if None not in column else None for column in zip(*(r[2:8] for r in rows), strict=True)
    ]
    rows.append(["mean", None, *means, None, None, float(np.mean([row[-1] for row in rows]))])
    rows += [[f"published, {name}", None, *values, None, None, None] for name, values in PUBLISHED.items()]
    note = (
        f"{significance(everything)}\np: of the difference in entities between joint and apart\n"
        f"time: processor time of training the joint model, in that of the parser\n"
        f"Published: OntoNotes, test parts, with clusters of words; ours: "
        f"{f'{args.folds} parts of train' if args.folds else args.split}."
    )
    show("F1 of trees and of entities", HEADER, rows, note, args.json)
