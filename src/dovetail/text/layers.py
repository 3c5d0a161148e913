"""The layers of a sentence: a dictionary that nobody can change, so that sentences can be shared and hashed."""

from __future__ import annotations

from typing import Any, NoReturn


class Layers(dict[str, tuple[str, ...]]):
    """Names and the values that the words have under them; read as any dictionary, copied with changes.

    >>> layers = Layers(pos=("NN",))
    >>> layers["pos"], {**layers, "ner": ("O",)}
    (('NN',), {'pos': ('NN',), 'ner': ('O',)})
    >>> layers["ner"] = ("O",)
    Traceback (most recent call last):
    TypeError: the layers of a sentence do not change; with_layer gives a sentence with another
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Layers, (dict(self),)  # pickle would fill an empty one, which cannot be filled

    def __deepcopy__(self, memo: object) -> Layers:
        return self

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the layers of a sentence do not change; with_layer gives a sentence with another")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse
