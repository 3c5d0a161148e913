"""The parameters of a module as one vector, as optimisers have them, and as arrays, as model files have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.neural.extra import torch

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]


def trained(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The parameters that have a gradient, in the order of the vector; those that are frozen have no place in it."""
    return [p for p in module.parameters() if p.requires_grad]


def where(module: torch.nn.Module) -> torch.device:
    """The device that a module is on."""
    return next((p.device for p in module.parameters()), torch.device("cpu"))


def size(module: torch.nn.Module) -> int:
    """How long the vector is."""
    return sum(p.numel() for p in trained(module))


def _places(module: torch.nn.Module, vector: Floats) -> Iterator[tuple[torch.nn.Parameter, torch.Tensor]]:
    """Every parameter with its place in a vector [size], which is the memory of the tensor."""
    place = 0
    for p in trained(module):
        yield p, torch.from_numpy(vector[place : place + p.numel()]).view(p.shape)
        place += p.numel()


def paces(module: torch.nn.Module) -> list[float]:
    """How long the steps of each parameter are beside those of others, by the module's ``pace_of`` its name, if it has
    one: in the vector a parameter stands divided by its pace, so that a step of Adam, which is as long for every
    weight, moves it so much less."""
    pace_of = getattr(module, "pace_of", lambda name: 1.0)
    return [float(pace_of(name)) for name, p in module.named_parameters() if p.requires_grad]


def as_array(tensor: torch.Tensor) -> Floats:
    """A tensor as an array of doubles."""
    found: Floats = tensor.detach().to("cpu", torch.float64).numpy()
    return found


def read(module: torch.nn.Module) -> Floats:
    """The vector, [size]."""
    vector = np.empty(size(module))
    with torch.no_grad():
        for (p, place), pace in zip(_places(module, vector), paces(module), strict=True):
            place.copy_(p.detach().to("cpu", torch.float64) / pace)
    return vector


def write(module: torch.nn.Module, vector: Floats) -> None:
    """Set the parameters, whatever their type and device, from a vector [size]."""
    vector = vector if vector.flags.writeable else vector.copy()  # torch reads no others
    with torch.no_grad():
        for (p, place), pace in zip(_places(module, vector), paces(module), strict=True):
            p.copy_(place * pace)


def add_gradients(module: torch.nn.Module, gradients: list[torch.Tensor | None], out: Floats) -> None:
    """Add to ``out`` [size] the gradients of parameters, in their order; None is zero."""
    for (_, place), gradient, pace in zip(_places(module, out), gradients, paces(module), strict=True):
        if gradient is not None:
            place += gradient.to("cpu") * pace


def packed(module: torch.nn.Module, prefix: str, half: bool = False) -> dict[str, NDArray[Any]]:
    """All that a module knows as named arrays: numbers in single precision, or half."""
    kept = np.float16 if half else np.float32
    found = {}
    for name, tensor in module.state_dict().items():
        array = tensor.detach().cpu().numpy()
        found[f"{prefix}{name}"] = array.astype(kept) if np.issubdtype(array.dtype, np.floating) else array
    return found


def unpack(module: torch.nn.Module, arrays: Arrays, prefix: str) -> None:
    """Set all that a module knows from named arrays; they must be those of such a module."""
    state = module.state_dict()
    stored = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    if set(stored) != set(state) or any(stored[name].shape != tuple(state[name].shape) for name in state):
        raise ValueError("the arrays of the network do not fit its description")
    module.load_state_dict({name: torch.from_numpy(array.copy()).to(state[name]) for name, array in stored.items()})
