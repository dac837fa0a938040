"""`tensorflow.python.ops.array_ops`: the names without public counterpart."""

from __future__ import annotations

from typing import Any

import gradtape


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """Returns the value; taking its gradient raises LookupError with a reason."""

    @gradtape.custom_gradient
    def prevented(x: Any) -> Any:
        def grad(_: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return gradtape.identity(x), grad

    return prevented(input)


def _slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """Returns `tensor[slice_spec]` of a value that converts to a tensor."""
    return gradtape.convert_to_tensor(tensor)[slice_spec]


def _SliceHelperVar(var: Any, slice_spec: Any) -> Any:
    """Returns `var[slice_spec]` of the value of a variable."""
    return gradtape.convert_to_tensor(var.value())[slice_spec]


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = None) -> Any:
    """Same as `tf.shape`."""
    return gradtape.shape(input, out_type or gradtape.int32, name)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = gradtape.int32) -> Any:
    """Same as `tf.size`."""
    return gradtape.size(input, out_type, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:
    """Same as `tf.rank`."""
    return gradtape.rank(input, name)


def zeros_like_impl(tensor: Any, dtype: Any, name: str | None, optimize: bool = True, layout: Any = None) -> Any:
    """Same as `tf.zeros_like`."""
    return gradtape.zeros_like(tensor, dtype, name)


def _all_dimensions(x: Any) -> Any:
    """Returns the axes of a tensor, as a constant if its rank is known."""
    rank = x.shape.rank if hasattr(x, "shape") else None
    return gradtape.range(gradtape.rank(x)) if rank is None else gradtape.constant([*range(rank)], gradtape.int32)


def get_positive_axis(axis: Any, ndims: int | None, axis_name: str = "axis", ndims_name: str = "ndims") -> int:
    """Returns an axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if ndims is None:
        if axis < 0:
            raise ValueError(f"{axis_name}={axis} may only be negative if {ndims_name} is statically known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError(f"{axis_name}={axis} out of bounds: expected {-ndims}<={axis_name}<{ndims}")
    return axis % ndims if ndims else 0
