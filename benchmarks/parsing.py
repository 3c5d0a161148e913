"""dovetail's parser and NLTK's in one run: trees, words a second, memory, where the time goes, how it grows.

    python benchmarks/parsing.py --data $DOVETAIL_DATA/ptb-sample [--sentences 1000] [--parts speed growth] [--json]

- *speed*: the feature-rich parser and a PCFG, trained here and scored as evalb does, on one core; and the stages of
  the first.
- *nltk*: NLTK's ViterbiParser and dovetail's PCFG with the same rules and counts, without pruning, on the same parts of
  speech of a few short sentences; NLTK takes seconds for ten words.
- *growth*: seconds against the length of sentences, and against the size of the grammar.
- *pruning*: F1, search errors and speed by the threshold of the pass that prunes.

Seconds are of processor time on one thread, with compiled loops, as any second run finds them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core is one core

import numpy as np
from peak import peak_memory_mb

from dovetail.evaluate.brackets import bracket_scores
from dovetail.grammars.pcfg import log_probabilities
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.models.parser.estimator import Parser
from dovetail.models.parser.model import ParserModel
from dovetail.structures.grammar import ParseChart, cell_count
from dovetail.text import Sentence
from dovetail.text.formats import sentences
from dovetail.text.tree import Tree

Row = dict[str, Any]
PARTS = ("speed", "nltk", "growth", "pruning")
LENGTHS = (10, 20, 30, 40, 60, 80)
GRAMMARS = ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))  # vertical, horizontal
THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)
PLAIN = {"vertical": 1, "horizontal": 0, "head_tags": False}


def seconds_of(work: Callable[[], Any], times: int = 1) -> float:
    """The least processor time of a few tries."""
    tries = []
    for _ in range(times):
        began = time.process_time()
        work()
        tries.append(time.process_time() - began)
    return min(tries)


def corpus(folder: Path, split: str) -> list[Sentence]:
    """The trees of a part of a corpus: JSON lines or brackets."""
    names = [f"{split}{suffix}{packed}" for suffix in (".jsonl", ".mrg", ".ptb") for packed in ("", ".gz")]
    path = next((folder / name for name in names if (folder / name).exists()), None)
    if path is None:
        sys.exit(f"{folder}: there is none of {', '.join(names)}")
    return [sentence for sentence in sentences(path) if sentence.tree is not None]


def dev_sentences(args: argparse.Namespace) -> list[Sentence]:
    """The sentences that are scored."""
    return [sentence for sentence in corpus(args.data, "dev") if len(sentence) <= args.longest]


def gold(some: Sequence[Sentence]) -> list[Tree]:
    """The right trees."""
    return [sentence.tree for sentence in some if sentence.tree is not None]


def words_in(some: Sequence[Sentence]) -> int:
    """How many words there are."""
    return sum(map(len, some))


# Training and parsing, each in a process of its own, so that its memory is its own.


def run_train(args: argparse.Namespace) -> Row:
    """Train a parser and save it."""
    train = corpus(args.data, "train")[: args.sentences]
    began, clock = time.process_time(), time.perf_counter()
    parser = Parser(features=args.features, iterations=args.iterations, threads=args.threads).fit(train)
    found = {"train_cpu_s": time.process_time() - began, "train_s": time.perf_counter() - clock}
    parser.save(args.model)
    return found | {"train_mb": peak_memory_mb(), "sentences": len(train), **parser.card_}


def run_parse(args: argparse.Namespace) -> Row:
    """Score and time a model on dev."""
    parser, dev = Parser.load(args.model), dev_sentences(args)
    parser.threads = 1
    parser.predict(corpus(args.data, "train")[:100])  # not dev: what is looked up for a word is remembered
    began = time.process_time()
    found = parser.predict(dev)
    seconds = time.process_time() - began
    scores = bracket_scores(gold(dev), found)
    return {
        "f1": scores.f1, "exact": scores.exact, "tagging": scores.tagging, "errors": scores.errors,
        "words": words_in(dev), "words_per_s": words_in(dev) / seconds, "parse_mb": peak_memory_mb(),
    }  # fmt: skip


def apart(what: str, features: str, model: Path, args: argparse.Namespace) -> Row:
    """Run one of these in another process."""
    command = [
        sys.executable, "-W", "ignore", __file__, "--data", str(args.data), "--one", what, "--features", features,
        "--model", str(model), "--sentences", str(args.sentences), "--iterations", str(args.iterations),
        "--longest", str(args.longest), "--threads", str(args.threads),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def measure_speed(models: dict[str, Path], trained: dict[str, Row], args: argparse.Namespace) -> Row:
    """Scores, speed and memory of each model, and the stages of the first."""
    rows = {name: trained[name] | apart("parse", "full", path, args) for name, path in models.items()}
    return {"models": rows, "stages": stages(Parser.load(models["full"]), dev_sentences(args))}


def stages(parser: Parser, dev: Sequence[Sentence]) -> dict[str, float]:
    """The share of each stage of parsing in the time of all."""
    parser.threads = 1
    model = parser._model()
    tagger = model.tagger
    assert tagger is not None
    tagger.set_params(threads=1)
    words = [sentence.words for sentence in dev]
    parser.predict(dev[:5])  # loads the compiled loops
    found: dict[str, float] = {}
    began = time.process_time()

    def done(stage: str) -> None:
        nonlocal began
        found[stage] = time.process_time() - began
        began = time.process_time()

    tags = [tuple(row) for row in tagger.predict(dev)]
    done("tagging")
    lists = model.lists(words, tags)
    done("features")
    masks = [model.mask(w, t) for w, t in zip(words, tags, strict=True)]
    done("pruning")
    charts = [model.chart(*each) for each in zip(lists, masks, words, strict=True)]
    done("scores")
    best = [chart.best() for chart in charts]
    done("chart")
    for tree, row in zip(best, words, strict=True):
        if tree is not None:
            model.treebank.tree(tree, row)
    done("trees")
    whole = sum(found.values())
    return {stage: seconds / whole for stage, seconds in found.items()}


# NLTK


def nltk_grammar(treebank: TreebankGrammar) -> Any:
    """The same rules with the same probabilities; a part of speech is its own only word."""
    from nltk import Nonterminal
    from nltk.grammar import PCFG, ProbabilisticProduction

    g, (binary, unary, root) = treebank.grammar, log_probabilities(treebank)
    names = [Nonterminal(f"{'@' if s.partial else ''}{s.label}") for s in treebank.symbols]
    rules = zip(g.parent, g.left, g.right, np.exp(binary).tolist(), strict=True)
    made = [ProbabilisticProduction(names[a], [names[b], names[c]], prob=p) for a, b, c, p in rules]
    chains = zip(g.unary_parent, g.unary_child, np.exp(unary).tolist(), strict=True)
    made += [ProbabilisticProduction(names[a], [names[b]], prob=p) for a, b, p in chains]
    made += [ProbabilisticProduction(names[t], [treebank.symbols[t].label], prob=1.0) for t in range(g.tags)]
    start = Nonterminal("ROOT")
    tops = zip(names, np.exp(root).tolist(), strict=True)
    made += [ProbabilisticProduction(start, [name], prob=p) for name, p in tops if p > 0]
    return PCFG(start, made)


def chains_of(treebank: TreebankGrammar) -> dict[tuple[str, str], tuple[str, ...]]:
    """The labels between the top of a unary rule and its child: those of the most frequent chain of the two."""
    order = np.argsort(treebank.unary_count, kind="stable")
    child = [treebank.symbols[i].label for i in treebank.grammar.unary_child]
    chains = [tuple(symbol.label for symbol in chain) for chain in treebank.chains]
    return {(chains[u][0], child[u]): chains[u][1:] for u in order}


def from_nltk(tree: Any, words: Sequence[str], chains: dict[tuple[str, str], tuple[str, ...]]) -> Tree:
    """A tree of NLTK's over the words, without partial symbols and with all the nodes of chains."""
    left = iter(words)

    def build(node: Any) -> list[Tree]:
        if isinstance(node[0], str):
            return [Tree(str(node.label()), word=next(left))]
        below = tuple(child for part in node for child in build(part))
        if len(node) == 1:
            for label in reversed(chains.get((str(node.label()), below[0].label), ())):
                below = (Tree(label, below),)
        return list(below) if str(node.label()).startswith("@") else [Tree(str(node.label()), below)]

    return build(tree)[0]


