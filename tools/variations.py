"""A table of small models, one for every kind and every stored variation: how to train each, and what it answers.

`tools/freeze.py` keeps the models and answers of a release, `tests/test_frozen.py` compares every later version with
them, and `tools/compare.py` runs the table on two commits. Therefore:

- it uses public names alone, and text that is made up here;
- all settings are written out, so that a changed default is not taken for a changed answer. Settings that a commit does
  not have are left out when the table runs there;
- everything runs on one thread, with one seed.

Do not change an entry that has been frozen, nor the function that answers for it: add another entry.
"""

from __future__ import annotations

import contextlib
import gzip
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import dovetail

MODEL = "model.dovetail"
"""Name of the main file of every variation."""
SAMPLE_SEED = 7
"""Seed with which answers are sampled."""


@dataclass(frozen=True)
class Variation:
    """A small model: how to train it, and how to get its answers."""

    kind: str
    """Group that it belongs to, such as ``tagger`` or ``consistency``."""
    requires: tuple[str, ...]
    """Packages that it needs besides the requirements of dovetail, such as ``torch``."""
    train: Callable[[Path], None]
    """Function that trains the model and writes it, with its input, into an empty folder; see ``MODEL``."""
    answers: Callable[[Path], dict[str, Any]]
    """Function that loads the model of a folder and returns its answers to the input there, as values for JSON."""


VARIATIONS: dict[str, Variation] = {}
"""All variations, by name."""


# Text of our own making

FIRST_NAMES = ("Ada", "Bela", "Clara", "Dora", "Emil")
LAST_NAMES = ("Bern", "Weber", "Oslo", "Lind")
CITIES = ("Bern", "Oslo", "Rome", "Porto")
PLACES = ("garden", "harbour", "station")
TRANSITIVE = {"praised": "praise.01", "left": "leave.01", "saw": "see.01"}
INTRANSITIVE = {"slept": "sleep.01", "left": "leave.02"}


class Draft:
    """A sentence that grows from left to right, with parts of speech, heads, entities and frames."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.words: list[str] = []
        self.tags: list[str] = []
        self.heads: list[int] = []
        self.relations: list[str] = []
        self.entities: list[list[Any]] = []
        self.frames: list[dict[str, Any]] = []

    def add_word(self, word: str, tag: str, head: int = -1, relation: str = "root") -> str:
        """Add a word, and return its leaf in brackets."""
        self.words.append(word)
        self.tags.append(tag)
        self.heads.append(head)
        self.relations.append(relation)
        return f"({tag} {word})"

    def add_person(self) -> str:
        """Add a person, ``Ada`` or ``Ada Weber``, and return the noun phrase in brackets."""
        start = len(self.words)
        leaves = [self.add_word(self.random.choice(FIRST_NAMES), "NNP")]
        if self.random.random() < 0.4:
            leaves.append(self.add_word(self.random.choice(LAST_NAMES), "NNP", start, "flat"))
        self.entities.append([start, len(self.words), "PER"])
        return f"(NP {' '.join(leaves)})"

    def add_place(self) -> str:
        """Add ``Bern``, ``the old harbour`` or ``Bank of Bern``, and return the noun phrase in brackets."""
        start, draw = len(self.words), self.random.random()
        if draw < 0.4:
            city = f"(NP {self.add_word(self.random.choice(CITIES), 'NNP')})"
            self.entities.append([start, start + 1, "LOC"])
            return city
        if draw < 0.7:
            old = self.random.random() < 0.5
            head = start + 1 + old
            leaves = [self.add_word("the", "DT", head, "det")] + (
                [self.add_word("old", "JJ", head, "amod")] if old else []
            )
            return f"(NP {' '.join([*leaves, self.add_word(self.random.choice(PLACES), 'NN')])})"
        bank = self.add_word(self.random.choice(("Bank", "Museum")), "NNP")
        of = self.add_word("of", "IN", start + 2, "case")
        city = self.add_word(self.random.choice(CITIES), "NNP", start, "nmod")
        self.entities += [[start, start + 3, "ORG"], [start + 2, start + 3, "LOC"]]
        return f"(NP (NP {bank}) (PP {of} (NP {city})))"

    def attach(self, phrase: int, head: int, relation: str) -> int:
        """Attach the phrase that starts at word ``phrase`` to a head, and return the word that heads the phrase."""
        word = next(i for i in range(phrase, len(self.words)) if self.relations[i] == "root" and i != head)
        self.heads[word], self.relations[word] = head, relation
        return word

    def add_inside(self, head: int, relation: str) -> str:
        """Add a phrase such as ``in Bern`` that depends on a word, and return it in brackets."""
        start = len(self.words)
        mark, place = self.add_word("in", "IN"), self.add_place()
        self.heads[start], self.relations[start] = self.attach(start + 1, head, relation), "case"
        return f"(PP {mark} {place})"

    def add_clause(self, said: bool) -> str:
        """Add a clause, ``Ada left Bern`` or, with ``said``, ``Ada said Emil slept``, and return it in brackets."""
        start = len(self.words)
        subject = self.add_person()
        verb = len(self.words)
        self.attach(start, verb, "nsubj")
        arguments: list[list[Any]] = [[start, verb, "ARG0"]]
        if said:
            leaf = self.add_word("said", "VBD")
            sense, inner = "say.01", len(self.words)
            parts = [leaf, f"(SBAR {self.add_clause(False)})"]
            self.attach(inner, verb, "ccomp")
            arguments.append([inner, len(self.words), "ARG1"])
        else:
            known = TRANSITIVE if self.random.random() < 0.65 else INTRANSITIVE
            name = self.random.choice(sorted(known))
            sense = known[name]
            parts = [self.add_word(name, "VBD")]
            if known is TRANSITIVE:
                phrase = len(self.words)
                thing = self.add_person() if self.random.random() < 0.4 else self.add_place()
                head = self.attach(phrase, verb, "obj")
                if self.random.random() < 0.3:
                    thing = f"(NP {thing} {self.add_inside(head, 'nmod')})"
                parts.append(thing)
                arguments.append([phrase, len(self.words), "ARG1"])
        if self.random.random() < 0.4:
            phrase = len(self.words)
            parts.append(self.add_inside(verb, "obl"))
            arguments.append([phrase, len(self.words), "ARGM-LOC"])
        frame = {"predicate": verb, "sense": sense, "lemma": sense.partition(".")[0], "arguments": arguments}
        self.frames.append(frame)
        return f"(S {subject} (VP {' '.join(parts)}))"


@cache
def make_records(count: int, seed: int, per_document: int = 4) -> tuple[Mapping[str, Any], ...]:
    """Make sentences such as ``Ada left Oslo .`` as objects of JSON lines, with everything that a model can learn."""
    random, rows = Random(seed), []
    for number in range(count):
        draft = Draft(random)
        tree = draft.add_clause(random.random() < 0.25)
        dot = draft.add_word(".", ".", draft.relations.index("root"), "punct")
        rows.append({
            "words": draft.words, "doc": f"{seed}.{number // per_document}", "pos": draft.tags,
            "size": [str(len(word) / 5) for word in draft.words], "entities": draft.entities, "heads": draft.heads,
            "deprels": draft.relations, "tree": f"{tree[:-1]} {dot})", "frames": draft.frames,
        })  # fmt: skip
    return tuple(rows)


def write_records(path: Path, rows: Iterable[Mapping[str, Any]], fields: Iterable[str] | None = None) -> Path:
    """Write objects as JSON lines, with all of their fields or only some, and return the path."""
    keep = None if fields is None else {"words", *fields}
    lines = ({name: value for name, value in row.items() if keep is None or name in keep} for row in rows)
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def read_sentences(path: Path) -> list[Any]:
    """Return the sentences of a file."""
    report = dovetail.text.ReadReport()  # of nested entities, which no layer of tags can hold
    return [sentence for document in dovetail.read(path, report=report) for sentence in document]


@cache
def make_sentences(count: int, seed: int, fields: tuple[str, ...] = ()) -> tuple[Any, ...]:
    """Make sentences with these fields of their records, or with all fields."""
    with TemporaryDirectory() as folder:
        return tuple(
            read_sentences(write_records(Path(folder) / "some.jsonl", make_records(count, seed), fields or None))
        )


def make_entities(count: int, seed: int, *more: str) -> list[Any]:
    """Make sentences with nested entities, whose layer ``ner`` has the outermost ones, in documents."""
    return list(make_sentences(count, seed, ("entities", "doc", *more)))


def make_trees(count: int, seed: int, *more: str) -> list[Any]:
    """Make sentences with trees."""
    return list(make_sentences(count, seed, ("tree", *more)))


def make_dependencies(count: int, seed: int) -> list[Any]:
    """Make sentences with heads, relations and parts of speech."""
    return list(make_sentences(count, seed, ("pos", "heads", "deprels")))


def make_word_lines(count: int, seed: int) -> list[list[str]]:
    """Make sentences of Chinese words, which are written without spaces."""
    random, words = Random(seed), "北京 上海 大学 学生 北大 生 人 爱 来 在 大 海".split()
    return [[random.choice(words) for _ in range(random.randint(2, 6))] for _ in range(count)]


def write_raw_text(path: Path, lines: int = 300) -> Path:
    """Write raw text with 600 more words: clusters of so many share one array of keys in a model file."""
    random, syllables = Random(3), [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    others = sorted({random.choice(syllables) + random.choice(syllables) for _ in range(900)})[:600]
    sentences = [list(row["words"]) for row in make_records(lines, 4)]
    for number, words in enumerate(sentences):
        words[random.randrange(len(words))] = others[2 * number % len(others)]
        words.insert(random.randrange(len(words)), others[(2 * number + 1) % len(others)])
    path.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    return path


def make_pairs(count: int, seed: int) -> list[Any]:
    """Make texts with hypotheses: words left out mean that it follows, other words that it does not."""
    random, pairs = Random(seed), []
    for number, row in enumerate(make_records(count, seed + 50)):
        words = list(row["words"])
        hypothesis = [word for word in words if word in (".", "said", "left") or random.random() < 0.8]
        follows = random.random() < 0.5
        if not follows:
            at = random.randrange(len(hypothesis))
            hypothesis[at : at + 1] = random.choice((["Emil", "Lind"], ["today"], ["not", "saw"]))
        label = "yes" if follows != (random.random() < 0.15) else "no"
        task = ("IE", "QA")[number % 2]
        pairs.append(dovetail.Pair(" ".join(words), " ".join(hypothesis), label, task=task))
    return pairs


def translate_records(count: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Make lines of a text, of its translation into a made-up language, and of the links between their words."""
    random, source, target, links = Random(seed), [], [], []
    for row in make_records(count, seed + 20):
        words, translation, word_links = list(row["words"]), list[str](), list[str]()
        order = list(range(len(words)))
        if len(words) > 4 and random.random() < 0.6:
            order[1], order[2] = order[2], order[1]
        for i in order:
            if random.random() < 0.1:
                translation.append(random.choice(("ge", "fo")))
            if words[i] == "." or random.random() < 0.9:
                word_links.append(f"{i}-{len(translation)}:{random.randint(60, 99) / 100}")
                ending = random.choice(("", "o", "os"))
                translation.append(words[i] if words[i] == "." else words[i].lower()[::-1] + ending)
        source.append(" ".join(words))
        target.append(" ".join(translation))
        links.append(" ".join(word_links))
    return source, target, links


