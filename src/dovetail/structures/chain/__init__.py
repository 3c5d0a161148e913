"""Chains: one label a token, each seen together with the one or two before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of
from dovetail.structures.chain.batch import Chain, ChainBatch
from dovetail.structures.chain.parts import ChainPotentials

__all__ = ["Chain", "ChainBatch", "ChainPotentials"]

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
