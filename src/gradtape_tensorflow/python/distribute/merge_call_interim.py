"""`tensorflow.python.distribute.merge_call_interim`: merging calls of replicas where the strategy needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradtape


def strategy_supports_no_merge_call() -> bool:
    """Returns whether replicas may update variables without `merge_call`: no strategy allows that."""
    return False


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls `fn(strategy, *args)` across replicas."""
    if gradtape.distribute.in_cross_replica_context():
        return fn(strategy, *args, **kwargs)
    context = gradtape.distribute.get_replica_context()
    assert context is not None  # since this is not the cross-replica context
    return context.merge_call(fn, args=args, kwargs=kwargs)
