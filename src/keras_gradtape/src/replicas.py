"""Keras in the scope of a `tf.distribute` strategy of several replicas, as it is on TensorFlow.

Losses are divided by the number of replicas, gradients are added up over them in the optimizer, metrics are added up
when they are read. A step runs on every replica with its part of the global batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keras.src import tree

import gradtape as tf
from gradtape.distribution.context import place
from gradtape.distribution.reductions import gathered, workers_of
from gradtape.distribution.values import DistributedValues, PerReplica, Uneven, select_replica

Step = Callable[[Any], Any]


def chosen() -> Any:
    """The strategy whose scope or replica this is; None where there is none of several replicas."""
    strategy = place.strategy
    return None if strategy is None or strategy.num_replicas_in_sync == 1 else strategy


def scaled(value: Any) -> Any:
    """A loss of one replica as its part of the loss of all."""
    strategy = chosen()
    return value if strategy is None else value * tf.cast(1.0 / strategy.num_replicas_in_sync, value.dtype)


def unscaled(value: Any) -> Any:
    """The loss that `scaled` was given."""
    strategy = chosen()
    return value if strategy is None else value * tf.cast(strategy.num_replicas_in_sync, value.dtype)


def options_of(variable: Any) -> dict[str, Any]:
    """How the variable of a Keras variable is to be synchronised and aggregated."""
    if chosen() is None:
        return {}
    return {
        "synchronization": tf.VariableSynchronization[variable.synchronization.upper()],
        "aggregation": tf.VariableAggregation[variable.aggregation.upper()],
    }


def split(strategy: Any, data: Any) -> Any:
    """A global batch as one that has a part for each replica; that of a distributed dataset has them already."""
    leaves = [x for x in tree.flatten(data) if x is not None]
    if any([isinstance(x, DistributedValues) for x in leaves]):
        return data
    rows = -(-leaves[0].shape[0] // strategy.num_replicas_in_sync)
    workers = workers_of(strategy)
    first = 0 if workers is None else workers.first
    own = range(first, first + len(strategy.extended.worker_devices))  # those of this process
    uneven = workers is not None and leaves[0].shape[0] % strategy.num_replicas_in_sync

    def one(x: Any) -> Any:
        kind = Uneven if uneven else PerReplica
        return None if x is None else kind([x[i * rows : (i + 1) * rows] for i in own])

    return tree.map_structure(one, data)


def on_each(strategy: Any, step: Step, reduction: str) -> Step:
    """`step` on every replica; what they return, reduced: the mean of logs, or outputs one after the other."""

    def run(data: Any) -> Any:
        return tree.map_structure(lambda y: _reduced(y, reduction), strategy.run(step, (data,)))

    return run


def _reduced(value: Any, reduction: str) -> Any:
    if not isinstance(value, DistributedValues):
        return value
    parts = value.values
    if reduction == "concat":
        return gathered(parts, 0) if parts[0].shape.rank else tf.stack(parts)
    return tf.reduce_mean(tf.stack(parts), axis=0)


def first_part(data: Any) -> Any:
    """What the first replica has of a batch."""
    return tree.map_structure(lambda x: x.values[0] if isinstance(x, DistributedValues) else x, data)


def merged(function: Callable[..., None], *args: Any) -> None:
    """`function(strategy, *args)` once, above the replicas."""
    context = tf.distribute.get_replica_context()
    if context is None:
        function(chosen(), *args)
    else:
        context.merge_call(function, args)


def update(
    optimizer: Any, gradients: Sequence[Any], variables: Sequence[Any], rate: Any, step: Callable[..., None]
) -> None:
    """`step(gradients, variables, rate)` with the sums of the replicas' gradients, once, for all of them."""

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
    """The mean and the variance of what all replicas have."""
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
