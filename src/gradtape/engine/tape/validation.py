"""What may be asked of a tape: targets, sources and weights, checked before anything is used up."""

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
warned: dict[str, int] = {}  # how often `warn_not_floating` was called


class UnconnectedGradients(enum.Enum):
    """What `gradient` gives for a source the target does not depend on: `NONE` or `ZERO`."""

    NONE = "none"
    ZERO = "zero"


def is_watchable(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return is_tensor_like(native(x))


def native(x: Any) -> Any:
    """The variable of gradtape inside an object of another library that wraps one, or `x` itself."""
    inner = getattr(x, "_gradtape_variable", None) if not isinstance(x, Tensor) else None
    return x if inner is None else inner


def warn_not_floating(what: str, dtype: DType) -> None:
    """Says that a watched dtype has no derivative, at most five times a process."""
    warned[what] = warned.get(what, 0) + 1
    if warned[what] <= 5:
        logger.warning("The dtype of the watched %s must be floating (e.g. tf.float32), got %r", what, dtype)


def unconnected_mode(value: Any) -> UnconnectedGradients:
    """The mode that a user's `unconnected_gradients` names."""
    if value is UnconnectedGradients.NONE:
        return value
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {value!r}; it must be tf.UnconnectedGradients.NONE or .ZERO"
        ) from None


def differentiable(x: Any, role: str) -> Any:
    """A target or source that can be differentiated, or an error that says what was given instead."""
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
    """One tensor or variable, where a nest of them is not allowed."""
    if x is None or isinstance(x, list | tuple | dict):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute 'shape': the {role} must be one tensor")
    return differentiable(x, role)


def output_cotangents(targets: list[Any], structure: Any, given: Any) -> list[Any]:
    """A cotangent for each target, checked and cast to it; None stands for ones."""
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
    """The cotangent a target has by default."""
    shape = target.dims
    if not shape:  # a number is taken to wherever it is needed
        return Tensor(number(target.dtype, 1.0).array, target.dtype)
    return _beside(target, Tensor(np.ones(shape, target.dtype.numpy), target.dtype))


def _beside(x: Any, y: Tensor) -> Tensor:
    """`y`, a tensor of the host, on the device where `x` is: a gradient is computed where its tape was recorded.

    Where new tensors go at the moment of asking does not matter.
    """
    if not isinstance(x, Tensor):
        with dispatch.recorded_by(()):
            x = to_tensor(x)
    while isinstance(x, Proxy):
        x = x.value
    return sent(x.module, y) if type(x) is DeviceTensor else y


def is_itself(target: Any, sources: Sequence[Any]) -> bool:
    """Whether a target, of integers or booleans, is one of the sources: nothing else of it has a derivative."""
    return target.dtype.kind & STRING == 0 and any(target is source for source in sources)


def zeros(shape: tuple[int, ...], dtype: DType) -> Tensor:
    """The gradient of a source that nothing depends on."""
    return Tensor(np.zeros(shape, dtype.numpy), dtype)


def zeros_like(x: Any) -> Tensor:
    """The same, of the source `x`."""
    return _beside(x, zeros(x.dims, x.dtype))


def is_leaf(x: Any) -> bool:
    """Whether `x` is a tensor or a variable without further questions."""
    kind = type(x)
    return kind is Tensor or kind in readable


def are_leaves(x: Any) -> bool:
    """Whether `x` is a list of tensors and variables without further questions."""
    return type(x) is list and not set(map(type, x)).difference(readable, _TENSOR)
