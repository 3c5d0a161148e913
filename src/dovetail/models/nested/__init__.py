"""NestedTagger: entities within entities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
