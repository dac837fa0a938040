"""The check-numerics mode (`tf.debugging.enable_check_numerics`): no op output or cotangent may be infinite or NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes, errors, modes
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry.cotangents import PendingSum
from ...engine.registry.devices import REAL
from ...engine.registry.op import Op
from ...engine.tape.backprop import SparseCotangents
from ...engine.tape.log import Log


class FiniteMode(modes.Mode):
    """Raises InvalidArgumentError for an op or a gradient that has infinities or NaNs."""

    checks_values = True

    def op_finished(self, op: Any, inputs: Sequence[Tensor], outputs: Tensor | tuple[Tensor, ...]) -> None:
        if isinstance(op, Op):
            ys = outputs if isinstance(outputs, tuple) else (outputs,)
            _check_outputs(op.title, [y.array for y in ys], [x.array for x in inputs])

    def kernel_of(self, op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
        if not isinstance(op, Op):
            return kernel
        title = op.title

        def checked(*arrays: Any, **attrs: Any) -> Any:
            value = kernel(*arrays, **attrs)
            if modes.is_active(self):  # a program compiled in the mode may outlive it
                _check_outputs(title, value if type(value) is tuple else (value,), arrays)
            return value

        return checked

    def cotangent_hooks(self, log: Log, cotangents: list[Any] | SparseCotangents, hooks: dict[int, list[Any]]) -> Any:
        return _CheckedHooks(log, cotangents, hooks)


_MODE = FiniteMode()


def switch_on() -> None:
    """Enters the mode: an op with a non-finite result raises InvalidArgumentError."""
    modes.enter(_MODE)


def switch_off() -> None:
    """Leaves the mode."""
    modes.leave(_MODE)


def _check_outputs(title: str, outputs: Sequence[Any], inputs: Sequence[Any]) -> None:
    for i, y in enumerate(outputs):
        if not sound(y):
            where = f'output {i} of eagerly-executing op "{title}" (# of outputs: {len(outputs)})'
            raise failure(y, where, inputs)


class _CheckedHooks:
    """Hooks that check cotangents: the sweep tests membership of a position when its cotangent is complete."""

    def __init__(self, log: Log, grads: list[Any] | SparseCotangents, hooks: dict[int, list[Any]]) -> None:
        self.records = log.records
        self.grads = grads
        self.hooks = hooks

    def __contains__(self, position: int) -> bool:
        g = self.grads[position]
        if isinstance(g, PendingSum):
            g = self.grads[position] = g.value()
        values = g.values if type(g) is IndexedSlices else g
        if type(values) in REAL:  # a batched cotangent needs no check: the ops that computed it were checked
            values = values.array
        if isinstance(values, np.ndarray | np.generic) and not sound(values):
            later = map(self.records.__getitem__, range(position + 1, len(self.records)))
            users = [r[0].title for r in later if type(r) is tuple and position in r[1]]
            raise failure(values, f"the gradient of op {' or '.join(map(repr, dict.fromkeys(users)))}", ())
        return position in self.hooks

    def __getitem__(self, position: int) -> list[Any]:
        return self.hooks[position]


def sound(array: Any) -> bool:
    """Whether an array is free of infinities and NaNs."""
    return array.dtype.kind not in "fcV" or bool(np.isfinite(array).all())  # V: bfloat16 and float8


def failure(array: Any, where: str, inputs: Any) -> Exception:
    """Returns the exception for a non-finite array: counts of its elements, and the op's inputs."""
    nan = int(np.isnan(array).sum())
    infinite = np.isinf(array)
    negative = int((infinite & (np.real(array) < 0)).sum())
    counts = {"-Inf": negative, "+Inf": int(infinite.sum()) - negative, "NaN": nan}
    lines = [f"  # of {kind} elements: {n}" for kind, n in counts.items() if n]
    shown = [f"  Input {i}: {Tensor(np.asarray(x))}" for i, x in enumerate(inputs)]
    kinds = " and ".join(kind for kind, n in counts.items() if n)
    return errors.InvalidArgumentError(
        "\n".join(
            (
                f"\n!!! Detected Infinity or NaN in {where} !!!",
                f"  dtype: {dtypes.of_numpy(array.dtype)!r}",
                f"  shape: {np.shape(array)}",
                *lines,
                *shown,
                f" : Tensor had {kinds} values. tf.debugging.disable_check_numerics() stops these checks",
            )
        )
    )
