"""Threads that run one kernel in step: each does its share of the columns, and they wait for one another often.

A step of Brown clustering takes a fraction of a millisecond, too short to hand it to other threads each time. So the
threads run the whole loop side by side, and meet at a counter in memory that all of them watch. A threading.Barrier
takes 11 µs where this takes 0.8 (two threads), and needs the interpreter's lock, which kernels have let go.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from dovetail.kernel import inner, kernel

Result = TypeVar("Result")
PATIENCE = 300  # looks at the counter before a thread lets others use its core
LINE = 8  # numbers in a line of the cache: no two threads write to one


class Member(NamedTuple):
    """One of ``of`` threads; ``counter`` is the address of the number that they meet at."""

    me: int
    of: int
    counter: int


@intrinsic
def _count_up(typing: Any, address: Any) -> Any:
    """Add one to the number at an address, and return what it was, in one go."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        one = context.get_constant(types.int64, 1)
        return builder.atomic_rmw("add", _pointer(context, builder, arguments[0]), one, "seq_cst")

    return types.int64(types.int64), code


@intrinsic
def _look(typing: Any, address: Any) -> Any:
    """The number at an address, as other threads have left it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, arguments[0]), "seq_cst", 8)

    return types.int64(types.int64), code


@intrinsic
def _let_others(typing: Any) -> Any:
    """Let another thread have the core, where the system has a call for it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir  # type: ignore[import-untyped]
        from numba.core import cgutils

        if sys.platform != "win32":
            call = ir.FunctionType(ir.IntType(32), [])
            function = cgutils.get_or_insert_function(builder.module, call, "sched_yield")  # type: ignore[no-untyped-call]
            builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), code


def _pointer(context: Any, builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, context.get_value_type(types.int64).as_pointer())


@inner
def meet(member: Any) -> None:
    """Wait until all members are here; what each has written before, all can read after."""
    if member.of == 1:
        return
    ticket: int = _count_up(member.counter)  # type: ignore[call-arg]
    goal = (ticket // member.of + 1) * member.of
    looks = 0
    while _look(member.counter) < goal:
        looks += 1
        if looks > PATIENCE:
            _let_others()


@kernel
def share(member: Any, items: int) -> tuple[int, int]:
    """The range of items that a member answers for; it begins and ends with a line of the cache."""
    lines = (items + LINE - 1) // LINE
    first, last = lines * member.me // member.of * LINE, lines * (member.me + 1) // member.of * LINE
    return max(0, min(items, first)), max(0, min(items, last))  # the compiler needs to know that none is negative


class Team:
    """So many threads that run a function in step, this one among them; close it after use.

    >>> with Team(2) as team:
    ...     team.run(lambda member: (member.me, member.of))
    (0, 2)
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._counter = np.zeros(1, dtype=np.int64)
        self._others = ThreadPoolExecutor(threads - 1, thread_name_prefix="dovetail-team") if threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self._others is not None:
            self._others.shutdown()

    def run(self, function: Callable[[Member], Result]) -> Result:
        """Call the function with every member, each on a thread of its own; returns what the first one answers."""
        address = int(self._counter.ctypes.data)
        members = [Member(me, self.threads, address) for me in range(self.threads)]
        if self._others is None:
            return function(members[0])
        begun = [self._others.submit(function, member) for member in members[1:]]
        result = function(members[0])
        for other in begun:
            other.result()
        return result
