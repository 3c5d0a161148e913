"""Everything that is read, with small valid files of it: what fuzzing damages and reads again."""

from __future__ import annotations

import gzip
import tempfile
import warnings
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import dovetail
from dovetail.errors import DovetailError, NewerVersionWarning
from dovetail.text.report import ReadReport, ReadWarning
from dovetail.text.sentence import Document
from tests.fuzz.mutate import mutated, with_odd_header

CONLL = (
    b"-DOCSTART- -X- O\n\nAda NNP B-PER\nLovelace NNP I-PER\nmet VBD O\n\n"
    b"# a comment of several words here\nBob NNP B-PER\n"
)
PAIRS = b"Ada B-PER\nmet O\n\nBob S-PER\n"
TABS = "Zürich\tB-LOC\nNew York\tB-LOC\n\n日本\tI-LOC\n\n".encode()
CONLLU = (
    b"# newdoc id = d\n# sent_id = 1\n# text = In Bern vom Berg.\n1\tIn\tin\tADP\tIN\t_\t2\tcase\t_\t_\n"
    b"2\tBern\tBern\tPROPN\tNNP\t_\t0\troot\t_\tNER=B-LOC\n3-4\tvom\t_\t_\t_\t_\t_\t_\t_\t_\n3\tvon\tvon\tADP\t_\t_\t2\tx\t_\t_\n"
    b"4\tdem\tder\tDET\t_\t_\t2\tx\t_\t_\n4.1\tnull\t_\t_\t_\t_\t_\t_\t_\t_\n5\tBerg\tBerg\tNOUN\t_\t_\t2\tx\t_\tSpaceAfter=No\n"
    b"6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n1\tIt\tit\tPRON\t_\t_\t2\tx\t_\t_\n2\trained\train\tVERB\t_\t_\t0\troot\t_\t_\n\n"
)
SENTENCES = (
    b'{"doc": "d", "id": 1, "words": ["Ada", "met", "Bob"], "pos": ["NNP", "VBD", "NNP"], "entities": [[0, 1, "PER"], '
    b'{"start": 2, "end": 3, "label": "PER", "probability": 0.5}], "heads": [1, -1, 1], "deprels": ["a", "root", "b"], '
    b'"tree": "(S (NP (NNP Ada)) (VP (VBD met) (NP (NNP Bob))))", "constituents": [[0, 3, "S", 0.9]], '
    b'"frames": [{"predicate": 1, "sense": "meet.01", "lemma": "meet", '
    b'"arguments": [[0, 1, "ARG0"], [2, 3, "ARG1", 0.9]]}], '
    b'"offsets": [[0, 3], [4, 7], [8, 11]], "text": "Ada met Bob", "comments": ["# a"], "domain": "news"}\n'
    b'{"tokens": ["c\\ud83d\\ude00"], "ner_tags": ["B-X"]}\n'
)
TEXTS = (
    b'{"id": "a", "text": "Ada met Bob.\\nShe left.", "spans": [[0, 3, "PER"], '
    b'{"start": 8, "end": 11, "label": "PER"}]}\n'
    b'{"text": "Ada left", "tokens": [{"text": "Ada", "start": 0, "end": 3, "id": 0}, '
    b'{"text": "left", "start": 4, "end": 8}], '
    b'"spans": [{"token_start": 0, "token_end": 0, "label": "PER"}], "answer": "accept"}\n'
    b'{"text": "Ada left", "label": [[0, 3, "PER"]]}\n'
)
TASKS = (
    b'[\n {"id": 1, "data": {"text": "Ada left"}, "annotations": [{"result": [{"value": {"start": 0, "end": 3, '
    b'"text": "Ada", "labels": ["PER"]}, "type": "labels"}], "was_cancelled": false}]},\n '
    b'{"data": {"text": "Bob"}}\n]\n'
)
PRODIGY = (
    b'{"text": "Ada left", "tokens": [{"text": "Ada", "start": 0, "end": 3, "id": 0}, '
    b'{"text": "left", "start": 4, "end": 8}], "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, '
    b'"label": "PER", "probability": 0.5}], "relations": [], "answer": "accept"}\n{"text": "a", "answer": "reject"}\n'
)
DOCCANO = (
    b'{"id": 1, "text": "Ada left", "label": [[0, 3, "PER"]], "Comments": []}\n'
    b'{"text": "Ada left", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3}], '
    b'"relations": [{"id": 2}]}\n'
)
TABLE = (
    b'id,text,spans,source\n1,Ada left,"[[0, 3, ""PER""]]",web\n2,"a\nb",[],\n3,Ada,"[(0, 3, \'X\', 0.5)]",\n4,Ada,,\n'
)
PLUS = (
    b"# global.columns = ID FORM HEAD X:NER UP:PRED UP:ARGHEADS UP:ARGSPANS\n# text = Ada left\n"
    b"1\tAda\t2\tB-PER\t_\t_\t_\n2\tleft\t0\tO\tleave.01\tA0:1\tA0:1-1|A1:2-2\n\n"
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|coarseValue|PosValue\n"
    "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n"
    "#T_RL=de.tudarmstadt.ukp.dkpro.core.api.syntax.type.dependency.Dependency|DependencyType|flavor|BT_x\n\n\n"
    "#Text=Ada met 😀.\n1-1\t0-3\tAda\t*\tNNP\t*[1]|*\tPER[1]|a\\_b\tsubj\tbasic\t1-2\t\n"
    "1-2\t4-7\tmet\t*\tVBD\t*[1]\tPER[1]\troot\tbasic\t1-2\t\n1-3\t8-10\t😀\t_\t_\t_\t_\t_\t_\t_\t\n"
    "1-4\t10-11\t.\t*\t.\t_\t_\tpunct\tbasic\t1-2\t\n\n#Text=It\n2-1\t12-14\tIt\t_\t_\t*\t*\t_\t_\t_\t\n"
).encode()
LINKS = b"0-0 1-2:0.93 3?4\n\n1p1\n"
TMX = (
    b'<?xml version="1.0"?>\n<tmx version="1.4"><header/><body>\n<tu><tuv xml:lang="de"><seg>das <ph>x</ph>Haus</seg>'
    b'</tuv><tuv xml:lang="en"><seg>the &lt; house</seg></tuv></tu>\n</body></tmx>\n'
)
PROSE = (
    "Mr. O'Neil can't pay $5.50 (4%).  He left at 5 p.m. The U.S. team\n"
    "stayed in the very old house near the river.\n\n"
    "Best wishes\nAda\n- one\n- two\nDate: today\n=====\n你好。नमस्ते। 😀 a@b.com http://x.y/z 01/02/2003\u2029Ende\n"
).encode()
ANN = (
    b"T1\tPER 0 3\tMr.\nT2\tPER 4 10\tO'Neil\n#1\tAnnotatorNotes T2\tprobability 0.75\nT3\tX 0 3;13 18\tMr. pay\n"
    b"R1\tLives Arg1:T1 Arg2:T2\nE1\tBirth:T1\nA1\tSure T1\n*\tEquiv T1 T2\nN1\tReference T1 a:b\tx\n"
)
TREES = b"( (S (NP-SBJ (NNP Ada) (-NONE- *)) (VP (VBD met)\n (NP (NNP Bob)))))\n(TOP (X (UH -LRB-)))\n\n(NN rain)\n"
RTE = (
    b'<?xml version="1.0"?>\n<!DOCTYPE e SYSTEM "rte.dtd">\n<e><pair id="1" value="TRUE" task="IR"><t>Ada &amp; Bob '
    b'met.</t>\n<h>Ada met Bob.</h></pair><pair id="2" entailment="NO"><t>It rained.</t><h>It snowed.</h></pair></e>\n'
)
JUDGED = (
    b'{"id": 1, "task": "IR", "text": "Ada met Bob.", "hypothesis": "Ada met.", "label": true, "probability": 0.5}\n'
    b'{"text": "It rained.", "hypothesis": "It snowed.", "label": "NO"}\n'
)
EXPECTED = (
    b'{"words":["Ado","vidis"],"expected":[[0,"B-PER",0.9],[0,"O",0.1],[1,"O",1.0,0.3]]}\n{"words":[],"expected":[]}\n'
)
TYPES = b'{"source": ["O", "PER"], "target": ["O", "LOC"], "counts": [[90.5, 1], [2, 7.25]]}\n'
PATHS = b"00\tcat\t2\n01\tthe\t9\n01\ta\n1\tdog\t3\n"
LEXICON = b"# cities\nLima\nNew York\nLyon\ttown\nLyon\ttown\textra\n\n" + b"x " * 60 + b"\n"
VECTORS = b"3 2\nrose 0.5 -1\nlily 1e-3 0\n\xc3\x98rsted 4 6.25\n"
BINARY = b"2 2\nrose \0\0\x80?\0\0\0@\nlily \0\0\x80\xbf\0\0\0\0\n"
WORDS = "北京 大学\n人 ab\n\n3月 的\n".encode()
FEATURES = (
    b'name = "mine"\nextends = "plain"\ntemplates = ["word[-1:2]", "shape[0]", "suffix(2, 3)[0]", "word[0] & pos[1]"]\n'
    b'[clusters]\nnews = "a.paths"\n[lexicon]\ncity = "city.txt"\n'
)


