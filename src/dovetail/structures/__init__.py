"""Exact inference, one kind of structure per folder; compiled kernels beside the class that owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.rooms import modules_of

if not TYPE_CHECKING:
    __getattr__ = modules_of(__name__)
