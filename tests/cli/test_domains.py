"""Models of several domains on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dovetail import MultiDomainTagger
from dovetail.text.conll import write_conll
from tests.cli.conftest import Run
from tests.models.corpus import made


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second domain, which calls places otherwise."""
    path = tmp_path_factory.mktemp("web") / "web.conll"
    spots = [s.with_layer("ner", tuple(t.replace("LOC", "SPOT") for t in s.layers["ner"])) for s in made(15, seed=5)]
    write_conll(spots, path, columns=("word", "ner"))
    return path


def train(run: Run, data: Path, web: Path, output: Path, *more: object) -> tuple[int, str, str]:
    domains = ("--domain", f"news={data / 'train.conll'}", "--domain", f"web={web}")
    features = ("--features", data / "features.toml", "--iterations", 10)
    return run("train", "tagger", *domains, "--output", output, *features, *more)


def test_train_annotate_and_evaluate(run: Run, data: Path, web: Path, tmp_path: Path) -> None:
    model = tmp_path / "m"
    code, out, _ = train(run, data, web, model, "--dev-domain", f"news={data / 'dev.conll'}")
    assert code == 0
    assert re.search(r"^news:\nlabel .*\n(.*\n)*micro ", out)
    assert "web: trained on 15 sentences" in out
    assert re.search(r"^sigma: 0\.[13]$", out, re.MULTILINE)
    assert "2 domains" in out
    assert MultiDomainTagger.load(model).domains_ == ("news", "web")
    text = "Ada visited Vienna ."
    found = {
        domain: run("annotate", "--model", model, *(["--domain", domain] if domain else []),
                    "--tokenised", "--output-format", "conll", text).out
        for domain in ("news", "web", None)
    }  # fmt: skip
    assert found["news"] == "Ada\tB-PER\nvisited\tO\nVienna\tB-LOC\n.\tO\n\n"
    assert found["web"] == found["news"].replace("LOC", "SPOT")
    assert found[None].startswith("Ada\tB-PER")
    assert run("evaluate", "--model", model, "--domain", "web", web).code == 0
    assert "SPOT" in run("explain", "--model", model, "--domain", "web", "--token", "Vienna", text).out


@pytest.mark.parametrize("strategy", ["target", "all", "augment"])
def test_strategies(run: Run, data: Path, web: Path, tmp_path: Path, strategy: str) -> None:
    code, out, _ = train(run, data, web, tmp_path / "m", "--strategy", strategy)
    assert code == 0
    assert "sigma" not in out
    assert MultiDomainTagger.load(tmp_path / "m").strategy == strategy


def test_a_run_goes_on_and_starts_from_a_model_of_one(
    run: Run, data: Path, web: Path, model: Path, tmp_path: Path
) -> None:
    dev = ("--dev-domain", f"news={data / 'dev.conll'}")
    code, _, err = train(run, data, web, tmp_path / "m", *dev, "--resume")
    assert (code, "give sigma" in err) == (2, True)
    code, out, err = train(run, data, web, tmp_path / "m", *dev, "--resume", "--sigma", 0.2, "--init", model)
    assert code == 0, err
    assert "sigma: 0.2" in out
    assert not (tmp_path / "m.checkpoint").exists()


def test_unknown_domains_are_told(run: Run, data: Path, web: Path, model: Path, tmp_path: Path) -> None:
    train(run, data, web, tmp_path / "m", "--strategy", "target")
    for command in ("annotate", "explain"):
        code, _, err = run(command, "--model", tmp_path / "m", "--domain", "radio", "a b")
        assert (code, "no domain 'radio'; the model knows news, web" in err) == (2, True)
    assert "share no weights (strategy target)" in run("annotate", "--model", tmp_path / "m", "a b").err
    code, _, err = run("annotate", "--model", model, "--domain", "news", "a b")
    assert (code, "does not have several domains" in err) == (2, True)
    code, _, err = run("evaluate", "--gold", web, "--predicted", web, "--domain", "news")
    assert (code, "does not go with --predicted" in err) == (2, True)


def test_domains_without_a_common_label_are_doubted(run: Run, data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.conll"
    other.write_text("my\tO\nphone\tB-THING\n\na\tO\nphone\tB-THING\n")
    code, _, err = train(run, data, other, tmp_path / "m")
    assert code == 0
    assert "without a label in common" in err
    assert "news and web" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --train FILE, or --domain NAME=FILE"),
        (["--train", "a", "--domain", "n=b"], "give --train FILE, or --domain NAME=FILE"),
        (["--domain", "news"], "give a name and a file"),
        (["--domain", "=news.conll"], "give a name and a file"),
        (["--domain", "n=a", "--domain", "n=b"], "--domain n is given twice"),
        (["--domain", "n=a", "--dev", "b"], "--dev is not for several domains"),
        (["--train", "a", "--sigma", "0"], "--sigma is for several domains"),
        (["--train", "a", "--strategy", "all"], "--strategy is for several domains"),
        (["--train", "a", "--no-restrict"], "--no-restrict is for several domains"),
        (["--train", "a", "--dev-domain", "n=b"], "--dev-domain is for several domains"),
        (["--domain", "n=missing.conll"], "missing.conll"),
    ],
)
def test_options_that_do_not_go_together(run: Run, tmp_path: Path, options: list[str], message: str) -> None:
    code, _, err = run("train", "tagger", *options, "--output", tmp_path / "m")
    assert code == 2
    assert message in err
    assert not (tmp_path / "m").exists()


def test_an_empty_domain_is_told(run: Run, data: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.conll"
    empty.write_text("")
    code, _, err = train(run, data, empty, tmp_path / "m")
    assert code == 2
    assert f"{empty}: no sentences to learn from in this file, read as conll" in err