class Target(NamedTuple):
    """A kind of file: the ending of its name, valid ones, how it is read, and whether to give it odd headers."""

    name: str
    suffix: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], object]
    is_model: bool = False


def _documents(path: Path, **options: Any) -> None:
    """Read all documents, and check what every reader promises."""
    for document in dovetail.read(path, report=ReadReport(), **options):
        _check(document)


def _check(document: Document) -> None:
    for sentence in document:
        assert all(isinstance(word, str) and word for word in sentence.words)
        assert all(0 <= span.start < span.end <= len(sentence) for span in sentence.spans)
        if sentence.offsets is not None and document.text is not None:
            ends = [edge for place in sentence.offsets for edge in place]
            assert document.offset <= min(ends) <= max(ends) <= document.offset + len(document.text)


def _annotated_text(path: Path) -> None:
    path.with_suffix(".txt").write_bytes(PROSE)
    _documents(path)


def _text_with_annotations(path: Path) -> None:
    path.with_suffix(".ann").write_bytes(ANN)
    _documents(path, format="brat")


def _lexicon(path: Path) -> None:
    from dovetail.features.resources.lexicon import Lexicon

    for unit in ("word", "char"):
        Lexicon.read(path, unit=unit, report=ReadReport())


def _clusters(path: Path) -> None:
    from dovetail.clusters.clustering import Clustering
    from dovetail.features.resources.clusters import Clusters

    Clusters.of(Clustering.load(path, ReadReport()))


