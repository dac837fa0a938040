"""Random numbers in replicas: all replicas advance the same states, and each offsets the key by its replica id.

Replica 0 therefore draws the same numbers as a program without a strategy. A generator created outside the strategy's
scope is a single stream that the replicas consume in turn, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops

_STEP = 0x9E3779B97F4A7C15  # SplitMix64's golden-ratio constant: odd and large, so replica keys avoid other seeds
_MODULUS = 1 << 64


def vary_by_replica(replica: int, states: list[Any]) -> Callable[[Callable[[], Any], Any], Any]:
    """Returns the sampling hook of a replica; `states` holds the states drawn so far in this run by any replica."""
    drawn = 0

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        nonlocal drawn
        if hasattr(take, "variable"):  # a generator: either each replica has its own copy, or all consume one stream
            state = draw_one()
            if not getattr(take.variable, "is_distributed", False):
                return state
        else:
            if drawn == len(states):
                states.append(draw_one())
            drawn += 1
            state = states[drawn - 1]
        if replica == 0:
            return state
        change = np.array([0, 0, replica * _STEP % _MODULUS], np.uint64)
        return ops.add(state, to_tensor(change)) if isinstance(state, Tensor) else state + change

    return together


def vary_by_tensor(number: Tensor) -> Callable[[Callable[[], Any], Any], Any]:
    """Returns the sampling hook of an SPMD program, whose replica id is a tensor; same numbers as `vary_by_replica`."""

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        state = draw_one()
        key = ops.mul(ops.cast(number, dtype=dtypes.uint64), to_tensor(np.uint64(_STEP)))
        zero = to_tensor(np.zeros(1, np.uint64))
        return ops.add(to_tensor(state), ops.concat(zero, zero, ops.reshape(key, shape=(1,)), axis=0))

    return together
