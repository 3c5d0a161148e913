"""Several domains in one model."""

from dovetail.rooms import open_room

open_room(__name__)