# Settings, all of them

NETWORK = {"encoder": None, "tune_encoder": False, "encoder_size": 3, "dropout": 0.1}
LINEAR = NETWORK | {
    "hidden": 0, "activation": "tanh", "hidden_inputs": "all", "loss": "likelihood", "l1": 0.0, "noise": None,
    "noise_text": (), "hash_bits": None, "ignore": (), "predict_layers": True, "calibrate": True, "balance": True,
    "pool": None, "pool_weights": "uniform", "select_templates": False, "selection": 0.1, "cross_validate": 0,
    "patience": 5, "batch": 4, "seed": 1, "threads": 1,
}  # fmt: skip
TREES = NETWORK | {
    "vertical": None, "horizontal": None, "direction": "right", "head_tags": None, "relax": None, "unaries": "joined",
    "tags": "predicted", "pool": None, "clusters": None, "folds": 2, "max_length": 100, "threshold": 0.001,
    "smoothing": 5.0,
    "loss": "likelihood", "optimiser": "adagrad", "l2": 0.5, "iterations": 6, "batch": 4, "gain": 0.1, "min_count": 3,
    "decode": "viterbi", "calibrate": True, "cross_validate": 0, "patience": 3, "seed": 1, "threads": 1,
    "features": "full", "kind": "grammar",
}  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {
    "Tagger": LINEAR | {
        "features": ("bias", "word[-1:2]", "shape[0]", "suffix(2)[0]"), "order": 1, "target": "ner", "scheme": "iob2",
        "constrain": True, "optimiser": "lbfgs", "l2": 0.1, "expectation_loss": "relative-entropy",
        "expectation_weight": 1.0, "iterations": 30, "gain": 0.1, "decay": 0.0, "min_count": 1, "min_documents": 1,
        "observed_only": False, "merge_twins": True, "consistency": "none", "engine": "bp",
    },
    "Segmenter": LINEAR | {
        "model": "semi-markov", "target": "ner", "features": ("bias[start]", "word[start]", "shape[end]", "phrase"),
        "resources": {}, "order": 1, "longest": 4, "scheme": "iobes", "normalise_width": True, "optimiser": "lbfgs",
        "l2": 0.1, "iterations": 30, "gain": 0.1, "min_count": 1, "consistency": "none", "engine": "bp",
    },
    "NestedTagger": LINEAR | {
        "features": ("bias[start]", "word[start]", "shape[end]", "word[inside]", "bias", "phrase"),
        "resources": {}, "target": "ner", "pos": "given", "longest": 4, "max_length": 100, "optimiser": "adagrad",
        "l2": 1.0, "iterations": 6, "gain": 0.1, "min_count": 1, "agree": False,
    },
    "Parser": TREES,
    "JointParser": TREES | {
        "coupling": "grammar", "coupled_training": "couplings", "engine": "bp", "entity_min_count": 2,
        "entity_min_documents": 1, "sigma": 0.3, "balance": True,
    },
    "DependencyParser": NETWORK | {
        "tags": "pos", "predict_layers": False, "predict_tags": False, "relations": True, "clusters": {},
        "decode": "expected", "loss": "likelihood", "optimiser": "lbfgs", "l2": 0.5, "iterations": 8, "batch": 4,
        "gain": 0.1, "min_count": 2, "bits": 10, "threshold": 0.001, "max_length": 100, "calibrate": True,
        "cross_validate": 0, "patience": 3, "pool": None, "seed": 1, "threads": 1,
    },
    "RoleLabeller": {
        "parser": None, "gold_trees": True, "reach": 4, "ranked": 3, "least": 0.25, "folds": 2, "clusters": None,
        "max_length": 100, "optimiser": "adagrad", "loss": "likelihood", "l2": 0.5, "iterations": 4, "batch": 8,
        "gain": 0.1, "min_count": 2, "patience": 3, "seed": 1, "threads": 1,
    },
    "Entailment": {
        "names": "none", "parser": None, "samples": 0, "task": False, "loss": "likelihood", "optimiser": "lbfgs",
        "l2": 2.0, "iterations": 20, "batch": 4, "gain": 0.1, "calibrate": True, "patience": 5, "seed": 1, "threads": 1,
    },
    "Aligner": {
        "symmetrise": "soft", "threshold": 0.3, "samplers": 2, "sweeps": 6, "lowercase": True, "prior": 3e-4,
        "parts": 0.8, "null": 0.2, "fertility": 0.5, "agreement": 3.0, "jump_classes": 3, "seed": 1, "threads": 1,
    },
    "MultiDomainTagger": {"strategy": "hierarchical", "sigma": 0.2, "restrict": True},
    "MultiDomainParser": {"strategy": "hierarchical", "sigma": 0.2},
    "Pipeline": {
        "strategy": "sample", "samples": 20, "k": None, "vote": "parts", "least": 0.4, "seed": 1, "threads": 1,
    },
}  # fmt: skip
"""All settings of every estimator, by the name of its class."""


