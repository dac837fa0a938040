"""Where a thread is: which strategy was chosen, and whether it is above the replicas or in one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.scopes import carried, holding
from ..engine.run.dispatch import thread


class _Place(threading.local):
    """`context` is the replica's, of a strategy that was chosen; None above the replicas, or where none was chosen."""

    strategy: Any = None  # None: the default one
    context: Any = None
    in_replica = True
    updated: int | None = None  # the copy of a variable that `extended.update` updates now, above the replicas
    updates_each = False  # whether that is done for the copy of each replica in turn
    spmd: Any = None  # what stands for all replicas while a program for them is traced
    in_step: Any = None  # whether replicas are to run one after the other: one program was tried
    as_one = False  # whether a variable of several replicas is read and written as if it were one: to save functions
    default: Any = None  # the strategy where none was chosen, once it is known


place = carried(_Place())


@contextmanager
def in_replica(context: Any) -> Iterator[None]:
    """In the block this thread is that replica. Functions that are called there are traced for it."""
    with holding(place, strategy=context.strategy, context=context, in_replica=True, updated=None), holding(
        thread, replica_context=context.replica_context
    ):
        yield


def called_alone(context: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`fn(*args, **kwargs)` as the only replica of a strategy: what `in_replica` does, for less."""
    held = vars(place)
    before = held.copy()
    held.update(strategy=context.strategy, context=context, in_replica=True, updated=None)
    try:
        return fn(*args, **kwargs)
    finally:
        held.clear()
        held.update(before)


@contextmanager
def above_replicas(strategy: Any) -> Iterator[None]:
    """In the block this thread is above the replicas of `strategy`."""
    chosen = None if strategy is _Place.default else strategy
    alone = holding(thread, replica_context=None)
    with holding(place, strategy=chosen, context=None, in_replica=False, updated=None), alone:
        yield


@contextmanager
def variables_as_one() -> Iterator[None]:
    """In the block functions are traced, apart from their other traces, with one value for all replicas.

    A SavedModel has one value of each variable, which is what its replicas have together when it is saved.
    """
    with holding(place, as_one=True), holding(thread, replica_context=variables_as_one):
        yield


def set_default(strategy: Any) -> None:
    """Makes `strategy` the one where none was chosen."""
    _Place.default = strategy


def check_above_replicas() -> None:
    """Raises where a strategy runs already."""
    if place.strategy is not None and place.in_replica:
        raise RuntimeError(
            "Method requires being in cross-replica context, use get_replica_context().merge_call(): this is already "
            "what a strategy runs"
        )


def check_same(strategy: Any) -> None:
    """Raises in the scope of another strategy."""
    if place.strategy is not None and place.strategy is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {strategy}. Leave the scope of "
            "the first one before"
        )


def replica_of(strategy: Any) -> Any:
    """The context of the replica of `strategy` that this thread is; None above them, or elsewhere."""
    context = place.context
    return context if context is not None and context.strategy is strategy else None
