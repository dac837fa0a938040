"""Generic results of operator algebra, for classes without a more specific rule."""

from __future__ import annotations

from typing import Any

from ..decompositions import cholesky as dense_cholesky
from .basis.base import LinearOperator, combined_hints, made
from .composition import LinearOperatorComposition
from .identity import LinearOperatorIdentity
from .triangular import LinearOperatorLowerTriangular
from .wrapping import LinearOperatorAdjoint, LinearOperatorInversion
from .zeros import LinearOperatorZeros


def product(left: LinearOperator, right: LinearOperator) -> Any:
    """Returns the operator of `left right`."""
    if isinstance(right, LinearOperatorIdentity):
        return left
    if isinstance(right, LinearOperatorZeros):
        if not right.is_square or not left.is_square:
            raise ValueError(
                "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this "
                "time."
            )
        return right
    return LinearOperatorComposition([left, right], **combined_hints(left, right))


def quotient(left: LinearOperator, right: LinearOperator) -> Any:
    """Returns the operator of `left⁻¹ right`."""
    if isinstance(right, LinearOperatorIdentity):
        return left.inverse()
    return LinearOperatorComposition([LinearOperatorInversion(left), right], **combined_hints(left, right))


def adjoint(operator: LinearOperator) -> Any:
    """Returns the operator of the conjugate transpose."""
    return LinearOperatorAdjoint(operator, is_square=operator.is_square, **operator._hints())


def inverse(operator: LinearOperator) -> Any:
    """Returns the operator of the inverse."""
    return LinearOperatorInversion(operator, is_square=operator.is_square, **operator._hints())


def cholesky(operator: LinearOperator) -> Any:
    """Returns the operator of the Cholesky factor."""
    return LinearOperatorLowerTriangular(
        dense_cholesky(operator.to_dense()), is_non_singular=True, is_self_adjoint=False, is_square=True
    )


made.update(product=product, quotient=quotient, adjoint=adjoint, inverse=inverse, cholesky=cholesky)
