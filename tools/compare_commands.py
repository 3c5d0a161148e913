"""The command lines whose transcripts ``tools/compare.py`` compares, on made-up files, with all settings written out.

A line is the expected exit code and the arguments of ``dovetail``. ``{name}`` stands for a group of settings in full,
so that a changed default is not reported as a changed answer; ``< FILE`` is standard input. Lines run in order in one
folder, and read what earlier lines have written.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from compare_run import MAX_FAILURE_CHARS, Part, run_command_line, run_forked

MODELS = Path(__file__).resolve().parents[1] / "tests" / "data" / "models"
"""Small models of most kinds, which ``JSON_LINES`` and the servers read."""

COMMON = "--encoding utf-8 --seed 1 --threads 1"
LEARNING = f"{COMMON} --loss likelihood"
NETWORK = "--hidden 0 --activation tanh --hidden-inputs all --encoder-size 100 --dropout 0.4"
TUNING = "--pool-weights uniform --selection 0.1 --cross-validate 0 --balance --calibrate"
SETTINGS = {
    "tagger": f"{LEARNING} {NETWORK} {TUNING} --target ner --features ner --order 1 --scheme iob2 --predict-layers "
    "--min-count 2 --min-documents 1 --optimiser lbfgs --l2 0.1 --l1 0 --iterations 5 --consistency graph --engine bp "
    "--expectation-loss relative-entropy --expectation-weight 1",
    "stop": "--patience 5",
    "online": "--optimiser adagrad --iterations 2 --batch 8 --gain 0.1",
    "words": f"{LEARNING} {NETWORK} {TUNING} --model markov --features words --order 1 --scheme iobes --min-count 1 "
    "--normalise-width --optimiser lbfgs --l2 0.1 --l1 0 --iterations 4 --consistency none --engine bp "
    "--predict-layers",
    "segments": f"{LEARNING} {NETWORK} {TUNING} --target ner --model semi-markov --order 1 "
    "--scheme iobes --normalise-width --features ner-spans --longest 4 "
    "--min-count 2 --optimiser lbfgs --l2 0.1 --l1 0 --iterations 4 --consistency none --engine bp "
    "--predict-layers",
    "nested": f"{LEARNING} {NETWORK} {TUNING} --target ner --pos given --predict-layers --min-count 2 --longest 6 "
    "--optimiser adagrad --l2 4 --l1 0 --iterations 3 --batch 8 --gain 0.1 --agree",
    "parser": f"{LEARNING} --kind grammar --features full --tags predicted --vertical 2 --horizontal 1 "
    "--branching right --head-tags --relax 1000 --unaries joined --threshold 0.0001 --decode recall --min-count 1 "
    "--optimiser adagrad --l2 1 --iterations 2 --batch 8 --gain 0.1 --cross-validate 0 "
    "--encoder-size 100 --dropout 0.4",
    "dependency": f"{LEARNING} --tags pos --predict-layers --relations --threshold 0.0001 --decode expected "
    "--min-count 2 --bits 12 --optimiser lbfgs --l2 3 --iterations 3 --cross-validate 0 --calibrate "
    "--encoder-size 100 --dropout 0.4",
    "joint": f"{COMMON} --tags predicted --decode viterbi --min-documents 1 --optimiser adagrad --l2 1 --iterations 2 "
    "--batch 8 --gain 0.1 --balance --coupled-training couplings",
    "roles": f"{LEARNING} --gold-trees --reach 4 --least 0.25 --folds 2 --min-count 2 --optimiser adagrad --l2 1 "
    "--iterations 2 --batch 16 --gain 0.1",
    "entailment": f"{LEARNING} --samples 0 --optimiser lbfgs --l2 15 --iterations 9 --calibrate",
    "aligner": "--lowercase --parts 0.8 --prior 0.0003 --null 0.2 --fertility 0.5 --agreement 3 --jump-classes 64 "
    "--samplers 2 --sweeps 4 --seed 1 --threads 1 --threshold 0.44 --symmetrise soft --encoding utf-8",
    "reading": "--input-format text --lines auto --encoding utf-8 --threads 1",
    "curve": "--draws 1 --jobs 1 --seed 1 --tune --quiet",
    "defaults": "features=plain,order=1,optimiser=lbfgs,l2=0.1,iterations=3,min_count=1,consistency=none,seed=1,"
    "threads=1",
    "clusters": "--encoding utf-8 --min-count 1 --threads 1",
}

HELP = """
0 --help
0 --version
0
0 annotate --help
0 evaluate --help
0 pipeline --help
0 pool --help
0 explain --help
0 info --help
0 models --help
0 demo --help
0 select --help
0 label --help
0 simulate --help
0 curve --help
0 project --help
0 annotate-pair --help
0 convert --help
0 doctor --help
0 completion --help
0 embed --help
0 align --help
0 align-sentences --help
0 draw-links --help
0 serve --help
0 train --help
0 train tagger --help
0 train segmenter --help
0 train nested --help
0 train parser --help
0 train joint --help
0 train dependency --help
0 train roles --help
0 train entailment --help
0 tune --help
0 tune tagger --help
0 tune segmenter --help
0 tune nested --help
0 tune parser --help
0 tune joint --help
0 tune dependency --help
0 tune roles --help
0 tune entailment --help
0 cluster --help
0 cluster brown --help
0 cluster exchange --help
0 cluster assign --help
0 cluster tree --help
0 completion bash
0 completion zsh
0 completion fish
"""

FORMATS = """
0 convert train.jsonl train.conllu
0 convert train.jsonl train.conllup
0 convert train.jsonl train.csv
0 convert train.jsonl inception --to webanno
0 convert train.jsonl train.prodigy.jsonl
0 convert train.jsonl train.doccano.jsonl
0 convert train.jsonl train.label-studio.json
0 convert train.jsonl train.brat --to brat
0 convert train.jsonl train.brackets
0 convert train.jsonl train.tsv --to conll
0 convert train.jsonl train.conll.gz
0 convert train.jsonl train.parquet
0 convert train.jsonl train.spacy
0 convert raw.txt text.jsonl --lines sentences --tokenised
0 convert notes.txt notes.jsonl --lines auto
0 convert notes.txt notes.conll --lines paragraphs
0 convert latin.conll latin.jsonl --encoding latin-1 --columns word,ner
0 convert train.conllu from-conllu.jsonl
0 convert train.conllup from-conllup.jsonl
0 convert train.csv from-csv.jsonl
0 convert inception from-webanno.jsonl --from webanno
0 convert train.prodigy.jsonl from-prodigy.jsonl --from prodigy
0 convert train.doccano.jsonl from-doccano.jsonl --from doccano
0 convert train.label-studio.json from-label-studio.jsonl
0 convert train.brat from-brat.jsonl --from brat
0 convert train.parquet from-parquet.jsonl
0 convert train.spacy from-spacy.jsonl
0 convert - - --from conll --to jsonl < train.conll
"""

TRAINING = """
0 train tagger {tagger} --train train.conll --dev dev.conll {stop} -o tagger.dovetail --unlabelled raw.txt \
    --save-clusters own
