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
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
RELEASES = Path(__file__).with_name("releases.json")
WORKING_TREE = "."
MAX_CHECKOUTS = 8
"""Number of checkouts that stay in the cache; those that were used longest ago are deleted (about 300 MB each)."""
SOURCE_FOLDER = "src"
CONTENTS_FILE = "contents.json"
"""What is in the tree of a checkout; there is none while the tree is being written."""

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


def resolve_commit(name: str, repository: Path = REPOSITORY) -> str | None:
    """Return the hash of the commit that a version, branch, tag or hash names; None for the working tree, ``.``."""
    if name == WORKING_TREE:
        return None
    releases: dict[str, str] = json.loads(RELEASES.read_text("utf-8"))
    try:
        commit = git(
            "rev-parse", "--verify", "--quiet", f"{releases.get(name, name)}^{{commit}}", repository=repository
        )
    except CheckoutError:
        raise CheckoutError(f"{name}: no such version or commit; versions are {', '.join(releases)}") from None
    return commit.decode().strip()


def is_ancestor(commit: str, descendant: str, repository: Path = REPOSITORY) -> bool:
    """Return whether a commit is the same as another, or one of its ancestors."""
    command = ["git", "-C", str(repository), "merge-base", "--is-ancestor", commit, descendant]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def list_contents(commit: str | None, repository: Path = REPOSITORY) -> dict[str, str]:
    """Return the files that make the package: all of ``src`` and those in the root of the repository."""
    if commit is not None:
        entries = git("ls-tree", "-r", "-z", commit, repository=repository).decode().split("\0")
        split = [entry.partition("\t") for entry in entries if entry.split(" ")[1:2] == ["blob"]]
        return {path: about.split()[2] for about, _, path in split if _belongs_to_package(path)}
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", repository=repository).decode()
    paths = [p for p in sorted(set(listed.split("\0"))) if _belongs_to_package(p) and (repository / p).is_file()]
    hashes = git("hash-object", "--stdin-paths", stdin="\n".join(paths).encode(), repository=repository).decode()
    return dict(zip(paths, hashes.split(), strict=True))


def _belongs_to_package(path: str) -> bool:
    return path.startswith(f"{SOURCE_FOLDER}/") or bool(path and "/" not in path)


class Checkout:
    """A commit, or the working tree, in a folder of the cache."""

    def __init__(self, name: str, cache: Path, repository: Path = REPOSITORY) -> None:
        self.name, self.cache, self.repository = name, cache, repository
        self.commit = resolve_commit(name, repository)
        # As long as a hash of git: paths of unlike length would make for unlike memory on the two sides.
        self.key = self.commit or f"tree-{hashlib.sha1(str(repository).encode()).hexdigest()[5:]}"
        self.folder = cache / self.key
        self.tree, self.venv = self.folder / "tree", self.folder / "venv"
        self.python = self.venv / "bin" / "python"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Wait until no other run of this tool uses the checkout, and keep it for this one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"waiting for another run that compares {self.name}", file=sys.stderr, flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def prepare(self) -> None:
        """Bring the source up to date, and install the package."""
        contents = list_contents(self.commit, self.repository)
        if not (self.folder / CONTENTS_FILE).exists():  # new, or an update was interrupted
            shutil.rmtree(self.tree, ignore_errors=True)
            self._copy_nearest_checkout(contents)
        self._update_tree(contents)
        self._install(contents)
        os.utime(self.folder)

    def count_kernels(self) -> int:
        """Return how many files of compiled code there are."""
        return sum(1 for _ in self.tree.rglob("*.nbc"))

    def _copy_nearest_checkout(self, contents: Contents) -> None:
        """Start from the checkout that has most files in common, so that few kernels have to be compiled."""
        ranked = [(len(load_contents(f).items() & contents.items()), f) for f in list_checkouts(self.cache)]
        n_shared, nearest = max(ranked, default=(0, self.folder))
        if n_shared:
            shutil.copytree(nearest / "tree", self.tree)
            shutil.copy2(nearest / CONTENTS_FILE, self.folder / CONTENTS_FILE)
        self.tree.mkdir(exist_ok=True)

    def _update_tree(self, contents: Contents) -> None:
        """Write the files that differ from those of the last run, and delete compiled code that is stale."""
        before = load_contents(self.folder)
        changed = {path for path, _ in before.items() ^ contents.items()}
        if not changed:
            return
        (self.folder / CONTENTS_FILE).unlink(missing_ok=True)
        for path in changed - contents.keys():
            (self.tree / path).unlink(missing_ok=True)
        written = sorted(changed & contents.keys())
        for path, data in zip(written, self._load_files(written, contents), strict=True):
            target = self.tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        for kernel in find_stale_kernels(self.tree / SOURCE_FOLDER, changed):
            kernel.unlink()
        (self.folder / CONTENTS_FILE).write_text(json.dumps(contents))

    def _load_files(self, paths: list[str], contents: Contents) -> list[bytes]:
        if self.commit is None:
            return [(self.repository / path).read_bytes() for path in paths]
        hashes = "\n".join(contents[path] for path in paths)
        printed = git("cat-file", "--batch", stdin=hashes.encode(), repository=self.repository)
        files, at = [], 0
        for _ in paths:  # HASH TYPE SIZE, a line end, the content, a line end
            begin = printed.index(b"\n", at) + 1
            size = int(printed[at:begin].split()[2])
            files.append(printed[begin : begin + size])
            at = begin + size + 1
        return files

    def _install(self, contents: Contents) -> None:
        """Make the environment, unless it is there and the package is described as it was then."""
        parents = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
        made_for = json.dumps([contents.get("pyproject.toml"), sys.version, parents])
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


def list_checkouts(cache: Path) -> list[Path]:
    """Return the folders of all complete checkouts, the one used last first."""
    complete = [path.parent for path in cache.glob(f"*/{CONTENTS_FILE}")]
    return sorted(complete, key=lambda folder: -folder.stat().st_mtime)


def load_contents(folder: Path) -> dict[str, str]:
    """Return the files that the last run wrote to a checkout."""
    file = folder / CONTENTS_FILE
    return json.loads(file.read_text()) if file.exists() else {}


def delete_oldest_checkouts(cache: Path, keep: Iterable[Path]) -> None:
    """Delete the checkouts that were used longest ago, but none of those to keep."""
    for folder in list_checkouts(cache)[MAX_CHECKOUTS:]:
        if folder not in set(keep):
            shutil.rmtree(folder)


def find_stale_kernels(source: Path, changed: Iterable[str]) -> Iterator[Path]:
    """Yield the files of compiled code that may hold code of changed files, which are paths from the repository.

    Compiled code holds that of the kernels it calls, and the constants it reads, from whatever files these come.
    """
    files = {_module_of(path.relative_to(source)): path.read_text("utf-8") for path in sorted(source.rglob("*.py"))}
    modules = {name: parse_module(text) for name, text in files.items()}
    used = {name: set(_used_modules(modules, name)) for name in modules}
    stale = {_module_of(Path(p).relative_to(SOURCE_FOLDER)) for p in changed if p.startswith(f"{SOURCE_FOLDER}/")}
    reached = stale
    while reached:
        reached = {name for name in used.keys() - stale if not used[name].isdisjoint(reached)}
        stale = stale | reached
    for name in stale:
        file = source.joinpath(*name.split("."))
        for suffix in ("nbi", "nbc"):
            yield from (file.parent / "__pycache__").glob(f"{file.name}.*.{suffix}")


def _module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


class Module(NamedTuple):
    """What a file imports, and which of that its compiled code may read."""

    imports: dict[str, tuple[str, str]]
    """By the name in the file: the module that it is imported from, and its name there, empty for the module itself."""
    used: set[str]
    """Names in decorated functions and in assignments to globals: kernels are decorated, and read globals."""


def parse_module(text: str) -> Module:
    """Return what a file imports and uses.

    >>> parse_module("from a import b as c\\nimport d\\nX = c + 1\\ndef f(): return d.g()")
    Module(imports={'c': ('a', 'b'), 'd': ('d', '')}, used={'c'})
    """
    tree = ast.parse(text)
    imports: dict[str, tuple[str, str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imports |= {alias.asname or alias.name.partition(".")[0]: (alias.name, "") for alias in node.names}
    compiled: list[ast.AST] = [n.value for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign) and n.value]
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.decorator_list:
            compiled += [*function.decorator_list, *function.body]  # annotations are not compiled
    names = {node.id for part in compiled for node in ast.walk(part) if isinstance(node, ast.Name)}
    return Module(imports, names & imports.keys())


def _used_modules(modules: Mapping[str, Module], name: str) -> Iterator[str]:
    """Yield the modules that the compiled code of one may hold code of, also those that pass names on."""
    for local in modules[name].used:
        module, original = modules[name].imports[local]
        while True:
            yield from (one for one in (module, f"{module}.{original}") if one in modules)
            if module not in modules or original not in modules[module].imports:
                break
            module, original = modules[module].imports[original]
