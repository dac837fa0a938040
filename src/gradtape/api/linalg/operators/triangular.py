"""Dense matrices, and lower triangular matrices."""

from __future__ import annotations

from typing import Any

from ....core import dtypes
from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ....ops.elementwise.arithmetic import absolute as modulus
from ....ops.elementwise.transcendental import log
from ...math.contraction import matmul
from ...math.reductions import reduce_prod, reduce_sum
from ..solvers import triangular_solve
from ..structure import adjoint as adjoint_of
from ..structure import band_part, diag_part
from .basis.base import LinearOperator
from .basis.support import (
    assert_nowhere_zero,
    both_non_singular,
    both_self_adjoint,
    given,
    of_one_batch,
    operand,
)

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorFullMatrix", "LinearOperatorLowerTriangular"]

_NUMBERS = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]


def _check_matrix(matrix: Any, name: str) -> None:
    if matrix.dtype not in _NUMBERS:
        raise TypeError(f"Argument `{name}` must have dtype in {_NUMBERS}. Received: {matrix.dtype}.")
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"Argument `{name}` must have at least 2 dimensions. Received: {matrix}.")


class LinearOperatorFullMatrix(LinearOperator):
    """A dense matrix without structure.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, -2.0], [-3.0, 4.0]])
    >>> operator.matvec([1.0, 1.0]).numpy().tolist(), operator.shape.as_list()
    ([-1.0, 1.0], [2, 2])
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("matrix",)
    _experimental_parameter_ndims_to_matrix_ndims = {"matrix": 2}  # noqa: RUF012

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = given(locals())
        self._matrix = operand(matrix)
        _check_matrix(self._matrix, "matrix")
        super().__init__(
            self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
            parameters,
        )  # fmt: skip

    @property
    def matrix(self) -> Any:
        """The matrix."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape  # type: ignore[no-any-return]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Any:
        return to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a square matrix; entries above the diagonal are ignored.

    >>> operator = tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 3.0]])
    >>> operator.to_dense().numpy().tolist(), float(operator.determinant())
    ([[1.0, 0.0], [2.0, 3.0]], 3.0)
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("tril",)
    _experimental_parameter_ndims_to_matrix_ndims = {"tril": 2}  # noqa: RUF012

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = given(locals())
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = operand(tril)
        _check_matrix(self._tril, "tril")
        super().__init__(
            self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def tril(self) -> Any:
        """The matrix whose lower triangle is used."""
        return self._tril

    def _shape(self) -> TensorShape:
        return self._tril.shape  # type: ignore[no-any-return]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        matrix, rhs = of_one_batch([self._to_dense(), adjoint_of(rhs) if adjoint_arg else rhs])
        return triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        diag = getattr(right_operator, "diag", None)
        if diag is None:
            return super()._linop_matmul(left_operator, right_operator)
        return LinearOperatorLowerTriangular(
            left_operator.to_dense() * to_tensor(diag)[..., None, :],
            is_non_singular=both_non_singular(left_operator, right_operator),
            is_self_adjoint=both_self_adjoint(left_operator, right_operator),
            is_square=True,
        )

    def _assert_non_singular(self) -> Any:
        return assert_nowhere_zero(self._diag_part(), "Singular operator:  Diagonal contained zero values.")

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=-1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(log(modulus(self._diag_part())), axis=-1)

    def _to_dense(self) -> Any:
        return band_part(self._tril, -1, 0)

    def _diag_part(self) -> Any:
        return diag_part(self._tril)

    def _eigvals(self) -> Any:
        return self._diag_part()
