"""Wang 2014, tables 5.1 to 5.9 (two taggers that agree) and 6.2 to 6.4 (projected expectations), on PUD.

    python reproduce/wang_two_languages.py --language zh --write zh     # zh/source.txt, zh/target.txt
    dovetail align --source zh/source.txt --target zh/target.txt --probabilities --output zh/links
    python reproduce/wang_two_languages.py --language zh --write zh --table 5
    python reproduce/wang_two_languages.py --language zh --write zh --table 6 --labels 0 100 500

    python reproduce/wang_two_languages.py --language es --write es     # and align as above
    python reproduce/wang_two_languages.py --language es --write es --table 5.3
    python reproduce/wang_two_languages.py --language es --write es --table 6 --pairs 40000 --confusion

The bitext is followed by the sentences of PUD, on which taggers are scored; expectations are of the bitext alone.
PUD has no names in Spanish: there the bitext is followed by English and Spanish sentences with gold links, and taggers
are scored on the dev part of CoNLL-2002.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import corpus, data_folder, show

import dovetail
from dovetail import PairTagger, Sentence, Tagger
from dovetail.evaluate.alignment import alignment_scores
from dovetail.evaluate.entities import entity_counts
from dovetail.evaluate.significance import paired_bootstrap
from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.aligner.hmm import AlignmentHMM
from dovetail.models.hints import Hints
from dovetail.models.pair.projection import confusion_of, project, projected_tags
from dovetail.text.bitext import Link, Pair, read_bitext, read_links

BITEXT = {"zh": "zh-en", "de": "en-de", "es": "en-es"}
LABELLED = {"zh": "uner-zh-gsdsimp", "de": "germeval2014", "en": "uner-en-ewt", "es": "conll2002-es"}
KEPT = ("PER", "LOC", "ORG")
FIVE = {"alone": (68.42, 78.11), "hard": (68.79, 77.25), "soft-label": (73.13, 78.48), "soft-align": (74.19, 78.73)}
"""Table 5.1: F1 of Chinese and English, by integer programs."""


class Data(NamedTuple):
    """A bitext with its links, and the pairs of PUD with theirs and with the right tags."""

    bitext: list[Pair]
    bitext_links: list[list[Link]]
    pairs: list[Pair]
    links: list[list[Link]]
    source: list[tuple[str, ...]]
    target: list[tuple[str, ...]]


def pud(language: str) -> list[Sentence]:
    """The sentences of PUD, dev part, in simplified script where there are two."""
    name = "zh_hans" if language == "zh" else language
    with gzip.open(data_folder() / "pud-parallel" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)[name] for line in lines]
    return [Sentence(tuple(row["tok"]), {"ner": tuple(row["tag"])}) for row in rows]


def gold_pairs() -> list[Pair]:
    """English and Spanish pairs that have gold links."""
    return list(read_bitext(data_folder() / "align-gold" / "enes-dev.src-tgt.txt.gz"))


def write_text(language: str, folder: Path) -> None:
    """What is to be aligned: the bitext and PUD, or pairs with gold links."""
    folder.mkdir(exist_ok=True)
    last = {}
    if language == "es":
        last = dict(zip(("en", "es"), zip(*gold_pairs(), strict=True), strict=True))
    for side, name in (("en", "source.txt"), (language, "target.txt")):
        path = data_folder() / "bitext" / f"{BITEXT[language]}.{side}.txt.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines, (folder / name).open("w", encoding="utf-8") as out:
            out.writelines(lines)
            out.writelines(" ".join(s) + "\n" for s in last.get(side) or [s.words for s in pud(side)])


def read_data(language: str, folder: Path) -> Data:
    """The bitext and PUD, with their links."""
    pairs, links = list(read_bitext(folder / "source.txt", folder / "target.txt")), list(read_links(folder / "links"))
    if language == "es":
        n = len(pairs) - len(gold_pairs())
        return Data(pairs[:n], links[:n], pairs[n:], links[n:], [], [])
    gold = [[s.layers["ner"] for s in pud(name)] for name in ("en", language)]
    n = len(pairs) - len(gold[0])
    return Data(pairs[:n], links[:n], pairs[n:], links[n:], *gold)


def labelled(language: str, split: str) -> list[Sentence]:
    """A corpus with three types; those of GermEval that are parts, derived or others are O."""
    columns = ("word", "ner", "inner") if language == "de" else None
    return [
        Sentence(s.words, {"ner": tuple(t if t[2:] in KEPT else "O" for t in s.layers["ner"])})
        for s in corpus(LABELLED[language], split, columns)
    ]


def supervised(language: str, folder: Path, threads: int | None) -> Tagger:
    """A tagger of default settings, kept in the folder."""
    path = folder / f"{language}.dovetail"
    if not path.exists():
        Tagger(threads=threads).fit(labelled(language, "train"), dev=labelled(language, "dev")).save(path)
    return Tagger.load(path)


def compared(gold: Any, system: Any, baseline: Any) -> list[float]:
    """F1, the difference to a baseline, and its p-value by paired bootstrap."""
    counts, base = (entity_counts(gold, found) for found in (system, baseline))
    found = paired_bootstrap(counts, base)
    total = counts.sum(axis=0)
    return [200.0 * total[2] / max(total[0] + total[1], 1), found.difference, found.p_value]


def agreement(data: Data, language: str, folder: Path, threads: int | None) -> Iterator[list[Any]]:
    """Rows of chapter 5: for a weak and a strong English tagger, kinds of agreement and engines."""
    target = supervised(language, folder, threads)
    for name, source in (("weak", supervised("en", folder, threads)), ("strong", dovetail.load())):
        alone = [t.predict([p[i] for p in data.pairs]) for i, t in enumerate((source, target))]
        yield [f"{name}, alone", *compared(data.target, alone[1], alone[1]), *compared(data.source, alone[0], alone[0])]
        table = None
        for how, engine in (
            ("hard", "dual"),
            ("soft-label", "dual"),
            *(("soft-align", e) for e in ENGINES),
            ("joint", "dual"),
        ):
            both = PairTagger(source=source, target=target, agreement=how, engine=engine)
            table = table or both.count(data.bitext[::4], data.bitext_links[::4]).table_
            both.with_table(table)
            list(both.annotate(data.pairs[:5], data.links[:5]))  # compiled
            began = time.perf_counter()
            found = list(both.annotate(data.pairs, data.links))
            speed = len(found) / (time.perf_counter() - began)
            tags = [[one[i].layers["ner"] for one in found] for i in (0, 1)]
            scores = *compared(data.target, tags[1], alone[1]), *compared(data.source, tags[0], alone[0])
            proved = 100.0 * sum(one.certain for one in found) / len(found)
            yield [f"{name}, {how}, {engine}", *scores, proved, round(speed)]


def with_hmm(pairs: Sequence[Pair], passes: int) -> tuple[AlignmentHMM, AlignmentHMM]:
    """P(target | source) and P(source | target), by IBM model 1 and then the hidden Markov model, exactly."""
    found = []
    for some in (pairs, [Pair(p.target, p.source) for p in pairs]):
        model = AlignmentHMM(kind="ibm1")
        for kind in ("ibm1", "hmm"):
            model = AlignmentHMM(kind=kind, table=model.table, words=model.words)
            for _ in range(passes):
                model.learn(some)
        found.append(model)
    return found[0], found[1]


def lowered(pair: Pair) -> Pair:
    """Without capitals."""
    return Pair(*(tuple(word.lower() for word in side) for side in pair))


def links_and_names(data: Data, args: argparse.Namespace) -> Iterator[list[Any]]:
    """Rows of table 5.3: the error of links of sentences with names, alone and decided on together with the names."""
    target, english = supervised("es", args.write, args.threads), dovetail.load()
    gold = list(read_links(data_folder() / "align-gold" / "enes-dev.gold.txt.gz", first=1))
    named = [i for i, spans in enumerate(english.predict_entities([p.source for p in data.pairs])) if spans]
    pairs, gold = [data.pairs[i] for i in named], [gold[i] for i in named]
    short = [lowered(p) for p in data.bitext if max(map(len, p)) <= args.longest][: args.pairs]
    forth, back = with_hmm([*short, *map(lowered, data.pairs)], args.passes)
    chances = [(forth.posteriors(lowered(p)) + back.posteriors(Pair(*lowered(p)[::-1])).T) / 2 for p in pairs]
    hmm = [[Link(int(i), int(j), float(c[i, j])) for i, j in np.argwhere(c >= 0.05)] for c in chances]
    for name, links in (("HMM", hmm), ("dovetail align", [data.links[i] for i in named])):
        table = PairTagger(source=english, target=target).count(data.bitext[::20], data.bitext_links[::20]).table_
        assert table is not None
        for least in (0.3, 0.4, 0.5):
            yield [
                f"{name}, at least {least}",
                *error(gold, [[k for k in one if k.probability >= least] for one in links]),
            ]
        for engine in ("dual", "bp"):
            both = PairTagger(source=english, target=target, agreement="joint", engine=engine).with_table(table)
            yield [
                f"{name}, together with names, {engine}",
                *error(gold, [one.links for one in both.annotate(pairs, links)]),
            ]


def told(rows: Iterator[list[Any]]) -> Iterator[list[Any]]:
    """Each as soon as it is there: all take long."""
    for row in rows:
        print(*(f"{x:.2f}" if isinstance(x, float) else x for x in row), sep="  ", file=sys.stderr, flush=True)
        yield row


def error(gold: Sequence[Sequence[Link]], found: Sequence[Sequence[Link]]) -> list[float]:
    """Precision, recall and the error rate of links."""
    scores = alignment_scores(gold, found)
    return [scores.precision, scores.recall, scores.error_rate]


ENGINES = ("dual", "ilp", "bp", "gibbs")


def projection(data: Data, args: argparse.Namespace) -> Iterator[list[Any]]:
    """Rows of chapter 6: labelled sentences, with and without expectations of the bitext."""
    english = dovetail.load()
    features = FeatureSet.of("ner")
    if args.english:
        clusters = {n: r for n, r in english._model().features.resources.items() if n in ("brown", "exchange", "fine")}
        features = features.joined(**clusters, english=Hints(english))
    bitext = data.bitext[: args.pairs], data.bitext_links[: args.pairs]
    expected = {how: list(project(english, *bitext, how=how)) for how in args.how if how != "squared"}
    if args.confusion:
        noise = confusion_of(english, labelled("en", "dev"))
        expected["with confusion"] = list(project(english, *bitext, confusion=noise))
    many = {"l2": 1.0, "iterations": 80, "features": features, "threads": args.threads}
    train, words, gold = labelled(args.language, "train"), [p.target for p in data.pairs], data.target
    if args.language == "es":
        own = labelled("es", "dev")
        words, gold = [s.words for s in own], [s.layers["ner"] for s in own]

    def row(name: str, tagger: Tagger, base: Any = None) -> list[Any]:
        found = tagger.predict(words)
        return [name, *compared(gold, found, found if base is None else base)]

    squared = [("soft", "squared")] if "squared" in args.how else []
    for labels in args.labels:
        some = train[:labels]
        if labels:
            alone = Tagger(features=features, threads=args.threads).fit(some)
            base, soft = alone.predict(words), Tagger(**many).fit(some, expectations=expected["soft"])
            yield row(f"{labels} labels", alone)
            yield row(f"{labels} labels, soft", soft, base)
            continue
        tagged = list(projected_tags(english, *bitext))
        plain = Tagger(**many).fit(tagged)
        base = plain.predict(words)
        yield row("no labels, project then train", plain)
        for how, loss in (*((how, "relative-entropy") for how in expected), *squared):
            learnt = Tagger(**many, expectation_loss=loss).fit(expectations=expected[how])
            yield row(f"no labels, {how}, {loss}", learnt, base)
    if args.uptrain:
        target = supervised(args.language, args.write, args.threads)
        both = PairTagger(source=english, target=target).count(bitext[0][::4], bitext[1][::4])
        taught = [two for _, two in both.teach(bitext[0][:: args.uptrain], bitext[1][:: args.uptrain])]
        dev = labelled(args.language, "dev")
        again = Tagger(threads=args.threads).fit(train, dev=dev, expectations=taught)
        yield row("all labels", target)
        yield row("all labels, up-trained", again, target.predict(words))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=list(BITEXT), default="zh")
    parser.add_argument("--write", type=Path, required=True, help="the folder of the text, its links and taggers")
    parser.add_argument("--table", choices=["5", "5.3", "6"], default=None)
    parser.add_argument("--labels", type=int, nargs="*", default=[0])
    parser.add_argument("--pairs", type=int, default=80_000, help="of the bitext")
    parser.add_argument("--english", action="store_true", help="give taggers English clusters and hints")
    parser.add_argument("--uptrain", type=int, default=0, metavar="N", help="up-train on every Nth pair")
    parser.add_argument("--how", nargs="*", choices=["soft", "squared", "hard"], default=["soft", "squared", "hard"])
    parser.add_argument("--confusion", action="store_true", help="expectations with errors of the English tagger, too")
    parser.add_argument("--passes", type=int, default=4, help="of IBM model 1 and of the HMM each, for table 5.3")
    parser.add_argument("--longest", type=int, default=25, help="words of a pair that the HMM learns from")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.table is None:
        write_text(args.language, args.write)
    else:
        data, both = read_data(args.language, args.write), ["", "F1", "more", "p"]
        published = "; ".join(f"{name} {zh} and {en}" for name, (zh, en) in FIVE.items())
        if args.table == "5.3":
            header = ["", "precision", "recall", "error rate"]
            note = (
                "Published, Chinese and English of OntoNotes: HMM 43.62, with names 38.91, with neighbours too 36.33."
            )
            show("Links of sentences with names", header, list(told(links_and_names(data, args))), note, args.json)
        elif args.table == "5":
            rows = [
                [*row, *[None] * (9 - len(row))] for row in agreement(data, args.language, args.write, args.threads)
            ]
            header = [*both, "English F1", "more", "p", "proved %", "pairs/s"]
            show(
                "Agreement on PUD",
                header,
                rows,
                f"Published, Chinese and English of OntoNotes: {published}.",
                args.json,
            )
        else:
            note = (
                "Published: Chinese 64.4 and German 60.0 without labels; 73.4 and 79.2 with all, 70.5 and 78.3 alone."
            )
            show(f"Projected expectations, {args.language}", both, list(told(projection(data, args))), note, args.json)
