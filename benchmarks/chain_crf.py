"""dovetail and python-crfsuite in one run: same sentences, same features, same labels, same L2 penalty.

    python benchmarks/chain_crf.py --data $DOVETAIL_DATA/conll2003-en [--sets plain rich] [--json]

For each feature set: the time to reach the objective that CRFsuite reaches, with one and two threads; peak memory of
training in a process of its own; tokens per second from raw tokens to tags; F1 on dev. With --growth, the time of a
training pass on a quarter, a half and the whole of the corpus.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads are given by hand, not taken by the linear algebra

import numpy as np
from peak import peak_memory_mb

from dovetail import Sentence, read
from dovetail.evaluate import entity_scores
from dovetail.features.algebra.strings import shape as word_shape

if TYPE_CHECKING:
    from dovetail.features.algebra.sets import FeatureSet
    from dovetail.models.tagger.model import ChainTraining

# The rest of dovetail is imported where it is measured, so that the memory of CRFsuite is its own.

RICH = ["bias", "word[-2:3]", "lower[-1:2]", "ngrams(1)[0]", "shape[-2:3]", "pos[-2:3]", "bag(word, 4)",
        "word[-1] & word[0]", "word[0] & word[1]", "pos[-1] & pos[0]", "pos[0] & pos[1]", "shape[-1] & shape[0]",
        "shape[0] & shape[1]"]  # fmt: skip
SETS = ("plain", "rich")


def feature_set(name: str) -> FeatureSet:
    from dovetail.features.algebra.sets import FeatureSet

    return FeatureSet.from_lines("rich", RICH) if name == "rich" else FeatureSet.named(name)


def corpus(folder: Path, split: str) -> list[Sentence]:
    return [s for document in read(folder / f"{split}.conll.gz") for s in document]


# The features for CRFsuite are written as its users write them: strings, made by a loop over tokens.


def shape(word: str, cache: dict[str, str] = {}) -> str:  # noqa: B006
    if word not in cache:
        cache[word] = word_shape(word)
    return cache[word]


def crfsuite_plain(words: tuple[str, ...], pos: tuple[str, ...]) -> list[list[str]]:
    edge = "\x00"
    w = (edge, edge, *words, edge, edge)
    p = (edge, edge, *pos, edge, edge)
    s = [edge, edge, *map(shape, words), edge, edge]
    features = []
    for i in range(2, len(words) + 2):
        word = w[i]
        f = [
            "w-2=" + w[i - 2], "w-1=" + w[i - 1], "w0=" + word, "w+1=" + w[i + 1], "w+2=" + w[i + 2],
            "s-2=" + s[i - 2], "s-1=" + s[i - 1], "s0=" + s[i], "s+1=" + s[i + 1], "s+2=" + s[i + 2],
            "p-2=" + p[i - 2], "p-1=" + p[i - 1], "p0=" + p[i], "p+1=" + p[i + 1], "p+2=" + p[i + 2],
            "l=" + word.lower(),
            "w-1w=" + w[i - 1] + "|" + word, "ww+1=" + word + "|" + w[i + 1],
            "p-1p=" + p[i - 1] + "|" + p[i], "pp+1=" + p[i] + "|" + p[i + 1],
            "s-1s=" + s[i - 1] + "|" + s[i],
        ]  # fmt: skip
        f.extend("suf=" + word[-n:] for n in (2, 3, 4) if len(word) >= n)
        f.extend("pre=" + word[:n] for n in (2, 3) if len(word) >= n)
        features.append(f)
    return features


def crfsuite_rich(words: tuple[str, ...], pos: tuple[str, ...]) -> list[list[str]]:
    edge = "\x00"
    w = (edge, edge, *words, edge, edge)
    p = (edge, edge, *pos, edge, edge)
    s = [edge, edge, *map(shape, words), edge, edge]
    low = [edge, edge, *(x.lower() for x in words), edge, edge]
    features = []
    for i in range(2, len(words) + 2):
        word = w[i]
        f = [
            "bias", "w-2=" + w[i - 2], "w-1=" + w[i - 1], "w0=" + word, "w+1=" + w[i + 1], "w+2=" + w[i + 2],
            "s-2=" + s[i - 2], "s-1=" + s[i - 1], "s0=" + s[i], "s+1=" + s[i + 1], "s+2=" + s[i + 2],
            "p-2=" + p[i - 2], "p-1=" + p[i - 1], "p0=" + p[i], "p+1=" + p[i + 1], "p+2=" + p[i + 2],
            "l-1=" + low[i - 1], "l=" + low[i], "l+1=" + low[i + 1],
            "w-1w=" + w[i - 1] + "|" + word, "ww+1=" + word + "|" + w[i + 1],
            "p-1p=" + p[i - 1] + "|" + p[i], "pp+1=" + p[i] + "|" + p[i + 1],
            "s-1s=" + s[i - 1] + "|" + s[i], "ss+1=" + s[i] + "|" + s[i + 1],
        ]  # fmt: skip
        marked = "\x02" + word[:64] + "\x03"
        n = len(marked)
        f.extend({"#" + marked[a:b] for a in range(n) for b in range(a + 1, n + 1)})
        f.extend({"bl=" + x for x in words[max(i - 6, 0) : i - 2]})
        f.extend({"br=" + x for x in words[i - 1 : i + 3]})
        features.append(f)
    return features


CRFSUITE_FEATURES = {"plain": crfsuite_plain, "rich": crfsuite_rich}


def pos_of(sentence: Sentence) -> tuple[str, ...]:
    return sentence.layers["pos"]


def check_same_features(name: str, sentences: list[Sentence]) -> None:
    """The two ways of writing the features give as many distinct ones, and as many a token."""
    from dovetail.features.compile.named import named_features

    templates = feature_set(name).templates
    ours: set[int] = set()
    theirs: set[str] = set()
    for sentence in sentences[:200]:
        made = CRFSUITE_FEATURES[name](sentence.words, pos_of(sentence))
        for position in range(len(sentence)):
            named = [int(f.key) for t in templates for f in named_features(t, sentence, position)]
            assert len(named) == len(made[position]), (named, made[position])
            ours.update(named)
            theirs.update(made[position])
    assert len(ours) == len(theirs), (len(ours), len(theirs))


# One measurement each, in a process of its own, so that memory is measured alone.


def run_crfsuite(args: argparse.Namespace) -> dict[str, Any]:
    import pycrfsuite

    extract = CRFSUITE_FEATURES[args.set]
    train, dev = corpus(args.data, "train"), corpus(args.data, "dev")
    started = time.perf_counter()
    trainer = pycrfsuite.Trainer(verbose=True)
    objectives: list[float] = []
    times: list[float] = []

    def message(text: str) -> None:
        if text.startswith("Loss:"):
            objectives.append(float(text.split()[1]))
            times.append(time.perf_counter())

    trainer.message = message
    # As its tutorial does it: the features of the corpus, then the trainer. --one streamed hands over one by one.
    features = (extract(s.words, pos_of(s)) for s in train)
    for sentence, made in zip(train, features if args.one == "streamed" else list(features), strict=True):
        trainer.append(made, sentence.layers["ner"])
    del features, made
    featured = time.perf_counter()
    trainer.select("lbfgs")
    trainer.set_params({"c2": args.l2, "max_iterations": args.iterations})
    with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
        trainer.train(file.name)
        trained = time.perf_counter()
        memory = peak_memory_mb()
        tagger = pycrfsuite.Tagger()
        tagger.open(file.name)
        best = float("inf")
        for _ in range(3):
            begin = time.perf_counter()
            predicted = [tagger.tag(extract(s.words, pos_of(s))) for s in dev]
            best = min(best, time.perf_counter() - begin)
    return {
        "objective": min(objectives),
        "iterations": len(objectives),
        "features_s": featured - started,
        "train_s": trained - featured,
        "memory_mb": memory,
        "tokens_per_s": sum(map(len, dev)) / best,
        "f1": entity_scores([s.layers["ner"] for s in dev], predicted).f1,
    }


def run_dovetail(args: argparse.Namespace) -> dict[str, Any]:
    """Train until the objective is that of CRFsuite; the parts are those that ``Tagger.fit`` uses."""
    from dovetail import Tagger
    from dovetail.learning.monitor import Monitor
    from dovetail.learning.optimisers.lbfgs import LBFGS

    train, dev = corpus(args.data, "train"), corpus(args.data, "dev")
    warm_up(train, args)
    started = time.perf_counter()
    training = prepare(train, args)
    compiled = time.perf_counter()
    passes = 0

    def loss(weight: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal passes
        passes += 1
        return training.objective(weight)

    last: list[float] = []
    monitor = Monitor()
    reached = []

    def after_pass(iteration: int, limit: int, objective: float, weights: Any, state: Any) -> bool:
        last.append(objective)
        if objective <= args.target:
            reached.append(iteration)
            return True
        return False

    monitor.after_pass = after_pass  # type: ignore[method-assign]
    start = np.zeros(training.objective.parameters)
    optimiser = LBFGS(limit=args.iterations * 3, tolerance=0.0)
    weight = optimiser.minimise(loss, training.prior, start, monitor, curvature=training.curvature())
    trained = time.perf_counter()
    memory = peak_memory_mb()
    tagger = Tagger(features=feature_set(args.set), consistency="none", threads=args.threads)
    tagger.model_ = training.export(weight)
    raw = [Sentence(s.words, {"pos": pos_of(s)}) for s in dev]
    tagger.predict(raw[:50])
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        predicted = tagger.predict(raw)
        best = min(best, time.perf_counter() - begin)
    return {
        "reached": bool(reached),
        "objective": last[-1],
        "iterations": len(last),
        "passes": passes,
        "features_s": compiled - started,
        "train_s": trained - compiled,
        "memory_mb": memory,
        "tokens_per_s": sum(map(len, dev)) / best,
        "f1": entity_scores([s.layers["ner"] for s in dev], predicted).f1,
        "parameters": training.objective.parameters,
    }


def prepare(train: list[Sentence], args: argparse.Namespace) -> ChainTraining:
    from dovetail.models.tagger.estimator import Tagger

    how = {"l2": args.l2, "min_count": 1, "observed_only": True, "constrain": False, "consistency": "none"}
    tagger = Tagger(**how, threads=args.threads)
    return tagger.prepared(train, feature_set(args.set))


def warm_up(train: list[Sentence], args: argparse.Namespace) -> None:
    """Load the compiled kernels, as any second run finds them."""
    few = train[:100]
    training = prepare(few, args)
    training.objective(np.zeros(training.objective.parameters))


def run_growth(args: argparse.Namespace) -> dict[str, Any]:
    """Seconds of one training pass on a quarter, a half and all of the corpus."""
    train = corpus(args.data, "train")
    warm_up(train, args)
    order = np.random.default_rng(1).permutation(len(train))
    seconds = {}
    for share in (4, 2, 1):
        part = [train[i] for i in order[: len(train) // share]]
        training = prepare(part, args)
        weight = np.zeros(training.objective.parameters)
        training.objective(weight)
        times = []
        for _ in range(15):
            begin = time.perf_counter()
            training.objective(weight)
            times.append(time.perf_counter() - begin)
        seconds[f"1/{share}"] = {"tokens": sum(map(len, part)), "pass_s": float(np.median(times))}
    return seconds


def measure(
    what: str, name: str, threads: int, target: float, args: argparse.Namespace, iterations: int | None = None
) -> dict[str, Any]:
    command = [
        sys.executable, __file__, "--data", str(args.data), "--one", what, "--set", name, "--threads", str(threads),
        "--target", repr(target), "--l2", str(args.l2), "--iterations", str(iterations or args.iterations),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare(name: str, args: argparse.Namespace) -> dict[str, Any]:
    check_same_features(name, corpus(args.data, "train"))
    print(f"{name}: python-crfsuite ...", file=sys.stderr)
    theirs = measure("crfsuite", name, 1, 0.0, args)
    theirs["memory_streamed_mb"] = measure("streamed", name, 1, 0.0, args, iterations=2)["memory_mb"]
    runs = {}
    for threads in (1, 2):
        print(f"{name}: dovetail, {threads} thread(s) ...", file=sys.stderr)
        runs[str(threads)] = measure("dovetail", name, threads, theirs["objective"], args)
    two = runs["2"]
    return {
        "crfsuite": theirs,
        "dovetail": runs,
        "ratios": {
            "train_1_thread": theirs["train_s"] / runs["1"]["train_s"],
            "train_2_threads": theirs["train_s"] / two["train_s"],
            "train_with_features_2_threads": (theirs["train_s"] + theirs["features_s"])
            / (two["train_s"] + two["features_s"]),
            "memory": two["memory_mb"] / theirs["memory_mb"],
            "memory_streamed": two["memory_mb"] / theirs["memory_streamed_mb"],
            "tagging_1_thread": runs["1"]["tokens_per_s"] / theirs["tokens_per_s"],
            "tagging_2_threads": two["tokens_per_s"] / theirs["tokens_per_s"],
        },
    }


def show(name: str, result: dict[str, Any]) -> None:
    print(f"\n{name}")
    header = ("", "features s", "train s", "objective", "passes", "memory MB", "tokens/s", "dev F1")
    rows = [header]
    for label, run in (
        ("python-crfsuite", result["crfsuite"]),
        *((f"dovetail, {k} thread(s)", v) for k, v in result["dovetail"].items()),
    ):
        rows.append((
            label, f"{run['features_s']:.2f}", f"{run['train_s']:.2f}", f"{run['objective']:.1f}",
            str(run.get("passes", run["iterations"])), f"{run['memory_mb']:.0f}", f"{run['tokens_per_s']:,.0f}",
            f"{run['f1']:.2f}",
        ))  # fmt: skip
    widths = [max(len(r[i]) for r in rows) for i in range(len(header))]
    for row in rows:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))))
    for ratio, value in result["ratios"].items():
        print(f"  {ratio}: {value:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("DOVETAIL_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(default) / "conll2003-en" if default else None,
        help="folder with train.conll.gz and dev.conll.gz",
    )
    parser.add_argument("--sets", nargs="+", default=["plain", "rich"], choices=SETS)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--l2", type=float, default=1.0, help="CRFsuite's c2")
    parser.add_argument("--growth", action="store_true", help="also time a pass on 1/4, 1/2 and all of the corpus")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", choices=["crfsuite", "streamed", "dovetail", "growth"], help=argparse.SUPPRESS)
    parser.add_argument("--set", default="plain", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--target", type=float, default=0.0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.data is None:
        parser.error("give --data, or set DOVETAIL_DATA")
    if args.one:
        print(
            json.dumps(
                {"crfsuite": run_crfsuite, "streamed": run_crfsuite, "dovetail": run_dovetail, "growth": run_growth}[
                    args.one
                ](args)
            )
        )
        return
    results: dict[str, Any] = {name: compare(name, args) for name in args.sets}
    if args.growth:
        results["growth"] = {name: measure("growth", name, 2, 0.0, args) for name in args.sets}
    if args.json:
        print(json.dumps(results, indent=2))
        return
    for name in args.sets:
        show(name, results[name])
    for name, sizes in results.get("growth", {}).items():
        print(
            f"\n{name}, one pass, two threads: "
            + "; ".join(f"{v['tokens']:,} tokens {v['pass_s'] * 1000:.1f} ms" for v in sizes.values())
        )


if __name__ == "__main__":
    main()
