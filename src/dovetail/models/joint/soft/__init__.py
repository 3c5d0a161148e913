"""Trees and entities by two structures, whose spans are coupled softly."""

from dovetail.rooms import open_room

open_room(__name__)