def measure_nltk(args: argparse.Namespace) -> Row:
    """Both on a few short sentences, given their parts of speech."""
    from nltk.parse import ViterbiParser

    train = corpus(args.data, "train")[: args.sentences]
    short = [s for s in corpus(args.data, "dev") if 4 <= len(s) <= args.nltk_words][: args.nltk_sentences]
    ours = Parser(features="generative", tags="given", smoothing=0.0, threshold=0.0, threads=1, **PLAIN).fit(train)
    model = ours._model()
    known = {tag.label for tag in model.treebank.tags}
    given = [s.with_layer("pos", s.tree.tags()) for s in short if s.tree is not None and known >= set(s.tree.tags())]
    theirs, chains = ViterbiParser(nltk_grammar(model.treebank), max_time=None), chains_of(model.treebank)
    rows: dict[str, Row] = {}
    answers: dict[str, list[Tree | None]] = {}

    def note(name: str, parse: Callable[[Sentence], Tree | None], times: int) -> None:
        answers[name] = [parse(sentence) for sentence in given[:1]]
        seconds = seconds_of(lambda: answers.__setitem__(name, [parse(sentence) for sentence in given]), times)
        scores = bracket_scores(gold(given), answers[name])
        rows[name] = {"seconds": seconds, "words_per_s": words_in(given) / seconds, "f1": scores.f1}
        rows[name]["without_tree"] = sum(tree is None for tree in answers[name])

    def by_nltk(sentence: Sentence) -> Tree | None:
        tree = next(theirs.parse(list(sentence.layers["pos"])), None)
        return None if tree is None else from_nltk(tree, sentence.words, chains)

    def exact(sentence: Sentence) -> Tree | None:
        [lists] = model.lists([sentence.words], [sentence.layers["pos"]])
        mask = model.mask(sentence.words, sentence.layers["pos"], -1.0)  # the given tags, and nothing pruned
        best = model.chart(lists, mask, sentence.words).best()
        return None if best is None else Tree("ROOT", (model.treebank.tree(best, sentence.words),))

    note("dovetail, same grammar", exact, 3)
    note("NLTK ViterbiParser", by_nltk, 1)
    return {
        "sentences": len(given),
        "words": words_in(given),
        "rules": model.treebank.grammar.rules + model.treebank.grammar.unaries,
        "runs": rows,
        "ratio": rows["NLTK ViterbiParser"]["seconds"] / rows["dovetail, same grammar"]["seconds"],
        "same": sum(one == other for one, other in zip(*answers.values(), strict=True)),
    }


