"""The imports between the files of this repository: which test files a change of some files can touch.

Imports are read from the syntax tree, those inside functions and under ``TYPE_CHECKING`` included, since this package
imports late to start quickly. Naming a module imports its packages, too; a lazy package (``__getattr__``) that names
its modules in strings is followed by way of what its users ask it for.
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {"dovetail": ROOT / "src" / "dovetail", "tests": ROOT / "tests", "tools": ROOT / "tools"}


@cache
def files_by_module() -> Mapping[str, Path]:
    """Every module of the package, its tests and its tools, with its file."""
    modules = {}
    for package, folder in SOURCES.items():
        for file in folder.rglob("*.py"):
            parts = [package, *file.relative_to(folder).with_suffix("").parts]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return modules


def imported_names(file: Path, module: str) -> Iterator[str]:
    """Yield the dotted name of everything that a file imports, as far as it is spelt: ``package.module.name``."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


@cache
def lazy_names(package: str) -> Mapping[str, str]:
    """Map the names that a lazy package hands out to the modules they come from, as its strings say."""
    file = files_by_module()[package]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if file.name != "__init__.py" or not any(
        isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body
    ):
        return {}
    homes: dict[str, str] = {}
    for node in ast.walk(tree):  # under TYPE_CHECKING a lazy package imports what it hands out
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dovetail."):
            homes |= {alias.asname or alias.name: node.module for alias in node.names}
    return homes


def modules_of(name: str) -> Iterator[str]:
    """Yield the modules of ours that importing a dotted name loads: packages, module, and the home of a lazy name."""
    known = files_by_module()
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        prefix = ".".join(parts[:length])
        if prefix not in known:
            package = ".".join(parts[: length - 1])
            if package in known and parts[length - 1] in lazy_names(package):
                yield lazy_names(package)[parts[length - 1]]
            return
        yield prefix


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Map every module to the modules of ours that it imports.

    What a lazy package imports for type checkers alone is left out: its users are said to import it themselves.
    """
    graph = {}
    for module, file in files_by_module().items():
        lazy = set(lazy_names(module).values())
        loaded = {other for name in imported_names(file, module) for other in modules_of(name)}
        graph[module] = frozenset(loaded - lazy - {module})
    return graph


def distances(changed: Iterable[str]) -> dict[str, int]:
    """Return, for every module that imports one of these, by how many steps it is away; 0 for themselves."""
    importers: dict[str, set[str]] = defaultdict(set)
    for module, loaded in imports().items():
        for other in loaded:
            importers[other].add(module)
    steps = dict.fromkeys(changed, 0)
    queue = deque(steps)
    while queue:
        module = queue.popleft()
        for importer in sorted(importers[module]):
            if importer not in steps:
                steps[importer] = steps[module] + 1
                queue.append(importer)
    return steps


def module_of(file: Path) -> str | None:
    """Return the name of the module that a file is, None for a file that is no module of ours."""
    return next((module for module, own in files_by_module().items() if own == file.resolve()), None)
