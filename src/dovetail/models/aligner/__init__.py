"""Word alignment: which words of a sentence translate which words of its translation."""

from dovetail.rooms import open_room

open_room(__name__)
