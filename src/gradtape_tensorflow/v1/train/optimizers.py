"""`tf.compat.v1.train`'s optimizers on eager variables."""

from __future__ import annotations

from typing import Any

from gradtape.api.namespace import resolve
from gradtape.api.tape import GradientTape
from gradtape.core.owners import Owner
from gradtape.core.slices import IndexedSlices
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import TensorLike
from gradtape.state.variable import Variable

NAMESPACES = ("compat.v1.train",)
__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "FtrlOptimizer",
    "GradientDescentOptimizer", "MomentumOptimizer", "Optimizer", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "RMSPropOptimizer",
]  # fmt: skip


class Optimizer(Owner):
    """The base class of optimizers. A subclass defines `_create_slots`, `_prepare` and `_apply_dense(grad, var)`.

    For gradients that are `IndexedSlices`, it also defines `_resource_apply_sparse(grad, var, indices)`, which receives
    each row once.

    >>> x = tf.Variable(3.0)
    >>> tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(lambda: x * x)
    >>> round(float(x), 4)
    2.4
    """

    __module__ = "gradtape.compat.v1.train"

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name, self._use_locking = name, use_locking
        self._slots: dict[str, dict[Any, Variable]] = {}
        self._others: dict[str, Variable] = {}

    def get_name(self) -> str:
        """Returns the name."""
        return self._name

    def minimize(
        self, loss: Any, global_step: Variable | None = None, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: Any = None,
    ) -> None:  # fmt: skip
        """Takes one step that minimizes the value of the function `loss`."""
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, False, grad_loss)
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(variable) for _, variable in pairs]} and loss {loss}."
            )
        self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = 1, aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Returns the gradients of the value of the function `loss`, each with its variable."""
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(tape.watched_variables()) if var_list is None else resolve("nest.flatten")(var_list)
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> None:  # fmt: skip
        """Updates the variables with their gradients, and increments the step."""
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        given = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not given:
            raise ValueError(f"No gradients provided for any variable: {[str(variable) for _, variable in pairs]}.")
        with resolve("init_scope")():
            self._create_slots([variable for _, variable in given])
        self._prepare()
        for gradient, variable in given:
            if isinstance(gradient, IndexedSlices):
                self._resource_apply_sparse_duplicate_indices(gradient.values, variable, gradient.indices)
            else:
                self._apply_dense(gradient, variable)
        self._finish([variable for _, variable in given])
        if global_step is not None:
            global_step.assign_add(1)

    def get_slot(self, var: Any, name: str) -> Variable | None:
        """Returns the slot of a variable with this name; None before the first step."""
        return self._slots.get(name, {}).get(var.ref())

    def get_slot_names(self) -> list[str]:
        """Returns the names of the slots."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """Returns all variables of the optimizer."""
        slots = [slot for kept in self._slots.values() for slot in kept.values()]
        return sorted([*slots, *self._others.values()], key=lambda variable: variable.name)

    def _slot(self, var: Any, name: str, value: float = 0.0, title: str | None = None) -> Any:
        """Returns the slot of a variable, initialized with a number if it does not exist.

        `title` is the name of a new slot's variable, below that of `var`.
        """
        kept = self._slots.setdefault(name, {})
        if var.ref() not in kept:
            again = sum(var.ref() in others for others in self._slots.values())
            title = title or self._name + (f"_{again}" if again else "")
            with resolve("name_scope")(""):
                first = resolve("fill")(var.shape, cast_like(value, var))
                kept[var.ref()] = Variable(first, trainable=False, name=f"{var.name.partition(':')[0]}/{title}")
        return kept[var.ref()]

    def _owned(self) -> dict[str, Variable]:
        return self._others

    def _kept_of_variables(self) -> list[tuple[Any, str, Variable]]:
        """Returns variables with the names and values of their slots, for checkpoints."""
        return [(ref.deref(), name, slot) for name, kept in self._slots.items() for ref, slot in kept.items()]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Variable:
        """Returns the slot of a variable, initialized with zeros."""
        return self._slot(var, slot_name)

    def _call_if_callable(self, parameter: Any) -> Any:
        return parameter() if callable(parameter) else parameter

    def _create_slots(self, var_list: list[Any]) -> None:
        pass

    def _prepare(self) -> None:
        pass

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_dense or _resource_apply_dense")

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """Sums the rows of a gradient that have the same index, and applies them."""
        rows, segments = resolve("unique")(indices)
        summed = resolve("math.unsorted_segment_sum")(grad, segments, resolve("size")(rows))
        return self._resource_apply_sparse(summed, handle, rows)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no _resource_apply_sparse for gradients that are IndexedSlices. Define it, or "
            "pass tf.convert_to_tensor(gradient)"
        )

    def _finish(self, variables: list[Any]) -> None:
        pass


class _RowwiseOptimizer(Optimizer):
    """An optimizer whose step of a row depends on that row alone: sparse gradients change no other rows.

    Args:
      parameters: the names of the attributes that `_prepare` evaluates once per step.
      slots: the initial values of the slots.
    """

    def __init__(self, use_locking: bool, name: str, parameters: tuple[str, ...], **slots: float) -> None:
        super().__init__(use_locking, name)
        self._parameters, self._first = parameters, slots
        self._titles: dict[str, str | None] = {}  # the names of the slots' variables, if they are not the optimizer's

    def _create_slots(self, var_list: list[Any]) -> None:
        for var in var_list:
            for name, value in self._first.items():
                self._slot(var, name, value, self._titles.get(name))

    def _prepare(self) -> None:
        self._current = [self._call_if_callable(getattr(self, name)) for name in self._parameters]

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> None:
        variables = [var, *(self._slot(var, name) for name in self._first)]
        for variable, value in zip(variables, self._step(grad, *variables), strict=True):
            variable.assign(value)

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> None:
        variables = [handle, *(self._slot(handle, name) for name in self._first)]
        rows = [resolve("gather")(variable, indices) for variable in variables]
        for variable, value in zip(variables, self._step(grad, *rows), strict=True):
            variable.scatter_update(IndexedSlices(value, indices))

    def _step(self, grad: Tensor, var: Any, *slots: Any) -> tuple[Any, ...]:
        """Returns the new values of a variable, or of rows of it, and of its slots."""
        raise NotImplementedError

    def _numbers(self, like: Tensor) -> list[Any]:
        """Returns the parameters in the dtype of a gradient."""
        return [cast_like(parameter, like) for parameter in self._current]


def cast_like(value: TensorLike, like: Any) -> Any:
    """Converts a number, or the result of a function, to the dtype of another value."""
    return resolve("cast")(value() if callable(value) else value, like.dtype)


class GradientDescentOptimizer(_RowwiseOptimizer):
    """Gradient descent.

    >>> x = tf.Variable(1.0)
    >>> tf.compat.v1.train.GradientDescentOptimizer(0.5).apply_gradients([(tf.constant(1.0), x)])
    >>> float(x)
    0.5
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name, ("_learning_rate",))
        self._learning_rate = learning_rate

    def _step(self, grad: Tensor, var: Any) -> tuple[Any, ...]:
        (rate,) = self._numbers(grad)
        return (var - grad * rate,)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> None:
        (rate,) = self._numbers(grad)
        handle.scatter_sub(IndexedSlices(grad * rate, indices))


