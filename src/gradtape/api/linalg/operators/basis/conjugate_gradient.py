"""The conjugate gradient method."""

from __future__ import annotations

from typing import Any, NamedTuple

from .....api.linalg.operators.basis.base import LinearOperator
from .....core.tensor import Tensor
from .....engine.run.convert import to_tensor
from .....engine.run.namespace import ops
from ....arrays.creation import zeros
from ....arrays.repeating import broadcast_to
from ....control.control_flow import while_loop
from ....math.complex import conj
from ....math.reductions import norm, reduce_any, reduce_sum
from .support import broadcast

NAMESPACES = ("linalg.experimental",)
__all__ = ["conjugate_gradient"]


class CGState(NamedTuple):
    """The state of the iteration: step, current solution, residual, direction, and squared residual."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def conjugate_gradient(
    operator: LinearOperator,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-5,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solves `operator @ x = rhs` iteratively for a positive definite operator; the final state contains `x`.

    Args:
      operator: a `LinearOperator` with the hints `is_self_adjoint` and `is_positive_definite`.
      preconditioner: an approximation of the inverse.
      x: the initial solution, zeros by default.
      tol: the tolerance for the residual, relative to the norm of `rhs`.
      max_iter: the maximum number of steps.

    >>> hints = {"is_self_adjoint": True, "is_positive_definite": True}
    >>> a = tf.linalg.LinearOperatorFullMatrix([[4.0, 1.0], [1.0, 3.0]], **hints)
    >>> tf.linalg.experimental.conjugate_gradient(a, tf.constant([1.0, 2.0])).x.numpy().round(3)
    array([0.091, 0.636], dtype=float32)
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = to_tensor(rhs)
    batch = broadcast(rhs.shape[:-1], operator.batch_shape)
    if preconditioner is not None:
        batch = broadcast(batch, preconditioner.batch_shape)
    shape = batch.concatenate(rhs.shape[-1:])
    right = broadcast_to(rhs, shape)
    bound = norm(right, axis=-1) * tol
    if x is None:
        x = zeros(shape, rhs.dtype)
    else:
        x = broadcast_to(x, shape)
        right = right - operator.matvec(x)

    def conditioned(residual: Any) -> Any:
        return residual if preconditioner is None else preconditioner.matvec(residual)

    def unfinished(i: Any, state: CGState) -> Any:
        return ops.logical_and(i < max_iter, reduce_any(ops.greater(norm(state.r, axis=-1), bound)))

    def step(i: Any, state: CGState) -> Any:
        image = operator.matvec(state.p)
        alpha = (state.gamma / _dot(state.p, image))[..., None]
        residual = state.r - alpha * image
        next_one = conditioned(residual)
        gamma = _dot(residual, next_one)
        direction = next_one + (gamma / state.gamma)[..., None] * state.p
        return i + 1, CGState(i + 1, state.x + alpha * state.p, residual, direction, gamma)

    first = conditioned(right)
    zero = to_tensor(0)
    state: CGState = while_loop(unfinished, step, [zero, CGState(zero, x, right, first, _dot(right, first))])[1]
    return CGState(*state)


def _dot(a: Any, b: Any) -> Tensor:
    return reduce_sum((conj(a) if a.dtype.is_complex else a) * b, axis=-1)
