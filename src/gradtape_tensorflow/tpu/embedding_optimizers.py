"""Optimizers of embedding tables: their settings. `TPUEmbeddingForServing` accepts them, and does not train."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

NAMESPACES = ("tpu.experimental.embedding",)
__all__ = ["FTRL", "SGD", "Adagrad", "AdagradMomentum", "Adam", "CustomOptimizer"]

_Rate = float | Callable[[], float]
_Limit = float | tuple[float | None, float | None] | None


class EmbeddingOptimizer:
    """What all optimizers have."""

    def _set(self, given: Mapping[str, Any]) -> None:
        """Checks and keeps the settings of all optimizers, from the arguments of a constructor."""
        limits: _Limit = given.get("clipvalue")
        self.use_gradient_accumulation: bool = given.get("use_gradient_accumulation", True)
        if not self.use_gradient_accumulation and limits is not None:
            raise ValueError(
                "When `use_gradient_accumulation` is False, gradient clipping cannot be used and `clipvalue` should be "
                f"left as None. Received value {limits} for argument `clipvalue`."
            )
        if not isinstance(limits, tuple):
            limits = (None, None) if limits is None else (-limits, limits)
        self.clip_gradient_min, self.clip_gradient_max = limits
        self.learning_rate: _Rate = given["learning_rate"]
        self.slot_variable_creation_fn: Any = given.get("slot_variable_creation_fn")
        self.clip_weight_min: float | None = given.get("clip_weight_min")
        self.clip_weight_max: float | None = given.get("clip_weight_max")
        self.low_dimensional_packing_status: bool = given.get("low_dimensional_packing_status", False)
        self.weight_decay_factor: float | None = given.get("weight_decay_factor")
        multiply: bool | None = given.get("multiply_weight_decay_factor_by_learning_rate")
        self.multiply_weight_decay_factor_by_learning_rate = multiply
        if self.weight_decay_factor is None and multiply:
            raise ValueError("weight_decay_factor must be set if multiply_weight_decay_factor_by_learning_rate is True")
        if (start := given.get("initial_accumulator_value", 1.0)) <= 0:
            raise ValueError(f"Argument `initial_accumulator_value` must be a positive float. Received: {start}")


class SGD(EmbeddingOptimizer):
    """Settings of gradient descent.

    >>> tf.tpu.experimental.embedding.SGD(0.1).learning_rate
    0.1
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, learning_rate: _Rate = 0.01, use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, clipvalue: _Limit = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:  # fmt: skip
        self._set(locals())


class Adagrad(EmbeddingOptimizer):
    """Settings of Adagrad.

    >>> tf.tpu.experimental.embedding.Adagrad().initial_accumulator_value
    0.1
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, learning_rate: _Rate = 0.001, initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, slot_variable_creation_fn: Any = None,
        clipvalue: _Limit = None, low_dimensional_packing_status: bool = False,
    ) -> None:  # fmt: skip
        self._set(locals())
        self.initial_accumulator_value = initial_accumulator_value


class AdagradMomentum(EmbeddingOptimizer):
    """Settings of Adagrad with momentum.

    >>> tf.tpu.experimental.embedding.AdagradMomentum(momentum=0.9).momentum
    0.9
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, learning_rate: _Rate = 0.001, momentum: float = 0.0, use_nesterov: bool = False, exponent: float = 2,
        beta2: float = 1, epsilon: float = 1e-10, use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None, clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None, multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None, clipvalue: _Limit = None, low_dimensional_packing_status: bool = False,
    ) -> None:  # fmt: skip
        self._set(locals())
        if epsilon <= 0:
            raise ValueError("Adagrad momentum: epsilon must be positive")
        if exponent <= 0:
            raise ValueError("Adagrad momentum: Precondition exponent must >0")
        self.momentum, self.use_nesterov, self.exponent = momentum, use_nesterov, exponent
        self.beta2, self.epsilon = beta2, epsilon


class FTRL(EmbeddingOptimizer):
    """Settings of FTRL.

    >>> tf.tpu.experimental.embedding.FTRL().learning_rate_power
    -0.5
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, learning_rate: _Rate = 0.001, learning_rate_power: float = -0.5, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, beta: float = 0.0, initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True, clip_weight_min: float | None = None,
        clip_weight_max: float | None = None, weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None, slot_variable_creation_fn: Any = None,
        clipvalue: _Limit = None, multiply_linear_by_learning_rate: bool = False, allow_zero_accumulator: bool = False,
        low_dimensional_packing_status: bool = False,
    ) -> None:  # fmt: skip
        self._set(locals())
        self.initial_accumulator_value, self.learning_rate_power = initial_accumulator_value, learning_rate_power
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength, self.beta = l2_regularization_strength, beta
        self.multiply_linear_by_learning_rate = multiply_linear_by_learning_rate
        self.allow_zero_accumulator = allow_zero_accumulator


class Adam(EmbeddingOptimizer):
    """Settings of Adam.

    >>> tf.tpu.experimental.embedding.Adam(beta_1=0.8).beta_1
    0.8
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, learning_rate: _Rate = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07,
        lazy_adam: bool = True, sum_inside_sqrt: bool = True, use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None, clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None, multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None, clipvalue: _Limit = None, low_dimensional_packing_status: bool = False,
    ) -> None:  # fmt: skip
        self._set(locals())
        for name, value in (("beta_1", beta_1), ("beta_2", beta_2)):
            if not 0 <= value < 1:
                raise ValueError(f"Argument `{name}` must be >= 0 and < 1. Received: {value}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError(
                "When disabling lazy Adam (`lazy_adam=False`), gradient accumulation must be used. Set "
                "`use_gradient_accumulation` to False."
            )
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt


class CustomOptimizer(EmbeddingOptimizer):
    """Settings of an optimizer that the program defines.

    >>> tf.tpu.experimental.embedding.CustomOptimizer(tf.function(lambda g, w, h: w), slot_names=["m"],
    ...     slot_initializers=[tf.zeros_initializer()]).slot_dims
    [None]
    """

    __module__ = "gradtape.tpu.experimental.embedding"

    def __init__(
        self, custom_computation: Any, learning_rate: _Rate = 0.01, slot_names: list[str] | None = None,
        slot_initializers: list[Any] | None = None, hyperparameters: list[Any] | None = None,
        slot_dims: list[int | None] | None = None,
    ) -> None:  # fmt: skip
        self._set({"learning_rate": learning_rate})
        names, initializers = slot_names or [], slot_initializers or []
        if len(names) != len(initializers):
            raise ValueError(
                f"The number of slot names ({len(names)}) and of slot initializers ({len(initializers)}) differ"
            )
        self._computation, self._slot_names, self._slot_initializers = custom_computation, names, initializers
        self._hyperparameters, self._slot_dims = hyperparameters or [], slot_dims or [None] * len(names)

    @property
    def custom_computation(self) -> Any:
        """The function that updates a table."""
        return self._computation

    @property
    def hyperparameters(self) -> list[Any]:
        """The parameters of the function."""
        return self._hyperparameters

    @property
    def slot_dims(self) -> list[int | None]:
        """The dimensions of the slots."""
        return self._slot_dims
