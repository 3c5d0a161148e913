"""A team covers all items once, and nobody runs ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.clusters.team import Member, Team, meet, share
from dovetail.kernel import kernel


@given(st.integers(0, 200), st.integers(1, 9))
def test_shares_cover_all_items_in_order(items: int, of: int) -> None:
    ranges = [share(Member(me, of, 0), items) for me in range(of)]
    assert [i for lo, hi in ranges for i in range(lo, hi)] == list(range(items))
    assert all(lo % 8 == 0 or lo == items for lo, _ in ranges)


@kernel
def _shift_rounds(row: Any, rounds: int, member: Any) -> None:
    """Add up neighbours, round after round: wrong if anybody reads before all have written."""
    lo, hi = share(member, len(row[0]))
    for i in range(rounds):
        old, new = row[i % 2], row[(i + 1) % 2]
        for c in range(lo, hi):
            new[c] = (old[c] + old[c - 1]) % 1009
        meet(member)


@pytest.mark.parametrize("threads", [2, 3])
def test_members_wait_for_one_another(threads: int) -> None:
    rows = np.random.default_rng(0).integers(0, 1009, (2, 40))
    expected = rows[0].copy()
    for _ in range(301):
        expected = (expected + np.roll(expected, 1)) % 1009
    with Team(threads) as team:
        team.run(lambda member: _shift_rounds(rows, 301, member))
    assert rows[1].tolist() == expected.tolist()


def test_what_goes_wrong_in_another_thread_is_told() -> None:
    def fail(member: Member) -> None:
        if member.me:
            raise ValueError("here")

    with Team(2) as team, pytest.raises(ValueError, match="here"):
        team.run(fail)
