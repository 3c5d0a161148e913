"""The name of the distribution: no page and no message has anybody install a package that is not ours."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from dovetail.extras import DISTRIBUTION, EXTRAS, install

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
READ = ("src", "docs", "tools", "benchmarks", "reproduce", "README.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile")
FOREIGN = re.compile(r"dovetail\[\w|pip3? install (-\S+ )*['\"]?dovetail(?!-nlp)", re.IGNORECASE)
"""PyPI's package dovetail is somebody else's; in brackets after the name there would be an extra."""


def test_no_page_and_no_message_installs_what_is_not_ours() -> None:
    files = [file for name in READ for file in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))]
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in files
        if file.suffix in (".py", ".md", ".html", ".js", ".toml") or file.name == "Makefile"
        for line in file.read_text(encoding="utf-8").splitlines()
        if "pip install" in line and FOREIGN.search(line)
    ]
    assert lines == []


def test_the_pattern_sees_them() -> None:
    wrong = (
        "pip install dovetail",
        "pip install 'dovetail[serve]'",
        'pip install "dovetail[plot]"',
        "PIP INSTALL Dovetail",
    )
    assert all(FOREIGN.search(line) for line in wrong)
    assert not any(
        FOREIGN.search(line) for line in ("pip install dovetail-nlp", "pip install '.[serve]'", "pip install .")
    )


def test_messages_say_what_the_metadata_ask_for() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    for extra, packages in EXTRAS.items():
        wanted = PROJECT["optional-dependencies"][extra]
        assert install(packages) == f"pip install {' '.join(map(repr, wanted))}"
    assert install(["numpy"]) == "pip install 'numpy>=1.26'"
