"""Block operators: their base class, and block diagonal operators."""

from __future__ import annotations

from functools import reduce
from typing import Any

from ....core import nest
from ....core.shapes import TensorShape
from ....core.tensor import Tensor
from ....engine.run.convert import to_tensor
from ....engine.run.namespace import ops
from ...arrays.concat import concat, split
from ...arrays.creation import zeros
from .basis.base import LinearOperator, OfOperators
from .basis.support import both_non_singular, broadcast, given, of_one_batch, one_dtype, shared_hints, some_operators

NAMESPACES = ("linalg",)
__all__ = ["LinearOperatorBlockDiag"]


class Blocks(OfOperators):
    """An operator whose arguments and results may be split into blocks: a list of tensors, one per block."""

    _diagonal_operators: list[Any]

    def _block_range_dimensions(self) -> list[int]:
        return [operator.range_dimension for operator in self._diagonal_operators]

    def _block_domain_dimensions(self) -> list[int]:
        return [operator.domain_dimension for operator in self._diagonal_operators]

    def _in_blocks(self, x: Any, dimensions: list[int], axis: int, rank: int = 2) -> tuple[list[Any], bool]:
        """Returns an argument in blocks, and whether it was given in blocks."""
        blockwise = isinstance(x, list | tuple) and _is_blockwise(dimensions, x, axis)
        if not blockwise:
            x = to_tensor(x, hint=self.dtype)
            self._check_input_dtype(x)
            if len(x.dims) < rank or x.dims[axis] != sum(dimensions):
                raise ValueError(
                    f"Dimensions {sum(dimensions)} and {x.dims[axis:]} are not compatible: the operator has shape "
                    f"{self.shape}, the argument {x.shape}"
                )
            return split(x, dimensions, axis=axis), False
        blocks = [x if isinstance(x, LinearOperator) else to_tensor(x, hint=self.dtype) for x in x]
        for block, size in zip(blocks, dimensions, strict=True):
            if isinstance(block, Tensor):
                self._check_input_dtype(block)
                if block.dims[axis] != size:
                    raise ValueError(f"Dimensions {size} and {block.dims[axis]} of a block are not compatible")
        return blocks, True

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Returns `A x` for a matrix or a list of blocks; for an operator, the operator of the product."""
        if isinstance(x, LinearOperator):
            left, right = self._with_operator(x, adjoint, adjoint_arg, "x")
            return self._linop_matmul(left, right)
        sizes = self._block_range_dimensions() if adjoint else self._block_domain_dimensions()
        blocks, blockwise = self._in_blocks(x, sizes, -1 if adjoint_arg else -2)
        return _join_blocks(self._matmul_blocks(blocks, adjoint, adjoint_arg), blockwise)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.matmul(x, adjoint, adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Returns `A x` for a vector or a list of blocks."""
        sizes = self._block_range_dimensions() if adjoint else self._block_domain_dimensions()
        blocks, blockwise = self._in_blocks(x, sizes, -1, rank=1)
        found = self.matmul([block[..., None] for block in blocks], adjoint=adjoint)
        return _join_vectors(found, blockwise)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Returns `x` with `A x = rhs` for a matrix or a list of blocks; for an operator, that of the solution."""
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._with_operator(rhs, adjoint, adjoint_arg, "rhs")
            return self._linop_solve(left, right)
        sizes = self._block_domain_dimensions() if adjoint else self._block_range_dimensions()
        blocks, blockwise = self._in_blocks(rhs, sizes, -1 if adjoint_arg else -2)
        return _join_blocks(self._solve_blocks(blocks, adjoint, adjoint_arg), blockwise)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Returns `x` with `A x = rhs` for a vector or a list of blocks."""
        self._check_solvable()
        sizes = self._block_domain_dimensions() if adjoint else self._block_range_dimensions()
        blocks, blockwise = self._in_blocks(rhs, sizes, -1, rank=1)
        return _join_vectors(self.solve([block[..., None] for block in blocks], adjoint=adjoint), blockwise)

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        raise NotImplementedError

    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        raise NotImplementedError

    def _determinant(self) -> Any:
        return reduce(ops.mul, [operator.determinant() for operator in self._diagonal_operators])

    def _log_abs_determinant(self) -> Any:
        return reduce(ops.add, [operator.log_abs_determinant() for operator in self._diagonal_operators])

    def _check_square_blocks(self, what: str) -> None:
        if not all(operator.is_square for operator in self._diagonal_operators):
            raise NotImplementedError(f"`{what}` not implemented for an operator whose blocks are not square.")

    def _diag_part(self) -> Any:
        self._check_square_blocks("diag_part")
        return _join_vectors([x.diag_part()[..., None] for x in self._diagonal_operators], False)

    def _trace(self) -> Any:
        self._check_square_blocks("trace")
        return reduce(ops.add, [operator.trace() for operator in self._diagonal_operators])

    def _eigvals(self) -> Any:
        self._check_square_blocks("eigvals")
        return _join_vectors([x.eigvals()[..., None] for x in self._diagonal_operators], False)

    def _assert_non_singular(self) -> Any:
        for operator in self._diagonal_operators:
            operator.assert_non_singular()


