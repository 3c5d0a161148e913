"""Parsing without a grammar: labels of spans, and binary trees over them."""

from dovetail.rooms import open_room

open_room(__name__)
