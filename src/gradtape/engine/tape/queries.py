"""Observers of the queries of tapes: what explanations and step recordings need to know of every computed gradient.

A query is one call that computes derivatives for the user. Gradients that gradtape computes for its own purposes are
not queries: `Tape.vjp` notifies no observer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from .log import Log
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


class QueryObserver:
    """Interface of an object notified of the queries of all tapes, in all threads."""

    def log_class(self, in_function: bool) -> type[Log] | None:
        """Returns the log that a new tape needs for this observer, if not any; `in_function`: in a traced function."""
        return None

    def results_found(self, tape: Tape, query: QueryResult) -> None:
        """The results of a query exist; those of a Hessian are reported in addition to those of its gradient."""

    def query_finished(self, tape: Tape) -> None:
        """A query ends; its records are released after this call, unless the tape is persistent."""


observers: tuple[QueryObserver, ...] = ()  # usually empty


def observe(observer: QueryObserver) -> None:
    """Adds an observer of the queries of all tapes."""
    global observers
    observers = (*observers, observer)


def unobserve(observer: QueryObserver) -> None:
    """Removes an observer."""
    global observers
    observers = tuple(other for other in observers if other is not observer)


def report_results(tape: Tape, query: QueryResult) -> None:
    """Notifies the observers of a query's results."""
    for observer in observers:
        observer.results_found(tape, query)


# Identifies the active block of an observer, such as that of `tracing`: functions that queried a tape before the block
# are retraced in it. Usually None.
block: object | None = None


@contextmanager
def new_block() -> Iterator[None]:
    """Sets `block` to a new identity inside the context."""
    global block
    before, block = block, object()
    try:
        yield
    finally:
        block = before


class _LastMissing(threading.local):
    """This thread's last query that returned None, held by weak references and ids."""

    tape: Callable[[], Tape | None] = staticmethod(lambda: None)
    targets: Sequence[Callable[[], Differentiable | None]] = ()
    sources: frozenset[int] = frozenset()  # their `id`s


last_missing = _LastMissing()


def note_missing(tape: Tape, targets: Sequence[Differentiable], sources: Sequence[Differentiable]) -> None:
    """Makes this query the thread's last one that returned None."""
    last_missing.tape, last_missing.targets = ref(tape), [ref(target) for target in targets]
    last_missing.sources = frozenset(map(id, sources))
