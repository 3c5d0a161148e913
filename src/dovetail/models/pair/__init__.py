"""Two languages: taggers that agree across a translation, and taggers that learn across it."""

from dovetail.rooms import open_room

open_room(__name__)
