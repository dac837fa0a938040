"""Helpers of the table of raw ops for ops that are derivatives of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor, is_tensor_like
from ...engine.registry.op import op_named
from ...engine.run.convert import to_array, to_tensor
from ...engine.run.namespace import ops
from ...engine.tape.tape import Tape
from ..namespace import resolve
from ..nn.pooling import pooled_regions
from ..tape_arguments import flat_targets


def vjp(function: Callable[[Tensor], Tensor], x: Any, gradient: Any) -> Any:
    """Returns the gradient at `x`, given the gradient of the function's result."""
    given = to_tensor(gradient)
    at = to_tensor(x, hint=given.dtype)
    if given.dtype.is_integer and at.dtype.is_integer:  # has no gradients elsewhere, but TensorFlow's op computes it
        double = (resolve("cast")(value, dtypes.float64) for value in (at, given))
        return resolve("cast")(vjp(function, *double), at.dtype)
    with Tape() as tape:
        tape.watch([at] if at.dtype.differentiable else [])
        y = function(at)
    (found,) = tape.vjp(*flat_targets(y, given), [at])
    return found


def cotangent(op: str, residual: Any, gradient: Any, **attributes: Any) -> Any:
    """Returns the cotangent of an op's input by the op's rule, which needs either the input or the output."""
    value = to_tensor(residual, hint=to_tensor(gradient).dtype if is_tensor_like(gradient) else None)
    rule = op_named(op)
    assert rule.vjp is not None
    (found,) = rule.vjp(ops, to_tensor(gradient, hint=value.dtype), rule.keep([value], value, attributes), (0,))
    return found


def gamma_derivative(alpha: Any, sample: Any) -> Tensor:
    """Returns the derivative of a gamma sample with respect to its shape parameter."""
    return ops.random_gamma_grad(to_tensor(alpha), to_tensor(sample))


def fractional_pool_gradient(
    x: Any, gradient: Any, rows: Any, columns: Any, overlapping: bool, largest: bool
) -> Tensor:
    """Returns the gradient of fractional pooling with given boundaries of its regions."""
    x, g = to_tensor(x), to_tensor(gradient, hint=to_tensor(x).dtype)
    bounds = [to_array(points) for points in (rows, columns)]
    if len(x.dims) != 4 or len(g.dims) != 4:
        raise InvalidArgumentError(f"inputs must be 4-dimensional, got shapes {list(x.dims)} and {list(g.dims)}")
    for axis, name, points in ((1, "row", bounds[0]), (2, "col", bounds[1])):
        if points.ndim != 1 or len(points) < 2:
            raise InvalidArgumentError(f"{name}_pooling_sequence must be a vector, got shape {list(points.shape)}")
        fits = len(points) - 1 == g.dims[axis] and 0 <= points.min() and points.max() <= x.dims[axis]
        if not fits or (np.diff(points) <= 0).any():
            raise InvalidArgumentError(
                f"{name}_pooling_sequence must have {g.dims[axis] + 1} ascending entries between 0 and {x.dims[axis]}, "
                f"got {points.tolist()[:9]}"
            )
    rows, columns = bounds
    return vjp(lambda at: pooled_regions(at, rows, columns, overlapping, largest), x, resolve("cast")(g, x.dtype))


def filled_rows_gradient(reverse_index_map: Any, grad_values: Any) -> tuple[Tensor, Tensor]:
    """Returns the gradients of the values and of the default of `SparseFillEmptyRows`."""
    places, g = to_tensor(reverse_index_map, dtypes.int64), to_tensor(grad_values)
    for name, x in (("reverse_index_map", places), ("grad_values", g)):
        if len(x.dims) != 1:
            raise InvalidArgumentError(f"{name} must be a vector, saw: {list(x.dims)} [Op:SparseFillEmptyRowsGrad]")
    if len(outside := [i for i in to_array(places).tolist() if not 0 <= i < g.dims[0]]):
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {g.dims[0]}) but got {outside[0]}")
    given = resolve("gather")(g, places)
    return given, resolve("reduce_sum")(g) - resolve("reduce_sum")(given)
