"""NestedTagger: entities within entities."""

from dovetail.rooms import open_room

open_room(__name__)
