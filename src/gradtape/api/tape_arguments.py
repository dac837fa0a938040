"""Validates the arguments of `GradientTape`'s and `ForwardAccumulator`'s methods, with TensorFlow's errors."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..core import logger, nest
from ..core.composites import tensors_for_gradients
from ..core.dtypes import DType
from ..core.tensor import Tensor
from ..engine.run.convert import readable, to_tensor
from ..engine.tape.validation import Differentiable, as_cotangent, differentiable

_TENSOR = frozenset({Tensor})
_MODES = ("reverse", "forward", "auto")
warned: dict[str, int] = {}  # how often `warn_not_floating` was called, by argument


class UnconnectedGradients(enum.Enum):
    """How `gradient` represents a source that the target does not depend on.

    `NONE` returns None, `ZERO` a tensor of zeros.
    """

    NONE = "none"
    ZERO = "zero"


UnconnectedGradients.__module__ = "gradtape"


if TYPE_CHECKING:  # for the overloads of queries, whose results have the structure of the sources
    from ..state.variable import Variable

    Source = Tensor | Variable
    S = TypeVar("S", bound=Source)
    K = TypeVar("K")
    Zero = Literal[UnconnectedGradients.ZERO, "zero"]


def unconnected_mode(value: object) -> UnconnectedGradients:
    """Converts the user's `unconnected_gradients` to its enum member."""
    if value is UnconnectedGradients.NONE:
        return UnconnectedGradients.NONE
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {value!r}; it must be tf.UnconnectedGradients.NONE or .ZERO"
        ) from None


def warn_not_floating(what: str, dtype: DType) -> None:
    """Warns that a watched dtype is not differentiable, at most five times per process."""
    warned[what] = warned.get(what, 0) + 1
    if warned[what] <= 5:
        logger.warning("The dtype of the watched %s must be floating (e.g. tf.float32), got %r", what, dtype)


def is_leaf(x: object) -> bool:
    """Whether the type of `x` alone shows that it is a tensor or a variable."""
    kind = type(x)
    return kind is Tensor or kind in readable


def are_leaves(x: object) -> bool:
    """Whether `x` is a list whose element types alone show that they are tensors and variables."""
    return type(x) is list and not set(map(type, x)).difference(readable, _TENSOR)


def single(x: object, role: str) -> Any:
    """Validates one tensor or variable where a nest is not allowed."""
    if x is None or isinstance(x, list | tuple | dict):
        raise AttributeError(f"'{type(x).__name__}' object has no attribute 'shape': the {role} must be one tensor")
    return differentiable(x, role)


def flat_sources(sources: Any) -> list[Any]:
    """Flattens and validates a nest of sources."""
    return [differentiable(s, "source") for s in nest.flatten(sources)]


def flat_targets(target: Any, output_gradients: Any) -> tuple[list[Any], list[Tensor | None]]:
    """Flattens and validates a nest of targets and their cotangents, which None stands for ones among."""
    if target is None:
        raise TypeError(
            "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be "
            "differentiated, but received None."
        )
    if is_leaf(target):
        targets = [target]
    else:
        targets = [differentiable(t, "target") for t in tensors_for_gradients(nest.flatten(target))]
        if output_gradients is not None:
            output_gradients = tensors_for_gradients(nest.flatten(output_gradients))
    return targets, _output_cotangents(targets, target, output_gradients)


def _output_cotangents(targets: list[Any], structure: Any, given: Any) -> list[Tensor | None]:
    """Validates the cotangent of each target and casts it to the target's dtype."""
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
    return [None if g is None else as_cotangent(target, g) for target, g in zip(targets, flat, strict=True)]


def check_per(per: str | None, norms: bool, targets: Sequence[Differentiable], has_weights: bool) -> None:
    """Raises if the arguments of `gradient(per=..., norms=...)` are inconsistent."""
    if per not in (None, "example", "loss"):
        raise ValueError(f"gradient: per must be None, 'example' or 'loss', got {per!r}")
    if per is None:
        raise ValueError("gradient(norms=True) is for gradients apart: say per='example' or per='loss'")
    if has_weights:
        raise ValueError(f"gradient(per={per!r}) takes no output_gradients: weigh the losses instead")
    counts = {t.dims[0] if t.dims else -1 for t in targets}
    if per == "example" and (len(counts) != 1 or -1 in counts):
        given = ", ".join(str(list(t.dims)) for t in targets)
        raise ValueError(
            "gradient(per='example') needs a loss for each example, along the first axis, got targets of shape "
            f"{given}. Leave the mean over the batch away: reduction=None in Keras' losses"
        )


def check_jacobian_mode(
    mode: str, sparse: bool | str, target: Differentiable, sources: Sequence[Differentiable]
) -> None:
    """Raises if a Jacobian or Hessian cannot be computed with these options."""
    from ..engine.derivatives.jacobian_modes import are_real  # imported lazily: few programs need Jacobians

    if mode not in _MODES:
        raise ValueError(f"jacobian: mode must be one of {', '.join(map(repr, _MODES))}, got {mode!r}")
    if sparse not in (False, True, "tensor", "auto"):
        raise ValueError(
            "sparse must be False, True for a SciPy array, 'auto' for one that is computed in the quicker way, or "
            f"'tensor' for a tf.SparseTensor, got {sparse!r}"
        )
    if (sparse or mode == "forward") and not are_real((target, *sources)):
        given = ", ".join(sorted({x.dtype.name for x in (target, *sources)}))
        raise ValueError(
            f"jacobian(sparse=True), and mode='forward', are for real numbers, got {given}. Leave them out"
        )


def flat_vectors(vectors: Any, sources: Sequence[Differentiable], structure: Any) -> list[Tensor]:
    """Converts vectors to tensors with the dtypes of the sources, and checks their shapes."""
    flat = list(_parts(structure, vectors))
    found = [to_tensor(v, dtype=s.dtype) for v, s in zip(flat, sources, strict=True)]
    for v, s in zip(found, sources, strict=True):
        if v.dims != tuple(s.dims):
            raise ValueError(f"a vector has the shape of its source, {list(s.dims)}, got {list(v.dims)}")
    return found


def _parts(structure: Any, values: Any) -> Iterator[Any]:
    """Yields the part of `values` at each leaf of `structure`: a list of numbers may be a vector."""
    if not nest.is_nested(structure):
        yield values
        return
    mine = nest.parts(structure)
    others = nest.parts(values) if nest.is_nested(values) else []
    if len(mine) != len(others):
        raise ValueError(f"there are {len(mine)} sources, and {len(others)} vectors: one is needed for each")
    for part, value in zip(mine, others, strict=True):
        yield from _parts(part, value)
