"""Wang 2014, tables 5.3 (one graph), 5.4, 5.6, 5.9, 6.1, 6.2, 6.4: samples, documents, times, errors, more bitext.

    python reproduce/wang_two_languages.py --language zh --write zh     # and `dovetail align` as it says
    python reproduce/wang_tables.py --write zh --table 5.4
    python reproduce/wang_tables.py --write zh --table 5.9 --pairs 5000    # and 6.4: the same times
    python reproduce/wang_tables.py --write zh --table 6.2 --amounts 10000 20000
    python reproduce/wang_tables.py --write zh --table 5.3 --language zh --aligner zh-en.dovetail

Table 5.3 takes an aligner that `dovetail align --save` has learnt from the bitext with the pairs of `align-gold`
before, Chinese to English or English to Spanish, and from every fortieth pair of the bitext how types go together.

PUD for OntoNotes, as in `wang_two_languages.py`. Its sentences stand in documents, which table 5.6 needs; the Chinese
training data do not, so that only the English side learns how names agree in them. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import corpus, data_folder, show
from wang_two_languages import LABELLED, Data, compared, error, labelled, read_data, supervised, told

import dovetail
from dovetail import PairTagger, Sentence, Tagger
from dovetail.models.aligner.aligner import TRUST, Aligner
from dovetail.models.pair.projection import project, projected_tags
from dovetail.text.bitext import Link, read_bitext, read_links

Row = list[Any]
FOUR = {100: (72.80, 77.06, 1.64), 200: (72.93, 77.10, 2.85), 300: (72.89, 77.11, 3.82), 400: (73.05, 77.06, 4.98),
        500: (73.08, 77.13, 5.99)}  # fmt: skip
"""Table 5.4: samples, F1 of Chinese and English, seconds a document."""
SIX = {"alone": (68.42, 78.11), "alone, documents": (71.50, 79.90), "soft-align": (73.43, 78.67),
       "soft-align, documents": (74.32, 80.28)}  # fmt: skip
"""Table 5.6, gibbs, with rewards."""
NINE = {"labels alone": (1170, 435), "project, then train": (2042, 765), "ilp": (60127, 17342),
        "gibbs": (11845, 3705), "dual": (3274, 1363), "hard expectations": (5337, 990),
        "soft expectations": (6043, 1131)}  # fmt: skip
"""Tables 5.9 and 6.4: seconds to decode and to train, Chinese (80,000 pairs) and German (40,000)."""
TWO = {0: (70.83, 79.84), 10_000: (72.36, 81.34), 20_000: (72.31, 81.57), 40_000: (72.06, 81.97),
       80_000: (72.38, 81.94)}  # fmt: skip
"""Table 6.2: F1 of Chinese and German on their dev parts with so much bitext."""


def documents(data: Data) -> list[str]:
    """The document of each pair of PUD: the first six characters of its name in Universal Dependencies."""
    with gzip.open(data_folder() / "pud-parallel" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line)["ud_id"][:6] for line in lines]
    assert len(found) == len(data.pairs)
    return found


def of_documents(split: str) -> list[Sentence]:
    """The English labels, each sentence with the document that it is in."""
    given = zip(corpus(LABELLED["en"], split), labelled("en", split), strict=True)
    return [Sentence(own.words, own.layers, document=old.document) for old, own in given]


def clocked(work: Callable[[], Any]) -> tuple[Any, float]:
    """What work gives, and the seconds of the processor that it took."""
    began = time.process_time()
    found = work()
    return found, time.process_time() - began


GOLD = {"zh": ("zhen-dev", ("zh-en.zh", "zh-en.en")), "es": ("enes-dev", ("en-es.en", "en-es.es"))}
"""Pairs with gold links, and the bitext of the same direction."""


def one_graph(args: argparse.Namespace) -> Iterator[Row]:
    """Rows of table 5.3: links of sentences with names, by both directions alone, and in one graph with and without."""
    name, sides = GOLD[args.language]
    folder, english = data_folder(), dovetail.load()
    taggers = (supervised("zh", args.write, args.threads), english)
    if args.language == "es":
        taggers = english, supervised("es", args.write, args.threads)
    pairs = list(read_bitext(folder / "align-gold" / f"{name}.src-tgt.txt.gz"))
    gold = list(read_links(folder / "align-gold" / f"{name}.gold.txt.gz", first=1))
    found = english.predict_entities([pair[taggers.index(english)] for pair in pairs])
    named = [i for i, spans in enumerate(found) if spans]
    pairs, gold = [pairs[i] for i in named], [gold[i] for i in named]
    aligner = Aligner.load(args.aligner, threads=args.threads)
    chains = list(aligner.chains(pairs))
    best = [[{(i, j) for j, i in enumerate(one.best().tolist()) if i < len(pair[side])}
             for side, one in enumerate(both)] for pair, both in zip(pairs, chains, strict=True)]  # fmt: skip
    yield ["HMM, intersection", *error(gold, [[Link(*cell) for cell in f & {(i, j) for j, i in b}] for f, b in best])]
    mean = [TRUST / 2 * sum(both.posteriors()) for both in chains]
    likely = [[Link(int(i), int(j)) for i, j in np.argwhere(p >= aligner.threshold)] for p in mean]
    yield ["HMM, mean probability", *error(gold, likely)]
    yield ["dovetail align", *error(gold, list(aligner.align(pairs)))]
    text = list(read_bitext(*(folder / "bitext" / f"{side}.txt.gz" for side in sides)))[::40]
    table = None
    for engine in ("bp", "dual"):
        for strength in (0.0, 0.5):
            both = PairTagger(source=taggers[0], target=taggers[1], agreement="joint", engine=engine,
                              strength=strength, aligner=aligner)  # fmt: skip
            table = table or both.count(text).table_
            links = [one.links for one in both.with_table(table).annotate(pairs)]
            yield [f"one graph, {'names' if strength else 'no names'}, {engine}", *error(gold, links)]


def samples(data: Data, args: argparse.Namespace) -> Iterator[Row]:
    """Rows of table 5.4: F1 of both sides by so many samples."""
    source, target = supervised("en", args.write, args.threads), supervised("zh", args.write, args.threads)
    table = PairTagger(source=source, target=target).count(data.bitext[::4], data.bitext_links[::4]).table_
    assert table is not None
    for number, published in FOUR.items():
        both = PairTagger(source=source, target=target, engine="gibbs", how={"samples": number}).with_table(table)
        list(both.annotate(data.pairs[:5], data.links[:5]))  # compiled
        found, seconds = clocked(lambda both=both: list(both.annotate(data.pairs, data.links)))
        tags = [[one[i].layers["ner"] for one in found] for i in (0, 1)]
        ours = compared(data.target, tags[1], tags[1])[0], compared(data.source, tags[0], tags[0])[0]
        yield [f"{number} samples", *ours, 1000 * seconds / len(found), *published]


def in_documents(data: Data, args: argparse.Namespace) -> Iterator[Row]:
    """Rows of table 5.6: sentences alone and in their documents, by gibbs."""
    path = args.write / "en-documents.dovetail"
    if not path.exists():
        Tagger(threads=args.threads).fit(of_documents("train"), dev=of_documents("dev")).save(path)
    source, target = Tagger.load(path), supervised("zh", args.write, args.threads)
    both = PairTagger(source=source, target=target, engine="gibbs").count(data.bitext[::4], data.bitext_links[::4])
    for how in ("alone", "soft-align"):
        links = data.links if how == "soft-align" else [[] for _ in data.links]
        for name, where in ((how, None), (f"{how}, documents", documents(data))):
            found = list(both.annotate(data.pairs, links, where))
            tags = [[one[i].layers["ner"] for one in found] for i in (0, 1)]
            ours = compared(data.target, tags[1], tags[1])[0], compared(data.source, tags[0], tags[0])[0]
            yield [name, *ours, *SIX[name]]


def times(data: Data, args: argparse.Namespace) -> Iterator[Row]:
    """Rows of tables 5.9 and 6.4: to tag a bitext, or to project, and to train on it beside the labels."""
    bitext = data.bitext[: args.pairs], data.bitext_links[: args.pairs]
    labels, english = labelled("zh", "train"), dovetail.load()
    few = {"threads": args.threads, "cross_validate": 0, "iterations": 60}

    def trained(expectations: Any = None, more: Any = ()) -> float:
        told = {} if expectations is None else {"expectations": expectations}
        return clocked(lambda: Tagger(**few).fit([*labels, *more], **told))[1]

    yield ["labels alone", None, trained(), *NINE["labels alone"]]
    target = supervised("zh", args.write, args.threads)
    tagged, seconds = clocked(lambda: list(projected_tags(english, *bitext)))
    yield ["project, then train", seconds, trained(more=tagged), *NINE["project, then train"]]
    for how in ("hard", "soft"):
        expected, seconds = clocked(lambda how=how: list(project(english, *bitext, how=how)))
        name = f"{how} expectations"
        yield [name, seconds, trained(expected), *NINE[name]]
    for engine in ("ilp", "gibbs", "dual", "bp"):
        both = PairTagger(source=english, target=target, engine=engine).count(bitext[0][::4], bitext[1][::4])
        agreed, seconds = clocked(lambda both=both: [one.target for one in both.annotate(*bitext)])
        yield [engine, seconds, trained(more=agreed), *NINE.get(engine, (None, None))]


def errors(args: argparse.Namespace) -> Iterator[Row]:
    """Rows of table 6.1: words of the English dev part by their types, right ones in rows, found ones in columns."""
    gold, english = labelled("en", "dev"), supervised("en", args.write, args.threads)
    count = Counter(
        (right[2:] or "O", found[2:] or "O")
        for sentence, tags in zip(gold, english.predict([s.words for s in gold]), strict=True)
        for right, found in zip(sentence.layers["ner"], tags, strict=True)
    )
    for right in TYPES:
        yield [right, *(count[right, found] for found in TYPES)]


TYPES = ("O", "PER", "LOC", "ORG")


def amounts(data: Data, args: argparse.Namespace) -> Iterator[Row]:
    """Rows of table 6.2: all labels, and expectations of so much bitext, on the dev part of the labels' own corpus."""
    labels, dev, english = labelled("zh", "train"), labelled("zh", "dev"), dovetail.load()
    words, gold = [s.words for s in dev], [s.layers["ner"] for s in dev]
    base = None
    for amount in (0, *args.amounts):
        bitext = data.bitext[:amount], data.bitext_links[:amount]
        told = {"expectations": list(project(english, *bitext))} if amount else {}
        more = {"l2": 1.0, "iterations": 80} if amount else {}
        found = Tagger(threads=args.threads, **more).fit(labels, **told).predict(words)
        base = base or found
        yield [f"{amount:,} pairs", *compared(gold, found, base), *TWO.get(amount, (None, None))]


