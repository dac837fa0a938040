"""`tf.compat.v1.train`: the global step, learning rate schedules, and readers of checkpoints."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

from gradtape.api.namespace import resolve
from gradtape.checkpoint.files import exists, open_checkpoint
from gradtape.checkpoint.train import CheckpointReader
from gradtape.core import dtypes, errors
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
from gradtape.state.variable import Variable

from ..variables import GraphKeys, get_collection_ref
from .optimizers import cast_like

NAMESPACES = ("compat.v1.train",)
__all__ = [
    "NewCheckpointReader", "cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay",
    "get_global_step", "get_or_create_global_step", "inverse_time_decay", "linear_cosine_decay", "natural_exp_decay",
    "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
]  # fmt: skip


def get_global_step(graph: Any = None) -> Variable | None:
    """Returns the step counter, if it exists.

    >>> step = tf.compat.v1.train.get_or_create_global_step()
    >>> tf.compat.v1.train.get_global_step() is step
    True
    """
    kept = get_collection_ref(GraphKeys.GLOBAL_STEP)
    return kept[0] if kept else None


def create_global_step(graph: Any = None) -> Variable:
    """Creates the step counter, which must not exist: see `get_or_create_global_step`.

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

    >>> round(float(tf.compat.v1.train.cosine_decay(0.5, 5, 10)()), 4)
    0.25
    """

    def compute(rate: Any, step: Any) -> Any:
        done = resolve("minimum")(step, cast_like(decay_steps, step)) / cast_like(decay_steps, step)
        return rate * ((1 - alpha) * 0.5 * (1 + resolve("cos")(math.pi * done)) + alpha)

    return _at_current_step(compute, learning_rate, global_step)


def cosine_decay_restarts(
    learning_rate: TensorLike, global_step: TensorLike, first_decay_steps: TensorLike, t_mul: Any = 2.0,
    m_mul: Any = 1.0, alpha: float = 0.0, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate along half cosines, each `t_mul` times as long, with `m_mul` times the rate of the one before.

    >>> round(float(tf.compat.v1.train.cosine_decay_restarts(0.5, 20, 10, m_mul=0.5)()), 4)
    0.125
    """

    def compute(rate: Any, step: Any) -> Any:
        longer, smaller = cast_like(t_mul, rate), cast_like(m_mul, rate)
        done, one = step / cast_like(first_decay_steps, rate), cast_like(1.0, rate)

        def of_same_lengths() -> tuple[Any, Any]:
            begun = resolve("floor")(done)
            return begun, done - begun

        def of_growing_lengths() -> tuple[Any, Any]:
            begun = resolve("floor")(resolve("math.log")(one - done * (one - longer)) / resolve("math.log")(longer))
            before = (one - longer**begun) / (one - longer)
            return begun, (done - before) / longer**begun

        begun, part = resolve("cond")(resolve("equal")(longer, one), of_same_lengths, of_growing_lengths)
        return rate * ((1 - alpha) * 0.5 * smaller**begun * (1 + resolve("cos")(math.pi * part)) + alpha)

    return _at_current_step(compute, learning_rate, global_step)


def linear_cosine_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, num_periods: float = 0.5,
    alpha: float = 0.0, beta: float = 0.001, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate along a line times a cosine of `num_periods` periods; returns a function to call in each step.

    >>> round(float(tf.compat.v1.train.linear_cosine_decay(1.0, 5, 10)()), 4)
    0.251
    """
    return noisy_linear_cosine_decay(
        learning_rate, global_step, decay_steps, 0.0, num_periods=num_periods, alpha=alpha, beta=beta
    )


def noisy_linear_cosine_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, initial_variance: float = 1.0,
    variance_decay: float = 0.55, num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001,
    name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate as `linear_cosine_decay`, with noise whose variance decreases from step to step.

    >>> float(tf.compat.v1.train.noisy_linear_cosine_decay(1.0, 10, 10)()) < 10
    True
    """

    def compute(rate: Any, step: Any) -> Any:
        steps = cast_like(decay_steps, step)
        now = resolve("minimum")(step, steps)
        linear = (steps - now) / steps
        if initial_variance:
            variance = initial_variance / (1 + now) ** cast_like(variance_decay, step)
            linear += resolve("random.normal")(linear.shape, dtype=linear.dtype) * resolve("sqrt")(variance)
        cosine = 0.5 * (1 + resolve("cos")(2 * math.pi * num_periods * now / steps))
        return rate * ((alpha + linear) * cosine + beta)

    return _at_current_step(compute, learning_rate, global_step)


def polynomial_decay(
    learning_rate: TensorLike, global_step: TensorLike, decay_steps: TensorLike, end_learning_rate: float = 0.0001,
    power: float = 1.0, cycle: bool = False, name: str | None = None,
) -> Callable[[], Tensor]:  # fmt: skip
    """Decays a rate to `end_learning_rate` along a power of the step; returns a function to call in each step.

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

    >>> float(tf.compat.v1.train.piecewise_constant(7, [5, 10], [0.5, 0.25, 0.125])())
    0.25
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values, got "
            f"{len(boundaries)} and {len(values)}"
        )

    def now() -> Tensor:
        step, bounds, levels = map(resolve("convert_to_tensor"), (x() if callable(x) else x, boundaries, values))
        if bounds.dtype is not step.dtype and (bounds.dtype, step.dtype) != (dtypes.int32, dtypes.int64):
            raise ValueError(f"Boundaries ({bounds.dtype!r}) must have the same dtype as x ({step.dtype!r}).")
        bounds = resolve("cast")(bounds, step.dtype)
        passed = resolve("reduce_sum")(resolve("cast")(resolve("greater")(step, bounds), dtypes.int32))
        return resolve("gather")(levels, passed)

    kinds = {resolve("convert_to_tensor")(value).dtype.name for value in values}
    if len(kinds) > 1:
        raise ValueError(f"Values must have elements all with the same dtype, got {sorted(kinds)}.")
    return now


piecewise_constant_decay = piecewise_constant


def NewCheckpointReader(filepattern: Any) -> CheckpointReader:
    """Returns a reader of a checkpoint, by its path; other files and folders are none.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/ckpt")
    >>> tf.compat.v1.train.NewCheckpointReader(path).has_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    True
    """
    path = os.fsdecode(filepattern)
    if os.path.exists(path) and not exists(path):
        raise errors.DataLossError(f"Unable to open table file {path}: it is a folder, or a file of another format")
    return CheckpointReader(open_checkpoint(path))