0 train tagger {tagger} {online} --train train.conll -o online.dovetail --save-config saved.toml --quiet
0 train tagger {tagger} --train train.conll -o compact.dovetail --compact --quiet
0 train tagger --config saved.toml --half -o half.dovetail --quiet
0 train tagger {tagger} --domain a=train.conll --domain b=other.conll --strategy hierarchical --sigma 0.3 --restrict \
    -o domains.dovetail
0 train tagger {tagger} --train train.conll --lexicon place=places.txt --clusters own --association raw.txt -o \
    rich.dovetail --order 2
0 train tagger {tagger} --train train.conll --noise dropout:0.3 --pool random:2 -o noised.dovetail --iterations 3
0 train tagger {tagger} --train train.conll --select-templates --hints first=tagger.dovetail -o hinted.dovetail --quiet
0 embed raw.txt -o raw.vec --dimensions 3 --window 2 --min-count 1 --contexts 100 --shift 1 --seed 0 --threads 1
0 train tagger {tagger} --train train.conll --vectors raw.vec --hidden 4 -o hidden.dovetail --iterations 3
0 train segmenter {words} --train train.words.txt --dev dev.words.txt {stop} -o words.dovetail
0 train segmenter {segments} --train train.conll --input-format conll --columns word,ner -o segments.dovetail
0 train nested {nested} --train train.jsonl --dev dev.jsonl {stop} -o nested.dovetail
0 train parser {parser} --train train.mrg --dev dev.mrg {stop} -o parser.dovetail
0 train parser {parser} --domain a=train.mrg --domain b=other.mrg --strategy hierarchical --sigma 0.3 -o \
    parsers.dovetail --quiet
