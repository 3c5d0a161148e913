"""Chains: one label a token, each seen together with the one or two before it."""

from dovetail.rooms import open_room
from dovetail.structures.chain.single import Chain, ChainBatch, ChainPotentials

__all__ = ["Chain", "ChainBatch", "ChainPotentials"]

open_room(__name__)
