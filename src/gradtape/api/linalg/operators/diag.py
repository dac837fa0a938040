"""Diagonal matrices."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ....ops.elementwise.arithmetic import absolute as modulus
from ....ops.elementwise.arithmetic import sqrt
from ....ops.elementwise.transcendental import log
from ...arrays.casting import cast
from ...debugging.checks import assert_positive
from ...math.complex import conj, real
from ...math.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from ..structure import adjoint as adjoint_of
from ..structure import diag as matrix_of
from .basis.base import LinearOperator
from .basis.support import (
    assert_nowhere_zero,
    assert_real,
    both_non_singular,
    both_positive_definite,
    both_self_adjoint,
    given,
    implied,
    operand,
    with_more_on_diagonal,
)
from .identity import LinearOperatorScaledIdentity
from .triangular import LinearOperatorLowerTriangular

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorDiag"]


class LinearOperatorDiag(LinearOperator):
    """The square matrix with `diag` on its diagonal.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, -4.0])
    >>> operator.solvevec([2.0, 2.0]).numpy().tolist(), float(operator.log_abs_determinant())
    ([2.0, -0.5], 1.3862943649291992)
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("diag",)
    _experimental_parameter_ndims_to_matrix_ndims = {"diag": 1}  # noqa: RUF012

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        parameters = given(locals())
        self._diag = operand(diag)
        if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
            raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        is_self_adjoint = implied(
            is_self_adjoint, not self._diag.dtype.is_complex, "A real diagonal operator is always self adjoint."
        )
        is_square = implied(is_square, True, "Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, parameters
        )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])  # type: ignore[no-any-return]

    def _conjugated(self, adjoint: bool) -> Any:
        diag = to_tensor(self._diag)
        return conj(diag) if adjoint and self.dtype.is_complex else diag

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._conjugated(adjoint)[..., None] * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self._conjugated(adjoint) * x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) * (1.0 / self._conjugated(adjoint))[..., None]

    def _linop_adjoint(self) -> Any:
        return LinearOperatorDiag(self._conjugated(True), is_square=True, **self._hints())

    def _linop_inverse(self) -> Any:
        return LinearOperatorDiag(1.0 / self._diag, is_square=True, **self._hints())

    def _linop_cholesky(self) -> Any:
        return LinearOperatorDiag(
            sqrt(self._diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True
        )

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        left = to_tensor(left_operator.diag)
        if isinstance(right_operator, LinearOperatorDiag):
            return _combine_diagonals(left * right_operator.diag, left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return _combine_diagonals(left * right_operator._column(1), left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorLowerTriangular):
            return _triangle(left[..., None] * right_operator.to_dense(), left_operator, right_operator)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        left = to_tensor(left_operator.diag)
        if isinstance(right_operator, LinearOperatorDiag):
            return _combine_diagonals(right_operator.diag / left, left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return _combine_diagonals(right_operator._column(1) / left, left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorLowerTriangular):
            return _triangle(right_operator.to_dense() / left[..., None], left_operator, right_operator)
        return super()._linop_solve(left_operator, right_operator)

    def _assert_non_singular(self) -> Any:
        return assert_nowhere_zero(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Any:
        kind = "Diagonal operator had diagonal entries with non-positive real part"
        if not self.dtype.is_complex:
            kind = "Real diagonal operator had non-positive diagonal entries"
        return assert_positive(real(self._diag), message=f"{kind}, thus was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return assert_real(
            self._diag, "This diagonal operator contained non-zero imaginary values.   Thus it was not self-adjoint."
        )

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(log(modulus(self._diag)), axis=-1), self.dtype)

    def _to_dense(self) -> Any:
        return matrix_of(self._diag)

    def _diag_part(self) -> Any:
        return self.diag

    def _add_to_tensor(self, x: Any) -> Any:
        return with_more_on_diagonal(x, self._diag)

    def _eigvals(self) -> Any:
        return to_tensor(self._diag)

    def _cond(self) -> Any:
        values = modulus(self._diag)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)


def _combine_diagonals(diag: Any, left: Any, right: Any) -> LinearOperatorDiag:
    """Combines diagonal operators, which commute."""
    return LinearOperatorDiag(
        diag, is_non_singular=both_non_singular(left, right), is_self_adjoint=both_self_adjoint(left, right),
        is_positive_definite=both_positive_definite(left, right), is_square=True,
    )  # fmt: skip


def _triangle(tril: Any, left: Any, right: Any) -> LinearOperatorLowerTriangular:
    return LinearOperatorLowerTriangular(
        tril, is_non_singular=both_non_singular(left, right), is_self_adjoint=both_self_adjoint(left, right),
        is_square=True,
    )  # fmt: skip
