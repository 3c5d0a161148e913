"""Named sets of templates for words as tags of characters, and what resources add to them."""

from __future__ import annotations

from typing import ClassVar

from dovetail.features.algebra.features import Named
from dovetail.features.algebra.sets import SETS, FeatureSet

WORD_SETS: Named = {
    "words": (
        "our own set for words as tags of characters",
        (
            "bias",
            "word[-2:3]",
            "word[-2] & word[-1]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "word[1] & word[2]",
            "word[-1] & word[1]",
            "kind[-2:3]",
            "kind[-1] & kind[0]",
            "kind[0] & kind[1]",
            "kind[-1] & kind[0] & kind[1]",
            "kind[-2] & kind[-1] & kind[0] & kind[1] & kind[2]",
            "again[0]",
            "again[1]",
        ),
    ),
}

USUAL: dict[str, tuple[str, ...]] = {
    "association": tuple(f"association({{name}})[{where}]" for where in (-1, 0, 1, 2)),
    "clusters": ("cluster({name}, 4, 6, 8, 10, 12, 16, 0)[-1:2]",),
}
"""What a resource of these kinds adds to sets over characters, instead of its usual templates."""


class CharacterFeatures(FeatureSet):
    """Templates of characters or words as tokens of a chain.

    >>> chain_features("words").name
    'words'
    """

    SETS: ClassVar = WORD_SETS | SETS
    USUAL: ClassVar = USUAL


chain_features = CharacterFeatures.of
