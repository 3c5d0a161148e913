"""What raw text, clusters and lists add to a tagger: from the options of a command to resources by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli.console import count, warn_all
from dovetail.cli.progress import Reporter
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.clusters.clustering import Clustering
    from dovetail.text.report import ReadReport

RESERVED = {"brown", "exchange", "fine", "casing", "association"}
"""Names that the recipe gives to what it makes."""


def word_resources(reporter: Reporter, given: Any, threads: int | None, real: bool = True) -> dict[str, Any]:
    """Everything that was asked for, by the names that templates use; vectors as clusters, where ``real`` is false."""
    from dovetail.features.resources.recipe import as_resources, read_clusterings
    from dovetail.text.report import ReadReport

    if given.clusters:
        reporter.doing(f"reading {', '.join(map(str, given.clusters))}")
    lists = read_lexicons(given.lexicon or (), unit="word")
    if given.save_clusters is not None and not given.unlabelled:
        raise DovetailError("--save-clusters saves the clusters made from raw text: it needs --unlabelled")
    report = ReadReport()
    clusterings = read_clusterings(given.clusters or (), report)
    warn_all(report.lines())
    _check_names(lists, {*clusterings, *RESERVED})
    if given.unlabelled:
        learnt = _learnt(given.unlabelled, given.encoding, threads, reporter, given.save_clusters)
        clusterings = {**{f"{name}_" if name in learnt else name: c for name, c in clusterings.items()}, **learnt}
    found: dict[str, Any] = {**lists, **as_resources(clusterings)}
    found |= read_vectors(reporter, given.vectors or (), {*found, *RESERVED}, real)
    found |= read_hints(given.hints or (), {*found, *RESERVED})
    how = {"unit": "word", "encoding": given.encoding, "progress": reporter.counted}
    return found | _association(given.association, reporter, **how)


def read_vectors(reporter: Reporter, given: Sequence[str], taken: Iterable[str], real: bool = True) -> dict[str, Any]:
    """Tables of vectors by name, from NAME=FILE or FILE; if not ``real``, the trees of classes that they make."""
    from dovetail.features.resources.recipe import free_name
    from dovetail.text.report import ReadReport

    names, found = set(taken), {}
    report = ReadReport()
    for one in given:
        name, equals, file = one.partition("=")
        if not equals:
            name, file = free_name(Path(one), names, "vectors"), one
        if not (name and file):
            raise DovetailError(f"--vectors {one}: give it as FILE or NAME=FILE")
        if name in names:
            raise DovetailError(f"--vectors {one}: the name {name!r} is taken by another resource; use another one")
        names.add(name)
        reporter.doing(f"reading {file}")
        found[name] = _vectors(file, report, real)
    warn_all(report.lines())
    return found


def _vectors(file: str, report: ReadReport, real: bool) -> Any:
    from dovetail.features.resources.clusters import Clusters
    from dovetail.features.resources.vectors import Vectors
    from dovetail.vectors.halving import halved
    from dovetail.vectors.table import VectorTable

    return Vectors.read(file, report=report) if real else Clusters.of(halved(VectorTable.read(file, report=report)))


def character_resources(reporter: Reporter, given: Any, width: bool) -> dict[str, Any]:
    """What was counted or read about characters, by name; ``width`` as the setting ``normalise_width``."""
    from dovetail.features.resources.clusters import Clusters
    from dovetail.features.resources.recipe import read_clusterings

    unlabelled = given.unlabelled or []
    if Path("-") in unlabelled:
        raise DovetailError("--unlabelled -: raw text is read twice, for association and for variety; give a file")
    found: dict[str, Any] = {name: Clusters.of(c) for name, c in read_clusterings(given.clusters or ()).items()}
    raw = [*(given.association or ()), *unlabelled]
    found |= _association(raw, reporter, unit="char", normalise_width=width, encoding=given.encoding)
    if unlabelled:
        from dovetail.features.resources.variety import Variety

        reporter.doing("counting accessor variety")
        found["variety"] = Variety.count(_characters(unlabelled, width, given.encoding))
    lists = read_lexicons(given.lexicon or (), unit="char")
    _check_names(lists, found)
    found |= lists
    return found | read_vectors(reporter, given.vectors or (), found)


def raw_sentences(paths: Sequence[Path], encoding: str, words: int) -> tuple[list[Any], bool]:
    """The first sentences of raw texts, of so many words in all, and whether there are more.

    A line is a sentence, and spaces are between words; files may also be annotated.
    """
    from dovetail.text import formats
    from dovetail.text.words import read_lines

    def every() -> Iterator[Sequence[str]]:
        for path in paths:
            if formats.guess_format(path) not in (None, "text"):
                yield from (s.words for s in formats.sentences(path, encoding=encoding))
            else:
                yield from map(str.split, read_lines(path, encoding))

    found: list[Any] = []
    for sentence in filter(len, every()):
        if words <= 0:
            return found, True
        found.append(list(sentence))
        words -= len(sentence)
    if not found:
        raise DovetailError(f"--noise-text {paths[0]}: there are no words")
    return found, False


def read_hints(given: Sequence[str], taken: Iterable[str]) -> dict[str, Any]:
    """Other taggers by name, from NAME=FILE, or from the name of a model that comes with dovetail: ``english``."""
    from dovetail.models.hints import Hints
    from dovetail.shipped import find, named

    names, found = set(taken), {}
    for one in given:
        name, equals, file = one.partition("=")
        if not equals and find(one) is not None:
            name, file = one.replace("-", "_"), one
        if not (name and file):
            there = ", ".join(name for name in named() if name.endswith("-names"))
            raise DovetailError(f"--hints {one}: give english, {there}, or another tagger as NAME=FILE")
        if name in names or name in found:
            raise DovetailError(f"--hints {one}: the name {name!r} is taken by another resource; use another one")
        found[name] = Hints.read(file)
    return found


def _check_names(lists: Iterable[str], taken: Iterable[str]) -> None:
    if clash := set(lists) & set(taken):
        raise DovetailError(f"--lexicon {clash.pop()}=...: this name is taken by another resource; use another one")


def _association(raw: Sequence[Path] | None, reporter: Reporter, **how: Any) -> dict[str, Any]:
    """How strongly neighbours in raw text go together, if there is any."""
    from dovetail.features.resources.association import Association

    if not raw:
        return {}
    reporter.doing("counting association")
    return {"association": Association.count(raw, **how).transform("z-score")}


def _characters(paths: Sequence[Path], width: bool, encoding: str) -> Iterator[str]:
    """The lines of raw texts without their spaces."""
    from dovetail.text.words import half_width, read_lines

    for line in chain.from_iterable(read_lines(path, encoding) for path in paths):
        yield "".join((half_width(line) if width else line).split())


def read_lexicons(given: Sequence[str], unit: Any) -> dict[str, Any]:
    """Lists of names by name, from NAME=FILE."""
    from dovetail.features.resources.lexicon import Lexicon
    from dovetail.text.report import ReadReport

    found: dict[str, Any] = {}
    report = ReadReport()
    for one in given:
        name, equals, file = one.partition("=")
        if not (name and equals and file):
            raise DovetailError(f"--lexicon {one}: give it as NAME=FILE")
        if name in found:
            raise DovetailError(f"--lexicon {one}: the name {name!r} is given twice")
        found[name] = Lexicon.read({name: file}, unit=unit, report=report)
    warn_all(report.lines())
    return found


def _learnt(
    raw: Sequence[Path], encoding: str, threads: int | None, reporter: Reporter, keep: Path | None
) -> dict[str, Clustering]:
    """Clusters of the raw text, which may be an annotated file.

    The training text is left out: with it, each of its words would have a cluster, and the model would not learn what
    to do without one. It costs half a point of F1 on CoNLL-2003.
    """
    from dovetail.clusters.counts import count_bigrams
    from dovetail.features.resources.recipe import learn_clusterings
    from dovetail.text import formats

    if keep is not None:  # a folder that cannot be made is reported before the long work
        keep.mkdir(parents=True, exist_ok=True)
    reporter.doing("counting words")
    annotated = {path for path in raw if formats.guess_format(path) not in (None, "text")}
    counts = count_bigrams(
        [path for path in raw if path not in annotated],
        sentences=(s.words for path in raw if path in annotated for s in formats.sentences(path, encoding=encoding)),
        encoding=encoding,
        progress=reporter.counted,
    )

    def told(what: str) -> Any:
        reporter.doing(f"clustering {count(len(counts.words), 'type')}: {what}")
        return reporter.clustered

    made = learn_clusterings(counts, threads, told)
    if keep is not None:
        for name, clustering in made.items():
            clustering.save(keep / f"{name}.paths")
    return made
