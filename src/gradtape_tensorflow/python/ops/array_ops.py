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
