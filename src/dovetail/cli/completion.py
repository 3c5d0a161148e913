"""``dovetail completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from dovetail.cli.options import REQUIRED, argument

VARIABLE = "_DOVETAIL_COMPLETE"
"""Set by the script of a shell that asks what may come next."""
Shell = StrEnum("Shell", "bash zsh fish")


def completion(shell: Shell = argument("bash|zsh|fish", "The shell.", default=REQUIRED)) -> None:
    """Print what your shell needs to complete commands.

    Put it where your shell finds it, and open a new one. Examples:

    dovetail completion bash >> ~/.bashrc

    dovetail completion zsh >> ~/.zshrc

    dovetail completion fish > ~/.config/fish/completions/dovetail.fish
    """
    import typer.completion

    typers: Any = typer.completion  # which does not say what it exports
    print(typers.get_completion_script(prog_name="dovetail", complete_var=VARIABLE, shell=shell.value))
