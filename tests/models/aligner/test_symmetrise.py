from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dovetail.models.aligner.symmetrise import WAYS, best_links, grow_diag_final_and

FORWARD = {(0, 0), (1, 1), (1, 2), (3, 3)}
BACKWARD = {(0, 0), (1, 1), (2, 2), (3, 4)}
cells = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)))


def test_small_cases_by_hand() -> None:
    assert WAYS["union"](FORWARD, BACKWARD) == {(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4)}
    assert WAYS["intersection"](FORWARD, BACKWARD) == {(0, 0), (1, 1)}
    assert WAYS["forward"](FORWARD, BACKWARD) == FORWARD
    assert WAYS["backward"](FORWARD, BACKWARD) == BACKWARD
    # From (1, 1): (1, 2) has a new target; then (2, 2) a new source; from it (3, 3) has both new; (3, 4) a new target.
    assert grow_diag_final_and(FORWARD, BACKWARD) == {(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (3, 4)}
    # Far from the intersection only links both of whose words are free are added, forward first.
    assert grow_diag_final_and({(0, 0), (5, 5)}, {(0, 0), (5, 7)}) == {(0, 0), (5, 5)}
    assert grow_diag_final_and(set(), set()) == set()


@given(cells, cells)
def test_growing_stays_between_intersection_and_union(forward: set, backward: set) -> None:
    grown = grow_diag_final_and(set(forward), set(backward))
    assert forward & backward <= grown <= forward | backward


def test_the_best_link_of_a_word_unless_none_is_likelier() -> None:
    found = [(0, 0, 0.6), (1, 0, 0.3), (0, 1, 0.2), (1, 1, 0.1), (2, 2, 1.0)]
    assert best_links(found, each=1) == {(0, 0), (2, 2)}
    assert best_links([(0, 0, 0.4), (0, 1, 0.35)], each=0) == {(0, 0)}
