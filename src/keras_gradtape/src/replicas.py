"""Keras in the scope of a `tf.distribute` strategy with several replicas, as on TensorFlow.

Losses are divided by the number of replicas, the optimizer sums gradients over replicas, and metrics are aggregated
when read. A step runs on every replica with its part of the global batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keras.src import tree

import gradtape as tf
from gradtape.distribute.reductions import gather_values, workers_of
from gradtape.distribute.values import DistributedValues, PerReplica, Uneven, select_replica
from gradtape.engine.run.distribution_context import place

Step = Callable[[Any], Any]


def chosen() -> Any:
    """Returns the current strategy if it has several replicas, else None."""
    strategy = place.strategy
    return None if strategy is None or strategy.num_replicas_in_sync == 1 else strategy


def scaled(value: Any) -> Any:
    """Scales the loss of a replica to its share of the total loss."""
    strategy = chosen()
    return value if strategy is None else value * tf.cast(1.0 / strategy.num_replicas_in_sync, value.dtype)


def unscaled(value: Any) -> Any:
    """Inverse of `scaled`."""
    strategy = chosen()
    return value if strategy is None else value * tf.cast(strategy.num_replicas_in_sync, value.dtype)


def options_of(variable: Any) -> dict[str, Any]:
    """Returns synchronization and aggregation of a Keras variable."""
    if chosen() is None:
        return {}
    return {
        "synchronization": tf.VariableSynchronization[variable.synchronization.upper()],
        "aggregation": tf.VariableAggregation[variable.aggregation.upper()],
    }


def split(strategy: Any, data: Any) -> Any:
    """Splits a global batch into per-replica batches; elements of a distributed dataset are split already."""
    leaves = [x for x in tree.flatten(data) if x is not None]
    if any([isinstance(x, DistributedValues) for x in leaves]):
        return data
    rows = -(-leaves[0].shape[0] // strategy.num_replicas_in_sync)
    workers = workers_of(strategy)
    first = 0 if workers is None else workers.first
    own = range(first, first + len(strategy.extended.worker_devices))  # the replicas of this process
    uneven = workers is not None and leaves[0].shape[0] % strategy.num_replicas_in_sync

    def one(x: Any) -> Any:
        kind = Uneven if uneven else PerReplica
        return None if x is None else kind([x[i * rows : (i + 1) * rows] for i in own])

    return tree.map_structure(one, data)


def on_each(strategy: Any, step: Step, reduction: str) -> Step:
    """Runs `step` on every replica and reduces the results: the mean for logs, concatenation for outputs."""

    def run(data: Any) -> Any:
        return tree.map_structure(lambda y: _reduced(y, reduction), strategy.run(step, (data,)))

    return run


def _reduced(value: Any, reduction: str) -> Any:
    if not isinstance(value, DistributedValues):
        return value
    parts = value.values
    if reduction == "concat":
        return gather_values(parts, 0) if parts[0].shape.rank else tf.stack(parts)
    return tf.reduce_mean(tf.stack(parts), axis=0)


def first_part(data: Any) -> Any:
    """Returns the first replica's part of a batch."""
    return tree.map_structure(lambda x: x.values[0] if isinstance(x, DistributedValues) else x, data)


def merged(function: Callable[..., None], *args: Any) -> None:
    """Calls `function(strategy, *args)` once, in cross-replica context."""
    context = tf.distribute.get_replica_context()
    if context is None:
        function(chosen(), *args)
    else:
        context.merge_call(function, args)


def update(
    optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], rate: Any, step: Callable[..., None]
) -> None:
    """Calls `step(gradients, variables, rate)` once for all replicas, with their summed gradients."""

    def all_together(strategy: Any, gradients: Any, rate: Any) -> None:
        sums = [select_replica(0, strategy.extended.reduce_to("SUM", g, g)) for g in gradients]
        rate = select_replica(0, rate)
        inner = [getattr(variable, "_gradtape_variable", variable) for variable in variables]
        for g, variable, held in zip(sums, variables, inner, strict=True):
            strategy.extended.update(held, lambda _, g=g, variable=variable: step([g], [variable], rate))

    context = tf.distribute.get_replica_context()
    if context is None:
        step(gradients, variables, rate)
    else:
        context.merge_call(all_together, (list(gradients), rate))


def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    """Returns mean and variance over the data of all replicas."""
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        mean, variance = tf.nn.moments(x, axes, keepdims=keepdims)
        return mean, variance
    local = [tf.reduce_sum(part, axes, keepdims=True) for part in (x, x * x, tf.ones_like(x))]
    total, squares, count = context.all_reduce(tf.distribute.ReduceOp.SUM, local)
    mean = tf.math.divide_no_nan(total, count)
    variance = tf.maximum(tf.math.divide_no_nan(squares, count) - mean * mean, tf.zeros((), x.dtype))
    if keepdims:
        return mean, variance
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)
