"""Random numbers from the global streams, seeded by `set_seed`: TensorFlow's eager sequences.

Without a global or an op seed, draws are unpredictable. With them, each draw has TensorFlow's numbers; a draw with an
op seed continues the stream of that op and seed. The streams are global to the process and can be used from any thread.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from ...core import dtypes
from ...core.dtypes import DType
from ...core.tensor import Tensor, placed
from ...core.type_hints import DTypeLike, ShapeLike, TensorLike, ValueLike
from ...engine.run.convert import integer, to_tensor
from ...engine.run.namespace import ops
from ...engine.run.randomness import BLOCKS_PER_NUMBER, as_op_seed, next_global_seed, set_global_seed
from . import distributions
from .arguments import as_state, dims_of

NAMESPACES = ("random",)
__all__ = ["categorical", "gamma", "normal", "poisson", "set_seed", "shuffle", "truncated_normal", "uniform"]

# From this size on, a device draws the numbers itself. An estimate: Philox takes about a hundred launches at any size.
_MANY = 1 << 16


def set_seed(seed: int | None) -> None:
    """Makes subsequent draws reproducible.

    >>> tf.random.set_seed(5)
    >>> print(tf.random.uniform([3]))
    tf.Tensor([0.6263931 0.5298432 0.7584572], shape=(3,), dtype=float32)
    """
    set_global_seed(None if seed is None else int(seed))


def _state(kind: str, dtype: DType, seed: Any, count: int) -> Tensor:
    state = as_state(next_global_seed((kind, dtype.name), as_op_seed(seed), count * BLOCKS_PER_NUMBER))
    return placed(state) if count >= _MANY else state


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws normal numbers; mean and standard deviation have gradients.

    >>> tf.random.normal([2, 3], mean=[0.0, 1.0, 2.0]).shape
    TensorShape([2, 3])
    """
    dtype, dims = dtypes.as_dtype(dtype), dims_of(shape)
    state = partial(_state, "normal", dtype, seed, math.prod(dims))
    return distributions.normal(ops.random_normal, state, dims, mean, stddev, dtype)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws normal numbers within two standard deviations of the mean.

    >>> float(abs(tf.random.truncated_normal([1000]).numpy()).max()) < 2
    True
    """
    dtype, dims = dtypes.as_dtype(dtype), dims_of(shape)
    state = partial(_state, "truncated_normal", dtype, seed, math.prod(dims))
    return distributions.normal(ops.random_truncated_normal, state, dims, mean, stddev, dtype)


def uniform(
    shape: ShapeLike,
    minval: TensorLike = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws uniform numbers in [minval, maxval), floats or integers; float bounds have gradients.

    >>> die = tf.random.uniform([100], minval=1, maxval=7, dtype=tf.int32).numpy()
    >>> int(die.min()) >= 1, int(die.max()) <= 6
    (True, True)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64", "int32", "int64"):
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are floats, int32 and int64.")
    if maxval is None and dtype.is_integer:
        raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
    dims = dims_of(shape)
    if dtype.is_integer:
        state = _state("uniform_int", dtype, seed, math.prod(dims))
        return distributions.uniform_int(state, dims, minval, maxval, dtype)
    state = _state("uniform", dtype, seed, math.prod(dims))
    return distributions.uniform_float(state, dims, minval, 1 if maxval is None else maxval, dtype)


def gamma(
    shape: ShapeLike,
    alpha: TensorLike,
    beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws `shape` gamma numbers for each concentration `alpha` and inverse scale `beta`, which have gradients.

    >>> tf.random.gamma([10], [0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    concentration, rate = distributions.gamma_parameters(alpha, beta, dtype)
    dims = (*dims_of(shape), *concentration.dims)
    state = _state("gamma", concentration.dtype, seed, math.prod(dims))
    return distributions.gamma(state, dims, concentration, rate)


def poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = dtypes.float32, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws `shape` Poisson numbers for each rate in `lam`.

    >>> tf.random.poisson([10], [0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    rates, dtype = to_tensor(lam), dtypes.as_dtype(dtype)
    dims = (*dims_of(shape), *rates.dims)
    state = _state(f"poisson of {rates.dtype.name}", dtype, seed, math.prod(dims))
    return distributions.poisson(state, dims, rates, dtype)


def categorical(
    logits: TensorLike, num_samples: TensorLike, dtype: DTypeLike | None = None, seed: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws `num_samples` classes for each row of `logits`, the unnormalized log probabilities.

    TensorFlow distributes the rows of a large batch over threads, and from the second thread on its numbers depend on
    the number of threads; gradtape's never do.

    >>> tf.random.categorical([[0.0, -100.0]], 3).numpy()
    array([[0, 0, 0]])
    """
    scores, count, dtype = to_tensor(logits), integer(num_samples, "num_samples"), distributions.class_dtype(dtype)
    rows = scores.dims[0] if scores.dims else 1
    state = _state(f"categorical of {scores.dtype.name}", dtype, seed, 2 * rows * (-(-count // 4) * 4))
    return distributions.categorical(state, scores, count, dtype)


def shuffle(value: ValueLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Shuffles `value` along its first axis. It has no gradient, as in TensorFlow: gather with a shuffled range.

    >>> sorted(tf.random.shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    value = to_tensor(value)
    if not value.dims:
        return ops.stop_gradient(value)
    blocks = -(-max(value.dims[0] - 1, 0) // 4)
    state = next_global_seed(("shuffle", value.dtype.name), as_op_seed(seed), blocks)
    return ops.random_shuffle(as_state(state), value)