# Growth


def everything(model: ParserModel, words: int) -> np.ndarray[Any, Any]:
    """A mask that prunes nothing."""
    return np.ones((cell_count(words), model.treebank.grammar.symbols), np.uint8)


def joined_to(length: int, some: Sequence[Sentence], count: int) -> list[tuple[str, ...]]:
    """Texts of just so many words: sentences one after another, cut."""
    everything_there = [word for sentence in some for word in sentence.words]
    step = max(length, (len(everything_there) - length) // count)
    starts = range(0, len(everything_there) - length + 1, step)
    return [tuple(everything_there[k : k + length]) for k in starts][:count]


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The power that the time grows with, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth_with_length(parser: Parser, some: Sequence[Sentence], count: int) -> Row:
    """Milliseconds a sentence of each length, with pruning and without; the power is that from 40 words on."""
    model = parser._model()
    assert model.tagger is not None
    rows = []
    for length in LENGTHS:
        words = joined_to(length, some, count)
        tags = [tuple(row) for row in model.tagger.predict([Sentence(w) for w in words])]
        lists = model.lists(words, tags)

        def pruned(words: Any = words, tags: Any = tags, lists: Any = lists) -> None:
            for each, w, t in zip(lists, words, tags, strict=True):
                model.chart(each, model.mask(w, t), w).best()

        def whole(words: Any = words, lists: Any = lists) -> None:
            for each, w in zip(lists, words, strict=True):
                model.chart(each, everything(model, len(w)), w).best()

        rows.append({"words": length, "ms": seconds_of(pruned, 2) * 1e3 / len(words)})
        rows[-1]["unpruned_ms"] = seconds_of(whole) * 1e3 / len(words)
    long = [row for row in rows if row["words"] >= 40]
    sizes = [row["words"] for row in long]
    return {
        "rows": rows,
        "exponent": exponent(sizes, [row["ms"] for row in long]),
        "unpruned_exponent": exponent(sizes, [row["unpruned_ms"] for row in long]),
    }


def growth_with_rules(train: Sequence[Sentence], some: Sequence[Sentence]) -> Row:
    """Milliseconds a sentence for grammars of more and more annotation, with pruning and without."""
    rows = []
    for vertical, horizontal in GRAMMARS:
        parser = Parser(features="generative", vertical=vertical, horizontal=horizontal, head_tags=False, threads=1)
        model = parser.fit(train)._model()
        ms = {name: _chart_ms(model, some, pruned) for name, pruned in (("ms", True), ("unpruned_ms", False))}
        g = model.treebank.grammar
        rows.append({"vertical": vertical, "horizontal": horizontal, "symbols": g.symbols, "rules": g.rules, **ms})
    sizes = [row["rules"] for row in rows]
    return {
        "rows": rows,
        "exponent": exponent(sizes, [row["ms"] for row in rows]),
        "unpruned_exponent": exponent(sizes, [row["unpruned_ms"] for row in rows]),
    }


def growth_with_subsets(model: ParserModel, some: Sequence[Sentence]) -> Row:
    """Milliseconds a sentence without pruning when rules are taken out of a grammar at random: its symbols stay."""
    rng, rows, grammar = np.random.default_rng(1), [], model.treebank.grammar
    order = rng.permutation(grammar.rules)
    for share in (8, 4, 2, 1):
        kept = np.sort(order[: grammar.rules // share])
        smaller = replace(grammar, parent=grammar.parent[kept], left=grammar.left[kept], right=grammar.right[kept])
        charts = []
        for sentence in some:
            [lists] = model.lists([sentence.words], [("",) * len(sentence)])
            potentials = model.chart(lists, everything(model, len(sentence)), sentence.words).potentials
            fewer = potentials._replace(**{k: getattr(potentials, k)[:, kept] for k in ("begin", "split", "end")})
            charts.append((smaller, fewer))
        ParseChart(*charts[0]).best()
        seconds = seconds_of(lambda charts=charts: [ParseChart(*each).best() for each in charts])
        rows.append({"rules": len(kept), "unpruned_ms": seconds * 1e3 / len(some)})
    pairs = [(row["rules"], row["unpruned_ms"]) for row in rows]
    return {"rows": rows, "exponent": exponent(*zip(*pairs, strict=True))}


def _chart_ms(model: ParserModel, some: Sequence[Sentence], pruned: bool) -> float:
    tags = [("",) * len(sentence) for sentence in some]
    lists = model.lists([sentence.words for sentence in some], tags)

    def work() -> None:
        for each, sentence, tag in zip(lists, some, tags, strict=True):
            mask = model.mask(sentence.words, tag) if pruned else everything(model, len(sentence))
            model.chart(each, mask, sentence.words).best()

    return seconds_of(work, 2 if pruned else 1) * 1e3 / len(some)


def measure_growth(models: dict[str, Path], args: argparse.Namespace) -> Row:
    """Time against the length of sentences and the size of the grammar."""
    train, dev = corpus(args.data, "train")[: args.sentences], corpus(args.data, "dev")
    some = [s for s in dev if 18 <= len(s) <= 22][: args.growth_sentences]
    annotated = Parser(features="generative", threads=1).fit(train)._model()
    return {
        "length": growth_with_length(Parser.load(models["full"]), dev, args.growth_sentences),
        "annotation": growth_with_rules(train, some),
        "subsets": growth_with_subsets(annotated, some),
    }


# Pruning


def measure_pruning(models: dict[str, Path], args: argparse.Namespace) -> list[Row]:
    """What is lost and won by each threshold for constituents; 0 is no pruning.

    Parts of speech are pruned as in training in all of these: the weights of others were never held against anything.
    The last row lets them free too.
    """
    parser, dev = Parser.load(models["full"]), dev_sentences(args)
    parser.threads = 1
    model = parser._model()
    parser.predict(dev)  # so that all rows find the same words remembered
    rows = [_pruned(parser, model, dev, threshold, False) for threshold in THRESHOLDS]
    rows.append(_pruned(parser, model, dev, 0.0, True))
    best = rows[len(THRESHOLDS) - 1]["scores"]
    for row in rows:
        reached = row.pop("scores")
        row["search_errors"] = int(np.sum(reached < best - 1e-6))
    return rows


def _pruned(parser: Parser, model: ParserModel, dev: Sequence[Sentence], threshold: float, free_tags: bool) -> Row:
    """F1 and speed with a threshold, and the score of each sentence's best tree under the model."""
    tags_of = model.treebank.grammar.tags
    masks, looked_at = [], 0.0
    began = time.process_time()
    tags = parser._tags_for(model, dev)
    lists = model.lists([sentence.words for sentence in dev], tags)
    for sentence, known in zip(dev, tags, strict=True):
        masks.append(model.mask(sentence.words, known, threshold or -1.0))
    seconds = time.process_time() - began
    for sentence, known, mask in zip(dev, tags, masks, strict=True):
        if not free_tags:
            mask[:, :tags_of] = model.mask(sentence.words, known)[:, :tags_of]
        looked_at += float(mask.mean())
    began = time.process_time()
    charts = [model.chart(*each) for each in zip(lists, masks, [s.words for s in dev], strict=True)]
    best = [chart.best() for chart in charts]
    seconds += time.process_time() - began
    pairs = list(zip(charts, best, dev, strict=True))
    found = [None if tree is None else Tree("ROOT", (model.treebank.tree(tree, s.words),)) for _, tree, s in pairs]
    scores = bracket_scores(gold(dev), found)
    return {
        "threshold": f"{threshold:g}, any tag" if free_tags else f"{threshold:g}", "f1": scores.f1,
        "errors": scores.errors, "without_tree": scores.skipped, "looked_at": 100 * looked_at / len(dev),
        "words_per_s": words_in(dev) / seconds, "sentences": len(dev),
        "scores": np.array([-np.inf if tree is None else chart.score(tree) for chart, tree, _ in pairs]),
    }  # fmt: skip


# Tables


def table(title: str, rows: Sequence[Row], columns: dict[str, str], note: str = "") -> None:
    """Print some columns of rows; a column's format says how."""
    cells_of = [[f"{row[name]:{form}}" if name in row else "" for name, form in columns.items()] for row in rows]
    texts = [list(columns), *cells_of]
    widths = [max(len(line[i]) for line in texts) for i in range(len(columns))]
    print(f"\n{title}")
    for line in texts:
        cells = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))]
        print("  ".join(cells).rstrip())
    if note:
        print(note)
    sys.stdout.flush()


