"""Word vectors: made from raw text, read and written in the formats that others use."""

from dovetail.rooms import open_room

open_room(__name__)