def make_model(name: str, /, *arguments: Any, **changed: Any) -> Any:
    """Return an untrained model of a class of dovetail, with the settings of the table except for ``changed``."""
    model_class = getattr(dovetail, name)
    known = inspect.signature(model_class).parameters
    return model_class(*arguments, **{k: v for k, v in (SETTINGS[name] | changed).items() if k in known})


def run_command(*arguments: object) -> None:
    """Run dovetail with these arguments; raise RuntimeError if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "dovetail", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"dovetail {' '.join(map(str, arguments))}: {done.stderr}")


def write_config(path: Path, name: str, **changed: Any) -> Path:
    """Write settings as a file of options for training by L-BFGS, except those that the command does not take."""
    hidden = {"constrain", "merge_twins", "noise_text", "resources", "features", "batch", "gain", "decay", "patience"}
    settings = {k: v for k, v in (SETTINGS[name] | changed).items() if k not in hidden and v not in (None, ())}
    path.write_text("".join(f"{k.replace('_', '-')} = {json.dumps(v)}\n" for k, v in settings.items()), "utf-8")
    return path


# Answers


def to_json(value: Any) -> Any:
    """Convert an answer of any model to values for JSON."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dovetail.Span):
        return [value.start, value.end, value.label, value.probability]
    if isinstance(value, dovetail.text.Tree):
        known = [span for span in value.spans() if span.probability is not None]
        return {"tree": str(value), "constituents": to_json(known)} if known else str(value)
    if isinstance(value, dovetail.Pair):
        return {"label": value.label, "probability": value.probability}
    if isinstance(value, dovetail.Frame):
        names: Sequence[str] = ("predicate", "sense", "lemma", "probability", "arguments")
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, dovetail.Expectation):
        return {name: to_json(getattr(value, name)) for name in ("words", "position", "label", "probability", "weight")}
    if hasattr(value, "layers"):  # a sentence, or one of several answers to it
        names = ("words", "layers", "spans", "tree", "frames", "probability", "search")
        return {
            name: to_json(it) for name in names if (it := getattr(value, name, None)) not in (None, (), {}, "usual")
        }
    if hasattr(value, "relations"):
        return {"heads": to_json(value.heads), "relations": to_json(value.relations)}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): to_json(own) for name, own in value.items()}
    return [to_json(own) for own in value]


def answer(model: Any, items: Sequence[Any], best: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """Return the answers of a model: the best, the three best, three samples, and marginals (of spans, above 0.01)."""
    least = {"least": 0.01} if "least" in inspect.signature(model.predict_marginals).parameters else {}
    return {
        "best": to_json((best or model.annotate)(items)),
        "k-best": to_json(model.kbest(items, k=3)),
        "samples": to_json(model.sample(items, 3, seed=SAMPLE_SEED)),
        "marginals": to_json(model.predict_marginals(items, **least)),
    }


def load_model(folder: Path) -> Any:
    """Load the model of a folder, to run on one thread."""
    return dovetail.load(folder / MODEL).set_params(threads=1)


def answer_sentences(folder: Path) -> dict[str, Any]:
    """Return the answers of a model to ``input.jsonl``."""
    return answer(load_model(folder), read_sentences(folder / "input.jsonl"))


def answer_on_one_thread(folder: Path) -> dict[str, Any]:
    """Return the answers of a model with a network to ``input.jsonl``."""
    import torch

    torch.set_num_threads(1)
    return answer_sentences(folder)


def add_variation(
    name: str,
    kind: str,
    train: Callable[[Path], None],
    answers: Callable[[Path], dict[str, Any]] = answer_sentences,
    requires: tuple[str, ...] = (),
) -> None:
    """Add a variation to the table."""
    VARIATIONS[name] = Variation(kind, requires, train, answer_on_one_thread if "torch" in requires else answers)


def add_variations(
    prefix: str, kind: str, train: Callable[..., None], table: Mapping[str, Mapping[str, Any]], **more: Any
) -> None:
    """Add variations that one function trains, each with keyword arguments of its own."""
    for name, how in table.items():
        add_variation(f"{prefix}-{name}", kind, partial(train, **how), **more)


def write_input(folder: Path, *fields: str) -> None:
    """Write ``input.jsonl``: three sentences that are not in the training data, with these fields besides the words."""
    rows = [dict(row) for row in make_records(3, 330, 2)]
    name = rows[0]["words"][0]
    rows[0] |= {"words": ["Zoe", *rows[0]["words"][1:]], "tree": rows[0]["tree"].replace(f" {name})", " Zoe)", 1)}
    write_records(folder / "input.jsonl", rows, fields)


# What raw text, lists and other models add to features

VECTORS = ("Ada", "Bela", "Zoe", "Bern", "Oslo", "Rome", "left", "saw", "praised", "the", "harbour", "slept")
CLUSTERS = {"Ada": "000", "Bela": "000", "Zoe": "000", "Emil": "001", "Bern": "010", "Oslo": "010", "left": "10",
            "saw": "10", "praised": "11", "the": "11"}  # fmt: skip
LISTED = ("Bern", "Oslo", "Rome", "Bank of Bern\tfirm", "Museum of Rome\tfirm")
RESOURCES = {
    "clusters": ('clusters = {words = "words.paths"}', ("cluster(words, 2, 0)[0]", "cluster(words, 2)[-1] & shape[0]")),
    "lexicon": ('lexicon = {places = "places.txt"}', ("lexicon(places)[-1:2]",)),
    "vectors": ('vectors = {near = "near.vec"}', ("vector(near)[0]",)),
    "hints": ('hints = {other = "other.dovetail"}', ("hint(other)[0]",)),
}
"""For each kind of resource: its table in a TOML file of features, and templates that read it."""


@cache
def make_features(*kinds: str) -> Any:
    """Return a feature set that reads resources of these kinds."""
    random = Random(8)
    lines = ["bias", "word[0]", *(line for kind in kinds for line in RESOURCES[kind][1])]
    tables = "".join(f"{RESOURCES[kind][0]}\n" for kind in kinds)
    rows = (f"{word} {' '.join(f'{random.gauss(0, 1):.3f}' for _ in range(3))}\n" for word in VECTORS)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "words.paths").write_text("".join(f"{path}\t{w}\t5\n" for w, path in CLUSTERS.items()), "utf-8")
        (folder / "places.txt").write_text("".join(f"{line}\n" for line in LISTED), "utf-8")
        (folder / "near.vec").write_text(f"{len(VECTORS)} 3\n{''.join(rows)}", "utf-8")
        if "hints" in kinds:
            other = make_model("Tagger", features=("bias", "word[0]"), iterations=10)
            other.fit(make_entities(12, 6)).save(folder / "other.dovetail")
        (folder / "own.toml").write_text(f'name = "own"\ntemplates = {json.dumps(lines)}\n{tables}', "utf-8")
        return dovetail.FeatureSet.from_toml(folder / "own.toml")


