"""The model for the language of a text, where a user names none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli.console import say

if TYPE_CHECKING:
    from dovetail.text.sentence import Document

ENOUGH = 4000
"""Characters at the beginning of a text that tell its language."""
HOW = "name one with --model (see dovetail models)"


def in_its_language(documents: Iterable[Document]) -> tuple[Path | None, Iterator[Document]]:
    """The model of names in the language of a text, None for the English one; and the documents, all of them.

    The language is guessed from the beginning, and said if it is not English.
    """
    from dovetail.catalogue import names_model
    from dovetail.text.languages import LANGUAGES, guess_language

    stream = iter(documents)
    begun: list[Document] = []
    text = ""
    while len(text) < ENOUGH and (document := next(stream, None)) is not None:
        begun.append(document)
        text += f" {str(document.text or document)[:ENOUGH]}"
    whole = chain(begun, stream)
    code = guess_language(text)
    if code == "en":
        return None, whole
    language = LANGUAGES.get(code or "", "")
    model = names_model(code) if code is not None else None
    if model is not None:
        say(f"the text seems to be {language}: its names are found by {model}; to use another model, {HOW}")
        return Path(model), whole
    seems = f"the text seems to be {language}" if language else "the text is in a language that is not known here"
    say(f"{seems}, and no model for it comes with dovetail: the English one is used; {HOW}")
    return None, whole
