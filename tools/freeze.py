"""Freeze a release: write small models and their answers to `tests/data/frozen/VERSION/`.

python tools/freeze.py                    # after a release, when its commit is in tools/releases.json
python tools/freeze.py --output FOLDER    # to another folder, to look at

Each entry of `tools/variations.py` gets a folder with the model, its input, its answers, and the output of
`dovetail info --json` and `dovetail explain`. `tests/test_frozen.py` compares every later version with them. A folder
that is frozen is never written again.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from variations import MODEL, VARIATIONS, Variation

import dovetail
from dovetail.cli.main import FIXABLE, OK
from dovetail.cli.main import main as run_command

ROOT = Path(__file__).parents[1]
FROZEN = ROOT / "tests" / "data" / "frozen"
RELEASES = Path(__file__).with_name("releases.json")
"""File with the commit of each release, by version."""
MANIFEST = "manifest.json"
"""Name of the file with the SHA-256 of every other file of a release."""
ANSWERS, INFO, EXPLANATION = "answers.json", "info.json", "explain.txt"
DECIMALS = 7
"""Digits after the decimal point in answers; the test allows a difference of 1e-6."""
MAX_FEATURES = 2
"""Number of features that `explain` shows for and against an answer."""
MAX_RELEASE_BYTES = 3_000_000
"""Largest size of a release."""


def run_dovetail(*arguments: object) -> str | None:
    """Run dovetail and return its standard output, or None if it refuses with a message to the user."""
    out, messages = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
        code = run_command(list(map(str, arguments)))
    out.seek(0)
    messages.seek(0)
    if code not in (OK, FIXABLE):
        raise RuntimeError(f"dovetail {' '.join(map(str, arguments))}: {messages.read()}")
    return out.read() if code == OK else None


def describe(folder: Path) -> dict[str, str]:
    """Return the output of `info --json` and `explain` by file name; a command that refuses the model has none."""
    model, inputs, texts = folder / MODEL, sorted(folder.glob("input.*")), {}
    if (info := run_dovetail("info", "--json", model)) is not None:
        texts[INFO] = dump_json(json.loads(info) | {"file": MODEL})  # wherever the folder lies
    if inputs and (explanation := run_dovetail("explain", "--top", MAX_FEATURES, "--model", model, inputs[0])):
        texts[EXPLANATION] = explanation
    return texts


def dump_json(value: Any) -> str:
    """Return a value as a line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def round_answers(value: Any) -> Any:
    """Return answers with their numbers rounded to ``DECIMALS``."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {name: round_answers(item) for name, item in value.items()}
    return list(map(round_answers, value)) if isinstance(value, list) else value


def freeze(variation: Variation, folder: Path) -> None:
    """Train a variation into a new folder, write its answers, and compress its models."""
    folder.mkdir(parents=True)
    variation.train(folder)
    answers = round_answers(variation.answers(folder))
    for name, text in ({ANSWERS: dump_json(answers)} | describe(folder)).items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in sorted(folder.glob("*.dovetail")):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()


def unfreeze(frozen: Path, folder: Path) -> None:
    """Copy a frozen variation into a folder, and decompress its models there."""
    shutil.copytree(frozen, folder, dirs_exist_ok=True)
    for path in folder.glob("*.dovetail.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))


def missing_packages(variation: Variation) -> list[str]:
    """Return the packages that a variation requires and that are not installed."""
    return [name for name in variation.requires if find_spec(name) is None]


def hash_files(release: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a release except its manifest, by path."""
    files = sorted(path for path in release.rglob("*") if path.is_file() and path != release / MANIFEST)
    return {path.relative_to(release).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def find_release_folder() -> Path:
    """Return the folder for the release that is checked out; exit if it is no release, or is frozen."""
    version, commits = dovetail.__version__, json.loads(RELEASES.read_text("utf-8"))
    folder = FROZEN / version
    if folder.exists():
        sys.exit(f"{folder} exists: what is frozen is never written again")
    if version not in commits:
        sys.exit(f"tools/releases.json has no commit of {version}: add it once that version is released")
    if not Path(dovetail.__file__).is_relative_to(ROOT / "src"):
        sys.exit(f"{dovetail.__file__} is not in this repository: set PYTHONPATH to its src")
    differs = subprocess.run(["git", "-C", str(ROOT), "diff", "--quiet", commits[version], "--", "src"], check=False)
    if differs.returncode:
        sys.exit(f"src differs from {version}, commit {commits[version]}: check out its src first")
    return folder


def main() -> None:
    """Freeze all variations and print their sizes; nothing is left behind after an error."""
    parser = argparse.ArgumentParser(description="Freeze a release: write small models and their answers.")
    parser.add_argument("--output", type=Path, help="write to this folder instead, which must not exist")
    parser.add_argument("--only", default="", help="with --output: only variations whose names begin with this")
    options = parser.parse_args()
    if options.only and options.output is None:
        sys.exit("--only needs --output: a release is frozen as a whole")
    release = options.output or find_release_folder()
    variations = {name: one for name, one in VARIATIONS.items() if name.startswith(options.only)}
    if packages := sorted({package for one in variations.values() for package in missing_packages(one)}):
        sys.exit(f"some variations require {', '.join(packages)}: install them first")
    release.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=release.parent) as temporary:
        folder = Path(temporary) / release.name
        for name, variation in variations.items():
            freeze(variation, folder / name)
            sizes = {path.name: path.stat().st_size for path in sorted((folder / name).iterdir())}
            print(f"{sum(sizes.values()):8,}  {name}: {', '.join(f'{n} {size:,}' for n, size in sizes.items())}")
        (folder / MANIFEST).write_text(json.dumps(hash_files(folder), indent=1) + "\n", encoding="utf-8")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if size > MAX_RELEASE_BYTES:
            sys.exit(f"{size:,} bytes, more than the {MAX_RELEASE_BYTES:,} of a release: make models smaller")
        folder.rename(release)
    print(f"{release}: {len(variations)} variations, {size:,} bytes")


if __name__ == "__main__":
    main()
