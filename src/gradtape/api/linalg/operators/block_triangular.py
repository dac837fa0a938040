"""Block lower triangular operators."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ....core.shapes import TensorShape
from ....engine.run.namespace import ops
from ....ops.elementwise.transcendental import exp
from ...arrays.concat import concat
from ...arrays.creation import zeros
from ..structure import adjoint as adjoint_of
from .addition import added
from .basis.support import broadcast, given, of_one_batch, some_operators
from .blocks import Blocks
from .identity import LinearOperatorScaledIdentity

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorBlockLowerTriangular"]


class LinearOperatorBlockLowerTriangular(Blocks):
    """Rows of operators, the last of each row on the diagonal, with zeros above it.

    >>> one = tf.linalg.LinearOperatorFullMatrix([[1.0]], is_non_singular=True)
    >>> two = tf.linalg.LinearOperatorFullMatrix([[2.0]], is_non_singular=True)
    >>> operator = tf.linalg.LinearOperatorBlockLowerTriangular([[one], [two, two]])
    >>> operator.to_dense().numpy().tolist(), operator.solvevec([1.0, 4.0]).numpy().tolist()
    ([[1.0, 0.0], [2.0, 2.0]], [1.0, 1.0])
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = given(locals())
        self._operators = operators = [list(row) for row in some_operators(operators)]
        self._diagonal_operators = [row[-1] for row in operators]
        _check_blocks(operators)
        is_non_singular = self._whether_non_singular(is_non_singular)
        if is_square is False:
            raise ValueError(
                "`LinearOperatorBlockLowerTriangular` must be square. Expected argument `is_square` to be True. "
                f"Received: {is_square}."
            )
        super().__init__(
            operators[0][0].dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    def _whether_non_singular(self, hint: bool | None) -> bool | None:
        known = [operator.is_non_singular for operator in self._diagonal_operators]
        found = True if all(known) else False if any(x is False for x in known) else None
        if found is not None and hint is not None and found != hint:
            kinds = ("non-singular operators", "non-singular") if found else ("a singular operator", "singular")
            raise ValueError(
                f"A blockwise lower-triangular operator with {kinds[0]} on the main diagonal is always {kinds[1]}. "
                f"Expected argument `is_non_singular` to be {found}. Received: {hint}."
            )
        return hint if found is None else found

    def _shape(self) -> TensorShape:
        batch = broadcast(*[operator.batch_shape for row in self.operators for operator in row])
        return batch.concatenate([sum(self._block_range_dimensions()), sum(self._block_domain_dimensions())])

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        count = len(self.operators)
        used = [range(i, count) if adjoint else range(i + 1) for i in range(count)]
        return [
            reduce(ops.add, [self._at(i, j, adjoint).matmul(blocks[j], adjoint, adjoint_arg) for j in used[i]])
            for i in range(count)
        ]

    def _at(self, row: int, column: int, adjoint: bool) -> Any:
        """Returns a block; for the adjoint, the block to be transposed."""
        return self.operators[column][row] if adjoint else self.operators[row][column]

    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        blocks = [adjoint_of(x) for x in blocks] if adjoint_arg else blocks
        found: dict[int, Any] = {}
        for i in reversed(range(len(blocks))) if adjoint else range(len(blocks)):
            rest = blocks[i]
            for j, x in found.items():
                rest = rest - self._at(i, j, adjoint).matmul(x, adjoint=adjoint)
            found[i] = self._diagonal_operators[i].solve(rest, adjoint=adjoint)
        return [found[i] for i in range(len(blocks))]

    def _linop_inverse(self) -> Any:
        """Row by row: the inverse of the rows above, and below it -C⁻¹ B times it, where C is the diagonal block."""
        *rows, last = self.operators
        corner = last[-1].inverse()
        if not rows:
            return LinearOperatorBlockLowerTriangular([[corner]], is_square=True, **self._hints())
        above = LinearOperatorBlockLowerTriangular(rows).inverse().operators
        minus = LinearOperatorScaledIdentity(corner.domain_dimension, ops.cast(-1.0, dtype=self.dtype))
        bottom = []
        for i in range(len(rows)):
            block = added([last[j].matmul(above[j][i]) for j in range(i, len(rows))])
            bottom.append(minus.matmul(corner.matmul(block)))
        return LinearOperatorBlockLowerTriangular([*above, [*bottom, corner]], is_square=True, **self._hints())

    def _determinant(self) -> Any:
        if all(operator.is_positive_definite for operator in self._diagonal_operators):
            return exp(self._log_abs_determinant())
        return super()._determinant()

    def _to_dense(self) -> Any:
        blocks = iter(of_one_batch([operator.to_dense() for row in self.operators for operator in row]))
        width, rows = self.domain_dimension, []
        for row in self.operators:
            found = [next(blocks) for _ in row]
            filled = sum(block.dims[-1] for block in found)
            rows.append(concat([*found, zeros([*found[0].dims[:-1], width - filled], self.dtype)], axis=-1))
        return concat(rows, axis=-2)


def _check_blocks(operators: list[list[Any]]) -> None:
    dtype = operators[0][0].dtype
    for i, row in enumerate(operators):
        if len(row) != i + 1:
            raise ValueError(f"Argument `operators[{i}]` must contain `{i + 1}` blocks. Received: {len(row)} blocks.")
        if any(operator.dtype != dtype for operator in row):
            shown = [(operator.name, operator.dtype) for operator in row]
            raise TypeError(
                f"Expected all operators to have the same dtype.  Found {shown} in row {i} and {dtype} in row 0."
            )
        if row[-1].is_square is False:
            raise ValueError(
                "Matrices on the diagonal (the final elements of each row-partition in the `operators` list) must be "
                f"square. Expected argument `operators[{i}][-1].is_square` to be True. Received: {row[-1].is_square}."
            )
        for j in range(i):
            block, above, right = row[j], operators[i - 1][j], row[j + 1]
            if block.domain_dimension != above.domain_dimension:
                raise ValueError(
                    f"Argument `operators[{i}][{j}].domain_dimension` ({block.domain_dimension}) must be the same as "
                    f"`operators[{i - 1}][{j}].domain_dimension` ({above.domain_dimension})."
                )
            if block.range_dimension != right.range_dimension:
                raise ValueError(
                    f"Argument `operators[{i}][{j}].range_dimension` ({block.range_dimension}) must be the same as "
                    f"`operators[{i}][{j + 1}].range_dimension` ({right.range_dimension})."
                )
