"""`tensorflow.python.training.experimental.loss_scale_optimizer`: loss scaling for optimizers of TensorFlow 1."""

from __future__ import annotations

from typing import Any

import gradtape as tf

from ....v1.train.optimizers import Optimizer
from .loss_scale import get


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """Multiplies the loss by a number, and divides the gradients by it before another optimizer applies them."""

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(False, f"{opt.get_name()}LossScaleOptimizer")
        self._optimizer, self._loss_scale = opt, get(loss_scale)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = 1, aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Returns the gradients of the value of the function `loss`, each with its variable."""
        if not callable(loss):
            raise RuntimeError("`loss` should be a function when eager execution is enabled.")
        scale = self._loss_scale()  # type: ignore[misc]

        def scaled() -> Any:
            value = loss()
            return value * tf.cast(scale, value.dtype)

        options = (var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
        return [
            (None if gradient is None else _scaled(gradient, 1 / scale), variable)
            for gradient, variable in self._optimizer.compute_gradients(scaled, *options)
        ]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> None:  # fmt: skip
        """Updates the variables with their gradients if these are finite, and the scale."""
        pairs = list(grads_and_vars)
        _, apply = self._loss_scale.update([gradient for gradient, _ in pairs])  # type: ignore[union-attr]
        if apply is True:
            self._optimizer.apply_gradients(pairs, global_step, name)
            return
        with tf.init_scope():
            self._optimizer._create_slots([variable for gradient, variable in pairs if gradient is not None])
        tf.cond(apply, lambda: self._optimizer.apply_gradients(pairs, global_step, name), lambda: None)

    def variables(self) -> list[Any]:
        """Returns the variables of the wrapped optimizer."""
        return self._optimizer.variables()


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(_scaled(gradient.values, factor), gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype)
