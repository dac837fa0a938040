"""The identity, and scaled identities."""

from __future__ import annotations

from typing import Any

from ....core.dtypes import as_dtype, float32
from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ....ops.elementwise.arithmetic import absolute as modulus
from ....ops.elementwise.arithmetic import sqrt
from ....ops.elementwise.transcendental import log
from ...arrays.casting import cast
from ...arrays.creation import ones, zeros
from ...arrays.repeating import broadcast_to
from ...debugging.checks import assert_positive
from ...math.complex import conj, real
from ..structure import adjoint as adjoint_of
from ..structure import diag as matrix_of
from .basis.base import LinearOperator
from .basis.support import (
    assert_nowhere_zero,
    assert_real,
    both_non_singular,
    both_positive_definite,
    both_self_adjoint,
    broadcast,
    given,
    implied,
    operand,
    size,
    sizes,
    with_more_on_diagonal,
)

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorIdentity", "LinearOperatorScaledIdentity"]


class LinearOperatorIdentity(LinearOperator):
    """The identity matrix, or a batch of identity matrices.

    >>> operator = tf.linalg.LinearOperatorIdentity(num_rows=2, batch_shape=[3])
    >>> operator.shape.as_list(), operator.trace().numpy().tolist()
    ([3, 2, 2], [2.0, 2.0, 2.0])
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("num_rows", "batch_shape", "dtype", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        parameters = given(locals())
        for hint, word in (
            (is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"), (is_square, "square"),
        ):  # fmt: skip
            if not hint:
                raise ValueError(f"An identity operator is always {word}.")
        self._assert_proper_shapes = assert_proper_shapes
        self._num_rows = size(num_rows, "num_rows")
        self._batch_shape_arg = sizes(batch_shape, "batch_shape")
        super().__init__(as_dtype(dtype or float32), None, True, True, True, True, name, parameters)

    def _shape(self) -> TensorShape:
        return (self._batch_shape_arg or TensorShape([])).concatenate([self._num_rows, self._num_rows])

    def _ones_diag(self) -> Any:
        return ones(self.shape[:-1], self.dtype)

    def _linop_adjoint(self) -> Any:
        return self

    _linop_cholesky = _linop_inverse = _linop_adjoint

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        return right_operator

    _linop_solve = _linop_matmul

    def _assert_non_singular(self) -> Any:
        return None

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return with_batch(adjoint_of(x) if adjoint_arg else x, self.batch_shape)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return ones(self.batch_shape, self.dtype)

    _cond = _determinant

    def _log_abs_determinant(self) -> Any:
        return zeros(self.batch_shape, self.dtype)

    def _trace(self) -> Any:
        return cast(self._num_rows, self.dtype) * ones(self.batch_shape, self.dtype)

    def _diag_part(self) -> Any:
        return self._ones_diag()

    def _eigvals(self) -> Any:
        return self._ones_diag()

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Returns the identity plus `mat`."""
        return with_more_on_diagonal(to_tensor(mat, hint=self.dtype), self._ones_diag())

    def __getitem__(self, slices: Any) -> Any:
        batch = ones(self.batch_shape)[slices].shape
        return LinearOperatorIdentity(**{**self.parameters, "batch_shape": batch})


def with_batch(x: Any, batch: TensorShape) -> Any:
    """Broadcasts a matrix to a batch."""
    shape = broadcast(x.shape, batch.concatenate([1, 1]))
    return x if shape == x.shape else broadcast_to(x, shape)


class LinearOperatorScaledIdentity(LinearOperator):
    """The identity times `multiplier`.

    >>> operator = tf.linalg.LinearOperatorScaledIdentity(num_rows=2, multiplier=3.0)
    >>> operator.to_dense().numpy().tolist(), float(operator.determinant())
    ([[3.0, 0.0], [0.0, 3.0]], 9.0)
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("num_rows", "multiplier", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows",)
    _experimental_parameter_ndims_to_matrix_ndims = {"multiplier": 0}  # noqa: RUF012

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = given(locals())
        self._multiplier = operand(multiplier)
        is_self_adjoint = implied(
            is_self_adjoint, not self._multiplier.dtype.is_complex, "A real diagonal operator is always self adjoint."
        )
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._assert_proper_shapes = assert_proper_shapes
        self._num_rows = size(num_rows, "num_rows")
        super().__init__(
            self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def multiplier(self) -> Any:
        """The multiplier, one per matrix of a batch."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self._multiplier.shape.concatenate([self._num_rows, self._num_rows])  # type: ignore[no-any-return]

    def _column(self, count: int, conjugated: bool = False) -> Any:
        """Appends axes of size 1 to the multiplier."""
        x = to_tensor(self._multiplier)
        x = conj(x) if conjugated and x.dtype.is_complex else x
        return x[(..., *[None] * count)]

    def _ones_diag(self) -> Any:
        return ones(self.shape[:-1], self.dtype)

    def _scaled(self, multiplier: Any, **hints: Any) -> Any:
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, is_square=True, **hints)

    def _linop_adjoint(self) -> Any:
        return self._scaled(self._column(0, True), **self._hints())

    def _linop_inverse(self) -> Any:
        return self._scaled(1.0 / self._multiplier, **self._hints())

    def _linop_cholesky(self) -> Any:
        return self._scaled(
            sqrt(self._multiplier), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True
        )

    def _with_other(self, other: Any, multiplier: Any) -> Any:
        return self._scaled(
            multiplier, is_non_singular=both_non_singular(self, other), is_self_adjoint=both_self_adjoint(self, other),
            is_positive_definite=both_positive_definite(self, other),
        )  # fmt: skip

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return left_operator._with_other(right_operator, left_operator.multiplier * right_operator.multiplier)
        if hasattr(right_operator, "diag"):
            return right_operator._linop_matmul(right_operator, left_operator)  # they commute
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return left_operator._with_other(right_operator, right_operator.multiplier / left_operator.multiplier)
        if hasattr(right_operator, "diag"):
            return right_operator._linop_matmul(right_operator, left_operator.inverse())
        return super()._linop_solve(left_operator, right_operator)

    def _assert_non_singular(self) -> Any:
        return assert_nowhere_zero(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self._multiplier), message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return assert_real(self._multiplier, "LinearOperator was not self-adjoint")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(x) if adjoint_arg else x) * self._column(2, adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._column(2, adjoint)

    def _determinant(self) -> Any:
        return self._multiplier ** cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self) -> Any:
        found = log(modulus(self._multiplier))
        return found * cast(self._num_rows, found.dtype)

    def _trace(self) -> Any:
        return self._multiplier * cast(self._num_rows, self.dtype)

    def _diag_part(self) -> Any:
        return self._column(1) * self._ones_diag()

    def _to_dense(self) -> Any:
        return matrix_of(self._diag_part())

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _add_to_tensor(self, x: Any) -> Any:
        return with_more_on_diagonal(x, self._diag_part())

    def _cond(self) -> Any:
        return ones(self.batch_shape, self.dtype)
