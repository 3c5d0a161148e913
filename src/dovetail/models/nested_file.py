"""Taggers inside the file of another model: their headers under a name, their arrays with it before theirs."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from dovetail.models.chain_model import ChainModel
from dovetail.models.tagger import Tagger

Arrays = dict[str, NDArray[Any]]


def pack_tagger(tagger: Tagger, name: str, half: bool) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a trained tagger, for the file of the model that it belongs to."""
    model = tagger.model_
    assert model is not None  # packed only once it is trained
    return {"target": tagger.target, **model.header()}, {f"{name}.{part}": a for part, a in model.arrays(half).items()}


def unpack_tagger(header: dict[str, Any], arrays: Arrays, name: str) -> Tagger:
    """The tagger out of the file of the model that it belongs to."""
    mine = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    model = ChainModel.from_file(header, mine, ())
    tagger = Tagger(features=model.features, order=model.order, target=str(header["target"]))
    tagger.model_ = model
    return tagger
