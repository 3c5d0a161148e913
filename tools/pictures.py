"""Make the pictures of the gallery and of the README: pages in a Chromium that is there, drawings of our own.

python tools/pictures.py            # all
python tools/pictures.py label curve

Needs the extra ``serve``, playwright, Pillow and matplotlib; `tools/readme_picture.py` makes that of the terminal.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

import dovetail
from dovetail.text import Span
from dovetail.text.bitext import Pair
from dovetail.text.brackets import parse_tree
from dovetail.text.draw_dependencies import dependency_svg
from dovetail.text.links import Link
from dovetail.text.links_svg import links_svg
from dovetail.text.tree_svg import tree_svg

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "docs" / "examples"
CHROMIUM = "/usr/bin/chromium"
LIMIT = 150_000
"""Bytes of a picture, at most."""
TEXT = """Ada Lovelace met Charles Babbage at a party in London in June.
Later she wrote the notes that made her known.
Clara Schumann played in Vienna and Budapest.
The University of Bern lent her a piano.
"""


def dovetail_at(folder: Path, *command: str) -> None:
    """Run a command of dovetail in a folder."""
    subprocess.run([sys.executable, "-m", "dovetail", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def running(folder: Path, *command: str) -> Iterator[str]:
    """A command of dovetail that serves pages, in a process of its own; gives its address."""
    call = [sys.executable, "-m", "dovetail", *command, "--port", "0"]
    process = subprocess.Popen(call, cwd=folder, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+/", line)))
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def opened(address: str, height: int = 700) -> Iterator[Any]:
    """A page in a browser, in light colours."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(
            viewport={"width": 1000, "height": height}, color_scheme="light", reduced_motion="reduce"
        )
        page.set_default_timeout(120_000)
        page.goto(address)
        yield page
        browser.close()


def keep(name: str, shot: bytes) -> None:
    """Write a screenshot with as many colours as the limit on its size lets it have."""
    image = Image.open(io.BytesIO(shot)).convert("RGB")
    for colours in (256, 128, 64, 32):
        image.quantize(colours, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)
        if (IMAGES / f"{name}.png").stat().st_size <= LIMIT:
            return
    raise ValueError(f"{name}: too large")


def serve(folder: Path) -> None:
    """The page of ``dovetail serve``, with the reasons for an answer."""
    with running(folder, "serve", "--model", "english-names") as address, opened(address) as page:
        page.wait_for_selector(".sentence")
        page.get_by_label("Text", exact=True).fill(TEXT.splitlines()[0])
        with page.expect_response("**/annotate"):
            page.get_by_role("button", name="Annotate").click()
        page.get_by_role("button", name="Why?").first.click()
        page.get_by_text("Speaks for it").wait_for()
        keep("serve", page.screenshot(full_page=True))


def label(folder: Path) -> None:
    """The page of ``dovetail label``, with guesses of a model."""
    (folder / "letters.txt").write_text(TEXT)
    command = "label letters.txt --labels PER LOC ORG --model english-names --annotator clara --no-browser".split()
    with running(folder, *command, "--sentence-per-line") as address, opened(address) as page:
        page.wait_for_selector("#sentence .entity")
        keep("label", page.screenshot(full_page=True))


def report(folder: Path) -> None:
    """The page on errors that ``dovetail evaluate --html`` writes."""
    files = "--train people-train.conll --dev people-dev.conll --features people.toml --l2 0.3 --min-count 1"
    dovetail_at(EXAMPLES, "train", "tagger", *files.split(), "--output", str(folder / "people.dovetail"), "--quiet")
    command = "evaluate --model people.dovetail --html report.html"
    dovetail_at(folder, *command.split(), str(EXAMPLES / "people-dev.conll"))
    with opened((folder / "report.html").as_uri(), 1100) as page:
        keep("report", page.screenshot())


def curve(folder: Path) -> None:
    """Learning curves of two configurations."""
    files = f"--train {EXAMPLES}/people-train.conll --dev {EXAMPLES}/people-dev.conll --sizes 20,40,60,80,all --draws 3"
    configurations = f"--config few=features={EXAMPLES}/people.toml --config many=features=ner --jobs 1 --quiet"
    dovetail_at(folder, "curve", *files.split(), *configurations.split(), "--output", "curves")
    drawing = (folder / "curves" / "curve.svg").read_text(encoding="utf-8")
    (IMAGES / "curve.svg").write_text(
        "\n".join(line.rstrip() for line in drawing.splitlines()) + "\n", encoding="utf-8"
    )


def tree(_: Path) -> None:
    """Constituents, with an entity under the words."""
    brackets = "(S (NP (NNP Ada) (NNP Lovelace)) (VP (VBD wrote) (NP (NP (DT the) (NNS notes)) (PP (IN on) "
    read = parse_tree(brackets + "(NP (DT the) (NN engine))))) (. .))")
    (IMAGES / "tree.svg").write_text(tree_svg(read, [Span(0, 2, "PER")], title="Ada Lovelace wrote the notes"))


def dependencies(_: Path) -> None:
    """Heads and relations."""
    layers = {"head": "2 3 0 5 3 8 8 5 3", "deprel": "compound nsubj root det obj case det nmod punct"}
    words = tuple("Ada Lovelace wrote the notes on the engine .".split())
    sentence = dovetail.Sentence(words, {name: tuple(layer.split()) for name, layer in layers.items()})
    (IMAGES / "dependencies.svg").write_text(dependency_svg(sentence, title="Ada Lovelace wrote the notes"))


def links(_: Path) -> None:
    """Words of two languages that translate each other, the fainter the less probable."""
    pair = Pair(
        tuple("Ada schrieb die Anmerkungen zur Maschine .".split()),
        tuple("Ada wrote the notes on the engine .".split()),
    )
    found = [
        (0, 0, 0.99),
        (1, 1, 0.97),
        (2, 2, 0.95),
        (3, 3, 0.9),
        (4, 4, 0.8),
        (4, 5, 0.45),
        (5, 6, 0.9),
        (6, 7, 0.99),
    ]
    (IMAGES / "links.svg").write_text(links_svg(pair, [Link(*one) for one in found], title="German and English"))


PICTURES: dict[str, Callable[[Path], None]] = {
    made.__name__: made for made in (serve, label, report, curve, tree, dependencies, links)
}


def main() -> None:
    """Make the pictures that are named, or all."""
    for name in sys.argv[1:] or PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            PICTURES[name](Path(folder))
        print(name, flush=True)


if __name__ == "__main__":
    main()
