"""Finkel 2010, table 6.3: named entities of several domains, each by itself, pooled, augmented, and hierarchical.

The published domains are MUC-6, MUC-7 and CoNLL-2003; ours are CoNLL-2003 (news), UNER EWT (web), WNUT-17 (social
media) and the named entities of GUM (sixteen genres). As there, label sets differ: types that are obviously the same
have one name, all others stay. Of the dev part, every other sentence tunes all models (when to stop, how readily to
answer O, and sigma where it is chosen) and the rest is scored.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from common import corpus, show

from dovetail import Sentence, Span, Tagger
from dovetail.evaluate import entity_counts, entity_scores, stratified_shuffling
from dovetail.models.domains.tagger import MultiDomainTagger

COMMON = {
    "person": "PER", "location": "LOC", "place": "LOC", "organization": "ORG", "corporation": "ORG", "group": "ORG",
}  # fmt: skip
PUBLISHED = {
    "target": (83.29, 75.30, 85.13),
    "all": (84.26, 78.82, 85.38),
    "augment": (85.56, 79.18, 85.57),
    "hierarchical": (86.74, 79.82, 85.69),
}
"""F1 on MUC-6, MUC-7 and CoNLL, the rows with labels restricted to those of the domain."""
Data = dict[str, list[Sentence]]


def gum(split: str) -> list[Sentence]:
    """The named entities of GUM; of nested ones the outermost."""
    sentences = []
    documents: dict[str, int] = {}
    with gzip.open(Path(os.environ["DOVETAIL_DATA"]) / "gum" / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            one = json.loads(line)
            spans: list[Span] = []
            named = [e for e, is_named in zip(one["entities"], one["named"], strict=True) if is_named]
            for start, end, label in sorted(named, key=lambda e: (e[0] - e[1], e[0])):
                if all(end <= s.start or s.end <= start for s in spans):
                    spans.append(Span(start, end, label))
            document = documents.setdefault(one["doc"], len(documents))
            spans.sort(key=lambda s: s.start)
            sentences.append(Sentence(tuple(one["words"]), document=document).with_entities(tuple(spans), "ner"))
    return sentences


def common_names(sentence: Sentence) -> Sentence:
    """The sentence with words and entities alone, their types named as in CoNLL where they are the same."""
    tags = (tag if tag == "O" else tag[:2] + COMMON.get(tag[2:], tag[2:]) for tag in sentence.layers["ner"])
    return Sentence(sentence.words, {"ner": tuple(tags)}, document=sentence.document)


def domains(split: str, limit: int | None) -> Data:
    """The sentences of each domain, ``limit`` at most, taken evenly in whole stretches of 20."""
    found = {
        "news (CoNLL)": corpus("conll2003-en", split),
        "web (EWT)": corpus("uner-en-ewt", split),
        "social (WNUT)": corpus("wnut17", split),
        "genres (GUM)": gum(split),
    }
    return {name: [common_names(s) for s in thinned(sentences, limit)] for name, sentences in found.items()}


def thinned(sentences: Sequence[Sentence], limit: int | None) -> Sequence[Sentence]:
    """About ``limit`` sentences in stretches of 20 from all over a corpus."""
    if limit is None or len(sentences) <= limit:
        return sentences
    every = len(sentences) / limit
    return [s for i, s in enumerate(sentences) if (i // 20) % every < 1][:limit]


def answers(tagger: Tagger, sentences: Sequence[Sentence]) -> tuple[list[Sequence[str]], list[list[str]]]:
    """Right tags and predicted ones."""
    return [s.layers["ner"] for s in sentences], tagger.predict(sentences)


def trained(strategy: str, train: Data, tune: Data, tagger: Tagger, sigma: float | None) -> Mapping[str, Tagger]:
    """The tagger of each domain."""
    if strategy == "target":
        return {n: Tagger(**tagger.get_params()).fit(train[n], dev=tune[n]) for n in train}
    hierarchical = strategy == "hierarchical"
    model = MultiDomainTagger(tagger=tagger, strategy=strategy, sigma=sigma if hierarchical else None)
    model.fit(train, dev=tune)
    print(f"# {strategy}: {model.card_}", flush=True)
    return {name: model.tagger_of(name) for name in train}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="dev", help="which part to tune and score on (default: dev)")
    parser.add_argument("--sentences", type=int, default=None, help="at most so many of each domain to train on")
    parser.add_argument("--features", default="ner", help="a named set of templates (default: ner)")
    parser.add_argument("--l2", type=float, default=Tagger.l2)
    parser.add_argument("--sigma", type=float, default=None, help="fixed, as the published 0.1 (default: by dev)")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    train, held_out = domains("train", args.sentences), domains(args.split, None)
    tune = {name: sentences[::2] for name, sentences in held_out.items()}
    scored = {name: sentences[1::2] for name, sentences in held_out.items()}
    tagger = Tagger(
        features=args.features, consistency="agree", l2=args.l2, iterations=args.iterations, threads=args.threads
    )
    rows, counts = [], {}
    for strategy, published in PUBLISHED.items():
        began = time.perf_counter()
        taggers = trained(strategy, train, tune, tagger, args.sigma)
        scores = []
        for name in train:
            gold, found = answers(taggers[name], scored[name])
            counts[strategy, name] = entity_counts(gold, found)
            scores.append(entity_scores(gold, found).f1)
        print(f"# {strategy}: {scores} in {time.perf_counter() - began:.0f} s", flush=True)
        rows.append([strategy, *published, *scores])
    lines = []
    for baseline in ("target", "all", "augment"):
        tests = [stratified_shuffling(counts["hierarchical", n], counts[baseline, n]) for n in train]
        each = ", ".join(f"{n} {t.difference:+.2f} (p {t.p_value:.3f})" for n, t in zip(train, tests, strict=True))
        lines.append(f"hierarchical less {baseline}: {each}")
    sizes = ", ".join(f"{name} {len(sentences):,}" for name, sentences in train.items())
    show(
        f"Named entities by domain, F1: published test | dovetail, half of {args.split}",
        ["", "MUC-6", "MUC-7", "CoNLL", *train],
        rows,
        "\n".join([f"trained on sentences: {sizes}", *lines]),
        args.json,
    )
