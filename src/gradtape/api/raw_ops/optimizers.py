"""Optimizer steps of `tf.raw_ops`: one rule per optimizer, for whole variables and for the rows of a sparse gradient.

A rule computes the new values of a variable and of its slots from their values, the gradient and the hyperparameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...ops.elementwise.arithmetic import maximum
from ..namespace import root as tf

Rule = Callable[..., tuple[Tensor, ...]]


def apply_rule(rule: Rule, variables: Sequence[Any], gradient: Any, indices: Any = None, **hyper: Any) -> None:
    """Assigns the new values of a variable and of its slots; of the rows at `indices` only, if they are given."""
    gradient = to_tensor(gradient)
    hyper = {name: x if isinstance(x, bool) else tf.cast(x, gradient.dtype) for name, x in hyper.items()}
    if indices is None:
        values = rule(*(v.read_value() for v in variables), gradient, **hyper)
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
        return
    rows = [tf.gather(v.read_value(), indices) for v in variables]
    for variable, value in zip(variables, rule(*rows, gradient, **hyper), strict=True):
        variable.scatter_update(IndexedSlices(value, to_tensor(indices)))


def adam(
    x: Tensor, m: Tensor, v: Tensor, g: Tensor, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
    epsilon: Any, nesterov: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Adam: Kingma and Ba, https://arxiv.org/abs/1412.6980, with the bias correction in the step size."""
    step = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = m + (g - m) * (1 - beta1), v + (g * g - v) * (1 - beta2)
    direction = g * (1 - beta1) + beta1 * m if nesterov else m
    return x - direction * step / (tf.sqrt(v) + epsilon), m, v


def amsgrad(
    x: Tensor, m: Tensor, v: Tensor, peak: Tensor, g: Tensor, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any,
    beta2: Any, epsilon: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Adam that divides by the largest second moment so far: https://openreview.net/forum?id=ryQu7f-RZ."""
    step = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = m + (g - m) * (1 - beta1), v + (g * g - v) * (1 - beta2)
    peak = maximum(peak, v)
    return x - m * step / (tf.sqrt(peak) + epsilon), m, v, peak


def adamax(
    x: Tensor, m: Tensor, v: Tensor, g: Tensor, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Tensor, ...]:
    """Adam with the infinity norm, in the same paper."""
    m, v = m + (g - m) * (1 - beta1), maximum(beta2 * v, tf.abs(g))
    return x - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def adagrad(
    x: Tensor, total: Tensor, g: Tensor, lr: Any, epsilon: Any = 0, update_slots: bool = True
) -> tuple[Tensor, ...]:
    """Adagrad: https://jmlr.org/papers/v12/duchi11a.html."""
    if update_slots:
        total = total + g * g
    return x - lr * g / (tf.sqrt(total) + epsilon), total


def proximal_adagrad(x: Tensor, total: Tensor, g: Tensor, lr: Any, l1: Any, l2: Any) -> tuple[Tensor, ...]:
    """Adagrad with the proximal step of L1 and L2 penalties: https://jmlr.org/papers/v10/duchi09a.html."""
    total = total + g * g
    rate = lr * tf.math.rsqrt(total)
    moved = x - g * rate
    shrunk = tf.sign(moved) * maximum(tf.abs(moved) - rate * maximum(l1, 0), 0)
    return tf.where(l1 > 0, shrunk, moved) / (1 + l2 * rate), total


def adadelta(
    x: Tensor, total: Tensor, updates: Tensor, g: Tensor, lr: Any, rho: Any, epsilon: Any
) -> tuple[Tensor, ...]:
    """Adadelta: https://arxiv.org/abs/1212.5701."""
    total = total * rho + g * g * (1 - rho)
    update = tf.sqrt(updates + epsilon) * tf.math.rsqrt(total + epsilon) * g
    return x - update * lr, total, updates * rho + update * update * (1 - rho)


def rmsprop(
    x: Tensor, ms: Tensor, mom: Tensor, g: Tensor, lr: Any, rho: Any, momentum: Any, epsilon: Any
) -> tuple[Tensor, ...]:
    """RMSProp with momentum."""
    ms = ms + (g * g - ms) * (1 - rho)
    mom = mom * momentum + g * lr * tf.math.rsqrt(ms + epsilon)
    return x - mom, ms, mom


def centered_rmsprop(
    x: Tensor, mg: Tensor, ms: Tensor, mom: Tensor, g: Tensor, lr: Any, rho: Any, momentum: Any, epsilon: Any
) -> tuple[Tensor, ...]:
    """RMSProp that divides by the variance of the gradient."""
    ms, mg = ms + (g * g - ms) * (1 - rho), mg + (g - mg) * (1 - rho)
    mom = mom * momentum + g * lr * tf.math.rsqrt(ms - mg * mg + epsilon)
    return x - mom, mg, ms, mom


def momentum_rule(
    x: Tensor, accum: Tensor, g: Tensor, lr: Any, momentum: Any, use_nesterov: bool
) -> tuple[Tensor, ...]:
    """Gradient descent with an accumulator of gradients."""
    accum = accum * momentum + g
    return x - (g * lr + accum * momentum * lr if use_nesterov else accum * lr), accum


def keras_momentum(
    x: Tensor, accum: Tensor, g: Tensor, lr: Any, momentum: Any, use_nesterov: bool
) -> tuple[Tensor, ...]:
    """Gradient descent with an accumulator of steps."""
    accum = accum * momentum - g * lr
    return x + (accum * momentum - g * lr if use_nesterov else accum), accum


def ftrl(
    x: Tensor, total: Tensor, linear: Tensor, g: Tensor, lr: Any, l1: Any, l2: Any, lr_power: Any,
    l2_shrinkage: Any = 0, multiply_linear_by_lr: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Follow the regularized leader: https://research.google.com/pubs/archive/41159.pdf."""
    new = total + g * g
    rate, unit = (1.0, lr) if multiply_linear_by_lr else (lr, 1.0)
    linear = linear + (g + 2 * l2_shrinkage * x) * unit - (new**-lr_power - total**-lr_power) / rate * x
    bound = l1 * unit
    quadratic = new**-lr_power / rate + 2 * l2 * unit
    moved = (bound * tf.sign(linear) - linear) / quadratic
    return tf.where(tf.abs(linear) > bound, moved, tf.zeros_like(x)), new, linear


RULES: dict[str, Any] = {
    rule.__name__: rule
    for rule in (
        adam, amsgrad, adamax, adagrad, proximal_adagrad, adadelta, rmsprop, centered_rmsprop, momentum_rule,
        keras_momentum, ftrl, apply_rule,
    )
}  # fmt: skip
