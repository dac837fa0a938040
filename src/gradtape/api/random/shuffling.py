"""Stateless permutations of `tf.random.experimental`, identical to TensorFlow's."""

from __future__ import annotations

from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from .arguments import scrambled
from .permutations import random_index_shuffle

NAMESPACES = ("random.experimental",)
__all__ = ["index_shuffle", "stateless_shuffle"]

_FIRST_WORD = 498247692  # of the key derived from a seed of two numbers


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """Returns the position of each index in a random permutation of 0 to `max_index`, determined by the seed.

    The permutation itself is not created.

    >>> tf.random.experimental.index_shuffle([0, 1, 2, 3], seed=[5, 9], max_index=3).numpy().tolist()
    [2, 0, 1, 3]
    """
    key = to_tensor(seed)
    if key.dims != (2,):
        raise InvalidArgumentError(f"seed must have the shape [2], got {list(key.dims)} [Op:RandomIndexShuffle]")
    return random_index_shuffle(index, ops.concat(to_tensor(_FIRST_WORD, key.dtype)[None], key, axis=0), max_index)


def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None) -> Tensor:
    """Shuffles `value` along its first axis, determined by the seed. It has no gradient.

    >>> print(tf.random.experimental.stateless_shuffle([1, 2, 3, 4, 5], seed=[1, 2]))
    tf.Tensor([1 3 2 5 4], shape=(5,), dtype=int32)
    """
    state, value = scrambled(seed, alg), to_tensor(value)
    return ops.random_shuffle(state, value) if value.dims else ops.stop_gradient(value)