class MomentumOptimizer(_RowwiseOptimizer):
    """Gradient descent with momentum.

    >>> tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).get_name()
    'Momentum'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name, ("_learning_rate", "_momentum"), momentum=0.0)
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _step(self, grad: Tensor, var: Any, velocity: Any) -> tuple[Any, ...]:
        rate, momentum = self._numbers(grad)
        velocity = velocity * momentum + grad
        return var - (grad + momentum * velocity if self._use_nesterov else velocity) * rate, velocity


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba): scales the running mean of gradients by the root of the running mean of their squares.

    >>> tf.compat.v1.train.AdamOptimizer().get_name()
    'Adam'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
        use_locking: bool = False, name: str = "Adam", use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        for title, beta in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            if title not in self._others:
                first = resolve("cast")(self._call_if_callable(beta), var_list[0].dtype)
                self._others[title] = Variable(first, trainable=False, name=title)
                self._was_set(title, self._others[title])
        for var in var_list:
            self._slot(var, "m")
            self._slot(var, "v")

    def _prepare(self) -> None:
        self._current = list(map(self._call_if_callable, (self._lr, self._beta1, self._beta2, self._epsilon)))

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> None:
        rate, beta1, beta2, epsilon = (cast_like(x, grad) for x in self._current)
        powers = [cast_like(self._others[title], grad) for title in ("beta1_power", "beta2_power")]
        rate = rate * resolve("sqrt")(1 - powers[1]) / (1 - powers[0])
        m, v = self._slot(var, "m"), self._slot(var, "v")
        m.assign_add((grad - m) * (1 - beta1))
        v.assign_add((grad * grad - v) * (1 - beta2))
        var.assign_sub(rate * m / (resolve("sqrt")(v) + epsilon))

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> None:
        dense = resolve("convert_to_tensor")(IndexedSlices(grad, indices, resolve("shape")(handle)))
        self._resource_apply_dense(dense, handle)  # the means of all rows decay

    def _finish(self, variables: list[Any]) -> None:
        for title, beta in (("beta1_power", self._current[1]), ("beta2_power", self._current[2])):
            power: Any = self._others[title]
            power.assign(power * cast_like(beta, power))


class AdagradOptimizer(_RowwiseOptimizer):
    """Adagrad: smaller steps for variables with large past gradients.

    >>> tf.compat.v1.train.AdagradOptimizer(0.1).get_name()
    'Adagrad'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:  # fmt: skip
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name, ("_learning_rate",), accumulator=initial_accumulator_value)
        self._learning_rate = learning_rate

    def _step(self, grad: Tensor, var: Any, total: Any) -> tuple[Any, ...]:
        (rate,) = self._numbers(grad)
        total = total + grad * grad
        return var - grad * rate * resolve("math.rsqrt")(total), total


