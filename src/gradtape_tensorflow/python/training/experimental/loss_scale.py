"""`tensorflow.python.training.experimental.loss_scale`: the numbers that losses in float16 are multiplied by."""

from __future__ import annotations

import abc
from typing import Any

import gradtape as tf
from gradtape.core.owners import Owner


class LossScale(Owner, abc.ABC):
    """The base class: a call returns the number, and `update` changes it according to gradients."""

    @abc.abstractmethod
    def __call__(self) -> Any:
        """Returns the current scale."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """Changes the scale; returns None, and whether the gradients are to be applied."""

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """Creates a loss scale from the arguments of its constructor."""
        return cls(**config)


class FixedLossScale(LossScale):
    """A scale that stays the same."""

    def __init__(self, loss_scale_value: float) -> None:
        if not isinstance(loss_scale_value, int | float):
            raise ValueError(f"loss_scale_value must be a Python int or float, got {loss_scale_value!r}.")
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least 1, got {loss_scale_value}.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Any:
        """Returns the scale."""
        return tf.constant(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Changes nothing: all gradients are applied."""
        return None, True

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A scale that is reduced when a gradient is not finite, and raised after a number of steps with finite ones."""

    def __init__(
        self, initial_loss_scale: float = 2**15, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:
        self.initial_loss_scale, self.multiplier = float(initial_loss_scale), float(multiplier)
        self.increment_period = int(increment_period)
        self.current_loss_scale = tf.Variable(self.initial_loss_scale, False, name="current_loss_scale")
        self.good_steps = tf.Variable(0, False, name="good_steps", dtype=tf.int64)

    def __call__(self) -> Any:
        """Returns the current scale."""
        return tf.convert_to_tensor(self.current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Changes the scale; the gradients are to be applied if all are finite."""
        finite = self._all_finite([gradient for gradient in tf.nest.flatten(grads) if gradient is not None])
        scale, multiplier = self.current_loss_scale, self.multiplier
        steps = self.good_steps + 1
        raised = tf.where(tf.math.is_finite(scale * multiplier), scale * multiplier, scale)
        complete = steps >= self.increment_period
        kept = tf.where(complete, raised, tf.convert_to_tensor(scale))
        self.current_loss_scale.assign(tf.where(finite, kept, tf.maximum(scale / multiplier, 1.0)))
        self.good_steps.assign(tf.where(finite & ~complete, steps, 0))
        return None, finite

    def _all_finite(self, grads: list[Any]) -> Any:
        if not tf.distribute.has_strategy():
            return _are_finite(grads)
        strategy = tf.distribute.get_strategy()
        found = strategy.extended.call_for_each_replica(lambda *grads: tf.cast(_are_finite(grads), tf.float32), grads)
        return tf.equal(strategy.reduce("SUM", found, axis=None), strategy.num_replicas_in_sync)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        return {
            "initial_loss_scale": self.initial_loss_scale, "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }  # fmt: skip

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.get_config().items())
        if not tf.executing_eagerly():
            return f"DynamicLossScale({given})"
        scale, steps = self.current_loss_scale.numpy(), self.good_steps.numpy()
        return f"DynamicLossScale(current_loss_scale={scale}, num_good_steps={steps}, {given})"


def _are_finite(grads: Any) -> Any:
    values = [gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient for gradient in grads]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(value)) for value in values])


def get(identifier: Any) -> LossScale | None:
    """Returns the loss scale of a number, of "dynamic" or of a loss scale."""
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    if identifier == "dynamic":
        return DynamicLossScale()
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
