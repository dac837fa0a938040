"""The product of several operators."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

from ....core.shapes import TensorShape
from ....engine.run.namespace import ops
from ....ops.elementwise.arithmetic import sign
from .basis.base import OfOperators
from .basis.support import broadcast, given, implied, one_dtype, some_operators
from .triangular import LinearOperatorLowerTriangular

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorComposition"]


class LinearOperatorComposition(OfOperators):
    """The product of operators, the last of which is applied first.

    >>> diagonal = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> full = tf.linalg.LinearOperatorFullMatrix([[1.0, 1.0], [0.0, 1.0]])
    >>> tf.linalg.LinearOperatorComposition([diagonal, full]).to_dense().numpy().tolist()
    [[1.0, 1.0], [0.0, 2.0]]
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
        dtype = one_dtype(operators)
        aat = _is_product_with_own_adjoint(operators)
        is_non_singular = implied(
            is_non_singular, all(operator.is_non_singular for operator in operators),
            "The composition of non-singular operators is always non-singular.",
        )  # fmt: skip
        is_self_adjoint = implied(
            is_self_adjoint, aat or (len(operators) == 1 and operators[0].is_self_adjoint),
            "The composition was determined to be self-adjoint but user provided incorrect `False` hint.",
        )  # fmt: skip
        is_square = implied(
            is_square, aat,
            "The composition was determined have the form A @ A.H, hence it must be square. The user provided an "
            "incorrect `False` hint.",
        )  # fmt: skip
        is_positive_definite = implied(
            is_positive_definite, aat and is_non_singular,
            "The composition was determined to be non-singular and have the form A @ A.H, hence it must be "
            "positive-definite. The user provided an incorrect `False` hint.",
        )  # fmt: skip
        for left, right in pairwise(operators):
            if left.domain_dimension != right.range_dimension:
                raise ValueError(
                    f"Dimensions {left.domain_dimension} and {right.range_dimension} are not compatible: operators of "
                    f"shapes {left.shape} and {right.shape} cannot be composed"
                )
        super().__init__(
            dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
            name or "_o_".join(operator.name for operator in operators), parameters,
        )  # fmt: skip

    def _shape(self) -> TensorShape:
        first, last = self.operators[0], self.operators[-1]
        batch = broadcast(*[operator.batch_shape for operator in self.operators])
        return batch.concatenate([first.range_dimension, last.domain_dimension])

    def _linop_cholesky(self) -> Any:
        left = self.operators[0]
        if not (
            len(self.operators) == 2
            and _is_product_with_own_adjoint(self.operators)
            and isinstance(left, LinearOperatorLowerTriangular)
        ):
            return super()._linop_cholesky()
        if left.is_positive_definite:
            return left
        signs = sign(left.diag_part())
        return LinearOperatorLowerTriangular(
            left.tril / ops.reshape(signs, shape=(*signs.dims[:-1], 1, signs.dims[-1])),
            is_non_singular=left.is_non_singular, is_self_adjoint=left.is_self_adjoint, is_square=True,
        )  # fmt: skip

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators if adjoint else self.operators[::-1]
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return reduce(lambda found, operator: operator.matmul(found, adjoint=adjoint), others, result)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        first, *others = self.operators[::-1] if adjoint else self.operators
        result = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return reduce(lambda found, operator: operator.solve(found, adjoint=adjoint), others, result)

    def _determinant(self) -> Any:
        return reduce(ops.mul, [operator.determinant() for operator in self.operators])

    def _log_abs_determinant(self) -> Any:
        return reduce(ops.add, [operator.log_abs_determinant() for operator in self.operators])

    def _assert_non_singular(self) -> Any:
        if not all(operator.is_square for operator in self.operators):
            return super()._assert_non_singular()
        for operator in self.operators:
            operator.assert_non_singular()
        return None


def _is_product_with_own_adjoint(operators: list[Any]) -> bool:
    """Returns whether the list is that of `A Aᴴ`, with identical operators."""
    half = len(operators) // 2
    return len(operators) % 2 == 0 and all(map(_are_adjoint, operators[:half], operators[: half - 1 : -1]))


def _are_adjoint(a: Any, b: Any) -> bool:
    if a is b and a.is_self_adjoint is not None:
        return bool(a.is_self_adjoint)
    return a.H is b or b.H is a
