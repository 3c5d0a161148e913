"""Checkouts of commits for ``tools/compare.py``: source trees with their own environments and caches of kernels.

A checkout is a folder of the cache: ``tree`` holds the source, ``venv`` an environment in which dovetail alone is
installed; all other packages come from the environment that runs this tool. Compiled kernels stay in the tree from run
to run. Numba does not notice edits in files that a kernel's file imports, so where a file changes, the compiled code of
all kernels that may use it is deleted.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RELEASES = Path(__file__).with_name("releases.json")
WORKING_TREE = "."
MAX_CHECKOUTS = 8
"""Number of checkouts that stay in the cache; those that were used longest ago are deleted (about 300 MB each)."""
SOURCE_FOLDER = "src"

Contents = Mapping[str, str]
"""Files of a source tree: the hash of the git object of each, by path."""


class CheckoutError(Exception):
    """A commit that cannot be checked out or installed, with what to do about it."""


def git(*arguments: str, stdin: bytes = b"", repository: Path = REPOSITORY) -> bytes:
    """Return what a git command prints; raise ``CheckoutError`` if it fails."""
    ran = subprocess.run(["git", "-C", str(repository), *arguments], input=stdin, capture_output=True, check=False)
    if ran.returncode:
        raise CheckoutError(f"git {arguments[0]}: {ran.stderr.decode(errors='replace').strip()}")
    return ran.stdout


def commit_of(name: str, repository: Path = REPOSITORY) -> str | None:
    """Return the hash of the commit that a version, branch, tag or hash names; None for the working tree, ``.``."""
    if name == WORKING_TREE:
        return None
    releases: dict[str, str] = json.loads(RELEASES.read_text("utf-8"))
    try:
        found = git("rev-parse", "--verify", "--quiet", f"{releases.get(name, name)}^{{commit}}", repository=repository)
    except CheckoutError:
        raise CheckoutError(f"{name}: no such version or commit; versions are {', '.join(releases)}") from None
    return found.decode().strip()


def is_ancestor(commit: str, of: str, repository: Path = REPOSITORY) -> bool:
    """Return whether a commit is another one or one of its ancestors."""
    command = ["git", "-C", str(repository), "merge-base", "--is-ancestor", commit, of]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def contents_of(commit: str | None, repository: Path = REPOSITORY) -> dict[str, str]:
    """Return the files that make the package: all of ``src`` and those in the root of the repository."""
    if commit is not None:
        entries = git("ls-tree", "-r", "-z", commit, repository=repository).decode().split("\0")
        split = [entry.partition("\t") for entry in entries if entry.split(" ")[1:2] == ["blob"]]
        return {path: about.split()[2] for about, _, path in split if _is_of_package(path)}
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", repository=repository).decode()
    paths = [p for p in sorted(set(listed.split("\0"))) if _is_of_package(p) and (repository / p).is_file()]
    hashes = git("hash-object", "--stdin-paths", stdin="\n".join(paths).encode(), repository=repository).decode()
    return dict(zip(paths, hashes.split(), strict=True))


def _is_of_package(path: str) -> bool:
    return path.startswith(f"{SOURCE_FOLDER}/") or bool(path and "/" not in path)


class Checkout:
    """A commit, or the working tree, in a folder of the cache."""

    def __init__(self, name: str, cache: Path, repository: Path = REPOSITORY) -> None:
        self.name, self.cache, self.repository = name, cache, repository
        self.commit = commit_of(name, repository)
        self.key = self.commit or "tree-" + hashlib.sha256(str(repository).encode()).hexdigest()[:12]
        self.folder = cache / self.key
        self.tree, self.venv = self.folder / "tree", self.folder / "venv"
        self.python = self.venv / "bin" / "python"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other run of this tool uses the checkout, and keep it for this one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def prepare(self) -> None:
        """Bring the source up to date, drop compiled code that is stale, and install the package."""
        wanted = contents_of(self.commit, self.repository)
        if not self.tree.exists():
            self._copy_nearest(wanted)
        changed = self._write(wanted)
        for path in stale_kernels(self.tree / SOURCE_FOLDER, changed):
            path.unlink()
        self._install(wanted)
        os.utime(self.folder)

    def kernels(self) -> int:
        """Return how many files of compiled code there are."""
        return sum(1 for _ in self.tree.rglob("*.nbc"))

    def _copy_nearest(self, wanted: Contents) -> None:
        """Start from the checkout that has most files in common, so that few kernels have to be compiled."""
        others = [(len(set(recorded(f).items()) & set(wanted.items())), f) for f in checkouts(self.cache)]
        common, nearest = max(others, default=(0, self.folder))
        if common:
            for name in ("tree", "contents.json"):
                source = nearest / name
                (shutil.copytree if source.is_dir() else shutil.copy2)(source, self.folder / name)
        self.tree.mkdir(exist_ok=True)

    def _write(self, wanted: Contents) -> set[str]:
        """Write the files that differ from those of the last run, and return their paths."""
        before = recorded(self.folder)
        changed = {path for path, _ in before.items() ^ wanted.items()}
        (self.folder / "contents.json").unlink(missing_ok=True)  # until all of it is written nothing is certain
        for path in changed - wanted.keys():
            (self.tree / path).unlink(missing_ok=True)
        needed = sorted(changed & wanted.keys())
        data = dict(zip(needed, self._data([wanted[path] for path in needed], needed), strict=True))
        for path, content in data.items():
            target = self.tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (self.folder / "contents.json").write_text(json.dumps(wanted))
        return changed

    def _data(self, hashes: list[str], paths: list[str]) -> Iterable[bytes]:
        if self.commit is None:
            return [(self.repository / path).read_bytes() for path in paths]
        printed = git("cat-file", "--batch", stdin="\n".join(hashes).encode(), repository=self.repository)
        found, at = [], 0
        for _ in hashes:
            end = printed.index(b"\n", at)
            size = int(printed[at:end].split()[2])
            found.append(printed[end + 1 : end + 1 + size])
            at = end + size + 2
        return found

    def _install(self, wanted: Contents) -> None:
        """Make the environment, unless it is there and the package is described as it was then."""
        parents = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
        made_for = json.dumps([wanted.get("pyproject.toml"), sys.version, parents])
        mark = self.venv / "made-for"
        if mark.exists() and mark.read_text() == made_for:
            return
        shutil.rmtree(self.venv, ignore_errors=True)
        _run(sys.executable, "-m", "venv", "--without-pip", str(self.venv))
        # A path in a .pth file is searched after the environment's own packages, and its .pth files are not read: the
        # dovetail that is installed there stays unseen.
        [packages] = self.venv.glob("lib/python*/site-packages")
        (packages / "other-packages.pth").write_text("".join(f"{path}\n" for path in parents))
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        _run(*pip, "install", "--quiet", "--no-deps", "--editable", str(self.tree))
        mark.write_text(made_for)


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise CheckoutError(f"{' '.join(command)} failed:\n{ran.stderr.strip() or ran.stdout.strip()}")


def checkouts(cache: Path) -> list[Path]:
    """Return the folders of all complete checkouts, the one used last first."""
    found = [path.parent for path in cache.glob("*/contents.json")]
    return sorted(found, key=lambda folder: -folder.stat().st_mtime)


def recorded(folder: Path) -> dict[str, str]:
    """Return the files that the last run wrote to a checkout."""
    file = folder / "contents.json"
    return json.loads(file.read_text()) if file.exists() else {}


def drop_oldest(cache: Path, keep: Iterable[Path]) -> None:
    """Delete the checkouts that were used longest ago, but none of those to keep."""
    for folder in checkouts(cache)[MAX_CHECKOUTS:]:
        if folder not in set(keep):
            shutil.rmtree(folder)


def stale_kernels(source: Path, changed: Iterable[str]) -> Iterator[Path]:
    """Yield the files of compiled code that may hold code of changed files, given by path from the repository.

    Compiled code holds that of the kernels it calls, and the constants it reads, from whatever files these come.
    """
    modules = {_module_of(path.relative_to(source)): path for path in sorted(source.rglob("*.py"))}
    used = {name: used_modules(path.read_text("utf-8"), modules) for name, path in modules.items()}
    stale = {_module_of(Path(p).relative_to(SOURCE_FOLDER)) for p in changed if p.startswith(f"{SOURCE_FOLDER}/")}
    fresh = stale
    while fresh:
        fresh = {name for name, others in used.items() if name not in stale and not others.isdisjoint(fresh)}
        stale = stale | fresh
    for name in stale:
        folder = source.joinpath(*name.split("."))
        for kind in ("nbi", "nbc"):
            yield from (folder.parent / "__pycache__").glob(f"{folder.name}.*.{kind}")


def _module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def used_modules(text: str, modules: Iterable[str]) -> set[str]:
    """Return the modules, of those given, whose names a file uses in decorated functions or in assignments to globals.

    Kernels are decorated, and what they read besides their arguments is global; other functions do not matter.

    >>> sorted(used_modules("from a.b import c\\nimport d\\nX = c + 1\\ndef f(): return d.g()", ["a.b", "d"]))
    ['a.b']
    """
    known, tree = set(modules), ast.parse(text)
    origin: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                origin[alias.asname or alias.name] = inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                origin[alias.asname or alias.name.partition(".")[0]] = alias.name
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    decorated = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.decorator_list]
    names = {n.id for part in [*assigned, *decorated] for n in ast.walk(part) if isinstance(n, ast.Name)}
    return {origin[name] for name in names if name in origin} & known
