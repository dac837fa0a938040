"""`LinearOperator`: the base class, with default implementations that use the dense matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....core import nest
from .....core.composites import CompositeTensor
from .....core.tensor import Tensor
from .....core.tracebacks import bounded
from .....engine.run.convert import to_tensor
from .....engine.run.namespace import ops
from .....state.module import Module
from ...decompositions import cholesky
from ...structure import adjoint as adjoint_of
from .numbers import Numbers
from .spec import OperatorGradient, spec_type
from .support import both_non_singular, product_is_square, sliced, solved, solved_by_cholesky

NAMESPACES = ("linalg",)
__all__ = ["LinearOperator"]

# Generic operator algebra, filled in by `algebra.py`, which is in a higher layer.
made: dict[str, Callable[..., Any]] = {}


@bounded
class LinearOperator(Numbers, Module, CompositeTensor):  # type: ignore[misc]  # a scope is made when it is entered
    """Base class of structured matrices, or batches of them, with efficient products, solvers and determinants.

    A subclass defines `_shape()` and `_matmul(x, adjoint, adjoint_arg)`; the defaults of other methods (`_solve`,
    `_determinant`, `_log_abs_determinant`, `_trace`, `_diag_part`, `_to_dense`, ...) use the dense matrix. A class that
    lists its constructor's arguments in `_composite_tensor_fields` can be passed to and returned from functions.

    Args:
      dtype: the dtype of the entries.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: hints, which are not verified.
      parameters: the arguments of the subclass's constructor.

    >>> class Doubling(tf.linalg.LinearOperator):
    ...     def _shape(self):
    ...         return tf.TensorShape([2, 2])
    ...     def _matmul(self, x, adjoint=False, adjoint_arg=False):
    ...         return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)
    >>> operator = Doubling(tf.float32)
    >>> operator.matvec([1.0, 3.0]).numpy().tolist(), float(operator.determinant())
    ([2.0, 6.0], 4.0)
    """

    __module__ = "gradtape.linalg"

    __composite_gradient__ = OperatorGradient()
    _composite_tensor_fields: Sequence[str] = ()
    _composite_tensor_prefer_static_fields: Sequence[str] = ()
    _experimental_parameter_ndims_to_matrix_ndims: Any = {}  # noqa: RUF012

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self._set_hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._set_dtype(dtype)
        self._parameters = parameters
        self._name = name or type(self).__name__

    @property
    def _is_whole(self) -> bool:  # type: ignore[override]
        return not self._composite_tensor_fields  # such an operator could not be rebuilt from its tensors

    @property
    def _type_spec(self) -> Any:
        kind: Any = type(self)
        return spec_type(kind).from_operator(self)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """Returns `A x` for a matrix, or the operator of the product for an operator."""
        if isinstance(x, LinearOperator):
            left, right = self._with_operator(x, adjoint, adjoint_arg, "x")
            return self._linop_matmul(left, right)
        return self._matmul(self._argument(x, -2 if adjoint else -1, -1 if adjoint_arg else -2), adjoint, adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def __rmatmul__(self, other: Any) -> Any:
        return adjoint_of(self.matmul(other, adjoint=True, adjoint_arg=True))

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """Returns `A x` for a vector."""
        return self._matvec(self._argument(x, -2 if adjoint else -1, -1, rank=1), adjoint=adjoint)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return _vector(self.matmul(_column(x), adjoint=adjoint))

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """Returns `x` with `A x = rhs` for a matrix; for an operator, the operator of the solution."""
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left, right = self._with_operator(rhs, adjoint, adjoint_arg, "rhs")
            return self._linop_solve(left, right)
        rhs = self._argument(rhs, -1 if adjoint else -2, -1 if adjoint_arg else -2)
        return self._solve(rhs, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._dense_solve(rhs, adjoint, adjoint_arg)

    def _dense_solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return solved_by_cholesky(cholesky(self.to_dense()), rhs)
        return solved(self.to_dense(), rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """Returns `x` with `A x = rhs` for a vector."""
        self._check_solvable()
        return self._solvevec(self._argument(rhs, -1 if adjoint else -2, -1, rank=1), adjoint=adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return _vector(self.solve(_column(rhs), adjoint=adjoint))

    def _check_solvable(self) -> None:
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")

    def _argument(self, x: Any, own_axis: int, axis: int, rank: int = 2) -> Tensor:
        """Converts an argument to a tensor whose size along an axis matches the operator."""
        x = to_tensor(x, hint=self.dtype)
        self._check_input_dtype(x)
        if len(x.dims) < rank:
            raise ValueError(f"A tensor of rank {rank} or more was expected, got one of shape {x.shape}")
        shape = self._present_shape()
        if x.dims[axis] != shape[own_axis]:
            raise ValueError(
                f"Dimensions {shape[own_axis]} and {x.dims[axis]} are not compatible: the operator has shape "
                f"{shape}, the argument {x.shape}"
            )
        return x

    def _with_operator(self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, what: str) -> Any:
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        if right.range_dimension != left.domain_dimension:
            raise ValueError(
                f"Operators are incompatible. Expected `{what}` to have dimension {left.domain_dimension} but got "
                f"{right.range_dimension}."
            )
        return left, right

    # Operator algebra; subclasses override these methods if the result has a special structure.

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> Any:
        return made["product"](left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> Any:
        return made["quotient"](left_operator, right_operator)

    def adjoint(self, name: str = "adjoint") -> Any:
        """Returns the operator of the conjugate transpose."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    H = property(adjoint, doc="The operator of the conjugate transpose.")

    def _linop_adjoint(self) -> Any:
        return made["adjoint"](self)

    def inverse(self, name: str = "inverse") -> Any:
        """Returns the operator of the inverse."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def _linop_inverse(self) -> Any:
        return made["inverse"](self)

    def cholesky(self, name: str = "cholesky") -> Any:
        """Returns the operator of the lower triangle `L` with `A = L Lᴴ`."""
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    def _linop_cholesky(self) -> Any:
        return made["cholesky"](self)

    def _hints(self) -> dict[str, Any]:
        """Returns the hints, for an operator that shares them."""
        names = ("is_non_singular", "is_self_adjoint", "is_positive_definite")
        return {name: getattr(self, name) for name in names}

    def __getitem__(self, slices: Any) -> Any:
        return sliced(self, slices)


class OfOperators(LinearOperator):
    """An operator composed of others: its argument `operators`, a list or rows."""

    _composite_tensor_fields = ("operators",)
    _operators: Any

    @property
    def operators(self) -> Any:
        """The component operators."""
        return self._operators

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> Any:  # type: ignore[override]
        return {"operators": nest.map_structure(lambda _: 0, self._operators)}


def _column(x: Any) -> Tensor:
    return ops.reshape(x, shape=(*x.dims, 1))


def _vector(x: Any) -> Tensor:
    return ops.reshape(x, shape=x.dims[:-1])


def combined_hints(left: LinearOperator, right: LinearOperator) -> dict[str, Any]:
    """Returns the hints of a product of two operators."""
    square = product_is_square(left, right)
    if square is False:
        return {
            "is_non_singular": False, "is_self_adjoint": False, "is_positive_definite": False, "is_square": False
        }  # fmt: skip
    return {"is_non_singular": both_non_singular(left, right) if square else None, "is_square": square}


def make_composite_tensor(cls: Any, module_name: str = "tf.linalg") -> Any:
    """Returns the class: every operator class with `_composite_tensor_fields` is a composite tensor already."""
    return cls
