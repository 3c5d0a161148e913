"""Models that are known by a name: those that come with dovetail, and those in folders that a user names.

A name stands wherever the path of a model file may stand. Nothing is ever downloaded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from dovetail.errors import ModelFileError

FOLDERS = "DOVETAIL_MODELS"
"""The environment variable with folders of more models; they come before those of dovetail."""
ENDING = ".dovetail"
ALIASES = {"english": "english-names", "english-ner": "english-names"}
"""Other names, short and old."""
_NAME = re.compile(r"[\w-]+")


def folders() -> list[Path]:
    """Where models lie that are known by name, in the order in which they are looked for."""
    named = [Path(folder).expanduser() for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder]
    return [*named, own_folder()]


def own_folder() -> Path:
    """Where the files lie that come with dovetail.

    >>> own_folder().name
    'data'
    """
    from importlib.resources import files

    return Path(str(files("dovetail").joinpath("data")))


def models_in(folder: Path) -> dict[str, Path]:
    """The model files of a folder by name, sorted; none if there is no such folder."""
    return {path.stem: path for path in sorted(folder.glob(f"*{ENDING}")) if path.is_file()}


def named() -> dict[str, Path]:
    """All models that are known by name, sorted by it.

    >>> "english-names" in named()
    True
    """
    found: dict[str, Path] = {}
    for folder in reversed(folders()):
        found |= models_in(folder)
    return dict(sorted(found.items()))


def find(name: str | Path) -> Path | None:
    """The file of the model of this name, if there is one.

    >>> find("english") == find("english-names"), find("klingon-names")
    (True, None)
    """
    if not _NAME.fullmatch(str(name)):
        return None
    paths = (folder / f"{ALIASES.get(str(name), name)}{ENDING}" for folder in folders())
    return next((path for path in paths if path.is_file()), None)


def located(given: str | Path, beside: Path | None = None) -> Path:
    """The model file that is meant by a path or by a name; a file of that path, relative to ``beside``, comes first.

    A path that is nothing of the kind is given back as it is. An unknown name is an error, which says what there is.

    >>> located("english-names").name, str(located("mine.dovetail"))
    ('english-names.dovetail', 'mine.dovetail')
    """
    path = Path(given) if beside is None else beside / given
    if path.exists() or not _NAME.fullmatch(str(given)):
        return path
    found = find(given)
    if found is None:
        raise ModelFileError(f"{given}: cannot be read: there is no such file, {_unknown(str(given))}")
    return found


def _unknown(name: str) -> str:
    """What to say of a name that no model has.

    >>> _unknown("english-name")[:74]
    'and no model of this name comes with dovetail; did you mean english-names?'
    """
    from difflib import get_close_matches

    there = list(named())
    nearest = get_close_matches(name, [*there, *ALIASES], 1, 0.5)
    hint = f"; did you mean {nearest[0]}? There" if nearest else ": there"
    return (
        f"and no model of this name comes with dovetail{hint} are {', '.join(there) or 'none'}; "
        f"{FOLDERS} names folders of more"
    )
