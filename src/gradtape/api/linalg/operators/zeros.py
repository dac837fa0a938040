"""The zero matrix."""

from __future__ import annotations

from typing import Any

from ....core import errors
from ....core.dtypes import as_dtype, float32
from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ...arrays.creation import ones, zeros
from .basis.base import LinearOperator
from .basis.support import broadcast, given, size, sizes
from .identity import with_batch

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorZeros"]


class LinearOperatorZeros(LinearOperator):
    """The zero matrix, or a batch of zero matrices.

    >>> operator = tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False)
    >>> operator.matvec([1.0, 2.0, 3.0]).numpy().tolist()
    [0.0, 0.0]
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("num_rows", "num_columns", "batch_shape", "dtype", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows", "num_columns", "batch_shape")

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        parameters = given(locals())
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        self._assert_proper_shapes = assert_proper_shapes
        self._num_rows = size(num_rows, "num_rows")
        self._num_columns = self._num_rows if num_columns is None else size(num_columns, "num_columns")
        self._batch_shape_arg = sizes(batch_shape, "batch_shape")
        if is_square and self._num_rows != self._num_columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({self._num_rows}) != "
                f"num_columns({self._num_columns})"
            )
        super().__init__(
            as_dtype(dtype or float32), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
            parameters,
        )  # fmt: skip

    def _shape(self) -> TensorShape:
        return (self._batch_shape_arg or TensorShape([])).concatenate([self._num_rows, self._num_columns])

    def _assert_non_singular(self) -> Any:
        raise errors.InvalidArgumentError("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise errors.InvalidArgumentError("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return None

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rows = self._num_columns if adjoint else self._num_rows
        batch = broadcast(self.batch_shape, x.shape[:-2])
        return zeros(batch.concatenate([rows, x.shape[-2] if adjoint_arg else x.shape[-1]]), self.dtype)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if not left_operator.is_square or not right_operator.is_square:
            raise ValueError(
                "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this "
                "time."
            )
        return left_operator

    def _linop_adjoint(self) -> Any:
        return LinearOperatorZeros(**{
            **self.parameters, "num_rows": self._num_columns, "num_columns": self._num_rows,
        })  # fmt: skip

    def _determinant(self) -> Any:
        return zeros(self.batch_shape, self.dtype)

    _trace = _determinant

    def _diag_part(self) -> Any:
        return zeros(self.batch_shape.concatenate([min(self._num_rows, self._num_columns)]), self.dtype)

    _eigvals = _diag_part

    def _to_dense(self) -> Any:
        return zeros(self.shape, self.dtype)

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:
        """Returns `mat` itself."""
        return with_batch(to_tensor(mat, hint=self.dtype), self.batch_shape)

    def __getitem__(self, slices: Any) -> Any:
        batch = ones(self.batch_shape)[slices].shape
        return LinearOperatorZeros(**{**self.parameters, "batch_shape": batch})
