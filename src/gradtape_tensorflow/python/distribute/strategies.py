"""Stand-ins for `tensorflow.python.distribute`: contexts of variables and replicas, and classes that no value has."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import gradtape
from gradtape.state.variable import Variable


def variable_sync_on_read_context() -> AbstractContextManager[None]:
    """Context manager without effect: a variable that is aggregated when it is read has its sum here, too."""
    return nullcontext()


def cache_variable_reads() -> AbstractContextManager[None]:
    """Context manager without effect: reads of a variable are cheap."""
    return nullcontext()


def auto_shard_dataset(dataset: Any, num_shards: Any, index: Any, num_replicas_in_sync: Any = None) -> Any:
    """Returns the part of a dataset that a worker processes."""
    return dataset.shard(num_shards, index)


def load_context(load_options: Any) -> AbstractContextManager[None]:
    """Context manager without effect: nothing reads the options while a model is loaded."""
    return nullcontext()


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


class AggregatingVariable(Variable):
    """A variable whose updates several replicas aggregate."""