0 train dependency {dependency} --train train.jsonl --dev dev.jsonl {stop} --no-predict-layers -o dependency.dovetail
0 train dependency {dependency} --train train.jsonl --predict-tags -o own-tags.dovetail
0 train joint {joint} --coupling grammar --trees-only other.jsonl --sigma 0.3 --train train.jsonl --dev dev.jsonl \
    {stop} -o joint.dovetail
0 train joint {joint} --coupling soft --train train.jsonl -o soft.dovetail --quiet
0 train roles {roles} --ranked 2 --train train.jsonl --dev dev.jsonl {stop} -o roles.dovetail
0 train entailment {entailment} --names none --parser own-tags.dovetail --train pairs.jsonl --dev pairs.jsonl \
    {stop} -o judge.dovetail
0 tune tagger {tagger} --train train.conll --features plain --iterations 2 --candidates 2 --jobs 1 -o best.toml --quiet
0 pool online.dovetail half.dovetail --weights learnt --dev dev.conll --threads 1 -o pool.dovetail
0 pipeline pipe.toml -o pipe.dovetail --strategy sample --samples 5 --seed 1 --threads 1
0 curve {curve} --train train.conll --dev dev.conll -o curve --sizes 10 --config plain={defaults}
0 simulate {curve} --train train.conll --dev dev.conll -o simulation --start 10 --step 5 --until 15 --by margin \
    --discount 0 --diversity 0 --settings {defaults}
"""

USE = """
0 annotate "Ada Lovelace left London."
0 annotate -m german-names "Ada zog nach Wien." --output-format jsonl
0 annotate -m tagger.dovetail {reading} raw.txt -o tagged.conll
0 annotate -m tagger.dovetail {reading} raw.txt -o tagged.jsonl --k-best 3 --marginals
0 annotate -m tagger.dovetail {reading} raw.txt -o page.html --k-best 2
0 annotate -m tagger.dovetail {reading} notes.txt -o notes.conllu --threshold 0.5
0 annotate -m tagger.dovetail {reading} notes.txt --documents --output-format jsonl
0 annotate -m tagger.dovetail "Ada saw the Bank of Rome ." --output-format pretty
0 annotate -m tagger.dovetail --input-format text --output-format label-studio - < notes.txt
0 annotate -m domains.dovetail --domain a dev.conll -o of-domain.jsonl
0 annotate -m words.dovetail {reading} glued.txt -o cut.txt
0 annotate -m segments.dovetail {reading} raw.txt -o segments.jsonl --k-best 2
0 annotate -m nested.dovetail dev.jsonl -o nested.jsonl --k-best 2
0 annotate -m parser.dovetail {reading} raw.txt -o parsed.mrg
0 annotate -m parser.dovetail {reading} raw.txt -o trees.svg
0 annotate -m parser.dovetail {reading} raw.txt -o sampled.mrg --strategy sample --samples 5 --seed 1
0 annotate -m own-tags.dovetail {reading} raw.txt -o parsed.conllu
0 annotate -m joint.dovetail {reading} raw.txt -o joint.jsonl
0 annotate -m soft.dovetail {reading} raw.txt -o soft.jsonl
0 annotate -m roles.dovetail dev.jsonl -o roles.jsonl
0 annotate -m judge.dovetail pairs.jsonl -o judged.jsonl
0 annotate -m pipe.dovetail {reading} raw.txt -o piped.conllu --samples 5 --seed 2 --strategy sample
0 annotate --pipeline pipe.toml {reading} raw.txt -o piped.jsonl --strategy kbest
0 annotate -m pool.dovetail {reading} raw.txt --output-format csv
0 evaluate -m tagger.dovetail dev.conll --threads 1
0 evaluate -m tagger.dovetail dev.conll --threads 1 --conlleval
0 evaluate -m tagger.dovetail dev.conll --threads 1 --html errors.html --reliability reliability.svg
0 evaluate -m parser.dovetail dev.mrg --threads 1 --html trees.html
0 evaluate -m words.dovetail dev.words.txt --threads 1
0 evaluate -m dependency.dovetail dev.jsonl --threads 1
0 evaluate -m roles.dovetail dev.jsonl --gold-trees --threads 1
0 evaluate --gold dev.conll --predicted wrong.conll --compare dev.conll
0 explain -m tagger.dovetail "Ada saw Oslo ." --token Oslo --top 5
0 explain -m parser.dovetail "Ada saw the Bank of Bern ." --span 3-4 --top 5
0 explain -m soft.dovetail "Ada saw Oslo ." --top 5
0 explain -m judge.dovetail pairs.jsonl --top 3
0 info tagger.dovetail
0 info parser.dovetail
0 info pipe.dovetail
0 models
0 models english-names
0 select raw.txt -m tagger.dovetail -n 3 --by token-entropy --discount 0.5 --diversity 0.5 --seed 1 \
    --threads 1 -o chosen.conll