def _vectors(path: Path) -> None:
    from dovetail.features.resources.vectors import Vectors
    from dovetail.vectors.table import VectorTable

    table = VectorTable.read(path, report=ReadReport())
    assert table.matrix.shape == (len(table.words), table.dimensions)
    assert np.isfinite(Vectors.of(table).of_words(["rose", "roses"])).all()


def _words(path: Path) -> None:
    from dovetail.text.words import read_lines, read_segmented, word_spans

    for words in read_segmented(path):
        word_spans(words)
    list(read_lines(path))


def _features(path: Path) -> None:
    from dovetail.features.algebra.sets import FeatureSet

    path.with_name("a.paths").write_bytes(PATHS)
    path.with_name("city.txt").write_bytes(b"Lima\n")
    FeatureSet.from_toml(path)


def _raw_text(path: Path) -> None:
    from dovetail.clusters.counts import count_bigrams
    from dovetail.features.resources.association import Association

    count_bigrams([path])
    for unit in ("word", "char"):
        Association.count([path], unit=unit)


def _association(path: Path) -> None:
    from dovetail.features.resources.association import Association

    Association.read(path)


def _links(path: Path) -> None:
    from dovetail.text.links import read_links, write_links

    write_links(path.with_suffix(".out"), list(read_links(path)), probabilities=True)


def _bitext(path: Path) -> None:
    from dovetail.text.bitext import read_bitext

    list(read_bitext(path))


