"""Stateless random numbers: each draw is a function of the seed, the same in eager and compiled code."""

from __future__ import annotations

from typing import Any

from keras.src.backend.common import standardize_dtype
from keras.src.backend.config import floatx
from keras.src.random.seed_generator import SeedGenerator as SeedGenerator
from keras.src.random.seed_generator import draw_seed
from keras.src.random.seed_generator import make_default_seed as make_default_seed

import gradtape as tf
from gradtape import Tensor
from gradtape.engine.run.namespace import ops

from .ops.core import cast
from .ops.core import dense_tensor as convert_to_tensor


def _seed(seed: Any) -> Tensor:
    """Returns two 32-bit integers, from a generator or a user's seed, as Keras on TensorFlow computes them."""
    drawn = seed if isinstance(seed, Tensor) else draw_seed(seed)
    return drawn if drawn.dtype is tf.int32 else cast(tf.math.floormod(drawn, tf.int32.max - 1), "int32")


def _float(dtype: Any) -> Any:
    return tf.as_dtype(standardize_dtype(dtype or floatx()))


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    return tf.random.stateless_normal(tuple(shape), _seed(seed), mean, stddev, _float(dtype))


def uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    # Keras on TensorFlow casts the bounds: Python floats become float32 first.
    low, high = (tf.cast(bound, _float(dtype)) for bound in (minval, maxval))
    return tf.random.stateless_uniform(tuple(shape), _seed(seed), low, high, _float(dtype))


def truncated_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Tensor:
    return tf.random.stateless_truncated_normal(tuple(shape), _seed(seed), mean, stddev, _float(dtype))


def categorical(logits: Any, num_samples: int, dtype: Any = "int32", seed: Any = None) -> Tensor:
    return cast(tf.random.stateless_categorical(convert_to_tensor(logits), num_samples, _seed(seed)), dtype)


def randint(shape: Any, minval: Any, maxval: Any, dtype: Any = "int32", seed: Any = None) -> Tensor:
    drawn = "int32" if standardize_dtype(dtype) == "int32" else "int64"
    low, high = (cast(convert_to_tensor(bound), drawn) for bound in (minval, maxval))
    return cast(tf.random.stateless_uniform(tuple(shape), _seed(seed), low, high, drawn), dtype)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> Tensor:
    x = convert_to_tensor(inputs)
    if rate == 1.0:
        return ops.zeros_like(x)
    if rate == 0.0:
        return x
    return tf.nn.experimental.stateless_dropout(x, rate, _seed(seed), noise_shape=noise_shape)


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> Tensor:
    x = convert_to_tensor(x)
    keys = tf.random.stateless_uniform((x.dims[axis],), _seed(seed))
    return tf.gather(x, tf.argsort(keys), axis=axis)


def gamma(shape: Any, alpha: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    return _gamma(tuple(shape), alpha, _float(dtype), _seed(seed))


def _gamma(shape: tuple[int, ...], alpha: Any, dtype: Any, seed: Tensor) -> Tensor:
    wide = tf.float32 if dtype.size < 4 else dtype
    concentration = ops.broadcast_to(convert_to_tensor(alpha, dtype=wide), shape=shape)
    return cast(tf.random.stateless_gamma(shape, seed, concentration, dtype=wide), dtype)


def binomial(shape: Any, counts: Any, probabilities: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    trials, chances = (
        ops.broadcast_to(convert_to_tensor(value, dtype="float64"), shape=tuple(shape))
        for value in (counts, probabilities)
    )
    return cast(tf.random.stateless_binomial(tuple(shape), _seed(seed), trials, chances, tf.float64), _float(dtype))


def beta(shape: Any, alpha: Any, beta: Any, dtype: Any = None, seed: Any = None) -> Tensor:
    """Samples `a / (a + b)` of two gamma variates."""
    shape, dtype = tuple(shape), _float(dtype)
    first = _seed(seed)
    second = first + 12  # as Keras on TensorFlow
    wide = tf.float32 if dtype.size < 4 else dtype
    a, b = _gamma(shape, alpha, wide, first), _gamma(shape, beta, wide, second)
    return cast(a / (a + b), dtype)