def make_resources(*kinds: str) -> dict[str, Any]:
    """Return resources of these kinds by name."""
    return dict(make_features(*kinds).resources)


NO_SETTINGS: Mapping[str, Any] = {}
HALF, COMPACT = {"half": True}, {"compact": True}
TORCH, TRANSFORMERS = ("torch",), ("torch", "transformers")
ENCODED = {"optimiser": "adam", "iterations": 3, "gain": 0.01}
"""Settings of models with a network."""
CNN = ENCODED | {"encoder": "cnn", "save": HALF}
"""Settings of models with a network of convolutions, stored in half precision since they are large."""

# Taggers


def train_tagger(
    folder: Path,
    *,
    save: Mapping[str, Any] = NO_SETTINGS,
    fit: Mapping[str, Any] = NO_SETTINGS,
    reads: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    resources: tuple[str, ...] = (),
    dev: bool = False,
    **changed: Any,
) -> None:
    """Train a tagger; ``reads`` and ``needs`` are fields of the training data and of the input."""
    if resources:
        changed["features"] = make_features(*resources)
    held_out = make_entities(6, 2, *reads) if dev else None
    make_model("Tagger", **changed).fit(make_entities(12, 1, *reads), dev=held_out, **fit).save(folder / MODEL, **save)
    write_input(folder, *needs)


add_variations("tagger", "tagger", train_tagger, {
    "plain": {},
    "dev": {"dev": True},
    "half": {"save": HALF},
    "compact": {"save": COMPACT, "features": "liang-ner", "min_count": 2},
    "card": {"save": {"card": {"licence": "CC0-1.0", "authors": ["A"]}}, "iterations": 3},
    "parts-of-speech": {"target": "pos", "reads": ("pos",)},
    "order-0": {"order": 0},
    "order-2": {"order": 2},
    "iobes": {"scheme": "iobes", "constrain": False},
    "edges": {"features": ("bias", "word[0]", "edge(shape[-1] & word[0])"), "observed_only": True},
    "hashed": {"hash_bits": 10, "merge_twins": False},
    "many-features": {"features": "ner", "min_count": 3, "min_documents": 2},
    "numbers": {"features": ("bias", "word[0]", "number(size)[0]", "pos[0]"), "predict_layers": False,
                "reads": ("pos", "size"), "needs": ("pos", "size")},
    "layers": {"features": ("bias", "word[0]", "pos[-1:2]"), "reads": ("pos",)},
    "l1": {"l1": 0.3, "l2": 0.01},
    "selected": {"select_templates": True, "selection": 1.3},
    "cross-validated": {"cross_validate": 3, "iterations": 12},
    "sgd": {"optimiser": "sgd", "loss": "softmax-margin", "iterations": 5},
    "adagrad": {"optimiser": "adagrad", "iterations": 5},
    "adam": {"optimiser": "adam", "iterations": 5, "decay": 0.01},
    "perceptron": {"optimiser": "perceptron", "iterations": 5},
    "noise-dropout": {"noise": "dropout:0.3"},
    "noise-gaussian": {"noise": "gaussian:0.2"},
    "noise-words": {"noise": "words:0.2", "noise_text": (("Ada", "slept"), ("Rome", "saw", "Emil"))},
    "hidden": {"hidden": 3},
    "hidden-discrete": {"hidden": 3, "activation": "relu", "hidden_inputs": "discrete", "resources": ("vectors",)},
    "hidden-vectors": {"hidden": 3, "activation": "linear", "hidden_inputs": "vectors", "resources": ("vectors",)},
    "clusters": {"resources": ("clusters",)},
    "lexicon": {"resources": ("lexicon",)},
    "vectors": {"resources": ("vectors",)},
    "compact-resources": {"resources": ("clusters", "lexicon", "vectors", "hints"), "save": COMPACT},
    "pool-random": {"pool": "random:2"},
    "pool-sequential": {"pool": "sequential:2"},
    "pool-elitist": {"pool": "elitist:2", "optimiser": "adagrad", "iterations": 5},
    "pool-elitist-approximate": {"pool": "elitist:2:approximate", "optimiser": "sgd", "iterations": 5},
    "pool-groups": {"pool": "word|shape,suffix"},
    "pool-without": {"pool": "without:word|shape", "pool_weights": "learnt"},
})  # fmt: skip
add_variations("tagger", "hints", train_tagger, {"hints": {"resources": ("hints",)}})
add_variations("tagger", "tagger", train_tagger, {"lstm": CNN | {"encoder": "lstm"}, "cnn": CNN}, requires=TORCH)


