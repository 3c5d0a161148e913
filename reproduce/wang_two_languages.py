"""Wang 2014, tables 5.1 to 5.9 (two taggers that agree) and 6.2 to 6.4 (projected expectations), on PUD.

    python reproduce/wang_two_languages.py --language zh --write zh     # zh/source.txt, zh/target.txt
    dovetail align --source zh/source.txt --target zh/target.txt --probabilities --output zh/links
    python reproduce/wang_two_languages.py --language zh --write zh --table 5
    python reproduce/wang_two_languages.py --language zh --write zh --table 6 --labels 0 100 500

The bitext is followed by the sentences of PUD, on which taggers are scored; expectations are of the bitext alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from common import corpus, data_folder, show

import dovetail
from dovetail import PairTagger, Sentence, Tagger
from dovetail.evaluate.entities import entity_counts
from dovetail.evaluate.significance import paired_bootstrap
from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.hints import Hints
from dovetail.models.pair.projection import project, projected_tags
from dovetail.text.bitext import Link, Pair, read_bitext, read_links

BITEXT = {"zh": "zh-en", "de": "en-de"}
LABELLED = {"zh": "uner-zh-gsdsimp", "de": "germeval2014", "en": "uner-en-ewt"}
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


def write_text(language: str, folder: Path) -> None:
    """What is to be aligned: the bitext and PUD."""
    folder.mkdir(exist_ok=True)
    for side, name in (("en", "source.txt"), (language, "target.txt")):
        path = data_folder() / "bitext" / f"{BITEXT[language]}.{side}.txt.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines, (folder / name).open("w", encoding="utf-8") as out:
            out.writelines(lines)
            out.writelines(" ".join(s.words) + "\n" for s in pud(side))


def read_data(language: str, folder: Path) -> Data:
    """The bitext and PUD, with their links."""
    pairs, links = list(read_bitext(folder / "source.txt", folder / "target.txt")), list(read_links(folder / "links"))
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


ENGINES = ("dual", "ilp", "bp", "gibbs")


def projection(data: Data, args: argparse.Namespace) -> Iterator[list[Any]]:
    """Rows of chapter 6: labelled sentences, with and without expectations of the bitext."""
    english = dovetail.load()
    features = FeatureSet.of("ner")
    if args.english:
        clusters = {n: r for n, r in english._model().features.resources.items() if n in ("brown", "exchange", "fine")}
        features = features.joined(**clusters, english=Hints(english))
    bitext = data.bitext[: args.pairs], data.bitext_links[: args.pairs]
    expected = {how: list(project(english, *bitext, how=how)) for how in ("soft", "hard")}
    many = {"l2": 1.0, "iterations": 80, "features": features, "threads": args.threads}
    train, words = labelled(args.language, "train"), [p.target for p in data.pairs]

    def row(name: str, tagger: Tagger, base: Any = None) -> list[Any]:
        found = tagger.predict(words)
        return [name, *compared(data.target, found, found if base is None else base)]

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
        for how, loss in (("soft", "relative-entropy"), ("soft", "squared"), ("hard", "relative-entropy")):
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
    parser.add_argument("--table", choices=["5", "6"], default=None)
    parser.add_argument("--labels", type=int, nargs="*", default=[0])
    parser.add_argument("--pairs", type=int, default=80_000, help="of the bitext")
    parser.add_argument("--english", action="store_true", help="give taggers English clusters and hints")
    parser.add_argument("--uptrain", type=int, default=0, metavar="N", help="up-train on every Nth pair")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.table is None:
        write_text(args.language, args.write)
    else:
        data, both = read_data(args.language, args.write), ["", "F1", "more", "p"]
        published = "; ".join(f"{name} {zh} and {en}" for name, (zh, en) in FIVE.items())
        if args.table == "5":
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
            show("Projected expectations on PUD", both, list(projection(data, args)), note, args.json)