ZH_EN = ["Chinese F1", "English F1"]
PUBLISHED = ["published, Chinese", "published, English"]
TABLES: dict[str, tuple[str, list[str]]] = {
    "5.3": ("Table 5.3, one graph", ["", "precision", "recall", "error rate"]),
    "5.4": ("Table 5.4, samples", ["", *ZH_EN, "ms a pair", *PUBLISHED, "published, s a document"]),
    "5.6": ("Table 5.6, documents", ["", *ZH_EN, *PUBLISHED]),
    "5.9": ("Tables 5.9 and 6.4, seconds", ["", "to tag", "to train", "published, Chinese", "published, German"]),
    "6.1": ("Table 6.1, errors of the English tagger", ["", *TYPES]),
    "6.2": ("Table 6.2, amounts of bitext", ["", "F1", "more", "p", "published, Chinese", "published, German"]),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, required=True, help="the folder of the text, its links and taggers")
    parser.add_argument("--table", choices=list(TABLES), required=True)
    parser.add_argument("--language", choices=["zh", "es"], default="zh", help="for table 5.3")
    parser.add_argument("--aligner", type=Path, help="for table 5.3")
    parser.add_argument("--pairs", type=int, default=5000, help="of the bitext, for table 5.9")
    parser.add_argument("--amounts", type=int, nargs="+", default=[10_000, 20_000, 40_000, 80_000])
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.table in ("5.3", "6.1"):
        rows = errors(args) if args.table == "6.1" else one_graph(args)
    else:
        every = {"5.4": samples, "5.6": in_documents, "5.9": times, "6.2": amounts}
        rows = every[args.table](read_data("zh", args.write), args)
    title, header = TABLES[args.table]
    show(title, header, list(told(rows)), "Published: OntoNotes.", args.json)
