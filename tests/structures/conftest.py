"""Small batches take the slow path; the tests of this folder are small, and mean the fast one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dovetail.structures.chain import batch as chain_batch


@pytest.fixture(autouse=True, scope="package")
def fast_path_for_small_batches() -> Iterator[None]:
    usual = chain_batch.SMALL_TOKENS
    chain_batch.SMALL_TOKENS = 0
    yield
    chain_batch.SMALL_TOKENS = usual
