"""Validates the targets, sources and output gradients of a query before the tape is consumed."""

from __future__ import annotations

import enum
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import errors, nest
from ...core.dtypes import STRING, DType
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor, is_tensor_like, number
from ..registry.batching import Proxy
from ..registry.cotangents import densify
from ..registry.devices import DeviceTensor, sent
from ..run import dispatch
from ..run.convert import readable, to_tensor
from ..run.namespace import ops

logger = logging.getLogger("gradtape")
_TENSOR = frozenset({Tensor})
warned: dict[str, int] = {}  # how often `warn_not_floating` was called, by argument


class UnconnectedGradients(enum.Enum):
    """How `gradient` represents a source that the target does not depend on.

    `NONE` returns None, `ZERO` a tensor of zeros.
    """

    NONE = "none"
    ZERO = "zero"


def is_watchable(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return is_tensor_like(native(x))


def native(x: Any) -> Any:
    """Returns the gradtape variable that an object of another library wraps, or `x` itself."""
    inner = getattr(x, "_gradtape_variable", None) if not isinstance(x, Tensor) else None
    return x if inner is None else inner


def warn_not_floating(what: str, dtype: DType) -> None:
    """Warns that a watched dtype is not differentiable, at most five times per process."""
    warned[what] = warned.get(what, 0) + 1
    if warned[what] <= 5:
        logger.warning("The dtype of the watched %s must be floating (e.g. tf.float32), got %r", what, dtype)


def unconnected_mode(value: Any) -> UnconnectedGradients:
    """Converts the user's `unconnected_gradients` to its enum member."""
    if value is UnconnectedGradients.NONE:
        return value
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {value!r}; it must be tf.UnconnectedGradients.NONE or .ZERO"
        ) from None


def differentiable(x: Any, role: str) -> Any:
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
            f"'{type(x).__name__}' object is not something a tape knows: a gradient {role} must be a tensor or a "
            f"variable that was used inside the tape's block, {given}"
        )
    raise TypeError(
        f"A gradient {role} must be a tensor, a variable, or a list, tuple or dict of them, {given}. In TensorFlow's "
        f"words: Cannot convert the argument `type_value`: {x!r} to a TensorFlow DType."
    )


def single(x: Any, role: str) -> Any:
    """Validates one tensor or variable where a nest is not allowed."""
    if x is None or isinstance(x, list | tuple | dict):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute 'shape': the {role} must be one tensor")
    return differentiable(x, role)


def output_cotangents(targets: list[Any], structure: Any, given: Any) -> list[Any]:
    """Validates the cotangent of each target and casts it to the target's dtype; None stands for ones."""
    if given is None:
        return [None] * len(targets)
    flat = nest.flatten(given)
    one = len(targets) == 1 and not nest.is_nested(structure)
    if one and len(flat) != 1:
        flat = [given]
    if len(flat) != len(targets):
        raise ValueError(
            f"output_gradients has {len(flat)} entries for {len(targets)} targets; give one for each, or None for ones"
        )
    return [None if g is None else _cotangent(target, g) for target, g in zip(targets, flat, strict=True)]


def _cotangent(target: Any, given: Any) -> Tensor:
    if isinstance(given, IndexedSlices):
        given = densify(ops, given)
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


def ones(target: Any) -> Tensor:
    """The default cotangent of a target."""
    shape = target.dims
    if not shape:  # scalars are moved to whichever device needs them
        return Tensor(number(target.dtype, 1.0).array, target.dtype)
    return _beside(target, Tensor(np.ones(shape, target.dtype.numpy), target.dtype))


def _beside(x: Any, y: Tensor) -> Tensor:
    """Moves the host tensor `y` to the device of `x`: a gradient is computed on the device where its tape was recorded.

    The default device at the time of the query does not matter.
    """
    if not isinstance(x, Tensor):
        with dispatch.recorded_by(()):
            x = to_tensor(x)
    while isinstance(x, Proxy):
        x = x.value
    return sent(x.module, y) if type(x) is DeviceTensor else y


def is_itself(target: Any, sources: Sequence[Any]) -> bool:
    """Whether a non-differentiable target is one of the sources, the only case in which it has a gradient."""
    return target.dtype.kind & STRING == 0 and any(target is source for source in sources)


def zeros(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """The gradient of a source that no target depends on."""
    return Tensor(np.zeros(shape, dtype.numpy), dtype)


def zeros_like(x: Any) -> Tensor:
    """The same, with the shape, dtype and device of the source `x`."""
    return _beside(x, zeros(x.dims, x.dtype))


def is_leaf(x: Any) -> bool:
    """Whether the type of `x` alone shows that it is a tensor or a variable."""
    kind = type(x)
    return kind is Tensor or kind in readable


def are_leaves(x: Any) -> bool:
    """Whether `x` is a list whose element types alone show that they are tensors and variables."""
    return type(x) is list and not set(map(type, x)).difference(readable, _TENSOR)
