"""Data sets of Hugging Face: files and folders as its library writes them are read, and what is written comes back."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.extras import NEEDS

pytest.importorskip("pyarrow", reason=NEEDS["pyarrow"])

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.formats import guess_format, read, write
from dovetail.text.huggingface import read_huggingface, write_huggingface
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence, Span
from tests.text.helpers import rich_sentences

NAMES = ["O", "B-PER", "I-PER"]
SENTENCE = Sentence(("Ada", "Lovelace", "slept"), {"ner": ("B-PER", "I-PER", "O"), "pos": ("NNP", "NNP", "VBD")})


def table(columns: dict, names: list[str] | dict | None = NAMES, kind: str = "Sequence") -> pa.Table:
    """What the library saves: the features as JSON in the metadata of the schema."""
    made = pa.table(columns)
    if names is None:
        return made
    label = {"names": names, "_type": "ClassLabel"}
    feature = [label] if kind == "list" else {"feature": label, "_type": kind}
    told = json.dumps({"info": {"features": {"ner_tags": feature, "id": {"dtype": "string", "_type": "Value"}}}})
    return made.replace_schema_metadata({"huggingface": told})


ROWS = {"id": ["0", "1"], "tokens": [["Ada", "Lovelace", "slept"], ["It", "rained"]], "ner_tags": [[1, 2, 0], [0, 0]]}


def save(made: pa.Table, path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(made, path)
        return
    opener = pa.ipc.new_stream if path.suffix == ".arrow" else pa.ipc.new_file
    with opener(str(path), made.schema) as out:
        out.write_table(made)


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.file"])
@pytest.mark.parametrize("kind", ["Sequence", "List", "list"])
def test_numbers_have_the_names_of_the_features(tmp_path, name, kind):
    save(table(ROWS, kind=kind), tmp_path / name)
    (document,) = read(tmp_path / name, "huggingface")
    assert [(s.words, s.layers["ner"], s.id) for s in document] == [
        (("Ada", "Lovelace", "slept"), ("B-PER", "I-PER", "O"), "0"),
        (("It", "rained"), ("O", "O"), "1"),
    ]


def test_folders_of_save_to_disk(tmp_path):
    for split in ("train", "test"):
        folder = tmp_path / "data" / split
        folder.mkdir(parents=True)
        save(table(ROWS), folder / "data-00000-of-00001.arrow")
        (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
        (folder / "dataset_info.json").write_text("{}")
    (tmp_path / "data" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert guess_format(tmp_path / "data") == guess_format(tmp_path / "data" / "train") == "huggingface"
    assert [len(d) for d in read(tmp_path / "data", split="train")] == [2]
    assert [len(d) for d in read(tmp_path / "data" / "test")] == [2]
    with pytest.raises(InputError, match="several splits here: name one of test, train, such as data/test"):
        list(read(tmp_path / "data"))
    with pytest.raises(InputError, match="no split 'dev' here: name one of test, train"):
        list(read(tmp_path / "data", split="dev"))
    (tmp_path / "data" / "test" / "state.json").write_text("{")
    with pytest.raises(InputError, match=r"state\.json: this is not what save_to_disk writes"):
        list(read(tmp_path / "data" / "test"))


@settings(deadline=None, max_examples=40)
@given(sentences=st.lists(rich_sentences(), min_size=1, max_size=3), kind=st.sampled_from([".parquet", ".arrow", ""]))
def test_all_that_is_known_of_sentences_comes_back(sentences, kind, tmp_path_factory):
    path = tmp_path_factory.mktemp("hf") / f"a{kind}"
    write_huggingface([Document(tuple(sentences), id="d")], path)
    (document,) = read_huggingface(path, report=ReadReport())
    assert document.id == "d"
    for one, other in zip(document, sentences, strict=True):
        for name in ("words", "layers", "spans", "tree", "frames", "id"):
            assert getattr(one, name) == getattr(other, name), name
        assert set(one.comments) == set(other.comments)


def test_what_the_library_sees(tmp_path):
    write([SENTENCE, Sentence(("It",), {"ner": ("O",), "pos": ("PRP",)})], tmp_path / "a.parquet")
    made = pq.read_table(tmp_path / "a.parquet")
    features = json.loads(made.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["ner_tags"]["feature"] == {"names": ["O", "B-PER", "I-PER"], "_type": "ClassLabel"}
    assert made.column("ner_tags").to_pylist() == [[1, 2, 0], [0]]
    assert made.column("tokens").to_pylist()[0] == ["Ada", "Lovelace", "slept"]
    assert made.schema.field("pos_tags").type == pa.list_(pa.int64())
    write([SENTENCE], tmp_path / "saved", "huggingface")
    assert (
        json.loads((tmp_path / "saved" / "dataset_info.json").read_text())["features"]["tokens"]["_type"] == "Sequence"
    )
    assert json.loads((tmp_path / "saved" / "state.json").read_text())["_data_files"] == [
        {"filename": "data-00000-of-00001.arrow"}
    ]


def test_texts_with_spans_and_columns_of_other_kinds(tmp_path):
    rows = {"text": ["Ada slept."], "entities": [[{"start": 0, "end": 3, "label": "PER"}]],
            "when": pa.array([0], pa.timestamp("s")), "none": [None]}  # fmt: skip
    save(table(rows, None), tmp_path / "a.parquet")
    (document,) = read(tmp_path / "a.parquet")
    assert [(e.text, e.label) for e in document.entities()] == [("Ada", "PER")]
    assert document.sentences[0].comments == ("# when = 1970-01-01 00:00:00",)


def test_layers_that_some_sentences_lack(tmp_path):
    given = [SENTENCE, Sentence(("It", "rained"), {"mood": ("x", "y")}, spans=(Span(0, 1, "X", 0.5),))]
    write(given, tmp_path / "a.parquet")
    (document,) = read(tmp_path / "a.parquet")
    assert [set(s.layers) for s in document] == [{"ner", "pos"}, {"mood", "ner"}]
    assert document.sentences[1].spans == given[1].spans


def test_many_rows_stream_in_batches(tmp_path):
    write([SENTENCE] * 2500, tmp_path / "a.arrow")
    assert pa.ipc.open_stream(str(tmp_path / "a.arrow")).read_next_batch().num_rows == 1000
    assert sum(map(len, read(tmp_path / "a.arrow"))) == 2500


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (
            {**ROWS, "ner_tags": [[1, 2, 0], [0, 9]]},
            NAMES,
            ":2: .*ner_tags. has the tag 9, and there are 3 names: O, B",
        ),
        ({**ROWS, "ner_tags": [[1, -1, 0], [0, 0]]}, NAMES, ":1: .*ner_tags. has the tag -1"),
        (ROWS, None, ':1: "ner_tags" are numbers, and the file does not name them; give names='),
        ({"id": ["0"], "sentence": ["a"]}, None, "none of the columns is called tokens, words or text .*id, sentence"),
        ({**ROWS, "ner_tags": [[1, 2], [0, 0]]}, NAMES, ':1: "ner" has 2 values for 3 words'),
        ({"tokens": [["a"]], "frames": ["{"]}, None, ':1: "frames" is no JSON'),
    ],
)
def test_bad_tables_are_told_with_their_row(tmp_path, columns, names, message):
    save(table(columns, names), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        list(read(tmp_path / "a.parquet"))


def test_names_may_be_given(tmp_path):
    save(table(ROWS, None), tmp_path / "a.parquet")
    (document,) = read(tmp_path / "a.parquet", names={"ner_tags": NAMES})
    assert document.sentences[0].layers["ner"] == ("B-PER", "I-PER", "O")


@pytest.mark.parametrize("data", [b"", b"nothing at all", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff\x10\0\0\0abc"])
def test_files_of_other_kinds(tmp_path, data):
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.parquet: no parquet or arrow file that can be read"):
        list(read(tmp_path / "a.parquet"))


def test_what_cannot_be_written(tmp_path):
    mixed = [Sentence(("a",), comments=("# n = 3",)), Sentence(("a",), {"n": ("1",)})]
    with pytest.raises(DovetailError, match="the field 'n' is string in one sentence and strings in another"):
        write(mixed, tmp_path / "a.parquet")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(DovetailError, match="full: is there already; name a new folder"):
        write([SENTENCE], tmp_path / "full", "huggingface")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["full"]


def test_what_pyarrow_says_of_a_damaged_file_is_cut_to_a_line(tmp_path, monkeypatch):
    def fails(*given):
        raise pa.ArrowInvalid("x" * 300 + "\nand more")

    pq.write_table(pa.table({"tokens": [["Ada"]]}), tmp_path / "a.parquet")
    monkeypatch.setattr("dovetail.text.huggingface._open", fails)
    with pytest.raises(InputError, match=rf"after 0 rows \({'x' * 120}\)"):
        list(read(tmp_path / "a.parquet"))


def test_without_pyarrow_one_line_says_what_to_install(tmp_path):
    program = """
import sys
sys.modules["pyarrow"] = None
import dovetail
try:
    dovetail.write([], "a.parquet")
except dovetail.DovetailError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert found.stdout == "the format huggingface needs pyarrow: pip install 'pyarrow>=15'\n"
