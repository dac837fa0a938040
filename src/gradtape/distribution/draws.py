"""Random draws of replicas: all go through the same states, each with a key of its own. The first has those of one.

A generator that was made outside of the strategy's scope is what it is in TensorFlow: one stream, for all in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..engine.run.namespace import ops

_STEP = 0x9E3779B97F4A7C15  # odd, and far from small numbers: keys of replicas are not those of other seeds
_MODULUS = 1 << 64


def varied(replica: int, states: list[Any]) -> Callable[[Callable[[], Any], Any], Any]:
    """How replica number `replica` draws; `states` is what the replicas have drawn so far in this run, together."""
    drawn = 0

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        nonlocal drawn
        if hasattr(take, "variable"):  # of a generator: each has a copy, or there is one stream, which all go on with
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


def varied_by(number: Tensor) -> Callable[[Callable[[], Any], Any], Any]:
    """How a replica draws whose number is a tensor: the same numbers, in a program for all of them."""

    def together(draw_one: Callable[[], Any], take: Any) -> Any:
        state = draw_one()
        key = ops.mul(ops.cast(number, dtype=dtypes.uint64), to_tensor(np.uint64(_STEP)))
        zero = to_tensor(np.zeros(1, np.uint64))
        return ops.add(to_tensor(state), ops.concat(zero, zero, ops.reshape(key, shape=(1,)), axis=0))

    return together
