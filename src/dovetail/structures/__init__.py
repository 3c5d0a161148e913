"""Exact inference, one kind of structure per folder; compiled kernels beside the class that owns them."""

from dovetail.rooms import open_room

open_room(__name__)
