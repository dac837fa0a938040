"""A tape that raises when a result is not finite, and keeps what is needed to find the origin.

On a finite run the cost is keeping all outputs and one check of the results; everything else happens on failure.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from numpy import add, inf, isfinite

from ...backends.numpy.floating_point import REPORTS
from ...core import dtypes, errors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry.devices import REAL
from ...engine.run.namespace import ops
from .never_raises import say_once
from .noting import NotingLog

_FLOATS = dtypes.FLOAT | dtypes.COMPLEX | dtypes.NARROW
_LATER = (
    "a tape with check='nan' in a traced function: the target or a gradient is not finite. Call "
    "tf.config.run_functions_eagerly(True) to see where it began"
)


class CheckedLog(NotingLog):
    """A log that also keeps every output; an output's tracer gives its position."""

    retain = True

    def __init__(self, watch_accessed_variables: bool = True) -> None:
        super().__init__(watch_accessed_variables)
        self.outputs: list[Any] = []

    def _note(self, op: Any, inputs: Sequence[Tensor], outputs: Any, attrs: dict[str, Any]) -> None:
        self.outputs.extend(outputs if type(outputs) is tuple else (outputs,))

    def constant(self, op: Any, inputs: Sequence[Tensor], outputs: Any) -> None:
        """Records the inputs of an op without a derivative; its outputs may be sources."""
        super().constant(op, inputs, outputs)
        self.outputs.extend(outputs if type(outputs) is tuple else (outputs,))

    def watch(self, tensor: Tensor) -> None:
        """Makes `tensor` a leaf of this log."""
        super().watch(tensor)
        self.outputs.append(tensor)

    def forget(self) -> None:
        """Keeps everything: a failed check needs it for the diagnosis."""


def check_finite(targets: list[Any], gradients: list[Any], diagnose: Callable[[], object]) -> list[Any]:
    """Returns the gradients if they and the targets are finite; while tracing, adds ops that check at run time.

    If they are not, raises an error with the result of `diagnose`, of the tape's last query.
    """
    if not all(map(_is_finite, (*targets, *gradients))):
        raise errors.InvalidArgumentError(_where_not_finite(diagnose))
    unknown = [x for x in targets if isinstance(x, Tensor) and type(x) not in REAL and x.dtype.is_floating]
    if not unknown:
        return gradients
    checks = [ops.check_numerics(x, message=_LATER) for x in unknown]

    def checked(g: Any) -> Any:
        if type(g) is IndexedSlices:
            return IndexedSlices(checked(g.values), g.indices, g.dense_shape)
        if g is None or not g.dtype.is_floating:
            return g
        for check in checks:
            g = ops.after(g, check)
        return ops.check_numerics(g, message=_LATER)

    return list(map(checked, gradients))


def _is_finite(x: Any) -> bool:
    """Whether a target or gradient is free of infinities and NaNs; True if its value is not known."""
    if type(x) is IndexedSlices:
        x = x.values
    if type(x) not in REAL or not x.dtype.kind & _FLOATS:
        return True
    # A sum preserves infinities and NaNs and takes half the time; an overflowing sum needs the elementwise check.
    array = x.array
    try:
        total = add.reduce(array, axis=None)
    except REPORTS:
        total = inf  # perhaps of finite numbers
    return bool(isfinite(total) or isfinite(array).all())


def _where_not_finite(diagnose: Callable[[], object]) -> str:
    """Returns the diagnosis of the last gradient computation or, if the diagnosis fails, a shorter message."""
    try:
        return str(diagnose())
    except Exception as error:
        say_once("diagnose")
        return (
            "The target or a gradient is not finite. Its origin could not be determined: the diagnosis failed with "
            f"{type(error).__name__}: {error}"
        )


def warn_of_nan(diagnose: Callable[[], object]) -> None:
    """Warns that a target itself is NaN: no masked-out branch explains that, and zero gradients would hide it."""
    try:
        where = str(diagnose())
    except Exception:  # a warning without a location is still useful
        say_once("diagnose")
        where = "tape.diagnose shows where it began."
    warnings.warn(
        "gradient(..., nan_safe=True) was called for a target that is NaN itself. nan_safe ignores the NaNs of "
        "branches that a mask removes; here the loss is NaN, so its gradients are meaningless, even if they are zero. "
        f"Fix the loss first, or use GradientTape(check='nan'), which raises an error.\n{where}",
        RuntimeWarning,
        stacklevel=3,  # the caller's line
    )
