"""Abstract evaluation: finds the shapes and dtypes of an op's outputs without computing, as a trace for XLA requires.

They follow from the op's family where it determines them, else from its kernel by `jax.eval_shape`. Results are cached.
No op has a shape rule of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from ....core import dtypes
from ....core.dtypes import DType
from ....core.tensor import Tensor
from ....engine.registry.op import Op
from ...passes.optimize import attribute_key
from .lowering import kernel_of

OutputShapes = tuple[tuple[tuple[int, ...], DType], ...]  # for each output

_MOST = 1 << 14  # cached entries
_found: dict[Any, Any] = {}


def outcome(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> tuple[OutputShapes, bool] | None:
    """Returns the shapes and dtypes of the outputs, and whether they are a tuple; None if they depend on values."""
    if any(x.dtype.kind in (0, dtypes.STRING) for x in inputs):
        return None
    shapes: Any = tuple([x.dims for x in inputs])
    kinds = tuple([x.dtype for x in inputs])
    try:
        if op.family == "elementwise":
            dtype = _remembered((op, kinds), attrs, lambda: _dtype(op, kinds, attrs))
            return None if dtype is None else (((np.broadcast_shapes(*shapes), dtype),), False)
        return _remembered((op, shapes, kinds), attrs, lambda: _by_kernel(op, inputs, attrs))
    except ValueError:  # incompatible shapes: NumPy raises a better error
        return None


def _remembered(key: Any, attrs: dict[str, Any], find: Any) -> Any:
    try:
        key = (*key, *[(name, attribute_key(value)) for name, value in attrs.items()])
    except TypeError:  # an unhashable attribute
        return find()
    found = _found.get(key, _found)
    if found is _found:
        if len(_found) >= _MOST:
            _found.clear()
        found = _found[key] = find()
    return found


def _dtype(op: Op, kinds: Sequence[DType], attrs: dict[str, Any]) -> DType | None:
    """The dtype of an elementwise op, found by running it on one element."""
    with np.errstate(all="ignore"):
        result = op.numpy(*[np.ones(1, kind.computed.numpy) for kind in kinds], **attrs)
    found = dtypes.of_numpy(result.dtype)
    narrow = [kind for kind in kinds if kind.narrow]
    return narrow[0] if narrow and found is dtypes.float32 else found


def _by_kernel(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> tuple[OutputShapes, bool] | None:
    structs = [jax.ShapeDtypeStruct(x.dims, x.dtype.numpy) for x in inputs]
    with jax.enable_x64(True):
        try:
            result = jax.eval_shape(partial(kernel_of(op), **attrs), *structs)
        except Exception:  # value-dependent kernel, or incompatible shapes, for which NumPy raises the error
            return None
    several = isinstance(result, tuple | list)
    return tuple([(y.shape, dtypes.of_numpy(y.dtype)) for y in (result if several else (result,))]), several
