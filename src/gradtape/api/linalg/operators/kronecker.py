"""The Kronecker product of operators."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from ....core import errors
from ....core.shapes import TensorShape
from ....engine.run.namespace import ops
from ...arrays.casting import cast
from ...math.complex import conj
from ..structure import matrix_transpose
from .basis.base import OfOperators
from .basis.support import broadcast, given, one_dtype, shared_hints, some_operators

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorKronecker"]


class LinearOperatorKronecker(OfOperators):
    """The Kronecker product of operators.

    >>> first = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]])
    >>> second = tf.linalg.LinearOperatorFullMatrix([[1.0], [10.0]])
    >>> tf.linalg.LinearOperatorKronecker([first, second]).to_dense().numpy().tolist()
    [[1.0, 2.0], [10.0, 20.0]]
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operators = operators = some_operators(operators)
        hints = shared_hints(
            operators, (is_non_singular, is_self_adjoint, is_positive_definite),
            lambda word, key: f"The Kronecker product of {word} operators is always {word}. Expected argument `{key}` "
            "to be True. Received: False.",
        )  # fmt: skip
        super().__init__(
            one_dtype(operators), None, *hints, is_square,
            name or "_x_".join(operator.name for operator in operators), parameters,
        )  # fmt: skip

    def _shape(self) -> TensorShape:
        rows = math.prod(operator.range_dimension for operator in self.operators)
        columns = math.prod(operator.domain_dimension for operator in self.operators)
        return broadcast(*[operator.batch_shape for operator in self.operators]).concatenate([rows, columns])

    def _factor_by_factor(self, x: Any, method: str, adjoint: bool, adjoint_arg: bool) -> Any:
        """Applies each factor to its own axis of `x`, the last one first.

        The result of a factor is transposed and split into rows of the next one's length; after all factors the axes
        have their original order.
        """
        columns = x.dims[-2 if adjoint_arg else -1]
        found = (conj(x) if self.dtype.is_complex else x) if adjoint_arg else matrix_transpose(x)
        turned = adjoint != (method == "solve")
        for operator in reversed(self.operators):
            length = operator.range_dimension if turned else operator.domain_dimension
            *batch, rows, width = found.dims
            found = ops.reshape(found, shape=(*batch, rows * width // length, length))
            if self.dtype.is_complex:
                found = conj(found)
            found = getattr(operator, method)(found, adjoint=adjoint, adjoint_arg=True)
        length = self.domain_dimension if turned else self.range_dimension
        return ops.reshape(found, shape=(*found.dims[:-2], length, columns))

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factor_by_factor(x, "matmul", adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._factor_by_factor(rhs, "solve", adjoint, adjoint_arg)

    def _linop_adjoint(self) -> Any:
        return LinearOperatorKronecker([x.adjoint() for x in self.operators], **self._hints())

    def _linop_cholesky(self) -> Any:
        return LinearOperatorKronecker([x.cholesky() for x in self.operators], is_non_singular=True, is_square=True)

    def _linop_inverse(self) -> Any:
        return LinearOperatorKronecker([x.inverse() for x in self.operators], is_square=True, **self._hints())

    def _powers(self) -> list[Any]:
        """Returns the power of each factor's determinant in the determinant."""
        size = self.domain_dimension
        return [size // operator.domain_dimension for operator in self.operators]

    def _determinant(self) -> Any:
        parts = zip(self.operators, self._powers(), strict=True)
        return reduce(ops.mul, [operator.determinant() ** cast(n, self.dtype) for operator, n in parts])

    def _log_abs_determinant(self) -> Any:
        parts = zip(self.operators, self._powers(), strict=True)
        return reduce(ops.add, [operator.log_abs_determinant() * cast(n, self.dtype) for operator, n in parts])

    def _trace(self) -> Any:
        if not all(operator.is_square for operator in self.operators):
            return super()._trace()
        return reduce(ops.mul, [operator.trace() for operator in self.operators])

    def _diag_part(self) -> Any:
        if not all(operator.is_square for operator in self.operators):
            return super()._diag_part()
        return reduce(_outer, [operator.diag_part() for operator in self.operators])

    def _eigvals(self) -> Any:
        return reduce(_outer, [operator.eigvals() for operator in self.operators])

    def _to_dense(self) -> Any:
        return reduce(_product, [operator.to_dense() for operator in self.operators])

    def _assert_square_factors(self) -> None:
        if not all(operator.is_square for operator in self.operators):
            raise errors.InvalidArgumentError(
                "All Kronecker factors must be square for the product to be invertible. Expected hint `is_square` to "
                "be True for every operator in argument `operators`."
            )

    def _assert_non_singular(self) -> Any:
        self._assert_square_factors()
        for operator in self.operators:
            operator.assert_non_singular()

    def _assert_self_adjoint(self) -> Any:
        self._assert_square_factors()
        for operator in self.operators:
            operator.assert_self_adjoint()


def _outer(a: Any, b: Any) -> Any:
    """Returns all products of the entries of two vectors, flattened."""
    found = a[..., :, None] * b[..., None, :]
    return ops.reshape(found, shape=(*found.dims[:-2], found.dims[-2] * found.dims[-1]))


def _product(a: Any, b: Any) -> Any:
    """Returns the Kronecker product of two matrices."""
    found = a[..., :, None, :, None] * b[..., None, :, None, :]
    *batch, m, p, n, q = found.dims
    return ops.reshape(found, shape=(*batch, m * p, n * q))
