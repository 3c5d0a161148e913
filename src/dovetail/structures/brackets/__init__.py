"""Binary bracketings: a label at every span, and no grammar."""

from __future__ import annotations

from dovetail.rooms import open_room
from dovetail.structures.brackets.batch import BracketBatch, Bracketing
from dovetail.structures.brackets.parts import BracketPotentials, Brackets

__all__ = ["BracketBatch", "BracketPotentials", "Bracketing", "Brackets"]

open_room(__name__)
