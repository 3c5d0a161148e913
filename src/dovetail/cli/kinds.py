"""What commands do with models whose answers are neither tags nor entities: one entry a kind of model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dovetail.cli import dependencies, nested, roles, trees
from dovetail.cli.nested import span_chances
from dovetail.cli.progress import watch
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.text.sentence import Sentence


class Kind(NamedTuple):
    """How answers of a kind are shown, spelled out and scored."""

    show: Callable[[Sentence], str]
    """An annotated sentence for people to read."""
    answer: Callable[[Any], dict[str, Any]]
    """One of the k best answers as fields of a JSON object."""
    marginals: Callable[[Any, Any], list[Any]]
    """From a model and sentences to what JSON says of all possible answers to each."""
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
        dependencies.answer,
        dependencies.marginals,
        dependencies.attachment_record,
        dependencies.attachment_report,
        dependencies.picture,
        "conllu",
    ),
    "joint": Kind(
        trees.show_both, trees.answer_both, span_chances, trees.joint_record, trees.joint_report, trees.picture
    ),
    "nested": Kind(nested.show, nested.answer, span_chances, nested.nested_record, nested.nested_report),
    "parser": Kind(
        trees.show, trees.answer, span_chances, trees.bracket_record, trees.bracket_report, trees.picture, "brackets"
    ),
    "roles": Kind(roles.show, roles.answer, roles.marginals, roles.role_record, roles.role_report),
}
"""By the ``kind`` of a model."""

LAYERS = {"frames": "roles", "head": "dependency", "nested": "nested", "tree": "parser"}
"""Layers that are scored as the answers of such a kind."""


def kind_of(model: Any) -> Kind | None:
    """The kind of a model, of a pipeline that of its last stage; None of a tagger or segmenter."""
    if (last := getattr(model, "last", None)) is not None:
        return KINDS.get(name_of(last.annotator)) or KINDS.get(LAYERS.get(model.target, ""))
    return KINDS.get(name_of(model))


def name_of(model: Any) -> str:
    """What a model is called in files; nothing where it is no model of ours."""
    return str(model.stored_kind()) if hasattr(model, "stored_kind") else ""


def refuse_aligner(model: Any, path: Path | None) -> None:
    """An aligner annotates nothing: say what it is for."""
    if name_of(model) == "aligner":
        raise DovetailError(f"{path}: this is an aligner, of texts and their translations: use dovetail align --model")


def load_model(model: Path | None, domain: str | None) -> Any:
    """A model; of several domains, the tagger or parser of the one that is named, or of what they share."""
    import dovetail

    watch()
    found: Any = dovetail.load(model) if model is not None else dovetail.load()
    refuse_aligner(found, model)
    if hasattr(found, "model_of"):
        return found.model_of(domain)
    if domain is not None:
        raise DovetailError(f"--domain {domain}: this model does not have several domains; leave out the option")
    return found
