"""Draw the picture of the README: what a terminal shows for a few commands, as SVG.

python tools/readme_picture.py
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "terminal.svg"
WIDTH = 84
COMMANDS = (
    'dovetail annotate "Angela Merkel met Barack Obama in Berlin."',
    'dovetail explain "Microsoft opened an office in Munich." --token Munich --top 3',
)


def shown(command: str) -> Text:
    """What a command prints on a terminal of our width, with its colours."""
    inside = f"stty cols {WIDTH}; {shlex.quote(sys.executable)} -m {command}"
    done = subprocess.run(
        ["script", "-qec", inside, os.devnull], capture_output=True, text=True, env={**os.environ, "TERM": "xterm"}
    )
    return Text.from_ansi(done.stdout.replace("\r", "").rstrip("\n"))


def main() -> None:
    """Run the commands, draw, write."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for number, command in enumerate(COMMANDS):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(shown(command))
    drawing = re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="dovetail"), flags=re.DOTALL)  # no downloads
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text("\n".join(line.rstrip() for line in drawing.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
