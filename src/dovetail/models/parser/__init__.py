"""Parser: constituent trees."""

from dovetail.rooms import open_room

open_room(__name__)
