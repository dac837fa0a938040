"""Toeplitz matrices, which are constant along their diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ...arrays.casting import cast
from ...arrays.concat import concat
from ...arrays.creation import ones, zeros_like
from ...arrays.indexing import gather
from ...arrays.repeating import broadcast_to
from ...arrays.slicing import reverse
from ...debugging.checks import assert_equal
from ...signal.fourier import fft
from ..structure import adjoint as adjoint_of
from .basis.base import LinearOperator
from .basis.support import as_complex, broadcast, given, implied, operand
from .circulant import LinearOperatorCirculant

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorToeplitz"]


class LinearOperatorToeplitz(LinearOperator):
    """The square matrix with this first column and first row, constant along its diagonals.

    >>> operator = tf.linalg.LinearOperatorToeplitz(col=[1.0, 2.0, 3.0], row=[1.0, 4.0, 5.0])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 4.0, 5.0], [2.0, 1.0, 4.0], [3.0, 2.0, 1.0]]
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("col", "row")
    _experimental_parameter_ndims_to_matrix_ndims = {"col": 1, "row": 1}  # noqa: RUF012

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = given(locals())
        self._row, self._col = operand(row), operand(col)
        for key, value in (("row", self._row), ("col", self._col)):
            if value.shape.rank is not None and value.shape.rank < 1:
                raise ValueError(f"Argument {key} must have at least 1 dimension.  Found: {value}")
        if self._row.shape[-1] != self._col.shape[-1]:
            raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
        is_square = implied(is_square, True, "Only square Toeplitz operators currently supported.")
        super().__init__(
            self._row.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, parameters
        )

    col = property(lambda self: self._col, doc="The first column.")
    row = property(lambda self: self._row, doc="The first row.")

    def _shape(self) -> TensorShape:
        shape = broadcast(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _both(self) -> tuple[Any, Any]:
        """Returns row and column with a common batch shape."""
        shape = self.shape[:-1]
        return broadcast_to(self._row, shape), broadcast_to(self._col, shape)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        row, col = self._both()
        # A Toeplitz matrix is a block of a circulant matrix of twice the size.
        around = concat([col, zeros_like(col[..., :1]), reverse(row[..., 1:], axis=[-1])], axis=-1)
        circulant = LinearOperatorCirculant(fft(as_complex(around)), input_output_dtype=self.dtype)
        found = circulant.matmul(concat([x, zeros_like(x)], axis=-2), adjoint=adjoint)
        return found[..., : self.domain_dimension, :]

    def _assert_self_adjoint(self) -> Any:
        return assert_equal(
            self._row, self._col, message="row and col are not the same, and so this operator is not self-adjoint."
        )

    def _trace(self) -> Any:
        return cast(self.domain_dimension, self.dtype) * to_tensor(self._col)[..., 0]

    def _diag_part(self) -> Any:
        return to_tensor(self._col)[..., :1] * ones([self.domain_dimension], self.dtype)

    def _to_dense(self) -> Any:
        row, col = self._both()
        count = self.domain_dimension
        diagonals = concat([reverse(col, axis=[-1]), row[..., 1:]], axis=-1)
        at = np.arange(count) + np.arange(count - 1, -1, -1)[:, None]
        return gather(diagonals, at, axis=-1)
