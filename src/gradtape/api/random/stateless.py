"""Stateless random numbers: functions of the seed, identical to TensorFlow's."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import DTypeLike, ShapeLike, TensorLike
from ...engine.run.convert import integer, to_tensor
from ...engine.run.namespace import ops
from . import distributions
from .arguments import dims_of, scrambled

NAMESPACES = ("random",)
__all__ = [
    "fold_in", "split", "stateless_binomial", "stateless_categorical", "stateless_gamma", "stateless_normal",
    "stateless_parameterized_truncated_normal", "stateless_poisson", "stateless_truncated_normal", "stateless_uniform",
]  # fmt: skip

_UNIFORM = ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint32", "uint64")


def stateless_uniform(
    shape: ShapeLike,
    seed: TensorLike,
    minval: TensorLike | None = 0,
    maxval: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws uniform numbers in [minval, maxval); integers in the whole range if both bounds are None.

    >>> print(tf.random.stateless_uniform([3], seed=[1, 2]))
    tf.Tensor([0.8440604  0.19204533 0.9962232 ], shape=(3,), dtype=float32)
    """
    dtype = dtypes.as_dtype(dtype)
    if dtype.name not in _UNIFORM:
        raise ValueError(f"Argument `dtype` got invalid value {dtype!r}. Accepted dtypes are {', '.join(_UNIFORM)}.")
    if dtype.is_integer:
        distributions.check_both_bounds(minval, maxval, dtype)
        if minval is not None and dtype.is_unsigned:
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. Please don't use "
                "unsigned integers in this case."
            )
        return distributions.uniform_int(scrambled(seed, alg), dims_of(shape), minval, maxval, dtype)
    high = 1 if maxval is None else maxval
    return distributions.uniform_float(scrambled(seed, alg), dims_of(shape), minval, high, dtype)


def stateless_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws normal numbers; mean and standard deviation have gradients.

    >>> tf.random.stateless_normal([2, 3], seed=[1, 2]).shape
    TensorShape([2, 3])
    """
    dtype = dtypes.as_dtype(dtype)
    state = partial(scrambled, seed, alg)
    return distributions.normal(ops.random_normal, state, dims_of(shape), mean, stddev, dtype)


def stateless_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Tensor:
    """Draws normal numbers within two standard deviations of the mean.

    >>> x = tf.random.stateless_truncated_normal([1000], seed=[1, 2])
    >>> float(abs(x.numpy()).max()) < 2
    True
    """
    dtype = dtypes.as_dtype(dtype)
    state = partial(scrambled, seed, alg)
    return distributions.normal(ops.random_truncated_normal, state, dims_of(shape), mean, stddev, dtype)


def stateless_parameterized_truncated_normal(
    shape: ShapeLike,
    seed: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    name: str | None = None,
) -> Tensor:
    """Draws normal numbers between `minvals` and `maxvals`, differentiable with respect to all four parameters.

    `shape` ends with the broadcast shape of the parameters.

    >>> x = tf.random.stateless_parameterized_truncated_normal([100], seed=[1, 2], minvals=0.0, maxvals=1.0)
    >>> bool(x.numpy().min() >= 0.0), bool(x.numpy().max() <= 1.0)
    (True, True)
    """
    parameters = [to_tensor(value) for value in (means, stddevs, minvals, maxvals)]
    return ops.random_bounded_normal(scrambled(seed), *parameters, shape=dims_of(shape))


def stateless_gamma(
    shape: ShapeLike, seed: TensorLike, alpha: TensorLike, beta: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws gamma numbers with concentration `alpha` and inverse scale `beta`, differentiable with respect to both.

    `shape` is that of the result and ends with the shape of the parameters.

    >>> tf.random.stateless_gamma([10, 2], seed=[12, 34], alpha=[0.5, 1.5]).shape
    TensorShape([10, 2])
    """
    concentration, rate = distributions.gamma_parameters(alpha, beta, dtype)
    return distributions.gamma(scrambled(seed), dims_of(shape), concentration, rate)


def stateless_poisson(
    shape: ShapeLike, seed: TensorLike, lam: TensorLike, dtype: DTypeLike = dtypes.int32, name: str | None = None
) -> Tensor:
    """Draws Poisson numbers with rate `lam`; `shape` is that of the result and ends with the shape of `lam`.

    >>> tf.random.stateless_poisson([10, 2], seed=[12, 34], lam=[5, 15]).shape
    TensorShape([10, 2])
    """
    return distributions.poisson(scrambled(seed), dims_of(shape), to_tensor(lam), dtypes.as_dtype(dtype))


def stateless_binomial(
    shape: ShapeLike,
    seed: TensorLike,
    counts: TensorLike,
    probs: TensorLike,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Draws the successes in `counts` trials with probability `probs`; `shape` ends with the parameters' shape.

    >>> tf.random.stateless_binomial([4], seed=[123, 456], counts=10.0, probs=1.0).numpy()
    array([10, 10, 10, 10], dtype=int32)
    """
    chances = to_tensor(probs, hint=dtypes.float32)
    trials = to_tensor(counts, hint=chances.dtype)
    return distributions.binomial(scrambled(seed), dims_of(shape), trials, chances, dtypes.as_dtype(output_dtype))


def stateless_categorical(
    logits: TensorLike, num_samples: TensorLike, seed: TensorLike, dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Draws `num_samples` classes for each row of `logits`, the unnormalized log probabilities.

    >>> tf.random.stateless_categorical([[0.0, -100.0]], 3, seed=[7, 17]).numpy()
    array([[0, 0, 0]])
    """
    return distributions.categorical(
        scrambled(seed), to_tensor(logits), integer(num_samples, "num_samples"), distributions.class_dtype(dtype)
    )


def split(seed: TensorLike, num: int = 2, alg: Any = "auto_select") -> Tensor:
    """Derives `num` new seeds from one, as rows.

    >>> print(tf.random.split([1, 2], num=2))
    tf.Tensor(
    [[1105988140 1738052849]
     [-335576002  370444179]], shape=(2, 2), dtype=int32)
    """
    seed = to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: TensorLike, data: TensorLike, alg: Any = "auto_select") -> Tensor:
    """Derives a new seed from a seed and an integer, such as the index of a replica or a step.

    >>> print(tf.random.fold_in([1, 2], 3))
    tf.Tensor([1105988140          3], shape=(2,), dtype=int32)
    """
    data = to_tensor(data)
    first = stateless_uniform([], seed, None, None, data.dtype, alg=alg)
    return ops.stack(first, data, axis=0)
