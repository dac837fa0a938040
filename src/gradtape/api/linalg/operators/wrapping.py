"""The adjoint and the inverse of an operator, based on its own methods."""

from __future__ import annotations

from typing import Any

from ....core.shapes import TensorShape
from ...math.complex import conj
from ..structure import adjoint as adjoint_of
from .basis.base import LinearOperator
from .basis.support import given, same_hint

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorAdjoint", "LinearOperatorInversion"]

_HINTS = {
    "is_square": "square",
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive-definite",
}


class _Wrapping(LinearOperator):
    """An operator with the hints of another one."""

    _composite_tensor_fields = ("operator",)
    _experimental_parameter_ndims_to_matrix_ndims = {"operator": 0}  # noqa: RUF012

    def _wrap(self, operator: Any, hints: dict[str, Any], what: str, name: str | None, parameters: Any) -> None:
        self._operator = operator
        common = {
            key: same_hint(operator, key, hints[key], f"An operator is {word} if and only if its {what} is {word}.")
            for key, word in _HINTS.items()
        }
        short = {"adjoint": "adjoint", "inverse": "inv"}[what]
        LinearOperator.__init__(
            self, operator.dtype, name=name or f"{operator.name}_{short}", parameters=parameters, **common
        )

    @property
    def operator(self) -> Any:
        """The wrapped operator."""
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self.operator.assert_self_adjoint()

    def _cond(self) -> Any:
        return self.operator.cond()


class LinearOperatorAdjoint(_Wrapping):
    """The conjugate transpose of an operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [0.0, 3.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy().tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._wrap(operator, parameters, "adjoint", name, parameters)

    def _shape(self) -> TensorShape:
        shape = self.operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _linop_adjoint(self) -> Any:
        return self.operator

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return self.operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return self.operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Any:
        found = self.operator.determinant()
        return found if self.is_self_adjoint else conj(found)

    def _log_abs_determinant(self) -> Any:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Any:
        found = self.operator.trace()
        return found if self.is_self_adjoint else conj(found)

    def _to_dense(self) -> Any:
        dense = self.operator.to_dense()
        return dense if self.is_self_adjoint else adjoint_of(dense)

    def _eigvals(self) -> Any:
        return self.operator.eigvals()


class LinearOperatorInversion(_Wrapping):
    """The inverse of an operator: it multiplies by solving.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).numpy().tolist()
    [0.5, 0.25]
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        for key in ("is_non_singular", "is_square"):
            if getattr(operator, key) is False or parameters[key] is False:
                raise ValueError(
                    f"Argument `{key}` or argument `operator` must have supplied hint `{key}` equal to `True` or "
                    f"`None`. Found `operator.{key}`: {getattr(operator, key)}, `{key}`: {parameters[key]}."
                )
        self._wrap(operator, parameters, "inverse", name, parameters)

    def _shape(self) -> TensorShape:
        return self.operator.shape  # type: ignore[no-any-return]

    def _linop_inverse(self) -> Any:
        return self.operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return left_operator.operator.matmul(right_operator)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self.operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1.0 / self.operator.eigvals()
