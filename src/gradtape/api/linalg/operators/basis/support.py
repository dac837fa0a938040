"""Helpers for operators: argument conversion, batch broadcasting, hints, batch slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .....core import nest
from .....core.dtypes import DType, complex64, complex128, float64
from .....core.shapes import TensorShape
from .....core.tensor import Tensor, is_tensor_like
from .....engine.run.convert import to_array, to_shape, to_tensor
from .....ops.elementwise.arithmetic import absolute as modulus
from .....state.module import Module
from ....arrays.casting import cast
from ....arrays.repeating import broadcast_static_shape, broadcast_to
from ....debugging.checks import assert_equal, assert_less
from ....math.complex import imag
from ...solvers import cholesky_solve, solve
from ...structure import diag_part, set_diag


def operand(value: Any) -> Any:
    """Converts an argument to a tensor; a variable, or a module that acts as one, is kept, because it may change."""
    stays = value is None or is_tensor_like(value)
    stays = stays or (isinstance(value, Module) and hasattr(value, "dtype") and hasattr(value, "shape"))
    return value if stays else to_tensor(value)


def given(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a constructor, from its `locals()`."""
    return {name: value for name, value in values.items() if name not in ("self", "__class__")}


def size(value: Any, name: str) -> int:
    """Returns a number of rows or columns."""
    if is_tensor_like(value) and not isinstance(value, Tensor):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}.")
    array = to_array(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"Argument {name} must be integer type.  Found: {value}")
    if array.ndim:
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {value}")
    if array < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")
    return int(array)


def sizes(value: Any, name: str) -> TensorShape | None:
    """Returns a batch shape, or None."""
    if value is None:
        return None
    if is_tensor_like(value) and not isinstance(value, Tensor):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}.")
    array = np.asarray(value.as_list() if isinstance(value, TensorShape) else to_array(value))
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"Argument {name} must be integer type.  Found: {value}")
    if array.ndim != 1:
        raise ValueError(f"Argument {name} must be a 1-D Tensor.  Found: {value}")
    if (array < 0).any():
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")
    return TensorShape(to_shape(array.astype(int).tolist()))


def broadcast(*shapes: Any) -> TensorShape:
    """Returns the broadcast shape."""
    found = TensorShape(shapes[0])
    for shape in shapes[1:]:
        found = broadcast_static_shape(found, TensorShape(shape))
    return found


def of_one_batch(matrices: Sequence[Any]) -> list[Tensor]:
    """Broadcasts matrices to a common batch shape."""
    tensors = [to_tensor(matrix) for matrix in matrices]
    batch = broadcast(*[x.shape[:-2] for x in tensors])
    return [
        x if x.shape[:-2] == batch else broadcast_to(x, [*batch.as_list(), *x.shape[-2:].as_list()]) for x in tensors
    ]


