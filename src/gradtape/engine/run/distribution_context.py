"""The distribution context of a thread: its current strategy, and whether it is in replica or cross-replica context."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...core.scopes import carried, holding
from .dispatch import thread


class _Place(threading.local):
    """Thread-local distribution state. `context` is the current replica's; None outside of replicas."""

    strategy: Any = None  # None: the default strategy
    context: Any = None
    in_replica = True
    updated: int | None = None  # in `extended.update`: index of the replica whose copy of the variable is being updated
    updates_each = False  # whether `extended.update` calls the function once per copy
    spmd: Any = None  # the `spmd.Replicas` of the SPMD program being traced, if any
    in_step: Any = None  # set while replicas run sequentially because an SPMD program is not possible
    as_one = False  # whether distributed variables read and write a single value, for export to a SavedModel
    default: Any = None  # the default strategy, once created


place = carried(_Place())


@contextmanager
def in_replica(context: Any) -> Iterator[None]:
    """Context manager: the thread runs as this replica, and functions called in the block are traced for it."""
    with holding(place, strategy=context.strategy, context=context, in_replica=True, updated=None), holding(
        thread, replica_context=context.replica_context
    ):
        yield


def call_as_only_replica(context: Any, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Calls `fn(*args, **kwargs)` as the only replica of a strategy: a cheaper `in_replica`."""
    held = vars(place)
    before = held.copy()
    held.update(strategy=context.strategy, context=context, in_replica=True, updated=None)
    try:
        return fn(*args, **kwargs)
    finally:
        held.clear()
        held.update(before)


@contextmanager
def cross_replica_context(strategy: Any) -> Iterator[None]:
    """Context manager: the thread is in the cross-replica context of `strategy`."""
    chosen = None if strategy is _Place.default else strategy
    alone = holding(thread, replica_context=None)
    with holding(place, strategy=chosen, context=None, in_replica=False, updated=None), alone:
        yield


@contextmanager
def variables_as_one() -> Iterator[None]:
    """Context manager: functions are traced separately, with a single value per distributed variable.

    A SavedModel stores one value per variable: the aggregate over the replicas at the time of saving.
    """
    with holding(place, as_one=True), holding(thread, replica_context=variables_as_one):
        yield


def set_default(strategy: Any) -> None:
    """Sets the default strategy."""
    _Place.default = strategy


def check_above_replicas() -> None:
    """Raises in the replica context of a strategy."""
    if place.strategy is not None and place.in_replica:
        raise RuntimeError(
            "Method requires being in cross-replica context, use get_replica_context().merge_call(): this is already "
            "what a strategy runs"
        )


def count_replicas(function: str) -> int:
    """Returns the number of replicas among which `function` divides a loss. Raises in a cross-replica context."""
    if place.strategy is None:
        return 1
    if not place.in_replica:
        raise RuntimeError(
            f"You are calling `{function}` in cross replica context, while it was expected to be called in replica "
            "context: call it in the function that Strategy.run runs"
        )
    return int(place.strategy.num_replicas_in_sync)


def check_same(strategy: Any) -> None:
    """Raises in the scope of a different strategy."""
    if place.strategy is not None and place.strategy is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {strategy}. Leave the scope of "
            "the first one before"
        )


def replica_of(strategy: Any) -> Any:
    """Returns the replica context of this thread if it belongs to `strategy`, else None."""
    context = place.context
    return context if context is not None and context.strategy is strategy else None