class AdagradDAOptimizer(_RowwiseOptimizer):
    """Adagrad with dual averaging (Duchi et al.): sums of gradients instead of steps, which gives sparse weights.

    >>> tf.compat.v1.train.AdagradDAOptimizer(0.1, tf.Variable(0, dtype=tf.int64)).get_name()
    'AdagradDA'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, global_step: Any, initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:  # fmt: skip
        first = initial_gradient_squared_accumulator_value
        if first <= 0.0:
            raise ValueError(f"initial_gradient_squared_accumulator_value must be positive: {first}")
        slots = {"gradient_accumulator": 0.0, "gradient_squared_accumulator": first}
        super().__init__(use_locking, name, ("_learning_rate", "_l1", "_l2"), **slots)
        self._learning_rate, self._global_step = learning_rate, global_step
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _prepare(self) -> None:
        super()._prepare()
        self._current.append(resolve("identity")(self._global_step) + 1)

    def _step(self, grad: Tensor, var: Any, total: Any, squares: Any) -> tuple[Any, ...]:
        rate, l1, l2, count = self._numbers(grad)
        total, squares = total + grad, squares + grad * grad
        left = resolve("sign")(total) * resolve("maximum")(resolve("abs")(total) - l1 * count, 0)
        return -rate * left / (l2 * count * rate + resolve("sqrt")(squares)), total, squares


class AdadeltaOptimizer(_RowwiseOptimizer):
    """Adadelta (Zeiler): steps scaled by the ratio of the running magnitudes of updates and gradients.

    >>> tf.compat.v1.train.AdadeltaOptimizer().get_name()
    'Adadelta'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name, ("_lr", "_rho", "_epsilon"), accum=0.0, accum_update=0.0)
        self._lr, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _step(self, grad: Tensor, var: Any, squares: Any, steps: Any) -> tuple[Any, ...]:
        rate, rho, epsilon = self._numbers(grad)
        squares = squares * rho + grad * grad * (1 - rho)
        step = resolve("sqrt")(steps + epsilon) * resolve("math.rsqrt")(squares + epsilon) * grad
        return var - rate * step, squares, steps * rho + step * step * (1 - rho)