def show(result: Row) -> None:
    """Everything that was measured, for people."""
    if "speed" in result:
        rows = [{"parser": name} | row for name, row in result["speed"]["models"].items()]
        columns = {
            "parser": "", "sentences": ",d", "train_cpu_s": ".1f", "train_mb": ".0f", "rules": ",d", "f1": ".2f",
            "exact": ".2f", "tagging": ".2f", "errors": "d", "words_per_s": ",.0f", "parse_mb": ".0f",
        }  # fmt: skip
        table("dovetail on dev, one core", rows, columns)
        shares = "; ".join(f"{stage} {share:.0%}" for stage, share in result["speed"]["stages"].items())
        print(f"where the time of the feature-rich parser goes: {shares}")
    if "nltk" in result:
        found = result["nltk"]
        rows = [{"parser": name} | row for name, row in found["runs"].items()]
        table(
            f"given parts of speech: {found['sentences']} sentences, {found['words']} words, {found['rules']:,} rules",
            rows,
            {"parser": "", "seconds": ".4f", "words_per_s": ",.1f", "f1": ".2f", "without_tree": "d"},
            f"NLTK takes {found['ratio']:,.0f} times as long; "
            f"{found['same']} of {found['sentences']} trees are the same",
        )
    if "growth" in result:
        found = result["growth"]
        for name, columns in (
            ("length", {"words": "d", "ms": ".2f", "unpruned_ms": ".2f"}),
            ("annotation", {"vertical": "d", "horizontal": "d", "symbols": ",d", "rules": ",d", "ms": ".2f",
                            "unpruned_ms": ".2f"}),
            ("subsets", {"rules": ",d", "unpruned_ms": ".2f"}),
        ):  # fmt: skip
            part = found[name]
            powers = [f"{key.replace('_', ' ')} {part[key]:.2f}" for key in part if key.endswith("exponent")]
            table(f"growth with {name}, milliseconds a sentence", part["rows"], columns, "; ".join(powers))
    if "pruning" in result:
        columns = {
            "threshold": "", "looked_at": ".1f", "f1": ".2f", "errors": "d", "search_errors": "d", "without_tree": "d",
            "words_per_s": ",.0f",
        }  # fmt: skip
        table("pruning, one core", result["pruning"], columns, f"of {result['pruning'][0]['sentences']} sentences")


