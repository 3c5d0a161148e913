"""Where results go."""

from __future__ import annotations

import os
from pathlib import Path

from dovetail.errors import DovetailError


def check_writable(path: Path) -> None:
    """Refuse at once what could only fail after hours of work."""
    folder = path.parent
    if path.is_dir():
        raise DovetailError(f"{path}: cannot be written: this is a directory; name a file in it")
    if not folder.is_dir():
        raise DovetailError(f"{path}: cannot be written: the folder {folder} does not exist")
    if not os.access(folder if not path.exists() else path, os.W_OK):
        raise DovetailError(f"{path}: cannot be written: permission denied")