def train_tagger_on_encoder(folder: Path, tuned: bool) -> None:
    """Train a tagger on a BERT of one small layer with random weights, which is tuned or left as it is."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz."
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    where = folder.resolve()
    with TemporaryDirectory() as temporary, contextlib.chdir(temporary):  # the model keeps the name of the folder
        encoder, vocabulary = Path("encoder"), Path("encoder/vocab.txt")
        encoder.mkdir()
        vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
        torch.manual_seed(1)
        BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=24, **size)).save_pretrained(encoder)
        BertTokenizerFast(str(vocabulary), do_lower_case=True).save_pretrained(encoder)
        train_tagger(where, **ENCODED, encoder=str(encoder), tune_encoder=tuned)


add_variations("tagger", "tagger", train_tagger_on_encoder, {
    "encoder": {"tuned": False}, "encoder-tuned": {"tuned": True},
}, requires=TRANSFORMERS)  # fmt: skip


def count_letters(sentence: Any) -> list[set[str]]:
    """Return how many letters each word has: a template that is a Python function."""
    return [{str(len(word))} for word in sentence]


def train_tagger_with_function(folder: Path) -> None:
    """Train a tagger with a Python function as a template."""
    train_tagger(folder, features=("bias", "word[0]", dovetail.features.algebra.templates.call(count_letters)))


def answer_with_function(folder: Path) -> dict[str, Any]:
    """Return the answers of a tagger with a Python function as a template."""
    model = dovetail.Tagger.load(folder / MODEL, functions=[count_letters]).set_params(threads=1)
    return answer(model, read_sentences(folder / "input.jsonl"))


add_variation("tagger-function", "tagger", train_tagger_with_function, answer_with_function)


def train_compressed_tagger(folder: Path) -> None:
    """Train a tagger, and write its file compressed as well."""
    train_tagger(folder, iterations=3)
    (folder / f"{MODEL}.gz").write_bytes(gzip.compress((folder / MODEL).read_bytes(), mtime=0))


def answer_from_compressed(folder: Path) -> dict[str, Any]:
    """Return the answers of the model in the compressed file."""
    model = dovetail.load(folder / f"{MODEL}.gz").set_params(threads=1)
    return answer(model, read_sentences(folder / "input.jsonl"))


add_variation("tagger-compressed", "tagger", train_compressed_tagger, answer_from_compressed)


def train_tagger_on_expectations(folder: Path) -> None:
    """Train a tagger on labels, and on expectations of unlabelled sentences."""
    rows = [(0, "PER", 0.9), (1, "O", 0.8, 0.5)]
    expected = [dovetail.Expectation.of(record["words"], rows) for record in make_records(6, 5)]
    train_tagger(folder, expectation_weight=0.7, fit={"expectations": expected})


add_variation("tagger-expectations", "tagger", train_tagger_on_expectations)


def train_tagger_on_raw_text(folder: Path) -> None:
    """Train a tagger with clusters, casing and association of raw text."""
    with TemporaryDirectory() as temporary:
        raw, settings = (
            write_raw_text(Path(temporary) / "raw.txt"),
            write_config(Path(temporary) / "own.toml", "Tagger", min_count=4),
        )
        train = write_records(Path(temporary) / "train.jsonl", make_records(16, 1), ("entities", "doc"))
        templates = Path(temporary) / "features.toml"
        templates.write_text('name = "own"\ntemplates = ["bias", "word[0]"]\n', "utf-8")
        run_command("train", "tagger", "--config", settings, "--features", templates, "--train", train, "--output",
                folder / MODEL, "--unlabelled", raw, "--association", raw, "--quiet")  # fmt: skip
    write_input(folder)


add_variation("tagger-raw-text", "tagger", train_tagger_on_raw_text)

# Names of a document that agree


PERSON_AGAIN = (
    ("Clara Bern slept .", [[0, 2, "PER"]]),
    ("Bern saw Rome .", [[0, 1, "PER"], [2, 3, "LOC"]]),
    ("Emil praised Bern in Rome .", [[0, 1, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]),
    ("Weber left Bern .", [[0, 1, "PER"], [2, 3, "PER"]]),
)
"""A document in which Bern, a city in the training data, is a person throughout."""


def train_on_documents(folder: Path, name: str, dev: bool = False, **changed: Any) -> None:
    """Train a tagger or a segmenter that makes names of a document agree, with a strength tuned on ``dev`` or usual."""
    rows = [{"words": line.split(), "doc": "one", "entities": entities} for line, entities in PERSON_AGAIN]
    write_records(folder / "input.jsonl", rows, ("doc",))
    with TemporaryDirectory() as temporary:
        held_out = read_sentences(write_records(Path(temporary) / "dev.jsonl", rows)) if dev else None
    make_model(name, **changed).fit(make_entities(12, 1), dev=held_out).save(folder / MODEL)


add_variations("tagger", "consistency", partial(train_on_documents, name="Tagger"), {
    "agreement": {"consistency": "agree", "dev": True},
    **{f"graph-{engine}": {"consistency": "graph", "engine": engine} for engine in ("bp", "dual", "gibbs", "ilp")},
})  # fmt: skip
add_variations("segmenter", "consistency", partial(train_on_documents, name="Segmenter"), {
    "agreement": {"consistency": "agree", "dev": True, "model": "markov", "features": SETTINGS["Tagger"]["features"]},
    "graph": {"consistency": "graph"},
})  # fmt: skip

# Segmenters


def train_segmenter(
    folder: Path,
    *,
    save: Mapping[str, Any] = NO_SETTINGS,
    resources: tuple[str, ...] = (),
    dev: bool = False,
    **changed: Any,
) -> None:
    """Train a segmenter of entities."""
    model = make_model("Segmenter", resources=make_resources(*resources) if resources else {}, **changed)
    model.fit(make_entities(12, 1, "pos"), dev=make_entities(6, 2, "pos") if dev else None).save(folder / MODEL, **save)
    write_input(folder)


add_variations("segmenter", "segmenter", train_segmenter, {
    "plain": {},
    "dev": {"dev": True},
    "compact": {"save": COMPACT, "features": "ner-spans", "min_count": 3},
    "order-0": {"order": 0},
    "markov": {"model": "markov", "features": ("bias", "word[-1:2]", "shape[0]")},
    "layers": {"features": ("bias[start]", "pos[start]", "word[end]", "phrase")},
    "hidden": {"hidden": 3},
    "hashed": {"hash_bits": 10},
    "pool": {"pool": "random:2"},
    "online": {"optimiser": "adagrad", "loss": "softmax-margin", "iterations": 5, "noise": "dropout:0.2"},
    "resources": {
        "resources": ("clusters", "lexicon", "vectors"),
        "features": ("bias[start]", "phrase", "cluster(words, 2, 0)[start]", "lexicon(places)[end]",
                     "vector(near)[start]"),
    },
})  # fmt: skip
add_variations("segmenter", "segmenter", train_segmenter, {"cnn": CNN}, requires=TORCH)

WORDS = {"target": None, "model": "markov", "features": ("bias", "word[-1:2]", "word[-1] & word[0]")}
WHOLE_WORDS = WORDS | {"model": "semi-markov", "features": ("bias[start]", "word[start]", "word[end]", "phrase")}


def write_texts(folder: Path) -> None:
    """Write ``input.txt``: texts without spaces, one of them with Latin letters."""
    lines = ["".join(words) for words in make_word_lines(3, 9)]
    lines.append(f"{lines[0]}Ａda在{lines[1]}")
    (folder / "input.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def train_word_segmenter(folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, **changed: Any) -> None:
    """Train a segmenter of words."""
    make_model("Segmenter", **changed).fit(make_word_lines(30, 1)).save(folder / MODEL, **save)
    write_texts(folder)


def train_word_segmenter_on_raw_text(folder: Path) -> None:
    """Train a segmenter of words with association and accessor variety of raw text, and with a lexicon."""
    with TemporaryDirectory() as temporary:
        raw, train, listed = (Path(temporary) / name for name in ("raw.txt", "train.txt", "list.txt"))
        raw.write_text("".join("".join(line) + "\n" for line in make_word_lines(60, 5)), "utf-8")
        train.write_text("".join(" ".join(line) + "\n" for line in make_word_lines(30, 1)), "utf-8")
        listed.write_text("北京\n上海\n大学\n", "utf-8")
        settings = write_config(Path(temporary) / "own.toml", "Segmenter", **WORDS | {"min_count": 2})
        run_command("train", "segmenter", "--config", settings, "--features", "words", "--train", train, "--output",
                folder / MODEL, "--unlabelled", raw, "--lexicon", f"listed={listed}", "--quiet")  # fmt: skip
    write_texts(folder)


def answer_texts(folder: Path) -> dict[str, Any]:
    """Return the answers of a segmenter of words to ``input.txt``."""
    model, texts = load_model(folder), (folder / "input.txt").read_text("utf-8").split()
    return answer(model, texts, model.predict_entities) | {"words": to_json(model.predict(texts))}


add_variations("words", "segmenter", train_word_segmenter, {
    "markov": WORDS, "semi-markov": WHOLE_WORDS, "order-2": WORDS | {"order": 2, "scheme": "iob2", "save": HALF},
}, answers=answer_texts)  # fmt: skip
add_variation("words-raw-text", "segmenter", train_word_segmenter_on_raw_text, answer_texts)

# Nested entities


def train_nested_tagger(
    folder: Path,
    *,
    save: Mapping[str, Any] = NO_SETTINGS,
    resources: tuple[str, ...] = (),
    dev: bool = False,
    **changed: Any,
) -> None:
    """Train a tagger of nested entities."""
    model = make_model("NestedTagger", resources=make_resources(*resources) if resources else {}, **changed)
    model.fit(make_entities(12, 1, "pos"), dev=make_entities(6, 2, "pos") if dev else None).save(folder / MODEL, **save)
    write_input(folder, "doc")


NESTED_FEATURES = SETTINGS["NestedTagger"]["features"]
add_variations("nested", "nested", train_nested_tagger, {
    "plain": {},
    "agreement": {"agree": True, "dev": True},
    "compact": {"save": COMPACT, "features": "nested", "min_count": 3},
    "tags": {"pos": "joint", "features": (*NESTED_FEATURES, "tag(word[0])", "tag(bias)", "joint(bias)")},
    "layers": {"features": (*NESTED_FEATURES, "pos[start]")},
    "hidden": {"hidden": 3},
    "pool": {"pool": "sequential:2"},
    "batch": {"optimiser": "lbfgs", "iterations": 15, "noise": "dropout:0.2"},
    "resources": {
        "resources": ("clusters", "lexicon"),
        "features": ("bias[start]", "bias", "phrase", "cluster(words, 2, 0)[start]", "lexicon(places)[end]"),
    },
})  # fmt: skip
add_variations("nested", "nested", train_nested_tagger, {"cnn": CNN}, requires=TORCH)

# Parsers of constituents


def train_parser(
    folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, clusters: bool = False, dev: bool = False, **changed: Any
) -> None:
    """Train a parser of constituents."""
    model = make_model("Parser", clusters=make_resources("clusters") if clusters else None, **changed)
    model.fit(make_trees(6, 1, "pos"), dev=make_trees(4, 2, "pos") if dev else None).save(folder / MODEL, **save)
    write_input(folder, *(("pos",) if changed.get("tags") == "given" else ()))


GRAMMAR = {"tags": "given"}
"""Parsers that read parts of speech; without a tagger they are smaller."""
LABELLED = {"kind": "labelled", "tags": "given", "decode": "recall", "loss": "softmax-margin"}
add_variations("parser", "parser", train_parser, {
    "plain": GRAMMAR,
    "dev": GRAMMAR | {"dev": True},
    "half": GRAMMAR | {"save": HALF},
    "compact": GRAMMAR | {"save": COMPACT, "min_count": 1},
    "predicted-tags": {},
    "unpruned": GRAMMAR | {"threshold": 0.0},
    "rules": GRAMMAR | {"features": "rules", "horizontal": 1},
    "generative": {"features": "generative", "vertical": 2, "horizontal": 1, "head_tags": True},
    "annotated": GRAMMAR | {"vertical": 2, "horizontal": 1, "direction": "left", "head_tags": True, "relax": 2,
                            "decode": "recall"},
    "clusters": GRAMMAR | {"clusters": True},
    "brackets": LABELLED | {"kind": "brackets"},
    "labelled": LABELLED,
    "labelled-dev": LABELLED | {"dev": True},
    "labelled-compact": LABELLED | {"save": COMPACT},
    "labelled-pruned": LABELLED | {"threshold": 0.2},
    "labelled-predicted-tags": LABELLED | {"tags": "predicted"},
    "labelled-rules": LABELLED | {"kind": "labelled-rules"},
    "labelled-clusters": LABELLED | {"clusters": True},
    "unaries-of-words": LABELLED | {"unaries": "words"},
    "unaries": LABELLED | {"kind": "labelled-rules", "unaries": "all"},
    "pool": GRAMMAR | {"pool": 2, "iterations": 3},
})  # fmt: skip
add_variations("parser", "parser", train_parser, {"cnn": LABELLED | CNN}, requires=TORCH)

# Trees and entities


def train_joint_parser(
    folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, dev: bool = False, apart: bool = False, **changed: Any
) -> None:
    """Train a joint parser; with ``apart``, also on sentences that have only trees, or only entities."""
    more = {"trees_only": make_trees(3, 3, "pos"), "entities_only": make_entities(3, 4, "pos")} if apart else {}
    held_out = make_trees(4, 2, "entities", "pos") if dev else None
    model = make_model("JointParser", **changed).fit(make_trees(6, 1, "entities", "pos"), dev=held_out, **more)
    model.save(folder / MODEL, **save)
    write_input(folder, *(("pos",) if changed.get("tags") == "given" else ()))


SOFT = {"coupling": "soft", "tags": "given", "decode": "recall", "loss": "softmax-margin"}
add_variations("joint", "joint", train_joint_parser, {
    "plain": GRAMMAR,
    "predicted-tags": {"iterations": 3, "dev": True},
    "apart": GRAMMAR | {"iterations": 3, "apart": True},
    "soft": SOFT | {"dev": True},
    "soft-all": SOFT | {"coupled_training": "all"},
    "soft-dual": SOFT | {"engine": "dual", "save": COMPACT},
    "soft-gibbs": SOFT | {"engine": "gibbs", "save": COMPACT},
})  # fmt: skip

# Dependencies


def train_dependency_parser(
    folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, clusters: bool = False, dev: bool = False, **changed: Any
) -> None:
    """Train a parser of dependencies."""
    model = make_model("DependencyParser", clusters=make_resources("clusters") if clusters else {}, **changed)
    model.fit(make_dependencies(6, 1), dev=make_dependencies(4, 2) if dev else None).save(folder / MODEL, **save)
    write_input(folder, *(() if model.tagger_ or model.predicts else ("pos",)))


HEADS = {"relations": False}
add_variations("dependency", "dependency", train_dependency_parser, {
    "plain": {},
    "half": {"save": HALF},
    "compact": {"save": COMPACT},
    "heads": HEADS | {"decode": "best"},
    "dev": HEADS | {"dev": True, "save": COMPACT},
    "unpruned": HEADS | {"threshold": 0.0, "save": COMPACT},
    "predicted-tags": HEADS | {"predict_tags": True, "save": COMPACT},
    "predicted-layer": HEADS | {"predict_layers": True, "save": COMPACT},
    "online": HEADS | {"optimiser": "adagrad", "loss": "softmax-margin"},
    "clusters": HEADS | {"clusters": True, "save": HALF},
    "pool": HEADS | {"pool": 2, "save": COMPACT},
    "pool-of-three": HEADS | {"pool": 3, "save": COMPACT},
})  # fmt: skip
add_variations(
    "dependency", "dependency", train_dependency_parser, {"cnn": HEADS | CNN | {"save": COMPACT}}, requires=TORCH
)

# Roles


def train_role_labeller(
    folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, parsed: bool = False, **changed: Any
) -> None:
    """Train a role labeller; with ``parsed``, one that has a parser."""
    own = make_model("Parser", **LABELLED | {"tags": "predicted", "iterations": 3}) if parsed else None
    model = make_model("RoleLabeller", parser=own, gold_trees=not parsed, **changed)
    model.fit(list(make_sentences(6, 1, ("tree", "frames")))).save(folder / MODEL, **save)
    write_input(folder, *(() if parsed else ("tree",)))


add_variations("roles", "roles", train_role_labeller, {
    "ranked": {}, "local": {"ranked": 0}, "half": {"save": HALF}, "parsed": {"parsed": True},
})  # fmt: skip

# Entailment


def train_entailment(
    folder: Path,
    *,
    save: Mapping[str, Any] = NO_SETTINGS,
    names: bool = False,
    parsed: bool = False,
    dev: bool = False,
    **changed: Any,
) -> None:
    """Train a model of entailment, with a tagger of names and a parser if asked for."""
    if names:
        own = make_model("Tagger", features=("bias", "word[0]", "shape[0]"), iterations=8)
        changed["names"] = own.fit(make_entities(12, 6))
    if parsed:
        changed["parser"] = make_model("DependencyParser", predict_tags=True, relations=False).fit(
            make_dependencies(6, 1)
        )
    model = make_model("Entailment", **changed).fit(make_pairs(24, 1), dev=make_pairs(10, 2) if dev else None)
    model.save(folder / MODEL, **save)
    rows = [{"text": p.text, "hypothesis": p.hypothesis, "task": p.task} for p in make_pairs(5, 9)]
    (folder / "input.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def answer_pairs(folder: Path) -> dict[str, Any]:
    """Return the answers of a model of entailment to the pairs of ``input.jsonl``."""
    model, pairs = load_model(folder), list(dovetail.read_pairs(folder / "input.jsonl"))
    return {"best": to_json(model.annotate(pairs)), "marginals": to_json(model.predict_marginals(pairs))}


add_variations("entailment", "entailment", train_entailment, {
    "plain": {},
    "task": {"task": True, "save": HALF},
    "names": {"names": True, "dev": True},
    "samples": {"names": True, "parsed": True, "samples": 5, "save": COMPACT},
}, answers=answer_pairs)  # fmt: skip

# Two languages


def write_bitext(folder: Path, count: int, seed: int) -> None:
    """Write ``source.txt``, ``target.txt`` and ``links.txt``."""
    for name, lines in zip(("source", "target", "links"), translate_records(count, seed), strict=True):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_bitext(folder: Path) -> tuple[list[Any], list[Any]]:
    """Return the pairs of sentences of a folder, and their links."""
    read = dovetail.text.bitext
    return (
        list(read.read_bitext(folder / "source.txt", folder / "target.txt")),
        list(read.read_links(folder / "links.txt")),
    )


def fit_aligner(**changed: Any) -> Any:
    """Return an aligner trained on 25 pairs of sentences."""
    with TemporaryDirectory() as temporary:
        write_bitext(Path(temporary), 25, 1)
        return make_model("Aligner", **changed).fit(read_bitext(Path(temporary))[0])


def train_aligner(folder: Path, **changed: Any) -> None:
    """Train an aligner."""
    fit_aligner(**changed).save(folder / MODEL)
    write_bitext(folder, 3, 9)


def answer_bitext(folder: Path) -> dict[str, Any]:
    """Return the links of an aligner, and its confidence in each pair."""
    linked = list(dovetail.Aligner.load(folder / MODEL, threads=1).align(read_bitext(folder)[0]))
    return {"best": to_json(linked), "confidence": [pair.confidence for pair in linked]}


add_variations("aligner", "aligner", train_aligner, {
    **{way: {"symmetrise": way} for way in ("soft", "union", "intersection", "grow-diag-final-and", "forward",
                                            "backward")},
    "whole-words": {"parts": 0.0, "lowercase": False},
}, answers=answer_bitext)  # fmt: skip


def train_two_languages(folder: Path) -> None:
    """Train a tagger, project it to a second language, and write both with an aligner and a table of types."""
    write_bitext(folder, 3, 9)
    source = make_model("Tagger", features=("bias", "word[0]", "shape[0]")).fit(make_entities(12, 1))
    source.save(folder / "source.dovetail")
    fit_aligner().save(folder / "aligner.dovetail")
    with TemporaryDirectory() as temporary:
        write_bitext(Path(temporary), 24, 1)
        pairs, links = read_bitext(Path(temporary))
    expected = list(dovetail.project(source, pairs, links, how="soft", unlinked=0.3, nameless=None))
    target = make_model("Tagger", features=("bias", "word[0]", "suffix(3)[0]")).fit(expectations=expected[:12])
    target.save(folder / MODEL)
    pair_tagger = dovetail.PairTagger(source=source, target=target, agreement="soft-align", strength=1.0)
    pair_tagger.count(pairs, links).table_.save(folder / "table.json")


WAYS = (
    ("soft-align", "dual"), ("soft-align", "bp"), ("soft-align", "gibbs"), ("soft-align", "ilp"),
    ("soft-label", "bp"), ("hard", "dual"), ("joint", "bp"),
)  # fmt: skip
"""Pairs of agreement and engine."""


def answer_two_languages(folder: Path) -> dict[str, Any]:
    """Return the tags that both taggers agree on, by agreement and engine, and what they teach each other."""
    pairs, links = read_bitext(folder)
    source = dovetail.load(folder / "source.dovetail").set_params(threads=1)
    listener = dovetail.Aligner.load(folder / "aligner.dovetail", threads=1)

    def pair_taggers(agreement: str, engine: str, **more: Any) -> Any:
        settings = {"agreement": agreement, "engine": engine, "strength": 1.0, **more}
        tagger = dovetail.PairTagger(source=source, target=load_model(folder), **settings)
        table = tagger.count(pairs, links).table_
        return tagger.with_table(type(table).load(folder / "table.json"))  # the class has no public name

    answers: dict[str, Any] = {" ".join(way): to_json(pair_taggers(*way).annotate(pairs, links)) for way in WAYS}
    return answers | {
        "documents": to_json(pair_taggers("soft-align", "bp").annotate(pairs, links, ["a", "a", None])),
        "aligner": to_json(pair_taggers("joint", "bp", aligner=listener).annotate(pairs)),
        "taught": to_json(pair_taggers("soft-align", "bp").teach(pairs, links)),
        "projected": to_json(dovetail.project(source, pairs, links, how="hard", unlinked=0.3, nameless=None)),
        "alone": to_json(load_model(folder).predict_marginals([pair.target for pair in pairs])),
    }


add_variation("two-languages", "two-languages", train_two_languages, answer_two_languages)

# Domains


def train_domain_taggers(
    folder: Path, *, save: Mapping[str, Any] = NO_SETTINGS, tagger: Mapping[str, Any] = NO_SETTINGS, **changed: Any
) -> None:
    """Train taggers of two domains."""
    model = make_model("MultiDomainTagger", tagger=make_model("Tagger", **tagger), **changed)
    model.fit({"news": make_entities(12, 1), "web": make_entities(8, 3)}, dev={"news": make_entities(6, 2)}).save(
        folder / MODEL, **save
    )
    write_input(folder, "doc")


def train_domain_parsers(
    folder: Path,
    *,
    parser: str,
    train: Callable[[int, int], list[Any]],
    save: Mapping[str, Any] = NO_SETTINGS,
    **changed: Any,
) -> None:
    """Train parsers of two domains."""
    model = make_model("MultiDomainParser", parser=make_model(parser, **changed))
    model.fit({"news": train(5, 1), "web": train(4, 3)}, dev={"web": train(3, 2)}).save(folder / MODEL, **save)
    write_input(folder, "pos")


def answer_domains(folder: Path) -> dict[str, Any]:
    """Return the answers of the model of each domain, and of the model for other text."""
    every, some = dovetail.load(folder / MODEL), read_sentences(folder / "input.jsonl")
    names = [*every.domains_, *([] if every.strategy == "target" else [None])]
    return {str(name): answer(every.model_of(name).set_params(threads=1), some) for name in names}


add_variations("domains", "domains", train_domain_taggers, {
    "hierarchical": {},
    **{strategy: {"strategy": strategy, "sigma": None} for strategy in ("target", "all", "augment")},
    "unrestricted": {"restrict": False, "tagger": {"order": 0}, "save": COMPACT},
}, answers=answer_domains)  # fmt: skip
add_variations("domains", "domains", train_domain_parsers, {
    "parser": GRAMMAR | {"parser": "Parser", "train": make_trees},
    "dependency": HEADS | {"parser": "DependencyParser", "train": make_dependencies, "save": COMPACT},
}, answers=answer_domains)  # fmt: skip

# Pools of models


def train_pool(
    folder: Path,
    *,
    name: str,
    train: Callable[[], list[Any]],
    members: Sequence[Mapping[str, Any]],
    fields: tuple[str, ...] = (),
    save: Mapping[str, Any] = NO_SETTINGS,
    **how: Any,
) -> None:
    """Pool several models of one class."""
    dovetail.pool([make_model(name, **changed).fit(train()) for changed in members], **how).save(folder / MODEL, **save)
    write_input(folder, *fields)


TAGGER_POOL = {
    "name": "Tagger",
    "train": partial(make_entities, 12, 1),
    "members": ({}, {"features": ("bias", "shape[-1:2]")}),
}
PARSER_POOL = {"name": "Parser", "train": partial(make_trees, 6, 1, "pos"), "fields": ("pos",)}
DEPENDENCY_POOL = {"name": "DependencyParser", "train": partial(make_dependencies, 6, 1), "fields": ("pos",)}
add_variations("pool", "pool", train_pool, {
    "tagger": TAGGER_POOL | {"weights": [0.7, 0.3]},
    "segmenter": TAGGER_POOL | {"name": "Segmenter", "members": ({}, {"features": ("bias[start]", "phrase")})},
    "nested": TAGGER_POOL | {"name": "NestedTagger",
                            "members": ({}, {"features": ("bias[start]", "bias", "phrase")})},
    "parser": PARSER_POOL | {"members": (GRAMMAR, LABELLED)},
    "parser-alike": PARSER_POOL | {"members": (GRAMMAR, GRAMMAR | {"l2": 2.0})},
    "dependency": DEPENDENCY_POOL | {"members": (HEADS, HEADS | {"min_count": 3}), "save": COMPACT},
    "dependency-alike": DEPENDENCY_POOL | {"members": (HEADS, HEADS | {"l2": 2.0}), "save": COMPACT},
})  # fmt: skip


def train_pool_on_dev(folder: Path) -> None:
    """Pool taggers with weights learnt on development data, and tune the pool there."""
    train_pool(folder, **TAGGER_POOL, weights="learnt", dev=make_entities(6, 2))


add_variation("pool-tagger-learnt", "pool", train_pool_on_dev)

# Pipelines


def mark_names(sentence: Any) -> Any:
    """Add a layer that marks proper nouns: a stage that is a Python function."""
    return sentence.with_layer("loud", tuple("yes" if tag == "NNP" else "no" for tag in sentence.layers["pos"]))


def train_pipeline(folder: Path, function: bool = False, **changed: Any) -> None:
    """Train the models of a pipeline, and write them to one file."""
    stage, parts_of_speech = dovetail.Stage, list(make_sentences(12, 1, ("pos",)))
    stages = [
        stage("pos", make_model("Tagger", target="pos").fit(parts_of_speech), temperature=1.3),
        stage("tree", make_model("Parser", **LABELLED | {"tags": "predicted"}).fit(make_trees(6, 1)), reads=("pos",)),
        stage(
            "ner", make_model("Tagger", features=("bias", "pos[-1:2]")).fit(make_entities(12, 1, "pos")), reads=("pos",)
        ),
        *([stage("loud", mark_names, reads=("pos",), writes=("loud",))] if function else []),
    ]
    make_model("Pipeline", stages, **changed).save(folder / MODEL)
    write_input(folder)


def train_unfolded_parser(folder: Path) -> None:
    """Train a parser with a tagger, and write them as the stages of a pipeline."""
    model = make_model("Parser", **LABELLED | {"tags": "predicted"}).fit(make_trees(6, 1))
    dovetail.Pipeline.of(model, **SETTINGS["Pipeline"] | {"strategy": "kbest", "k": 3}).save(folder / MODEL)
    write_input(folder)


def answer_pipeline(folder: Path) -> dict[str, Any]:
    """Return the answers of a pipeline, and the probabilities of their parts unless it is greedy."""
    model = dovetail.Pipeline.load(folder / MODEL, functions={"loud": mark_names}).set_params(threads=1)
    sentences = read_sentences(folder / "input.jsonl")
    best = to_json(model.annotate(sentences))
    if model.strategy == "greedy":
        return {"best": best}
    layers = [layer for stage in model.stages for layer in stage.writes]
    parts = [
        {layer: {json.dumps(part): p for part, p in posterior.parts(layer).items()} for layer in layers}
        for posterior in model.posterior(sentences)
    ]
    return {"best": best, "parts": to_json(parts)}


add_variations("pipeline", "pipeline", train_pipeline, {
    "samples": {}, "greedy": {"strategy": "greedy", "function": True},
}, answers=answer_pipeline)  # fmt: skip
add_variation("pipeline-unfolded", "pipeline", train_unfolded_parser, answer_pipeline)