def _pairs(path: Path) -> None:
    for pair in dovetail.read_pairs(path):
        assert pair.text
        assert pair.hypothesis
        assert pair.label in (None, "yes", "no")


def _expectations(path: Path) -> None:
    from dovetail.text.expectations import read_expectations

    for one in read_expectations(path):
        assert ((one.position >= 0) & (one.position < max(len(one), 1))).all()
        assert ((one.probability >= 0) & (one.probability <= 1)).all()
        assert np.isfinite(one.weight).all()


def _type_table(path: Path) -> None:
    from dovetail.models.pair.table import TypeTable

    TypeTable.load(path).information()


def _files(*contents: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(contents)


def _saved(make: Callable[[Path], Any], suffix: str = "") -> Callable[[], list[bytes]]:
    """What ``make`` writes, made once and only when it is asked for."""

    @cache
    def once() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"seed{suffix}")
            make(path)
            return path.read_bytes()

    return lambda: [once()]


def _count_association(path: Path) -> None:
    from dovetail.features.resources.association import Association

    raw = path.with_name("raw.txt")
    raw.write_bytes(PROSE)
    Association.count([raw], unit="word").save(path)


def _save_clusters(path: Path) -> None:
    from dovetail.clusters.clustering import Clustering

    text = path.with_name("a.paths")
    text.write_bytes(PATHS)
    Clustering.load(text).save(path)


def _tagger(path: Path) -> None:
    from tests.models.corpus import made

    dovetail.Tagger(features=["word[-1:2]", "shape[0]"], iterations=2).fit(made(10)).save(path)


