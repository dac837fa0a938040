"""The tensors and variables that a tape can differentiate, their cotangents and their zero gradients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np

from ...backends.tuning import SHARED_ONES
from ...core import errors, nest
from ...core.dtypes import STRING, DType
from ...core.protocols import Differentiable as Differentiable
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, is_tensor_like, number
from ..registry.batching import Proxy
from ..registry.cotangents import materialize
from ..registry.devices import DeviceTensor, send_to_device
from ..run import dispatch
from ..run.convert import readable, to_tensor
from ..run.namespace import ops


def is_watchable(x: object) -> bool:
    """Whether `x` is a tensor or a variable."""
    return is_tensor_like(native(x))


def native(x: Any) -> Any:
    """Returns the gradtape variable that an object of another library wraps, or `x` itself."""
    inner = getattr(x, "_gradtape_variable", None) if not isinstance(x, Tensor) else None
    return x if inner is None else inner


def differentiable(x: object, role: str) -> Any:
    """Returns a target or source that can be differentiated, or raises an error that names what was given."""
    if type(x) is Tensor or type(x) in readable:
        return x
    x = native(x)
    if is_tensor_like(x):
        return x
    given = f"got {x!r} of type {type(x).__name__}"
    if isinstance(x, IndexedSlices):
        raise AttributeError(
            f"a gradient {role} must be a tensor or a variable, {given}: use its `.values`, or tf.convert_to_tensor"
        )
    if nest.is_composite(x):
        raise ValueError(
            f"Type {type(x).__name__} is not supported as a gradient source or gradient target. The tensors it is made "
            "of, such as `.values`, are"
        )
    if isinstance(x, bool | int | float | complex | np.ndarray | np.generic) or hasattr(x, "dtype"):
        raise AttributeError(
            f"'{type(x).__name__}' object is not on the tape: a gradient {role} must be a tensor or a variable that "
            f"was used inside the tape's block, {given}. Pass the tensor itself, not what .numpy(), float() or NumPy "
            "returned"
        )
    raise TypeError(
        f"A gradient {role} must be a tensor, a variable, or a list, tuple or dict of them, {given}. In TensorFlow's "
        f"words: Cannot convert the argument `type_value`: {x!r} to a TensorFlow DType."
    )


def is_itself(target: Differentiable, sources: Sequence[Differentiable]) -> bool:
    """Whether a non-differentiable target is one of the sources, the only case in which it has a gradient."""
    return target.dtype.kind & STRING == 0 and any(target is source for source in sources)


def ones(target: Differentiable) -> Tensor:
    """The default cotangent of a target."""
    dtype, shape = target.dtype, target.dims
    if type(target) is Tensor:
        return Tensor(_ones(shape, dtype.numpy) if shape else number(dtype, 1.0).array, dtype)
    if not shape:  # scalars are moved to whichever device needs them
        return Tensor(number(dtype, 1.0).array, dtype)
    if type(target) is DeviceTensor:  # which fills memory of its own
        return _beside(target, Tensor(np.broadcast_to(dtype.numpy.type(1), shape), dtype))
    return _beside(target, Tensor(_ones(shape, dtype.numpy), dtype))


@lru_cache(maxsize=256)
def _ones(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Ones in memory that all cotangents share: filling an array takes as long as a rule's kernel."""
    if prod(shape) > SHARED_ONES:
        return np.broadcast_to(dtype.type(1), shape)
    return _shared_ones(dtype)[: prod(shape)].reshape(shape)


@cache
def _shared_ones(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    array = np.ones(SHARED_ONES, dtype)
    array.flags.writeable = False
    return array


def _beside(x: Differentiable, y: Tensor) -> Tensor:
    """Moves the host tensor `y` to the device of `x`: a gradient is computed on the device where its tape was recorded.

    The default device at the time of the query does not matter.
    """
    if not isinstance(x, Tensor):
        with dispatch.recorded_by(()):
            x = to_tensor(x)
    while isinstance(x, Proxy):
        x = x.value
    return send_to_device(x.module, y) if type(x) is DeviceTensor else y


def as_cotangent(target: Differentiable, given: object) -> Tensor:
    """Converts what the caller gives as a target's cotangent to its dtype, and broadcasts it to its shape."""
    if isinstance(given, IndexedSlices):
        given = materialize(ops, given)
    g = to_tensor(given, hint=target.dtype)
    if g.dtype is not target.dtype:
        g = ops.cast(g, dtype=target.dtype)
    if g.dims != target.dims:
        stretched = len(g.dims) <= len(target.dims) and all(
            a in (1, b) for a, b in zip(g.dims[::-1], target.dims[::-1], strict=False)
        )
        if not stretched:
            raise errors.InvalidArgumentError(
                f"Incompatible shapes: {list(target.dims)} vs. {list(g.dims)} [Op:Mul]: output_gradients must have "
                "the shape of the target, or broadcast to it"
            )
        g = ops.broadcast_to(g, shape=target.dims)
    return g


def zeros(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """The gradient of a source that no target depends on."""
    return Tensor(np.zeros(shape, dtype.numpy), dtype)


def zeros_like(x: Differentiable) -> Tensor:
    """The same, with the shape, dtype and device of the source `x`."""
    return _beside(x, zeros(x.dims, x.dtype))
