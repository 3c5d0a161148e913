"""Try every command and every estimator once, with nothing installed but what dovetail itself requires.

    python -m venv fresh && fresh/bin/pip install . && fresh/bin/python tools/smoke.py

Tests run where pytest, scipy's friends and matplotlib are at hand, and cannot see what `pip install .` forgets.
This file uses the standard library and dovetail alone, makes its own small corpus, and fails if a command or an
estimator of dovetail is not tried here.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FORBIDDEN = ("pytest", "hypothesis", "mypy", "matplotlib", "sklearn", "nltk", "pycrfsuite", "torch", "fastapi")
NAMES, VERBS, PLACES = ("Ada", "Bela", "Clara", "Dora"), ("saw", "left", "praised"), ("London", "Vienna", "Bern")


def sentences(domain: int = 0) -> Iterator[dict[str, Any]]:
    """Sentences with all layers: ``Ada saw the Bank of London .`` with tree, heads, roles, nested entities."""
    for name, verb, place in itertools.product(NAMES[domain:], VERBS, PLACES):
        yield {
            "words": [name, verb, "the", "Bank", "of", place, "."],
            "pos": ["NNP", "VBD", "DT", "NNP", "IN", "NNP", "."],
            "ner": ["B-PER", "O", "O", "B-ORG", "I-ORG", "I-ORG", "O"],
            "entities": [[0, 1, "PER"], [3, 6, "ORG"], [5, 6, "LOC"]],
            "heads": [1, -1, 3, 1, 5, 3, 1],
            "deprels": ["nsubj", "root", "det", "obj", "case", "nmod", "punct"],
            "tree": f"(S (NP (NNP {name})) (VP (VBD {verb}) (NP (NP (DT the) (NNP Bank)) "
            f"(PP (IN of) (NP (NNP {place}))))) (. .))",
            "frames": [{"predicate": 1, "sense": f"{verb}.01", "arguments": [[0, 1, "ARG0"], [2, 6, "ARG1"]]}],
        }


def write_corpora(folder: Path) -> None:
    """The same corpus in the forms that the commands read."""
    everything = [*sentences()]
    for name, part in (("train", everything), ("dev", everything[::5]), ("other", [*sentences(1)])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(s) + "\n" for s in part))
        rows = ["".join(f"{w}\t{t}\n" for w, t in zip(s["words"], s["ner"], strict=True)) for s in part]
        (folder / f"{name}.conll").write_text("\n".join(rows))
        (folder / f"{name}.mrg").write_text("".join(f"({s['tree']})\n" for s in part))
        (folder / f"{name}.words.txt").write_text("".join(" ".join(s["words"]) + "\n" for s in part))
    (folder / "links.txt").write_text("0-0:0.9 1-1 5-5\n" * len(everything))
    (folder / "pipe.toml").write_text(PIPELINE)
    pairs = [(f"{n} {v} the Bank of {p} .", f"{n} {v} {p} .", n != "Ada") for n in NAMES for v in VERBS for p in PLACES]
    rows = (json.dumps({"text": t, "hypothesis": h, "label": y}) + "\n" for t, h, y in pairs)
    (folder / "pairs.jsonl").write_text("".join(rows))
    (folder / "raw.txt").write_text("".join(" ".join(s["words"]) + "\n" for s in everything))


PIPELINE = """
[[stages]]
name = "heads"
model = "own-tags.dovetail"
unfold = true
"""

# Files are named as they are in the folder; the first word of a line is the exit code that is expected.
COMMANDS = """
0 --version
0 demo --quiet
0 doctor --quiet
0 completion bash
0 annotate "Ada saw London ."
0 info
0 models
0 models english-names
0 models --json --folder .
0 annotate --model english-names "Ada saw London ."
2 annotate --model klingon-names "Ada saw London ."
0 train tagger --train train.conll --dev dev.conll -o tagger.dovetail --iterations 5 --unlabelled raw.txt --quiet
0 train tagger --domain a=train.conll --domain b=other.conll -o domains.dovetail --iterations 5 --quiet
0 train tagger --train train.conll -o online.dovetail --optimiser adagrad --iterations 2 --quiet
0 train segmenter --train train.words.txt --dev dev.words.txt -o segmenter.dovetail --iterations 5 --quiet
0 train segmenter --train train.words.txt -o semi.dovetail --model semi-markov --iterations 2 --quiet
0 train nested --train train.jsonl --dev dev.jsonl -o nested.dovetail --iterations 3 --quiet
0 train parser --train train.mrg --dev dev.mrg -o parser.dovetail --iterations 2 --quiet
0 train parser --domain a=train.mrg --domain b=other.mrg -o parsers.dovetail --iterations 2 --quiet
0 train dependency --train train.jsonl --dev dev.jsonl -o dependency.dovetail --iterations 3 --quiet
0 train dependency --train train.jsonl --predict-tags -o own-tags.dovetail --iterations 2 --quiet
0 train joint --train train.jsonl --dev dev.jsonl -o joint.dovetail --iterations 2 --quiet
0 train roles --train train.jsonl --dev dev.jsonl -o roles.dovetail --iterations 2 --gold-trees --ranked 2 --quiet
0 train joint --train train.jsonl -o soft.dovetail --coupling soft --coupled-training all --iterations 2 --quiet
0 train entailment --train pairs.jsonl --dev pairs.jsonl --parser own-tags.dovetail -o judge.dovetail --quiet
0 train tagger --train train.conll --iterations 2 -o saved.dovetail --save-config saved.toml --quiet
0 train tagger --config saved.toml --iterations 3 --quiet
2 train tagger --config pipe.toml --quiet
0 tune tagger --train train.conll --iterations 2 --candidates 2 -o best.toml --quiet
0 train tagger --config best.toml -o tuned.dovetail --quiet
0 tune segmenter --train train.words.txt --iterations 2 --candidates 2 -o words.toml --quiet
0 tune nested --train train.jsonl --iterations 2 --candidates 2 -o nested.toml --quiet
0 tune dependency --train train.jsonl --iterations 2 --candidates 2 -o dependency.toml --quiet
0 tune parser --train train.mrg --iterations 1 --candidates 2 -o parser.toml --quiet
0 tune joint --train train.jsonl --iterations 1 --candidates 2 -o joint.toml --quiet
0 tune roles --train train.jsonl --iterations 1 --gold-trees --ranked 0 --candidates 2 -o roles.toml --quiet
0 tune entailment --train pairs.jsonl --names none --candidates 2 -o entailment.toml --quiet
0 annotate -m judge.dovetail pairs.jsonl -o judged.jsonl
0 evaluate -m judge.dovetail pairs.jsonl --json
0 explain -m judge.dovetail pairs.jsonl
0 annotate -m tagger.dovetail raw.txt -o tagged.conll
0 annotate -m domains.dovetail --domain a dev.conll -o tagged.jsonl
0 annotate -m segmenter.dovetail raw.txt -o cut.txt
0 annotate -m nested.dovetail dev.jsonl -o nested.jsonl
0 annotate -m parser.dovetail raw.txt -o parsed.mrg
0 annotate -m own-tags.dovetail raw.txt -o parsed.conllu
0 annotate -m joint.dovetail raw.txt -o joint.jsonl
0 pipeline pipe.toml -o pipe.dovetail --samples 5
0 annotate --pipeline pipe.toml raw.txt -o piped.jsonl --strategy kbest
0 annotate -m pipe.dovetail raw.txt -o piped.conllu --samples 5 --seed 2
0 annotate -m parser.dovetail raw.txt -o sampled.mrg --strategy sample --samples 5
0 evaluate --pipeline pipe.toml dev.jsonl --json --strategy greedy
0 evaluate -m tagger.dovetail dev.conll --json
0 evaluate -m segmenter.dovetail dev.words.txt --json
0 evaluate -m nested.dovetail dev.jsonl --json
0 evaluate -m parser.dovetail dev.mrg --json
0 evaluate -m dependency.dovetail dev.jsonl --json
0 evaluate -m joint.dovetail dev.jsonl --json
0 evaluate -m roles.dovetail dev.jsonl --gold-trees --json
0 evaluate --gold dev.conll --predicted dev.conll --json
0 embed raw.txt -o raw.vec --dimensions 3 --min-count 1 --quiet
0 align --source raw.txt --target raw.txt -o raw.links --save al.dovetail --samplers 1 --sweeps 4 --quiet
0 align --source raw.txt --target raw.txt -o again.links --model al.dovetail --quiet
0 evaluate --gold raw.links --predicted again.links
0 align-sentences --source raw.txt --target other.words.txt -o pairs.tmx --languages en,de --quiet
0 align-sentences --source raw.txt --target raw.txt -o a.txt --output-target b.txt --least-translated 0.1 --quiet
0 align-sentences --source raw.txt --target raw.txt -o ab.txt --model al.dovetail --beads beads.tsv --quiet
0 draw-links --source raw.txt --target raw.txt --links raw.links --line 2
0 draw-links --source raw.txt --target raw.txt --links raw.links --line 2 -o links.svg
0 info al.dovetail
2 annotate -m al.dovetail raw.txt
0 train tagger --train train.conll --noise dropout:0.3 --pool random:2 -o noised.dovetail --iterations 3 --quiet
0 train tagger --train train.conll --vectors raw.vec --hidden 4 -o hidden.dovetail --iterations 3 --quiet
0 project --source train.words.txt --target train.words.txt --links links.txt -o expected.jsonl --quiet
0 train tagger --expectations expected.jsonl -o projected.dovetail --iterations 3 --quiet
0 annotate-pair --target-model tagger.dovetail --links links.txt --types LOC=O train.words.txt train.words.txt -q
0 annotate-pair --target-model tagger.dovetail --aligner al.dovetail --agreement joint --types LOC=O raw.txt raw.txt -q
0 pool online.dovetail tagger.dovetail -o pool.dovetail
2 train tagger --train train.conll --encoder lstm -o encoder.dovetail --quiet
0 convert train.jsonl converted.conllup
0 convert converted.conllup converted.csv
0 convert train.conll converted.label-studio.json
2 convert train.conll train.conll
0 info tagger.dovetail
0 info parser.dovetail
0 explain -m tagger.dovetail "Ada saw London ." --token London
0 explain -m parser.dovetail "Ada saw London ." --span 2-3
0 explain -m soft.dovetail "Ada saw London ."
0 select raw.txt -m tagger.dovetail -n 3 -o chosen.conll --quiet
0 simulate --train train.conll --dev dev.conll -o simulation --start 10 --step 5 --until 15 --draws 1 --jobs 1 --quiet
0 curve --train train.conll --dev dev.conll -o curve --sizes 10 --draws 1 --jobs 1 --quiet
0 cluster brown raw.txt -o brown.paths --classes 4 --quiet
0 cluster exchange raw.txt -o exchange.paths --classes 4 --quiet
0 cluster assign brown.paths raw.txt -o assigned.paths --quiet
0 cluster tree brown.paths -o tree.svg
0 label --help
2 label raw.txt
0 serve --help
2 serve -m nothing.dovetail
0 evaluate -m tagger.dovetail dev.conll --html errors.html
0 evaluate -m parser.dovetail dev.mrg --html trees.html
0 annotate -m tagger.dovetail raw.txt -o page.html --k-best 2
2 evaluate -m tagger.dovetail dev.conll --reliability picture.png
"""


def run_commands() -> Iterator[tuple[str, str | None]]:
    """Each command with what is wrong with it, None if nothing is."""
    import shlex

    from dovetail.cli.main import main

    for line in COMMANDS.strip().splitlines():
        expected, _, command = line.partition(" ")
        out, messages = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
            code = main(shlex.split(command))
        messages.seek(0)
        told = messages.read().strip().splitlines()
        yield command, None if code == int(expected) else f"exit code {code}: {told[-1] if told else 'no message'}"


def untried_commands() -> list[str]:
    """Commands that no line above calls."""
    import typer

    from dovetail.cli.app import app

    def leaves(command: Any, name: str) -> Iterator[str]:
        below = getattr(command, "commands", None)
        if below is None:
            yield name
        for key, value in (below or {}).items():
            yield from leaves(value, f"{name} {key}".strip())

    return [name for name in leaves(typer.main.get_command(app), "") if f"\n0 {name} " not in COMMANDS + " "]


def estimators() -> dict[str, Callable[[], Any]]:
    """A trained model of every kind, by the name of its class."""
    import dovetail

    train = [s for d in dovetail.read("train.jsonl") for s in d]
    domains = {"a": train, "b": [s for d in dovetail.read("other.jsonl") for s in d]}
    words = [s.words for s in train]
    return {
        "Tagger": lambda: dovetail.Tagger(iterations=3).fit(train),
        "Segmenter": lambda: dovetail.Segmenter(iterations=3).fit(words),
        "NestedTagger": lambda: dovetail.NestedTagger(iterations=2).fit(train),
        "Parser": lambda: dovetail.Parser(iterations=2).fit(train),
        "DependencyParser": lambda: dovetail.DependencyParser(iterations=2).fit(train),
        "Entailment": lambda: dovetail.Entailment(names="none").fit(list(dovetail.read_pairs("pairs.jsonl"))),
        "JointParser": lambda: dovetail.JointParser(iterations=2).fit(train),
        "RoleLabeller": lambda: dovetail.RoleLabeller(iterations=2, folds=2, gold_trees=True).fit(train),
        "MultiDomainTagger": lambda: dovetail.MultiDomainTagger(tagger=dovetail.Tagger(iterations=2)).fit(domains),
        "MultiDomainParser": lambda: dovetail.MultiDomainParser(parser=dovetail.Parser(iterations=2)).fit(domains),
    }


def try_estimators() -> Iterator[tuple[str, str | None]]:
    """Each estimator with what is wrong with it: it must train, save, load, and answer the same after."""
    import dovetail
    from dovetail.models.base import Estimator

    made = estimators()
    public = {n for n in dovetail.__all__ if isinstance(c := getattr(dovetail, n), type) and issubclass(c, Estimator)}
    for name in sorted(public - made.keys()):
        yield name, "not tried by this smoke test"
    dev = [s for d in dovetail.read("dev.jsonl") for s in d]
    for name, make in made.items():
        try:
            model = make()
            model.save("again.dovetail")
            given: list[Any] = ["".join(s.words) for s in dev] if name == "Segmenter" else dev
            given = list(dovetail.read_pairs("pairs.jsonl")) if name == "Entailment" else given
            same = model.predict(given) == dovetail.load("again.dovetail").predict(given)
            yield name, None if same else "answers differ after saving and loading"
        except Exception as error:
            yield name, f"{type(error).__name__}: {error}"


def main() -> None:
    """Try everything in a temporary folder; exit code 1 if anything is wrong."""
    foreign = [name for name in FORBIDDEN if find_spec(name)]
    if foreign and "--anyway" not in sys.argv:
        sys.exit(f"{', '.join(foreign)} installed: make an environment with 'pip install .' alone, or add --anyway")
    wrong = 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_corpora(Path(folder))
        untried = ((name, "not tried by this smoke test") for name in untried_commands())
        for name, problem in itertools.chain(untried, run_commands(), try_estimators()):
            wrong += problem is not None
            verdict = "ok   " if problem is None else "WRONG"
            print(f"{time.perf_counter() - began:6.1f} s  {verdict}  {name}", flush=True)
            if problem is not None:
                print(f"          {problem}", flush=True)
        os.chdir("/")
    print(f"{wrong} wrong" if wrong else "everything works with the runtime dependencies alone")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
