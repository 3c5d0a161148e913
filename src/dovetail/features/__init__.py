"""Features: the template algebra, its named sets, and the compiled design of a corpus."""

from dovetail.rooms import open_room

open_room(__name__)
