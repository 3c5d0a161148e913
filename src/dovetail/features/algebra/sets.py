"""Named sets of templates for tokens, words or characters, and sets read from TOML files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import ClassVar, Self

from dovetail.errors import DovetailError
from dovetail.features.algebra.features import Features, Named
from dovetail.features.algebra.templates import EDGE, NODE, flatten
from dovetail.features.resources.templates import FROM_FILES, class_of

SETS: Named = {
    "finkel-ner": ("Finkel 2010, table 3.1, named entities", (
        "bias", "word[-1:2]", "ngrams(1)[0]", "pos[0]", "pos[-1] & pos[0]", "pos[0] & pos[1]",
        "pos[-1] & pos[0] & pos[1]", "shape[0]", "shape[-1] & shape[0]", "shape[0] & shape[1]",
        "shape[-1] & shape[0] & shape[1]", "bag(word, 4)",
    )),
    "finkel-template": ("Finkel 2010, table 3.1, template filling", (
        "bias", "word[-1:2]", "ngrams(1, 6)[0]", "shape[0]", "shape[-1] & shape[0]", "shape[0] & shape[1]",
        "shape[-1] & shape[0] & shape[1]", "bag(word, 9)",
    )),
    "liang-ner": ("Liang 2005, figure 5-3, the regular features of the Markov model", (
        "bias", "word[-1:2]", "lower[-1:2]", "type[-1:2]", "short_type[-1:2]", "prefix(1, 4)[-1:2]",
        "suffix(1, 4)[-1:2]", "word[-1] & word[0]", "word[0] & word[1]", "edge(word[-1] & word[0])",
    )),
    "liang-segmentation": ("Liang 2005, figure 5-1, the regular features of the Markov model over characters", (
        "bias", "word[-2:3]", "word[-2] & word[-1]", "word[-1] & word[0]", "word[0] & word[1]",
        "word[1] & word[2]", "edge(word[-1] & word[0])",
    )),
    "wang-english": ("Wang 2014, table 2.2, English, node features", (
        "bias", "word[-1:2]", "shape[-1:2]", "word[0] & shape[-1]", "word[-1] & word[-2] & shape[-1]",
        "bag(word, -4, 4)", "cap[-1] & cap[0] & cap[1]", "title[-1:1]",
    )),
    "wang-chinese": ("Wang 2014, table 2.2, Chinese, node features", (
        "bias", "word[-1:2]", "word[-1] & word[0]", "word[0] & word[1]", "shape[-4:5]", "prefix(1, 4)[-1:1]",
        "suffix(1, 4)[-1:1]", "radicals[0]",
    )),
    "plain": ("the 26 plain templates of the comparison with CRFsuite", (
        "word[-2:3]", "lower[0]", "suffix(2, 4)[0]", "prefix(2, 3)[0]", "shape[-2:3]", "pos[-2:3]",
        "word[-1] & word[0]", "word[0] & word[1]", "pos[-1] & pos[0]", "pos[0] & pos[1]", "shape[-1] & shape[0]",
    )),
    "none": ("next to nothing: for an encoder alone", ("bias",)),
    "ner": ("our own set for named entities", (
        "bias", "word[-2:3]", "lower[-1:2]", "ngrams(1, 6)[0]", "prefix(1, 4)[-1]", "suffix(1, 4)[-1]",
        "prefix(1, 4)[1]", "suffix(1, 4)[1]", "shape[-2:3]", "pos[-2:3]", "bag(lower, 4)", "word[-1] & word[0]",
        "word[0] & word[1]", "word[-1] & shape[0]", "shape[0] & word[1]", "shape[-1] & shape[0]",
        "shape[0] & shape[1]", "shape[-2] & shape[-1] & shape[0]", "shape[-1] & shape[0] & shape[1]",
        "shape[0] & shape[1] & shape[2]", "pos[-1] & pos[0]", "pos[0] & pos[1]", "elsewhere(lower[-1])",
        "elsewhere(lower[1])", "elsewhere(shape[-1:2])",
    )),
}  # fmt: skip

for _language in ("english", "chinese"):
    _about, _lines = SETS[f"wang-{_language}"]
    SETS[f"wang-{_language}-edges"] = (
        _about.replace("node features", "node and edge features"),
        _lines + tuple(f"edge({line})" for line in _lines),
    )

WORD_SETS: Named = {
    "words": ("our own set for words as tags of characters", (
        "bias", "word[-2:3]", "word[-2] & word[-1]", "word[-1] & word[0]", "word[0] & word[1]", "word[1] & word[2]",
        "word[-1] & word[1]", "kind[-2:3]", "kind[-1] & kind[0]", "kind[0] & kind[1]", "kind[-1] & kind[0] & kind[1]",
        "kind[-2] & kind[-1] & kind[0] & kind[1] & kind[2]", "again[0]", "again[1]",
    )),
}  # fmt: skip

WORD_USUAL: dict[str, tuple[str, ...]] = {
    "association": tuple(f"association({{name}})[{where}]" for where in (-1, 0, 1, 2)),
    "clusters": ("cluster({name}, 4, 6, 8, 10, 12, 16, 0)[-1:2]",),
    "vectors": ("vector({name})[-1:2]",),
}
"""What a resource of these kinds adds to sets over characters, instead of its usual templates."""


class FeatureSet(Features):
    """Templates of tokens under a name: of labels (``node``) and of pairs of labels (``edge``).

    >>> FeatureSet.named("plain").name
    'plain'
    """

    PARTS: ClassVar = (NODE, EDGE)
    SETS: ClassVar = SETS
    OTHERS: ClassVar = ", or give a .toml file"

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """A set from a file with ``templates = [...]`` and, if wished, ``extends = "ner"`` and ``name``.

        Tables ``[clusters]``, ``[vectors]``, ``[lexicon]`` and ``[association]`` give files by name, relative to it.
        """
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise DovetailError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a number of thousands of digits
            raise DovetailError(f"{path}: not a TOML file: {error}") from None
        unknown = set(data) - {"name", "extends", "templates", *FROM_FILES}
        lines = data.get("templates", [])
        tables = [data.get(kind, {}) for kind in FROM_FILES]
        if (
            unknown
            or not all(isinstance(data.get(name, ""), str) for name in ("name", "extends"))
            or not (isinstance(lines, list) and all(isinstance(line, str) for line in lines))
            or not all(isinstance(t, dict) and all(isinstance(p, str) for p in t.values()) for t in tables)
        ):
            raise DovetailError(
                f'{path}: expected name = "...", extends = "...", templates = ["..."] and tables of files under '
                f"{', '.join(f'[{kind}]' for kind in FROM_FILES)}; found {', '.join(map(repr, data))}"
            )
        resources = {
            name: class_of(kind).read(Path(path).parent / file)
            for kind, table in zip(FROM_FILES, tables, strict=True)
            for name, file in table.items()
        }
        base = cls.named(data["extends"]) if "extends" in data else cls("", ())
        own = cls.from_lines(str(path), lines, (), resources)
        if not base.templates + own.templates:
            raise DovetailError(f'{path}: no templates; write templates = ["word[-1:2]", ...]')
        everything = tuple(flatten([base.templates, own.templates]))
        found = cls(data.get("name", Path(path).stem), everything, base.optional - set(own.columns))
        unused = {name: r for name, r in resources.items() if name not in found.resources}
        return found.joined(**unused)  # a resource that no template names adds the usual templates of its kind


class CharacterFeatures(FeatureSet):
    """Templates of characters or words as tokens of a chain.

    >>> chain_features("words").name
    'words'
    """

    SETS: ClassVar = WORD_SETS | SETS
    USUAL: ClassVar = WORD_USUAL


chain_features = CharacterFeatures.of