0 doctor --no-speed
0 demo --threads 1 --quiet
0 cluster brown {clusters} raw.txt -o brown.paths --classes 4
0 cluster exchange {clusters} raw.txt -o exchange.paths --classes 4 --morphology 1 --iterations 30 --seed 0
0 cluster assign --encoding utf-8 --min-count 1 brown.paths notes.txt -o assigned.paths
0 cluster tree brown.paths -o tree.svg --depth 5 --words 6
"""

TWO_LANGUAGES = """
0 align {aligner} --source source.txt --target target.txt -o both.links --save al.dovetail
0 align --source source.txt --target target.txt --model al.dovetail -o again.links --probabilities --threads 1
0 evaluate --gold both.links --predicted again.links --gold-first 0
0 draw-links --source source.txt --target target.txt --links both.links --line 2 --first 0
0 draw-links --source source.txt --target target.txt --links both.links --line 2 --first 0 -o links.svg
0 align-sentences --source source.txt --target shorter.txt -o pairs.tmx --languages en,de --least-confidence 0.5 \
    --least-translated 0
0 align-sentences --source source.txt --target shorter.txt -o both.txt --model al.dovetail --beads beads.tsv \
    --least-confidence 0.5 --least-translated 0.1
0 project --source source.txt --target target.txt --links links.txt --source-model tagger.dovetail --how soft \
    --nameless 0.3 --types ORG=O -o expected.jsonl
0 train tagger {tagger} --expectations expected.jsonl -o projected.dovetail --iterations 3
0 annotate-pair --source-model tagger.dovetail --target-model projected.dovetail --links links.txt \
    --agreement soft-align --strength 0.5 --engine dual --types ORG=O source.txt target.txt -o pair.jsonl \
    --save-table table.json --changes-output changes.txt
0 annotate-pair --source-model tagger.dovetail --target-model projected.dovetail --aligner al.dovetail \
    --agreement joint --strength 0.5 --engine dual --types ORG=O source.txt target.txt --source-output s.conll \
    --target-output t.conll --links-output joint.links
