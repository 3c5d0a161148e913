"""Make a release, and try it: wheel and source distribution in ``dist/``, each installed where nothing else is.

python tools/release.py                     # with every Python from 3.11 to 3.13 that is on the PATH
python tools/release.py --python python3.13 # with this one
python tools/release.py --only-build

The source distribution gets no test of its own: the wheel is built from it, as `python -m build` does. Beside the two
lies ``dovetail_nlp-VERSION.cdx.json``, what dovetail runs on, with licences (`tools/licences.py`).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("python3.11", "python3.12", "python3.13")
LIMIT = 40_000_000
"""Bytes of the wheel, at most."""
OWED = ("tests/conftest.py", "tests/data/everyday.conll", "docs/index.md", "tools/smoke.py", "mkdocs.yml", "Makefile")
"""Some of what tests need, and the source distribution has."""


def build() -> tuple[Path, Path]:
    """The wheel and the source distribution, made anew."""
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    [wheel], [source] = (ROOT / "dist").glob("*.whl"), (ROOT / "dist").glob("*.tar.gz")
    return wheel, source


def faults(wheel: Path, source: Path) -> list[str]:
    """What is wrong with the files: too large, with what does not belong there, or without what does."""
    inside = zipfile.ZipFile(wheel).namelist()
    found = [f"{name} does not belong into the wheel" for name in inside if not name.startswith("dovetail")]
    size = wheel.stat().st_size
    if size > LIMIT:
        found.append(f"the wheel has {size / 1e6:.1f} MB, and may have {LIMIT / 1e6:.0f}")
    with tarfile.open(source) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    return found + [f"{name} is missing in the source distribution" for name in OWED if name not in held]


def tried(wheel: Path, python: str) -> bool:
    """Whether every command and every estimator works with this Python, installed from the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = str(Path(folder) / "bin" / "python")
        subprocess.run([inside, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        smoke = ROOT / "tools" / "smoke.py"
        return subprocess.run([inside, "-I", str(smoke)], cwd=folder).returncode == 0


def main() -> None:
    """Build, look, try; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Build dovetail, and try what was built.")
    parser.add_argument("--python", action="append", help="a Python to try; may be repeated")
    parser.add_argument("--only-build", action="store_true", help="try none")
    asked = parser.parse_args()
    wheel, source = build()
    wrong = faults(wheel, source)
    subprocess.run([sys.executable, ROOT / "tools" / "licences.py", wheel], check=True)
    for python in [] if asked.only_build else asked.python or PYTHONS:
        if shutil.which(python) is None:
            print(f"{python}: not here, not tried")
        elif tried(wheel, python):
            print(f"{python}: everything works")
        else:
            wrong.append(f"{python}: something does not work")
    version = wheel.name.split("-")[1]
    if not (ROOT / "tests" / "data" / "frozen" / version).exists():
        print(f"{version} is not frozen yet: once released, add its commit to tools/releases.json, run tools/freeze.py")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {source.name}: {source.stat().st_size / 1e6:.1f} MB")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
