"""`tf.compat.v1.train`: the global step, and learning rate schedules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...core import dtypes
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...state.variable import Variable
from ..namespace import resolve
from .v1_optimizers import cast_like
from .v1_variables import GraphKeys, get_collection_ref

NAMESPACES = ("compat.v1.train",)
__all__ = [
    "cosine_decay", "create_global_step", "exponential_decay", "get_global_step", "get_or_create_global_step",
    "inverse_time_decay", "natural_exp_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
]  # fmt: skip


def get_global_step(graph: Any = None) -> Variable | None:
    """Returns the step counter, if it exists.

    >>> import gradtape as tf
    >>> step = tf.compat.v1.train.get_or_create_global_step()
    >>> tf.compat.v1.train.get_global_step() is step
    True
    """
    kept = get_collection_ref(GraphKeys.GLOBAL_STEP)
    return kept[0] if kept else None


def create_global_step(graph: Any = None) -> Variable:
    """Creates the step counter, which must not exist: see `get_or_create_global_step`.

    >>> import gradtape as tf
    >>> step = tf.compat.v1.train.get_or_create_global_step()
    >>> tf.compat.v1.train.create_global_step()
    Traceback (most recent call last):
    ValueError: "global_step" already exists.
    """
    if get_global_step() is not None:
        raise ValueError('"global_step" already exists.')
    with resolve("init_scope")(), resolve("name_scope")(""):
        step = Variable(resolve("constant")(0, dtypes.int64), trainable=False, name="global_step")
    get_collection_ref(GraphKeys.GLOBAL_STEP).append(step)
    return step


def get_or_create_global_step(graph: Any = None) -> Variable:
    """Returns the step counter, and creates it if it does not exist.

    >>> import gradtape as tf
    >>> tf.compat.v1.train.get_or_create_global_step().dtype
    tf.int64
    """
    step = get_global_step()
    return create_global_step() if step is None else step


def _at_current_step(compute: Callable[..., Any], rate: Any, step: Any, *args: Any) -> Callable[[], Tensor]:
    """Returns a function that computes the rate at the current step, as in eager programs."""
    first = resolve("convert_to_tensor")(rate)

    def now() -> Tensor:
        at = resolve("cast")(step() if callable(step) else step, first.dtype)
        return compute(first, at, *args)

    return now


def _floor(x: Tensor, staircase: bool) -> Tensor:
    return resolve("floor")(x) if staircase else x


def exponential_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Multiplies a rate by `decay_rate` every `decay_steps`; returns a function to call in each step.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.train.exponential_decay(0.5, 10, 5, 0.5)())
    0.125
    """
    return _at_current_step(
        lambda rate, step: rate * resolve("pow")(cast_like(decay_rate, rate), _floor(step / decay_steps, staircase)),
        learning_rate, global_step,
    )  # fmt: skip


def natural_exp_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Multiplies a rate by `exp(-decay_rate)` every `decay_steps`; returns a function to call in each step.

    >>> import gradtape as tf
    >>> round(float(tf.compat.v1.train.natural_exp_decay(0.5, 10, 5, 0.5)()), 4)
    0.1839
    """
    return _at_current_step(
        lambda rate, step: rate * resolve("exp")(-decay_rate * _floor(step / decay_steps, staircase)),
        learning_rate, global_step,
    )  # fmt: skip


def inverse_time_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Divides a rate by `1 + decay_rate * step / decay_steps`; returns a function to call in each step.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.train.inverse_time_decay(0.5, 10, 5, 0.5)())
    0.25
    """
    return _at_current_step(
        lambda rate, step: rate / (1 + decay_rate * _floor(step / decay_steps, staircase)),
        learning_rate, global_step,
    )  # fmt: skip


def cosine_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, alpha: float = 0.0,
    name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate to the fraction `alpha` along half a cosine; returns a function to call in each step.

    >>> import gradtape as tf
    >>> round(float(tf.compat.v1.train.cosine_decay(0.5, 5, 10)()), 4)
    0.25
    """

    def compute(rate: Any, step: Any) -> Any:
        done = resolve("minimum")(step, cast_like(decay_steps, step)) / cast_like(decay_steps, step)
        return rate * ((1 - alpha) * 0.5 * (1 + resolve("cos")(math.pi * done)) + alpha)

    return _at_current_step(compute, learning_rate, global_step)


def polynomial_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, end_learning_rate: float = 0.0001,
    power: float = 1.0, cycle: bool = False, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate to `end_learning_rate` along a power of the step; returns a function to call in each step.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.train.polynomial_decay(0.5, 5, 10, 0.0)())
    0.25
    """

    def compute(rate: Any, step: Any) -> Any:
        steps = cast_like(decay_steps, step)
        if cycle:
            rounds = resolve("math.ceil")(step / steps)
            steps = steps * resolve("where")(resolve("equal")(step, 0), resolve("ones_like")(rounds), rounds)
        else:
            step = resolve("minimum")(step, steps)
        left = resolve("pow")(1 - step / steps, cast_like(power, step))
        return (rate - end_learning_rate) * left + end_learning_rate

    return _at_current_step(compute, learning_rate, global_step)


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[TensorLike], values: Sequence[TensorLike], name: str | None = None
) -> Callable[[], Tensor]:
    """Selects the value of the interval that contains the step; returns a function to call in each step.

    >>> import gradtape as tf
    >>> float(tf.compat.v1.train.piecewise_constant(7, [5, 10], [0.5, 0.25, 0.125])())
    0.25
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values, got "
            f"{len(boundaries)} and {len(values)}"
        )

    def now() -> Tensor:
        step = resolve("convert_to_tensor")(x() if callable(x) else x)
        bounds = resolve("cast")(resolve("convert_to_tensor")(boundaries), step.dtype)
        passed = resolve("reduce_sum")(resolve("cast")(resolve("greater")(step, bounds), dtypes.int32))
        return resolve("gather")(resolve("convert_to_tensor")(values), passed)

    return now


piecewise_constant_decay = piecewise_constant
