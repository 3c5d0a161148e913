"""``dovetail annotate``."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from dovetail.cli.main import main
from dovetail.text.formats import read
from tests.cli.conftest import Run, trained

TEXT = "Ada Lovelace visited London . Alan left Vienna ."


def records(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def entities(record: dict[str, object]) -> list[tuple[str, str]]:
    found = record["entities"]
    assert isinstance(found, list)
    return [(entity["text"], entity["label"]) for entity in found]


def test_text_in_quotes(run: Run, model: Path) -> None:
    code, out, err = run("annotate", "--model", model, TEXT)
    assert (code, err) == (0, "")
    first, second = records(out)
    assert entities(first) == [("Ada Lovelace", "PER"), ("London", "LOC")]
    assert entities(second) == [("Alan", "PER"), ("Vienna", "LOC")]
    assert second["offsets"][0] == [30, 34]  # type: ignore[index]


def test_the_standard_input(run: Run, model: Path) -> None:
    quoted = run("annotate", "--model", model, TEXT)
    assert run("annotate", "--model", model, stdin=TEXT) == quoted
    assert run("annotate", "--model", model, "-", stdin=TEXT) == quoted


def test_a_text_file(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "two words.txt"
    path.write_text(TEXT)
    assert run("annotate", "--model", model, path) == run("annotate", "--model", model, TEXT)


def test_probabilities_and_threshold(run: Run, model: Path) -> None:
    [record] = records(run("annotate", "--model", model, "Ada left London").out)
    probabilities = [entity["probability"] for entity in record["entities"]]  # type: ignore[attr-defined]
    assert all(0 < p < 1 for p in probabilities)
    [sure] = records(run("annotate", "--model", model, "Ada left London", "--threshold", max(probabilities)).out)
    assert len(entities(sure)) == 1
    assert sum(tag != "O" for tag in sure["ner"]) == 1  # type: ignore[attr-defined]
    [none] = records(run("annotate", "--model", model, "Ada left London", "--threshold", 1).out)
    assert entities(none) == []


def test_pretty_in_a_pipe_has_brackets(run: Run, model: Path) -> None:
    out = run("annotate", "--model", model, TEXT, "--output-format", "pretty").out
    first, second = out.splitlines()
    assert first.startswith("[Ada Lovelace PER 0.")
    assert "] visited [London LOC 0." in first
    assert second.endswith(" .")


def test_pretty_on_a_terminal_has_colours(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = run("annotate", "--model", model, "Ada left\x1b London").out
    assert "\x1b[1;36mAda" in out  # bold and cyan
    assert "PER 0." in out
    assert "\ufffd" in out  # control characters of the text do not reach the terminal
    assert out.count("\x1b") == out.count("\x1b[")


def test_a_terminal_without_colours_has_brackets(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for name, value in (("TERM", "dumb"), ("NO_COLOR", "1")):
        with monkeypatch.context() as patch:
            patch.setenv("TERM", "xterm-256color")
            patch.setenv(name, value)
            assert run("annotate", "--model", model, TEXT).out[0] == "["
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run("annotate", "--model", model, TEXT).out[0] == "\x1b"


def test_the_standard_input_is_never_overwritten(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    with file.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["annotate", "--model", str(model), "--output", str(file)]) == 2
    assert "would overwrite what FILE|TEXT reads" in capsys.readouterr().err
    assert file.read_text() == TEXT


def test_conll_in_conll_out(run: Run, model: Path, data: Path) -> None:
    code, out, _ = run("annotate", "--model", model, data / "pos.conll")
    assert code == 0
    first = out.splitlines()[0].split("\t")
    assert len(first) == 3
    assert first[1:] == ["NNP", "B-PER"]


@pytest.mark.parametrize("form", ["conll", "conllu", "jsonl"])
def test_every_format_round_trips(run: Run, model: Path, tmp_path: Path, form: str) -> None:
    first = run("annotate", "--model", model, TEXT, "--output-format", form)
    assert first.code == 0
    (tmp_path / "a").write_text(first.out)
    second = run("annotate", "--model", model, "--input-format", form, tmp_path / "a")
    assert second == first
    assert run("annotate", "--model", model, "--input-format", form, stdin=first.out) == first


def test_brat_goes_to_a_folder(run: Run, model: Path, tmp_path: Path) -> None:
    assert "name it with --output" in run("annotate", "--model", model, TEXT, "--output-format", "brat").err
    code, out, _ = run("annotate", "--model", model, TEXT, "--output-format", "brat", "-o", tmp_path / "b")
    assert (code, out) == (0, "")
    [document] = read(tmp_path / "b")
    assert [span.label for sentence in document for span in sentence.spans] == ["PER", "LOC", "PER", "LOC"]


def test_documents(run: Run, model: Path) -> None:
    [record] = records(run("annotate", "--model", model, TEXT, "--documents").out)
    assert record["text"] == TEXT
    spans = [(s["start"], s["end"], s["label"]) for s in record["spans"]]  # type: ignore[attr-defined]
    assert spans == [(0, 12, "PER"), (21, 27, "LOC"), (30, 34, "PER"), (40, 46, "LOC")]


def test_output_told_by_its_name(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.conll.gz"
    assert run("annotate", "--model", model, TEXT, "--output", path) == (0, "", "")
    assert gzip.decompress(path.read_bytes()).startswith(b"Ada\tB-PER\nLovelace\tI-PER\n")
    assert [p.name for p in tmp_path.iterdir()] == ["out.conll.gz"]


def test_pretty_to_a_file(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert run("annotate", "--model", model, TEXT, "--output", path, "--output-format", "pretty").code == 0
    assert path.read_text().startswith("[Ada Lovelace PER")


def test_k_best(run: Run, model: Path) -> None:
    [record] = records(run("annotate", "--model", model, "Ada left London", "--k-best", 3).out)
    best = record["k_best"]
    assert isinstance(best, list)
    assert len(best) == 3
    assert best[0]["tags"] == record["ner"]
    assert best[0]["probability"] >= best[1]["probability"] >= best[2]["probability"]


def test_marginals_sum_to_one(run: Run, model: Path) -> None:
    [record] = records(run("annotate", "--model", model, "Ada left London", "--marginals").out)
    table = record["marginals"]
    assert isinstance(table, list)
    assert len(table) == 3
    assert set(table[0]) == {"O", "B-LOC", "I-LOC", "B-PER", "I-PER"}
    assert all(abs(sum(row.values()) - 1) < 1e-9 for row in table)


def test_sentence_per_line_and_tokenised(run: Run, model: Path) -> None:
    text = "Ada left. Alan left\nGrace's dog\n"
    assert len(records(run("annotate", "--model", model, "--lines", "paragraphs", stdin=text).out)) == 2
    assert len(records(run("annotate", "--model", model, stdin=text).out)) == 3  # a short line ends a sentence
    lines = records(run("annotate", "--model", model, "--sentence-per-line", stdin=text).out)
    assert [record["words"] for record in lines][1] == ["Grace", "'s", "dog"]
    parted = records(run("annotate", "--model", model, "--sentence-per-line", "--tokenised", stdin=text).out)
    assert parted[0]["words"] == ["Ada", "left.", "Alan", "left"]


def test_plain_labels(run: Run, data: Path, tmp_path: Path) -> None:
    path = trained(data, tmp_path / "pos", "pos.conll", "--target", "pos")
    [record] = records(run("annotate", "--model", path, "Ada left .").out)
    assert record["pos"] == ["NNP", "VBD", "."]
    out = run("annotate", "--model", path, "Ada left .", "--output-format", "pretty").out
    assert out == "[Ada NNP] [left VBD] [. .]\n"


def test_threads_change_nothing(run: Run, model: Path, data: Path) -> None:
    one, two = (run("annotate", "--model", model, data / "dev.conll", "--threads", n) for n in (1, 2))
    assert one == two


# Text or file?


def test_a_word_alone_is_a_missing_file(run: Run, model: Path) -> None:
    code, out, err = run("annotate", "--model", model, "London")
    assert (code, out) == (2, "")
    assert err == ("dovetail: error: London: no such file; a text must have a space in it, or come through a pipe\n")


@pytest.mark.parametrize("name", ["my file.txt", "my news.conll.gz", "a b/c d.jsonl"])
def test_what_ends_like_a_file_is_a_missing_file(run: Run, model: Path, name: str) -> None:
    code, _, err = run("annotate", "--model", model, name)
    assert code == 2
    assert f"{name}: no such file" in err


def test_a_long_text_is_no_file_name(run: Run, model: Path) -> None:
    assert run("annotate", "--model", model, "Ada left London . " * 1000).code == 0


def test_text_in_quotes_is_only_text(run: Run, model: Path) -> None:
    code, _, err = run("annotate", "--model", model, TEXT, "--input-format", "conll")
    assert code == 2
    assert "no such file" in err


# Bad input


def test_nothing_in_nothing_out(run: Run, model: Path, tmp_path: Path) -> None:
    for name in ("empty.txt", "empty.conll", "empty.jsonl", "empty.conllu"):
        (tmp_path / name).touch()
        assert run("annotate", "--model", model, tmp_path / name) == (0, "", "")
    assert run("annotate", "--model", model, stdin=" \n\n ") == (0, "", "")


def test_blank_sentences_of_json(run: Run, model: Path) -> None:
    stdin = '{"words": []}\n{"words": ["Ada"]}\n'
    code, out, err = run("annotate", "--model", model, "--input-format", "jsonl", stdin=stdin)
    assert (code, len(records(out))) == (0, 1)
    assert "1 time: sentence without words, left out" in err


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.conll", b"Ada B-PER\n\nleft\n", "x.conll:3: 1 column, expected 2"),
        ("x.txt", b"Ada\nM\xfcller\n", "x.txt:2: not valid UTF-8 (byte 0xfc)"),
        ("x.txt", "Ada left".encode("utf-16"), "it looks like UTF-16"),
        ("x.jsonl", b'{"words": ["Ada"]}\n{oops}\n', "x.jsonl:2: not JSON"),
        ("x.txt.gz", b"not gzip", "damaged or truncated gzip file"),
    ],
)
def test_bad_files(run: Run, model: Path, tmp_path: Path, name: str, text: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(text)
    output = tmp_path / "out"
    code, _, err = run("annotate", "--model", model, path, "--output", output)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_folder_without_text(run: Run, model: Path, tmp_path: Path) -> None:
    code, _, err = run("annotate", "--model", model, tmp_path)
    assert code == 2
    assert "no .txt file in this folder" in err


def test_hard_text(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "hard.txt"
    path.write_text("London " * 20_000 + "\n\n" + "x" * 10_000 + " left\x00\x07 London\n\nAda\n")
    code, out, err = run("annotate", "--model", model, path)
    assert (code, err) == (0, "")
    long, strange, short = records(out)
    assert len(long["words"]) == 20_000  # type: ignore[arg-type]
    assert strange["words"][0] == "x" * 10_000  # type: ignore[index]
    assert entities(short) == [("Ada", "PER")]


def test_a_layer_that_the_input_lacks(run: Run, data: Path, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('templates = ["word[0]", "pos[0]"]')
    features = ("--features", str(tmp_path / "f.toml"))
    code, out, err = run("annotate", "--model", trained(data, tmp_path / "n", "pos.conll", *features), TEXT)
    assert (code, "pos" in records(out)[0]) == (0, True)
    assert "the layer pos is predicted" in err
    path = trained(data, tmp_path / "m", "pos.conll", *features, "--no-predict-layers")
    code, out, err = run("annotate", "--model", path, TEXT)
    assert (code, out) == (2, "")
    assert "reads the layer pos" in err
    assert run("annotate", "--model", path, data / "pos.conll").code == 0


# Bad models


def test_bad_model_files(run: Run, model: Path, tmp_path: Path) -> None:
    whole = model.read_bytes()
    damaged = bytearray(whole)
    damaged[-5] ^= 255
    cases = {
        "foreign": b"this is no model, whatever its name may be",
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "short": whole[:100],
        "damaged": bytes(damaged),
        "cut.gz": gzip.compress(whole)[:-20],
    }
    for name, content in cases.items():
        (tmp_path / name).write_bytes(content)
        code, out, err = run("annotate", "--model", tmp_path / name, TEXT)
        assert (code, out) == (2, "")
        assert err.startswith(f"dovetail: error: {tmp_path / name}: ")
        assert err.count("\n") == 1


def test_missing_models(run: Run, tmp_path: Path) -> None:
    assert "there is no such file" in run("annotate", "--model", tmp_path / "nosuch", TEXT).err
    assert "this is a folder" in run("annotate", "--model", tmp_path, TEXT).err


def test_a_compressed_model(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "m.gz").write_bytes(gzip.compress(model.read_bytes()))
    assert run("annotate", "--model", tmp_path / "m.gz", TEXT) == run("annotate", "--model", model, TEXT)


# Bad output and options


def test_output_that_cannot_be_written(run: Run, model: Path, tmp_path: Path) -> None:
    assert "does not exist" in run("annotate", "--model", model, TEXT, "-o", tmp_path / "no" / "x").err
    assert (
        "this is a directory" in run("annotate", "--model", model, TEXT, "-o", tmp_path, "--output-format", "jsonl").err
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(run: Run, model: Path) -> None:
    for more in (["--output-format", "conll"], ["--output-format", "pretty"], ["--k-best", "2"]):
        code, out, err = run("annotate", "--model", model, TEXT, "--output", "/dev/full", *more)
        assert (code, out) == (2, "")
        assert "No space left on device" in err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--k-best", "2", "--output-format", "conll"], "need the output format jsonl"),
        (["--marginals", "--output-format", "pretty"], "need the output format jsonl"),
        (["--documents", "--k-best", "2"], "does not go with --k-best"),
        (["--columns", "word,pos"], "--columns names columns of CoNLL, but the input is text"),
        (["--threads", "0"], "--threads"),
        (["--threshold", "2"], "--threshold"),
        (["--k-best", "0"], "--k-best"),
    ],
)
def test_options_that_do_not_go_together(run: Run, model: Path, more: list[str], message: str) -> None:
    code, out, err = run("annotate", "--model", model, TEXT, *more)
    assert (code, out) == (2, "")
    assert message in err


def test_text_options_need_text(run: Run, model: Path, data: Path) -> None:
    assert "are for text" in run("annotate", "--model", model, data / "dev.conll", "--tokenised").err


def test_a_page_that_stands_alone(run: Run, model: Path, tmp_path: Path) -> None:
    from tests.evaluate.test_mistakes import Reader

    text = "Anna saw <Bern>."
    out = run("annotate", "--model", model, "--output-format", "html", text).out
    assert "saw <" in Reader(out).text
    page = tmp_path / "page.html"
    assert run("annotate", "--model", model, "--k-best", 3, "-o", page, text).code == 0
    assert Reader(page.read_text()).text.count("other answers") == 1
    assert run("annotate", "--model", model, "--marginals", "-o", page, text).code == 2
