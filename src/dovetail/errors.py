"""The errors that users are meant to see: one line that says what is wrong and what to do."""

from __future__ import annotations


class DovetailError(Exception):
    """Something the user can fix; the command line prints its message alone and exits with 2."""


class InputError(DovetailError):
    """Bad input, with the file and line where there is one: ``train.conll:817: 3 columns, expected 4``."""

    def __init__(self, message: str, path: object = None, line: int | None = None) -> None:
        where = f"{path}:{line}: " if path is not None and line is not None else f"{path}: " if path is not None else ""
        super().__init__(where + message)
        self.path = path
        self.line = line


class ModelFileError(DovetailError):
    """A model file that cannot be used: corrupt, truncated, foreign or of a newer version."""


class NewerVersionWarning(UserWarning):
    """A file says something under names that this version does not know; what they mean is left out."""