def _docbin(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dovetail.write(dovetail.read(_given(path, SENTENCES, ".jsonl")), path, "spacy")


def _data_set(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dovetail.write(dovetail.read(_given(path, SENTENCES, ".jsonl")), path)


def _message(path: Path) -> None:
    """What a DocBin holds before it is compressed, so that damage reaches what is inside."""
    _docbin(path)
    path.write_bytes(zlib.decompress(path.read_bytes()))


def _packed(path: Path) -> None:
    path.write_bytes(zlib.compress(path.read_bytes()))
    _documents(path)


def _given(path: Path, data: bytes, suffix: str) -> Path:
    found = path.with_name(f"made{suffix}")
    found.write_bytes(data)
    return found


def _segmenter(path: Path) -> None:
    dovetail.Segmenter(iterations=2, target=None).fit([["北京", "大学"], ["人", "ab"]] * 4).save(path)


def _dependency(path: Path) -> None:
    from tests.models.treebank import treebank

    dovetail.DependencyParser(iterations=2, bits=8).fit(treebank(10)).save(path)


def _parser(path: Path) -> None:
    from tests.trees import treebank

    dovetail.Parser(features="generative").fit(treebank(20)).save(path)


def _nested(path: Path) -> None:
    from tests.models.test_nested import CORPUS

    dovetail.NestedTagger(iterations=2, ignore=("pos",)).fit(CORPUS[:10]).save(path)


def _joint(path: Path) -> None:
    from tests.models.test_joint_parser import annotated

    dovetail.JointParser(iterations=2).fit(annotated(20)).save(path)


def _roles(path: Path) -> None:
    from tests.models.kinds import KINDS

    dovetail.RoleLabeller(gold_trees=True, iterations=2, folds=2, ranked=2).fit(KINDS["roles"].sentences).save(path)


def _entailment(path: Path) -> None:
    from tests.models.kinds import KINDS

    kind: Any = KINDS["entailment"]
    dovetail.Entailment(names="none", iterations=2).fit(kind.sentences).save(path)


TARGETS = [
    Target("conll", ".conll", _files(CONLL, PAIRS, TABS), _documents),
    Target("conll.gz", ".conll.gz", lambda: [gzip.compress(CONLL, mtime=0)], _documents),
    Target("conllu", ".conllu", _files(CONLLU), _documents),
    Target("jsonl-sentences", ".jsonl", _files(SENTENCES), _documents),
    Target("jsonl-documents", ".jsonl", _files(TEXTS), _documents),
    Target("json", ".json", _files(TASKS), _documents),
    Target("text", ".txt", _files(PROSE), _documents),
    Target("brat-ann", ".ann", _files(ANN), _annotated_text),
    Target("brat-txt", ".txt", _files(PROSE), _text_with_annotations),
    Target("brackets", ".mrg", _files(TREES), _documents),
    Target("prodigy", ".prodigy.jsonl", _files(PRODIGY), _documents),
    Target("doccano", ".doccano.jsonl", _files(DOCCANO), _documents),
    Target("label-studio", ".label-studio.json", _files(TASKS), _documents),
    Target("csv", ".csv", _files(TABLE), _documents),
    Target("conllup", ".conllup", _files(PLUS), _documents),
    Target("webanno", ".webanno.tsv", _files(WEBANNO), _documents),
    Target("parquet", ".parquet", _saved(_data_set, ".parquet"), _documents),
    Target("arrow", ".arrow", _saved(_data_set, ".arrow"), _documents),
    Target("tmx-documents", ".tmx", _files(TMX), _documents),
    Target("spacy", ".spacy", _saved(_docbin, ".spacy"), _documents),
    Target("spacy-message", ".spacy", _saved(_message, ".message"), _packed),
    Target("pairs-xml", ".xml", _files(RTE), _pairs),
    Target("pairs-jsonl", ".jsonl", _files(JUDGED), _pairs),
    Target("pairs-tsv", ".tsv", _files(b"id\ttext\thypothesis\tlabel\n1\tIt rained.\tIt was wet.\tyes\n"), _pairs),
    Target("expectations", ".jsonl", _files(EXPECTED), _expectations),
    Target("type-table", ".json", _files(TYPES), _type_table),
    Target("paths", ".paths", _files(PATHS), _clusters),
    Target("links", ".links", _files(LINKS), _links),
    Target("bitext", ".txt", _files(b"das Haus ||| the house\nein Buch ||| a book\n"), _bitext),
    Target("tmx", ".tmx", _files(TMX), _bitext),
    Target("vectors", ".vec", _files(VECTORS, VECTORS[4:], BINARY), _vectors),
    Target("vectors.gz", ".vec.gz", lambda: [gzip.compress(VECTORS, mtime=0)], _vectors),
    Target("lexicon", ".txt", _files(LEXICON), _lexicon),
    Target("words", ".txt", _files(WORDS), _words),
    Target("features", ".toml", _files(FEATURES), _features),
    Target("raw-text", ".txt", _files(PROSE, WORDS), _raw_text),
    Target("association", "", _saved(_count_association), _association, True),
    Target("clusters", ".clusters", _saved(_save_clusters, ".clusters"), _clusters, True),
    Target("tagger", "", _saved(_tagger), dovetail.load, True),
    Target("segmenter", "", _saved(_segmenter), dovetail.load, True),
    Target("dependency", "", _saved(_dependency), dovetail.load, True),
    Target("parser", "", _saved(_parser), dovetail.load, True),
    Target("nested", "", _saved(_nested), dovetail.load, True),
    Target("entailment", "", _saved(_entailment), dovetail.load, True),
    Target("joint", "", _saved(_joint), dovetail.load, True),
    Target("roles", "", _saved(_roles), dovetail.load, True),
]


def case(target: Target, rng: Random) -> bytes:
    """A damaged file of a kind."""
    seeds = target.seeds()
    seed = rng.choice(seeds)
    if target.is_model:
        if rng.random() < 0.7:
            return with_odd_header(seed, rng)
        at = rng.randrange(len(seed))
        return rng.choice([seed[:at], seed[:at] + bytes([seed[at] ^ 1 << rng.randrange(8)]) + seed[at + 1 :]])
    return mutated(seed, rng, rng.choice(seeds))


def try_reading(target: Target, data: bytes, folder: Path) -> None:
    """Read the data as a file of this kind: it may be refused by an error of dovetail, and by no other."""
    path = folder / f"given{target.suffix}"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReadWarning)
        warnings.simplefilter("ignore", NewerVersionWarning)
        try:
            target.read(path)
        except DovetailError as error:
            assert str(error).strip(), "an error without a message"  # noqa: PT017
