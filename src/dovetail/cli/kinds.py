"""What commands do with models whose answers are neither tags nor entities: one entry a kind of model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dovetail.cli import dependencies, joint, nested, trees

if TYPE_CHECKING:
    from dovetail.text.sentence import Document, Sentence

Sentences = Iterable["Sentence"]


class Kind(NamedTuple):
    """How answers of a kind are shown, spelled out and scored."""

    show: Callable[[Iterable[Document], IO[str]], None]
    """Annotated documents for people to read."""
    details: Callable[[Any, Any, int, bool], list[dict[str, Any]]]
    """From a model, sentences, k, and whether marginals are wanted, to more fields of each sentence's JSON object."""
    scores: Callable[[Any, Any], dict[str, Any]]
    """The scores of annotated sentences, given the right ones first, as they are printed in JSON."""
    report: Callable[[dict[str, Any]], str]
    """Such scores for people to read."""
    picture: Callable[[Sentence], str] | None = None
    """An annotated sentence as SVG."""
    piped: str = "jsonl"
    """The format in which text that was annotated leaves through a pipe."""


KINDS = {
    "dependency": Kind(
        dependencies.show,
        dependencies.details,
        dependencies.attachment_record,
        dependencies.attachment_report,
        dependencies.picture,
        "conllu",
    ),
    "joint": Kind(joint.show, trees.details, joint.joint_record, joint.joint_report, trees.picture),
    "nested": Kind(nested.show, nested.details, nested.nested_record, nested.nested_report),
    "parser": Kind(
        trees.show,
        trees.details,
        trees.bracket_record,
        trees.bracket_report,
        trees.picture,
        "brackets",
    ),
}
"""By the ``kind`` of a model."""

LAYERS = {"head": "dependency", "nested": "nested", "tree": "parser"}
"""Layers that are scored as the answers of such a kind."""


def kind_of(model: Any) -> Kind | None:
    """The kind of a model, None of a tagger or segmenter."""
    return KINDS.get(getattr(model, "kind", ""))