def main() -> None:
    """Run, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("DOVETAIL_DATA")
    parser.add_argument("--data", type=Path, default=Path(default) / "ptb-sample" if default else None,
                        help="folder with train and dev, .jsonl or .mrg, .gz too")  # fmt: skip
    parser.add_argument("--sentences", type=int, default=10_000, help="to train on, from the first")
    parser.add_argument("--iterations", type=int, default=8, help="passes of training")
    parser.add_argument("--longest", type=int, default=40, help="score sentences of at most so many words")
    parser.add_argument("--threads", type=int, default=2, help="of training; all else is on one")
    parser.add_argument("--model", type=Path, help="a trained parser; if there is none, it is trained and kept")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--nltk-words", type=int, default=10, help="sentences for NLTK have at most so many words")
    parser.add_argument("--nltk-sentences", type=int, default=8)
    parser.add_argument("--growth-sentences", type=int, default=8, help="of each length and grammar")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--one", choices=["train", "parse"], help=argparse.SUPPRESS)
    parser.add_argument("--features", default="full", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.data is None:
        parser.error("give --data, or set DOVETAIL_DATA")
    if args.one:
        print(json.dumps({"train": run_train, "parse": run_parse}[args.one](args)))
        return
    with tempfile.TemporaryDirectory() as name:
        result = measure(Path(name), args)
    if args.json:
        print(json.dumps(result, indent=2))


def measure(folder: Path, args: argparse.Namespace) -> Row:
    """Train what is needed, and measure what was asked for."""
    models = {"full": args.model or folder / "full.dovetail", "pcfg": folder / "pcfg.dovetail"}
    trained: dict[str, Row] = {"full": {}, "pcfg": {}}
    for kind, features in (("full", "full"), ("pcfg", "generative")):
        if not models[kind].exists() and set(args.parts) - {"nltk"}:
            print(f"training: {kind} ...", file=sys.stderr)
            trained[kind] = apart("train", features, models[kind], args)
    measures: dict[str, Callable[[], Any]] = {
        "speed": lambda: measure_speed(models, trained, args),
        "nltk": lambda: measure_nltk(args),
        "growth": lambda: measure_growth(models, args),
        "pruning": lambda: measure_pruning(models, args),
    }
    result = {}
    for part in args.parts:
        print(f"measuring: {part} ...", file=sys.stderr)
        result[part] = measures[part]()
        if not args.json:
            show({part: result[part]})
    return result


if __name__ == "__main__":
    main()
