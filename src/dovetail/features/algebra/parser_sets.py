"""The features of a parser: of words for their parts of speech, of the gaps between words for rules and symbols.

Gap p lies before word p, so that ``word[-1]`` and ``word[0]`` are the words on its two sides; the last gap lies before
a mark of the end. ``known`` is the word where it is frequent in the training data, else its class (as ``unk-cap-ed``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.resources.clusters import Clusters

END = "</s>"

TAG = (
    "bias", "word[-1:2]", "lower[0]", "suffix(2, 3)[0]", "prefix(1, 2)[0]", "shape[0]",
    "pos[0]", "pos[-1] & pos[0] & pos[1]", "pos[-1] & word[0]", "word[0] & pos[1]",
)  # fmt: skip
RULE = (
    "known[-1]", "known[0]", "pos[-1]", "pos[0]", "pos[-1] & pos[0]", "pos[-2] & pos[-1]", "pos[0] & pos[1]",
)  # fmt: skip
LABEL = (
    *RULE, "suffix(3)[-1]", "suffix(3)[0]", "pos[-1] & pos[0] & pos[1]", "pos[-2] & pos[-1] & pos[0]",
    "known[-1] & pos[0]", "pos[-1] & known[0]",
)  # fmt: skip


class ParserFeatures(NamedTuple):
    """Three sets: for parts of speech, for rules at gaps, for symbols at gaps."""

    tag: FeatureSet
    rule: FeatureSet
    label: FeatureSet

    @classmethod
    def usual(cls, clusters: Mapping[str, Clusters], rich: bool = True) -> ParserFeatures:
        """The usual sets, with those of some clusterings; without ``rich``, only words for their parts of speech."""
        lines: dict[str, list[str]] = {"tag": list(TAG), "rule": list(RULE), "label": list(LABEL)}
        for name, found in clusters.items():
            is_tree = found.levels != (0,)
            every = f"cluster({name}, 4, 6, 10, 0)" if is_tree else f"cluster({name}, 0)"
            some = f"cluster({name}, 6, 10)" if is_tree else every
            pair = f"cluster({name}, 6)" if is_tree else every
            lines["tag"].append(f"{every}[0]")
            lines["rule"] += [f"{some}[-1]", f"{some}[0]"]
            lines["label"] += [f"{every}[-1]", f"{every}[0]", f"{pair}[-1] & {pair}[0]"]
        if not rich:
            lines["rule"], lines["label"] = [], []
        return cls(*(FeatureSet.from_lines(f"parser-{part}", lines[part], (), clusters) for part in cls._fields))
