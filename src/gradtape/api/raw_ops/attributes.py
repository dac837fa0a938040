"""Attributes of raw ops that the public functions do not have: seeds in pairs, policies, algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, shapes
from ...core.errors import InvalidArgumentError, UnimplementedError
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.randomness import SeedPair
from ..arrays.indexing import scatter
from ..namespace import root

_PHILOX, _AUTOMATIC = 1, 3


def seed_pair(seed: Any, seed2: Any) -> SeedPair | None:
    """Returns the seeds of an op; None if both are zero, which means unpredictable numbers."""
    first, second = int(seed), int(seed2)
    return SeedPair(first, second) if first or second else None


def fractional_seed(seed: Any, seed2: Any, deterministic: bool) -> int:
    """Returns the seed of fractional pooling, 0 for other regions in each call."""
    both = int(seed) or int(seed2)
    if both and not deterministic:
        raise InvalidArgumentError(
            f"Both seed and seed2 should be 0 if deterministic is false, and they are {seed} and {seed2}. Pass "
            "deterministic=True"
        )
    return both or int(deterministic)


def stream(key: Any, counter: Any, alg: Any) -> Tensor:
    """Returns the state of a Philox stream with this key, from the counter on."""
    algorithm = int(to_tensor(alg).array)
    if algorithm not in (_PHILOX, _AUTOMATIC):
        raise InvalidArgumentError(f"Unsupported algorithm id: {algorithm}. Use alg=1, which is Philox")
    return root.concat([counter, key], 0)


def compared(x: Any, y: Any, is_equal: bool, incompatible_shape_error: bool) -> Tensor:
    """Returns whether `x` and `y` are equal, or different; with shapes that do not match, as a whole or an error."""
    if not incompatible_shape_error:
        try:
            shapes.broadcast(tuple(np.shape(x)), tuple(np.shape(y)))
        except ValueError:
            return to_tensor(not is_equal)
    return root.math.equal(x, y) if is_equal else root.math.not_equal(x, y)


def converted(x: Any, dtype: Any, truncates: bool) -> Tensor:
    """Returns a cast; refuses the one that would truncate instead of round."""
    x, dtype = to_tensor(x), dtypes.as_dtype(dtype)
    if truncates and dtype.is_floating and x.dtype.is_floating and dtype.size < x.dtype.size:
        raise UnimplementedError(
            f"Truncate=True is not implemented from {x.dtype.name} to {dtype.name}. Use Truncate=False"
        )
    return root.cast(x, dtype)


def updated(x: Any, indices: Any, updates: Any, policy: str) -> Tensor:
    """Returns `x` with `updates` written at `indices`; the policy says what happens to those out of range."""
    return scatter("put_rows", x, indices, updates, policy, "TensorScatterUpdate")


def change_rows(variable: Any, method: str, indices: Any, updates: Any, policy: str) -> Any:
    """Changes elements of a variable; with the policy "IGNORE", indices out of range are left out."""
    if policy == "IGNORE":
        at, sizes = to_tensor(indices), variable.shape[: np.shape(indices)[-1]]
        is_inside = root.reduce_all((at >= 0) & (at < root.constant(list(sizes), at.dtype)), -1)
        indices, updates = root.boolean_mask(at, is_inside), root.boolean_mask(updates, is_inside)
    return getattr(variable, method)(indices, updates)


ATTRIBUTES = (seed_pair, fractional_seed, stream, compared, converted, updated, change_rows)
