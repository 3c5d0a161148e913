"""The template algebra and its named sets."""

from dovetail.rooms import open_room

open_room(__name__)