def solved(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """`solve` for matrices with different batch shapes."""
    matrix, rhs = of_one_batch([matrix, rhs])
    return solve(matrix, rhs, adjoint=adjoint)


def solved_by_cholesky(factor: Any, rhs: Any) -> Tensor:
    """`cholesky_solve` for matrices with different batch shapes."""
    factor, rhs = of_one_batch([factor, rhs])
    return cholesky_solve(factor, rhs)


def with_more_on_diagonal(x: Any, diagonal: Any) -> Tensor:
    """Adds a vector to the diagonal of square matrices."""
    found = diag_part(x) + diagonal
    if found.dims[:-1] != x.dims[:-2]:
        x = broadcast_to(x, [*found.dims, x.dims[-1]])
    return set_diag(x, found)


def as_complex(x: Any) -> Tensor:
    """Converts a real tensor to complex, in the same precision."""
    x = to_tensor(x)
    if x.dtype.is_complex:
        return x
    return cast(x, complex128 if x.dtype is float64 else complex64)


def assert_nowhere_zero(x: Any, message: str) -> Any:
    """Asserts that no entry is zero."""
    found = modulus(x)
    return assert_less(to_tensor(0, found.dtype), found, message=message)


def assert_real(x: Any, message: str) -> Any:
    """Asserts that no entry has an imaginary part."""
    x = to_tensor(x)
    if not x.dtype.is_complex:
        return None
    found = imag(x)
    return assert_equal(to_tensor(0, found.dtype), found, message=message)


def one_dtype(operators: Sequence[Any]) -> DType:
    """Returns the common dtype of the operators."""
    found: DType = operators[0].dtype
    if any(operator.dtype != found for operator in operators):
        shown = "   ".join(str((operator.name, operator.dtype)) for operator in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {shown}")
    return found


def some_operators(operators: Any) -> list[Any]:
    """Returns a nonempty list of operators."""
    found = list(operators)
    if not found:
        raise ValueError(f"Expected a non-empty list of operators. Found: {found}")
    return found


def implied(hint: bool | None, holds: Any, otherwise: str) -> bool | None:
    """Returns a hint that the components imply; `otherwise` is the error message if it was given as False."""
    if not holds:
        return hint
    if hint is False:
        raise ValueError(otherwise)
    return True


def shared_hints(operators: Sequence[Any], hints: tuple[Any, Any, Any], otherwise: Any) -> tuple[Any, Any, Any]:
    """Returns hints that hold if they hold for all components; `otherwise(word, name)` is the message for False."""
    words = {
        "is_non_singular": "non-singular",
        "is_self_adjoint": "self-adjoint",
        "is_positive_definite": "positive-definite",
    }
    first, second, third = (
        implied(hint, all(getattr(operator, name) for operator in operators), otherwise(word, name))
        for hint, (name, word) in zip(hints, words.items(), strict=True)
    )
    return first, second, third


def same_hint(operator: Any, name: str, hint: bool | None, otherwise: str) -> bool | None:
    """Returns a hint that an operator and one derived from it share."""
    known = getattr(operator, name)
    if known is not None and hint is not None and bool(known) != bool(hint):
        raise ValueError(otherwise)
    return hint if known is None else known


# Hints of the product of two operators.


def both_non_singular(a: Any, b: Any) -> bool | None:
    """Returns whether a product is nonsingular."""
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def both_self_adjoint(a: Any, b: Any) -> bool | None:
    """Returns whether the product of commuting operators is self-adjoint."""
    if a.is_self_adjoint and b.is_self_adjoint:
        return True
    known = a.is_self_adjoint is not None and b.is_self_adjoint is not None
    return False if known and a.is_self_adjoint != b.is_self_adjoint else None


def both_positive_definite(a: Any, b: Any) -> bool | None:
    """Returns whether the product of commuting operators is positive definite."""
    return (a.is_positive_definite and a.is_self_adjoint and b.is_positive_definite and b.is_self_adjoint) or None


def product_is_square(a: Any, b: Any) -> bool | None:
    """Returns whether a product is square."""
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return bool(a.range_dimension == b.domain_dimension)
    return False if a.is_square is not None and b.is_square is not None else None


def sliced(operator: Any, slices: Any) -> Any:
    """Returns the operator of a slice of the batch."""
    slices = tuple(slices) if isinstance(slices, list | tuple) else (slices,)
    changed = {}
    if slices != (Ellipsis,):
        ranks = operator._experimental_parameter_ndims_to_matrix_ndims
        if not ranks:
            raise NotImplementedError(f"A {type(operator).__name__} does not say how its batch is sliced")
        for name, rank in ranks.items():
            value = operator.parameters.get(name)
            if value is not None:
                changed[name] = _slice_value(value, rank, slices, operator.batch_shape)
    return type(operator)(**{**operator.parameters, **changed})


def _slice_value(value: Any, rank: Any, slices: Any, batch: TensorShape) -> Any:
    if isinstance(rank, list):
        parts = nest.parts(value)
        return [_slice_value(part, its, slices, batch) for part, its in zip(parts, rank, strict=True)]
    return _part(value, rank, slices, batch)


def _part(value: Any, rank: int, slices: Any, batch: TensorShape) -> Any:
    """Slices one argument, whose last `rank` axes belong to the matrix."""
    if hasattr(value, "batch_shape_tensor"):
        if value.batch_shape.rank == 0 and batch.rank:
            return value  # one matrix for the whole batch
        return value[_fitting(slices, batch, [1] * (len(batch) - len(value.batch_shape)) + value.batch_shape.as_list())]
    value = to_tensor(value)
    dims = value.shape.as_list()
    own, matrix = dims[: len(dims) - rank], dims[len(dims) - rank :]
    if not own and batch.rank:
        return value
    value = broadcast_to(value, [*broadcast([1] * len(batch), own).as_list(), *matrix])
    taken = _fitting(slices, batch, value.shape.as_list()[: len(batch)])
    if not any(part is Ellipsis for part in taken):
        taken = (*taken, Ellipsis)
    return value[(*taken, *[slice(None)] * rank)] if rank else value[taken]


def _fitting(slices: Any, batch: TensorShape, own: list[int]) -> tuple[Any, ...]:
    """Adapts the slices to an argument with another batch shape: a broadcast axis of size 1 is kept whole."""
    found: list[Any] = []
    at = 0
    for i, part in enumerate(slices):
        if part is Ellipsis:
            at = -sum(other is not None for other in slices[i + 1 :])
        elif part is not None:
            if batch[at] > own[at]:
                part = slice(None) if isinstance(part, slice) else 0
            at += 1
        found.append(part)
    return tuple(found)