"""

WRONG = """
2 annotate -m nothing.dovetail "Ada slept."
2 annotate -m klingon-names "Ada slept."
2 annotate -m broken.dovetail "Ada slept."
2 annotate -m dependency.dovetail "Ada slept."
2 annotate -m al.dovetail raw.txt
2 annotate raw.txt --k-best 0
2 annotate -m tagger.dovetail raw.txt -o no/such/folder.conll
2 annotate one two
2 anotate "Ada slept."
2 evaluate -m tagger.dovetail empty.conll
2 evaluate --gold dev.conll
2 evaluate --gold dev.conll --predicted train.conll
2 explain -m nested.dovetail "Ada slept."
2 explain -m models/dependency-tags.dovetail.gz "Ada wrote" --top 3 --json
2 train tagger --train train.conll
2 train tagger --train nothing.conll -o m.dovetail
2 train tagger --train empty.conll -o m.dovetail --quiet
2 train tagger --train ragged.conll -o m.dovetail --quiet
2 train tagger --train train.conll -o train.conll
2 train tagger --train train.conll -o m.dovetail --order 7
2 train tagger --train train.conll -o m.dovetail --optimizer adam
2 train tagger --train train.conll -o m.dovetail --loss perceptron --optimiser lbfgs --quiet
2 train tagger --train train.conll -o m.dovetail --features nonsense --quiet
2 train tagger --config pipe.toml --quiet
2 train parser --train train.conll -o m.dovetail --quiet
2 tune tagger --train train.conll --candidates 1 -o best.toml
2 convert train.conll train.conll
2 convert train.conll train.odd
2 convert twisted.mrg twisted.jsonl
2 cluster brown empty.conll -o m.paths
2 completion tcsh
2 label raw.txt
2 serve -m nothing.dovetail
2 serve --port 70000
2 draw-links --source source.txt --target shorter.txt --links both.links
2 pool online.dovetail nested.dovetail -o m.dovetail
"""

JSON_LINES = """
0 info --json
0 models --json
0 models --json --folder models
0 doctor --no-speed --json
0 info models/tagger.dovetail --json
0 info models/tagger-compact.dovetail --json
0 info models/tagger-edges.dovetail --json
0 info models/domains.dovetail --json
0 info models/words.dovetail --json
0 info models/segments.dovetail --json
0 info models/segments-markov.dovetail --json
0 info models/nested.dovetail --json
0 info models/nested-tags.dovetail --json
0 info models/parser.dovetail --json
0 info models/domains-parser.dovetail --json
0 info models/joint.dovetail --json
0 info models/dependency.dovetail.gz --json
0 info models/domains-dependency.dovetail.gz --json
0 explain -m models/tagger.dovetail "Ada saw Oslo ." --token 1 --top 3 --json
0 explain -m models/tagger-edges.dovetail "Ada saw Oslo ." --token Oslo --top 3 --json
0 explain -m models/parser.dovetail "Ada slept" --span 1-2 --top 3 --json
0 evaluate -m models/tagger.dovetail dev.conll --threads 1 --json
0 evaluate -m models/segments-markov.dovetail dev.conll --threads 1 --json
0 evaluate -m models/domains.dovetail dev.conll --threads 1 --json
0 evaluate -m models/words.dovetail dev.words.txt --threads 1 --json
0 evaluate -m models/nested.dovetail dev.jsonl --threads 1 --json
0 evaluate -m models/parser.dovetail dev.mrg --threads 1 --json
0 evaluate -m models/joint.dovetail dev.jsonl --threads 1 --json
0 evaluate -m models/dependency.dovetail.gz dev.jsonl --threads 1 --json
0 evaluate --gold dev.conll --predicted wrong.conll --compare dev.conll --json
0 evaluate --gold given.links --predicted other.links --gold-first 0 --json
0 train entailment {entailment} --names none --train pairs.jsonl -o judge.dovetail --quiet
0 info judge.dovetail --json
0 explain -m judge.dovetail pairs.jsonl --top 3 --json
0 evaluate -m judge.dovetail pairs.jsonl --json
0 train roles {roles} --ranked 2 --train train.jsonl -o roles.dovetail --quiet
0 info roles.dovetail --json
0 explain -m roles.dovetail dev.jsonl --token 2 --top 3 --json
0 evaluate -m roles.dovetail dev.jsonl --gold-trees --threads 1 --json
0 align {aligner} --source source.txt --target target.txt -o both.links --save al.dovetail --quiet
0 info al.dovetail --json
"""

NOTES = """Ada Lovelace left London. She saw the Bank of Vienna there, didn't she?
She praised it.

