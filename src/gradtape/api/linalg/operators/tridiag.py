"""Tridiagonal matrices."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ...arrays.concat import stack
from ...arrays.repeating import broadcast_to
from ...arrays.slicing import roll
from ...debugging.checks import assert_equal
from ...math.complex import conj
from ..banded import tridiagonal_matmul, tridiagonal_solve
from ..structure import adjoint as adjoint_of
from ..structure import diag as matrix_of
from ..structure import diag_part
from .basis.base import LinearOperator
from .basis.support import assert_real, broadcast, given, operand

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorTridiag"]


class LinearOperatorTridiag(LinearOperator):
    """A square tridiagonal matrix.

    Args:
      diagonals: superdiagonal, diagonal and subdiagonal: as rows of one tensor ("compact"), as a list ("sequence"), or
        as the matrix itself ("matrix"). All have the length of the diagonal; the last entry of the superdiagonal and
        the first of the subdiagonal are ignored.

    >>> operator = tf.linalg.LinearOperatorTridiag([[3.0, 4.0, 0.0], [1.0, 1.0, 2.0], [0.0, 7.0, 8.0]])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 3.0, 0.0], [7.0, 1.0, 4.0], [0.0, 8.0, 2.0]]
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("diagonals", "diagonals_format")

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        parameters = given(locals())
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(
                "Argument `diagonals_format` must be one of compact, matrix, or sequence. Received : "
                f"{diagonals_format}."
            )
        self._diagonals_format = diagonals_format
        self._diagonals: Any
        if diagonals_format == "sequence":
            self._diagonals = [operand(x) for x in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = operand(diagonals)
            dtype = self._diagonals.dtype
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, parameters
        )

    diagonals = property(lambda self: self._diagonals, doc="The diagonals, as they were given.")
    diagonals_format = property(lambda self: self._diagonals_format, doc="How they were given.")

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> Any:  # type: ignore[override]
        return {"diagonals": [1, 1, 1] if self._diagonals_format == "sequence" else 2}

    def _shape(self) -> TensorShape:
        if self._diagonals_format == "matrix":
            return self._diagonals.shape  # type: ignore[no-any-return]
        if self._diagonals_format == "compact":
            shape = self._diagonals.shape
            return shape[:-2].concatenate([shape[-1], shape[-1]])  # type: ignore[no-any-return]
        count = self._diagonals[1].shape[-1]
        return broadcast(*[x.shape[:-1] for x in self._diagonals]).concatenate([count, count])

    def _three(self, adjoint: bool = False) -> list[Any]:
        """Returns superdiagonal, diagonal and subdiagonal, each as long as the matrix."""
        if self._diagonals_format == "sequence":
            found = [to_tensor(x) for x in self._diagonals]
        else:
            rows = to_tensor(self._diagonals)
            if self._diagonals_format == "matrix":
                rows = diag_part(rows, k=(-1, 1), align="LEFT_RIGHT")
            found = [rows[..., i, :] for i in range(3)]
        if adjoint:
            above, middle, below = [conj(x) if self.dtype.is_complex else x for x in found]
            found = [roll(below, -1, -1), middle, roll(above, 1, -1)]
        return found

    def _compact(self, adjoint: bool, batch: Any) -> Any:
        count = self.domain_dimension
        return stack([broadcast_to(x, [*batch, count]) for x in self._three(adjoint)], axis=-2)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._by(tridiagonal_matmul, x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._by(tridiagonal_solve, rhs, adjoint, adjoint_arg)

    def _by(self, function: Any, x: Any, adjoint: bool, adjoint_arg: bool) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        batch = broadcast(self.batch_shape, x.shape[:-2]).as_list()
        x = broadcast_to(x, [*batch, *x.shape[-2:].as_list()])
        return function(self._compact(adjoint, batch), x, diagonals_format="compact")

    def _assert_self_adjoint(self) -> Any:
        above, middle, below = self._three()
        assert_real(middle, "This tridiagonal operator contained non-zero imaginary values on the diagonal.")
        return assert_equal(
            conj(roll(below, -1, -1)[..., :-1]), above[..., :-1],
            message="This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.",
        )  # fmt: skip

    def _diag_part(self) -> Any:
        return broadcast_to(self._three()[1], self.shape[:-1])

    def _to_dense(self) -> Any:
        if self._diagonals_format == "matrix":
            return to_tensor(self._diagonals)
        return matrix_of(self._compact(False, self.batch_shape.as_list()), k=(-1, 1), align="LEFT_RIGHT")