class RMSPropOptimizer(_RowwiseOptimizer):
    """RMSProp: divides the gradient by the root of the running mean of its square.

    >>> tf.compat.v1.train.RMSPropOptimizer(0.1).get_name()
    'RMSProp'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
        use_locking: bool = False, centered: bool = False, name: str = "RMSProp",
    ) -> None:  # fmt: skip
        parameters = ("_learning_rate", "_decay", "_momentum", "_epsilon")
        slots = {"rms": 1.0, "mg": 0.0, "momentum": 0.0} if centered else {"rms": 1.0, "momentum": 0.0}
        super().__init__(use_locking, name, parameters, **slots)
        self._learning_rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered

    def _step(self, grad: Tensor, var: Any, squares: Any, *others: Any) -> tuple[Any, ...]:
        rate, decay, momentum, epsilon = self._numbers(grad)
        *means, velocity = others
        squares = squares + (grad * grad - squares) * (1 - decay)
        means = [mean + (grad - mean) * (1 - decay) for mean in means]
        spread = squares + epsilon - sum(mean * mean for mean in means)
        velocity = velocity * momentum + grad * rate * resolve("math.rsqrt")(spread)
        return var - velocity, squares, *means, velocity


class FtrlOptimizer(_RowwiseOptimizer):
    """FTRL (McMahan): follow the regularized leader, which gives exactly sparse weights.

    >>> tf.compat.v1.train.FtrlOptimizer(0.1).get_name()
    'Ftrl'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False,
        name: str = "Ftrl", accum_name: str | None = None, linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0, beta: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name, ("_learning_rate",), accum=initial_accumulator_value, linear=0.0)
        self._titles = {"accum": accum_name, "linear": linear_name}
        for title, value in {
            "initial_accumulator_value": initial_accumulator_value, "learning_rate_power": -learning_rate_power,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }.items():  # fmt: skip
            if value < 0.0:
                needed = "negative" if title == "learning_rate_power" else "positive"
                raise ValueError(f"{title} needs to be {needed} or zero, got {value}")
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, beta or 0.0

    def _step(self, grad: Tensor, var: Any, squares: Any, linear: Any) -> tuple[Any, ...]:
        (rate,), l1 = self._numbers(grad), cast_like(self._l1, grad)
        l2 = cast_like(self._l2, grad) + cast_like(self._beta, grad) / (2 * resolve("maximum")(rate, 1e-36))
        total = squares + grad * grad
        before, now = (resolve("pow")(x, cast_like(-self._power, grad)) / rate for x in (squares, total))
        shrunk = grad + 2 * cast_like(self._shrinkage, grad) * var
        linear = linear + shrunk - (now - before) * var
        kept = resolve("clip_by_value")(linear, -l1, l1) - linear
        return kept / (now + 2 * l2), total, linear


class ProximalGradientDescentOptimizer(_RowwiseOptimizer):
    """Gradient descent with proximal L1 and L2 penalties.

    >>> tf.compat.v1.train.ProximalGradientDescentOptimizer(0.1).get_name()
    'ProximalGradientDescent'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
        use_locking: bool = False, name: str = "ProximalGradientDescent",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name, ("_learning_rate",))
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, grad: Tensor, var: Any) -> tuple[Any, ...]:
        (rate,) = self._numbers(grad)
        return (_shrunk(var - rate * grad, rate, self._l1, self._l2),)


class ProximalAdagradOptimizer(_RowwiseOptimizer):
    """Adagrad with proximal L1 and L2 penalties.

    >>> tf.compat.v1.train.ProximalAdagradOptimizer(0.1).get_name()
    'ProximalAdagrad'
    """

    __module__ = "gradtape.compat.v1.train"

    def __init__(
        self, learning_rate: Any, initial_accumulator_value: float = 0.1, l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = "ProximalAdagrad",
    ) -> None:  # fmt: skip
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name, ("_learning_rate",), accumulator=initial_accumulator_value)
        self._learning_rate = learning_rate
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _step(self, grad: Tensor, var: Any, total: Any) -> tuple[Any, ...]:
        (rate,), total = self._numbers(grad), total + grad * grad
        rate = rate * resolve("math.rsqrt")(total)
        return _shrunk(var - rate * grad, rate, self._l1, self._l2), total


def _shrunk(x: Any, rate: Any, l1: float, l2: float) -> Tensor:
    """Applies the proximal operator of L1 and L2 penalties to a step."""
    scale = 1 + cast_like(l2, x) * rate
    if l1 > 0:
        left = resolve("maximum")(resolve("abs")(x) - rate * cast_like(l1, x), 0)
        return resolve("sign")(x) * left / scale
    return x / scale
