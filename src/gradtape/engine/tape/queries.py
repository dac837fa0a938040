"""The queries of tapes: what explanations and step recordings need to know of every computed gradient.

A query is one call that computes derivatives for the user; the active modes are notified of its results. Gradients that
gradtape computes for its own purposes are not queries: `Tape.vjp` notifies no mode.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from .results import OptionalGradient
from .validation import Differentiable

if TYPE_CHECKING:
    from .tape import Tape


class QueryResult(NamedTuple):
    """The targets, the sources and the results of a query."""

    targets: Sequence[Differentiable]
    sources: Sequence[Differentiable]
    results: Sequence[OptionalGradient]
    reports_none: bool = True  # whether the caller gets None, rather than zeros, for a source without a path
    reports_zeros: bool = True  # whether zeros are unusual: second derivatives often are zero


class _LastMissing(threading.local):
    """This thread's last query that returned None, held by weak references and ids."""

    tape: Callable[[], Tape | None] = staticmethod(lambda: None)
    targets: Sequence[Callable[[], Differentiable | None]] = ()
    sources: frozenset[int] = frozenset()  # their `id`s


last_missing = _LastMissing()


def remember_missing(tape: Tape, targets: Sequence[Differentiable], sources: Sequence[Differentiable]) -> None:
    """Makes this query the thread's last one that returned None."""
    last_missing.tape, last_missing.targets = ref(tape), [ref(target) for target in targets]
    last_missing.sources = frozenset(map(id, sources))