def _is_blockwise(dimensions: list[int], x: Any, axis: int) -> bool:
    if len(x) != len(dimensions):
        return False
    if not any(map(nest.is_nested, x)):
        return not all(isinstance(part, int | float | complex) for part in x)  # a vector
    found = [to_tensor(part).dims[axis] for part in x]
    if found == list(dimensions):
        return True
    if all(n == found[0] for n in found) and found[0] >= sum(dimensions):
        return False
    raise ValueError("Input dimension does not match operator dimension.")


def _join_blocks(blocks: list[Any], blockwise: bool) -> Any:
    return blocks if blockwise else concat(of_one_batch(blocks), axis=-2)


def _join_vectors(columns: list[Any], blockwise: bool) -> Any:
    """Returns columns as vectors: a list of blocks, or concatenated."""
    if blockwise:
        return [ops.reshape(x, shape=x.dims[:-1]) for x in columns]
    joined = concat(of_one_batch(columns), axis=-2)
    return ops.reshape(joined, shape=joined.dims[:-1])


class LinearOperatorBlockDiag(Blocks):
    """Operators along the diagonal, with zeros elsewhere.

    >>> diagonal = tf.linalg.LinearOperatorDiag([1.0])
    >>> full = tf.linalg.LinearOperatorFullMatrix([[2.0, 3.0], [4.0, 5.0]])
    >>> tf.linalg.LinearOperatorBlockDiag([diagonal, full]).to_dense().numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 2.0, 3.0], [0.0, 4.0, 5.0]]
    """

    __module__ = "gradtape.linalg"

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = given(locals())
        self._operators = self._diagonal_operators = operators = some_operators(operators)
        hints = shared_hints(
            operators, (is_non_singular, is_self_adjoint, is_positive_definite),
            lambda word, _: f"The direct sum of {word} operators is always {word}.",
        )  # fmt: skip
        super().__init__(
            one_dtype(operators), None, *hints, is_square,
            name or "_ds_".join(operator.name for operator in operators), parameters,
        )  # fmt: skip

    def _shape(self) -> TensorShape:
        batch = broadcast(*[operator.batch_shape for operator in self.operators])
        return batch.concatenate([sum(self._block_range_dimensions()), sum(self._block_domain_dimensions())])

    def _matmul_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [a.matmul(x, adjoint, adjoint_arg) for a, x in zip(self.operators, blocks, strict=True)]

    def _solve_blocks(self, blocks: list[Any], adjoint: bool, adjoint_arg: bool) -> list[Any]:
        return [a.solve(x, adjoint, adjoint_arg) for a, x in zip(self.operators, blocks, strict=True)]

    def _linop_adjoint(self) -> Any:
        return LinearOperatorBlockDiag([x.adjoint() for x in self.operators], is_square=True, **self._hints())

    def _linop_cholesky(self) -> Any:
        return LinearOperatorBlockDiag([x.cholesky() for x in self.operators], is_non_singular=True, is_square=True)

    def _linop_inverse(self) -> Any:
        return LinearOperatorBlockDiag([x.inverse() for x in self.operators], is_square=True, **self._hints())

    def _by_block(self, left: Any, right: Any, method: str) -> Any:
        pairs = list(zip(left.operators, right.operators, strict=False))
        if len(left.operators) != len(right.operators):
            verb = "multiply two `LinearOperatorBlockDiag`s together" if method == "matmul" else (
                "solve `LinearOperatorBlockDiag`"
            )
            raise ValueError(f"Can not efficiently {verb} when number of blocks differ.")
        return LinearOperatorBlockDiag(
            [getattr(a, method)(b) for a, b in pairs], is_non_singular=both_non_singular(left, right), is_square=True
        )

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorBlockDiag):
            return self._by_block(left_operator, right_operator, "matmul")
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        if isinstance(right_operator, LinearOperatorBlockDiag):
            return self._by_block(left_operator, right_operator, "solve")
        return super()._linop_solve(left_operator, right_operator)

    def _to_dense(self) -> Any:
        blocks = of_one_batch([operator.to_dense() for operator in self.operators])
        width, at, rows = self.domain_dimension, 0, []
        for block in blocks:
            *shape, count = block.dims
            before, after = zeros([*shape, at], self.dtype), zeros([*shape, width - at - count], self.dtype)
            rows.append(concat([before, block, after], axis=-1))
            at += count
        return concat(rows, axis=-2)

    def _assert_self_adjoint(self) -> Any:
        for operator in self.operators:
            operator.assert_self_adjoint()

    def _assert_positive_definite(self) -> Any:
        for operator in self.operators:
            operator.assert_positive_definite()
