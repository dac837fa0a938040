"""Sums of operators in the most specific class possible: identities, diagonals, triangles, matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from ...arrays.creation import ones
from .basis.base import LinearOperator
from .diag import LinearOperatorDiag
from .identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from .triangular import LinearOperatorFullMatrix, LinearOperatorLowerTriangular

_IDENTITIES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONALS = (*_IDENTITIES, LinearOperatorDiag)
_TRIANGLES = (*_DIAGONALS, LinearOperatorLowerTriangular)


def add_operators(
    operators: Sequence[LinearOperator], operator_name: str | None = None, addition_tiers: Any = None,
    name: str | None = None,
) -> list[LinearOperator]:  # fmt: skip
    """Adds the operators into as few as possible: always one."""
    found = list(operators)
    if not found:
        raise ValueError(f"Argument `operators` must contain at least one operator. Received: {operators}.")
    if not all(isinstance(operator, LinearOperator) for operator in found):
        raise TypeError(f"Argument `operators` must contain only LinearOperator instances. Received: {operators}.")
    shapes = {tuple(operator.shape[-2:]) for operator in found}
    if len(shapes) > 1:
        raise ValueError(f"All `operators` must have the same dimensions. Received: {sorted(shapes)}.")
    return [added(found)]


def added(operators: Sequence[LinearOperator]) -> LinearOperator:
    """Returns the operator of the sum."""
    return reduce(_sum, operators)


def _sum(a: Any, b: Any) -> Any:
    definite = (a.is_positive_definite and b.is_positive_definite) or None
    hints: dict[str, Any] = {
        "is_self_adjoint": (a.is_self_adjoint and b.is_self_adjoint) or None,
        "is_positive_definite": definite,
        "is_non_singular": True if definite else None,
    }
    if isinstance(a, _IDENTITIES) and isinstance(b, _IDENTITIES):
        return LinearOperatorScaledIdentity(a.domain_dimension, _multiplier(a) + _multiplier(b), **hints)
    if isinstance(a, _DIAGONALS) and isinstance(b, _DIAGONALS):
        return LinearOperatorDiag(a.diag_part() + b.diag_part(), **hints)
    if isinstance(a, _DIAGONALS):
        a, b = b, a
    dense = b.add_to_tensor(a.to_dense())
    if isinstance(a, _TRIANGLES) and isinstance(b, _TRIANGLES):
        return LinearOperatorLowerTriangular(dense, **hints)
    return LinearOperatorFullMatrix(dense, **hints)


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape, operator.dtype)
