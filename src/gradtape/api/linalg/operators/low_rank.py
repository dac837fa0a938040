"""An operator plus a matrix of low rank."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ....engine.run.convert import to_tensor
from ....ops.elementwise.arithmetic import absolute as modulus
from ....ops.elementwise.transcendental import exp, log
from ...arrays.casting import cast
from ...math.complex import conj
from ...math.contraction import matmul
from ...math.reductions import reduce_sum
from ..decompositions import cholesky
from ..solvers import det
from ..structure import diag_part
from .basis.base import LinearOperator
from .basis.support import broadcast, given, implied, operand, solved, solved_by_cholesky
from .diag import LinearOperatorDiag
from .identity import LinearOperatorIdentity

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorLowRankUpdate"]


class LinearOperatorLowRankUpdate(LinearOperator):
    """`L + U D Vᴴ`, solved by the Woodbury formula: efficient if `U` has few columns.

    Args:
      base_operator: `L`.
      u, v: `U` and `V`; `V` is `U` by default.
      diag_update: the diagonal of `D`, ones by default.
      is_diag_update_positive: whether it is positive.

    >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [1.0]])
    >>> operator.to_dense().numpy().tolist(), round(float(operator.determinant()), 4)
    ([[2.0, 1.0], [1.0, 3.0]], 5.0)
    """

    __module__ = "gradtape.linalg"

    _composite_tensor_fields = ("base_operator", "u", "diag_update", "v", "is_diag_update_positive")
    _experimental_parameter_ndims_to_matrix_ndims = {  # noqa: RUF012
        "base_operator": 0, "u": 2, "diag_update": 1, "v": 2
    }  # fmt: skip

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = given(locals())
        if diag_update is None:
            is_diag_update_positive = implied(
                is_diag_update_positive, True,
                "Default diagonal is the identity, which is positive.  However, user set 'is_diag_update_positive' to "
                "False.",
            )  # fmt: skip
        dtype = base_operator.dtype
        self._use_cholesky = bool(base_operator._can_use_cholesky() and is_diag_update_positive and v is None)
        is_self_adjoint = implied(
            is_self_adjoint, base_operator.is_self_adjoint and v is None and not dtype.is_complex,
            "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, this must be a "
            "self-adjoint operator.",
        )  # fmt: skip
        if self._use_cholesky:
            if is_positive_definite is False or is_self_adjoint is False or is_non_singular is False:
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        self._base_operator = base_operator
        self._u = operand(u)
        self._v = self._u if v is None else operand(v)
        self._diag_update = operand(diag_update)
        self._is_diag_update_positive = is_diag_update_positive
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name, parameters
        )
        self._check_shapes()
        if diag_update is None:
            self._diag_operator: Any = LinearOperatorIdentity(self._u.shape[-1], dtype=dtype)
        else:
            self._diag_operator = LinearOperatorDiag(self._diag_update, is_positive_definite=is_diag_update_positive)

    def _check_shapes(self) -> None:
        rows, columns = broadcast(self._u.shape, self._v.shape)[-2:]
        diag = self._diag_update
        if rows != self.base_operator.domain_dimension or (diag is not None and diag.shape[-1] != columns):
            raise ValueError(
                f"Dimensions are not compatible: the base operator has shape {self.base_operator.shape}, u has "
                f"{self._u.shape}, v has {self._v.shape}, diag_update {None if diag is None else diag.shape}"
            )

    u = property(lambda self: self._u, doc="`U`.")
    v = property(lambda self: self._v, doc="`V`.")
    diag_update = property(lambda self: self._diag_update, doc="The diagonal of `D`, or None for ones.")
    is_diag_update_positive = property(lambda self: self._is_diag_update_positive, doc="Whether `D` is positive.")
    diag_operator = property(lambda self: self._diag_operator, doc="`D`.")
    base_operator = property(lambda self: self._base_operator, doc="`L`.")

    def _shape(self) -> TensorShape:
        base = self.base_operator
        batch = broadcast(base.batch_shape, self._u.shape[:-2], self._v.shape[:-2])
        if self._diag_update is not None:
            batch = broadcast(batch, self._diag_update.shape[:-1])
        return batch.concatenate(base.shape[-2:])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self._diag_operator.matmul(matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        return self.base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg) + matmul(left, inner)

    def _capacitance(self) -> Any:
        """`D⁻¹ + Vᴴ L⁻¹ U`."""
        inner = matmul(self._v, self.base_operator.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        base = self.base_operator
        if base.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        straight = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = matmul(right, straight, adjoint_a=True)
        if self._use_cholesky:
            inner = solved_by_cholesky(cholesky(self._capacitance()), inner)
        else:
            inner = solved(self._capacitance(), inner, adjoint=adjoint)
        return straight - base.solve(matmul(left, inner), adjoint=adjoint)

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return exp(self.log_abs_determinant())
        return det(self._capacitance()) * self._diag_operator.determinant() * self.base_operator.determinant()

    def _log_abs_determinant(self) -> Any:
        parts = self._diag_operator.log_abs_determinant() + self.base_operator.log_abs_determinant()
        if self._use_cholesky:
            return reduce_sum(log(diag_part(cholesky(self._capacitance()))), axis=-1) * 2 + parts
        return cast(log(modulus(det(self._capacitance()))), self.dtype) + parts

    def _diag_part(self) -> Any:
        u, v = to_tensor(self._u), to_tensor(self._v)
        product = u * (conj(v) if self.dtype.is_complex else v)
        if self._diag_update is not None:
            product = product * to_tensor(self._diag_update)[..., None, :]
        return reduce_sum(product, axis=-1) + self.base_operator.diag_part()

    def _assert_self_adjoint(self) -> Any:
        if self._u is self._v and self._diag_update is None:
            return self.base_operator.assert_self_adjoint()
        return super()._assert_self_adjoint()