Dora: "Bern is far," she said
on Monday, Jan. 3rd...
"""

GROUPS = {
    "help": HELP, "formats": FORMATS, "training": TRAINING, "use": USE, "two-languages": TWO_LANGUAGES, "wrong": WRONG,
}  # fmt: skip
"""Lines by the name of their part; all parts share one folder."""


def list_command_parts() -> Iterator[Part]:
    """Yield the parts whose results are transcripts."""
    for name, lines in GROUPS.items():
        yield Part(f"commands/{name}", partial(write_transcripts, lines=lines, work="../work"))
    yield Part("json/all", partial(write_transcripts, lines=JSON_LINES, work="work"))


def write_files(folder: Path) -> None:
    """Write the made-up files that the lines read: corpora, a text and its translation, and files that are wrong."""
    from smoke import PIPELINE
    from variations import make_pairs, make_records, translate_records, write_raw_text

    for name, rows in (("train", make_records(36, 1)), ("dev", make_records(10, 2)), ("other", make_records(27, 3))):
        tagged = [{**row, "ner": tag_outermost_entities(row)} for row in rows]
        columns = ["".join(f"{w}\t{t}\n" for w, t in zip(row["words"], row["ner"], strict=True)) for row in tagged]
        write_lines(folder / f"{name}.jsonl", map(json.dumps, tagged))
        write_lines(folder / f"{name}.conll", columns)
        write_lines(folder / f"{name}.mrg", (f"({row['tree']})" for row in rows))
        write_lines(folder / f"{name}.words.txt", (" ".join(row["words"]) for row in rows))
    write_raw_text(folder / "raw.txt", 40)
    source, target, links = translate_records(24, 1)
    bitext = {"source.txt": source, "target.txt": target, "links.txt": links, "shorter.txt": target[:9] + target[12:]}
    for name, lines in bitext.items():
        write_lines(folder / name, lines)
    fields = ("text", "hypothesis", "label", "task")
    judged = [{name: getattr(pair, name) for name in fields} for pair in make_pairs(24, 1)]
    write_lines(folder / "pairs.jsonl", map(json.dumps, judged))
    contents: dict[str, str | bytes] = {
        "pipe.toml": PIPELINE,
        "notes.txt": NOTES,
        "places.txt": "Oslo\nRome\nBank of Bern\n",
        "glued.txt": (folder / "dev.words.txt").read_text("utf-8").replace(" ", ""),
        "wrong.conll": (folder / "dev.conll").read_text("utf-8").replace("B-PER", "O", 2),
        "latin.conll": "Zoë\tB-PER\nleft\tO\nKöln\tB-LOC\n".encode("latin-1"),
        "ragged.conll": "Ada\tB-PER\nleft\nKöln\tB-LOC\tX\n",
        "empty.conll": "",
        "broken.dovetail": "This is no model.\n",
        "twisted.mrg": "(S (NP (NNP Ada)) (VP (VBD slept))\n(S (NP",
        "given.links": "0-0 1-1 2p2\n0-0\n",
        "other.links": "0-0 1-2 2-2\n0-1\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    shutil.copytree(MODELS, folder / "models", ignore=shutil.ignore_patterns("*.json", "*.md"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file."""
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def outermost_entities(row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the entities of a sentence that lie within no other: [start, end, label]."""
    spans = row["entities"]
    return [s for s in spans if not any(o != s and o[0] <= s[0] and s[1] <= o[1] for o in spans)]


def tag_outermost_entities(row: Mapping[str, Any]) -> list[str]:
    """Return the IOB2 tag of each word for these entities."""
    tags = ["O"] * len(row["words"])
    for start, end, label in outermost_entities(row):
        tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
    return tags


def write_transcripts(folder: Path, lines: str, work: str) -> None:
    """Run lines one after another in the folder ``work``, and write records of what they print and write."""
    work_folder = (folder / work).resolve()
    if not work_folder.exists():
        work_folder.mkdir()
        write_files(work_folder)
    records = []
    for number, line in enumerate(lines.strip().splitlines()):
        records.append(run_line(" ".join(line.split()), work_folder, folder / f"{number:03}"))
        (folder / "records.json").write_text(json.dumps(records, ensure_ascii=False, indent=1), "utf-8")


def run_line(line: str, work: Path, results: Path) -> dict[str, Any]:
    """Run a line in the folder ``work``, copy the files that it writes to a new folder, and return its record."""
    expected, _, command = line.partition(" ")
    words = shlex.split(command.format(**SETTINGS))
    stdin = Path(os.devnull)
    if "<" in words:
        words, stdin = words[: words.index("<")], work / words[-1]
    before = _list_files(work)
    results.mkdir()
    out, err = results / "stdout", results / "stderr"
    run = run_forked(partial(run_command_line, words), work, out, err, stdin)
    after = _list_files(work)
    texts = {path.name: path.read_text("utf-8", "replace") for path in (out, err)}
    files: dict[str, str | None] = dict.fromkeys(sorted(before.keys() - after.keys()))
    for name in sorted(path for path in after if after[path] != before.get(path)):
        target = results / "files" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(work / name, target)
        files[name] = f"{results.name}/files/{name}"
    wrong = None
    if run.code != int(expected):
        wrong = f"exit code {run.code}, expected {expected}: {texts['stderr'][-MAX_FAILURE_CHARS:]}"
    record = {"name": f"dovetail {command}", "fields": {"exit code": run.code, **texts}, "files": files, "wrong": wrong}
    return record | run.figures()


def _list_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the time and the size of every file below a folder, by its path."""
    stats = {str(path.relative_to(folder)): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (stat.st_mtime_ns, stat.st_size) for name, stat in stats.items()}
