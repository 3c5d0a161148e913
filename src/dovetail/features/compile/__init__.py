"""From templates and a corpus to a factored design."""

from dovetail.rooms import open_room

open_room(__name__)
