"""A switch: while it is on, no op and no gradient may produce infinity or NaN.

Off, it costs nothing, because nothing asks whether it is on: switching it on exchanges every op's kernel for one that
looks at what it returns, and the tape's sweep for one that looks at every cotangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import dtypes, errors
from ...core.slices import IndexedSlices
from ...core.tensor import Tensor
from ...engine.registry import op as op_module
from ...engine.registry.cotangents import PendingProduct
from ...engine.registry.devices import REAL
from ...engine.registry.op import Op, registry
from ...engine.run.namespace import Namespace
from ...engine.tape import backprop, repeated_sweeps, tape
from ...engine.tape.log import Log

_on = False


def switch_on() -> None:
    """From here on an op whose result has infinities or NaNs raises InvalidArgumentError."""
    global _on
    _on = True
    Namespace.load_all()
    for op in registry.values():
        _watch(op)
    op_module.when_published = _watch
    tape.sweep, tape.repeated_sweep = _watched_sweep, _never_straight


def switch_off() -> None:
    """Ends what `switch_on` began."""
    global _on
    _on = False
    op_module.when_published = None
    for op in registry.values():
        for each in _with_twin(op):
            each.use_kernel()
    tape.sweep, tape.repeated_sweep = backprop.sweep, repeated_sweeps.repeated_sweep


def _watch(op: Op) -> None:
    for each in _with_twin(op):
        each.use_kernel()
        each.use_kernel(_watched(op.title, each.numpy))


def _with_twin(op: Op) -> tuple[Op, ...]:
    return (op,) if op.twin is None else (op, op.twin)


def _watched(title: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, and a look at what it returns; a graph that was made meanwhile may have it for longer."""

    def watched(*arrays: Any, **attrs: Any) -> Any:
        value = kernel(*arrays, **attrs)
        if _on:
            outputs = value if type(value) is tuple else (value,)
            for i, y in enumerate(outputs):
                if not sound(y):
                    where = f'output {i} of eagerly-executing op "{title}" (# of outputs: {len(outputs)})'
                    raise failure(y, where, arrays)
        return value

    return watched


def _watched_sweep(log: Log, grads: list[Any] | backprop.SparseCotangents, wanted: set[int], **options: Any) -> None:
    options["hooks"] = _Watch(log, grads, options["hooks"])
    backprop.sweep(log, grads, wanted, **{**options, "release": False})


def _never_straight(log: Log, target: int) -> None:
    """Straight-line code has no hooks."""


class _Watch:
    """The hooks of a sweep, which asks whether a position has hooks when its cotangent is complete: time to look."""

    def __init__(self, log: Log, grads: list[Any] | backprop.SparseCotangents, hooks: dict[int, list[Any]]) -> None:
        self.records = log.records
        self.grads = grads
        self.hooks = hooks

    def __contains__(self, position: int) -> bool:
        g = self.grads[position]
        if type(g) is PendingProduct:
            g = self.grads[position] = g.value()
        values = g.values if type(g) is IndexedSlices else g
        if type(values) in REAL:  # of a batch of cotangents, the ops that made it were looked at
            values = values.array
        if isinstance(values, np.ndarray | np.generic) and not sound(values):
            later = map(self.records.__getitem__, range(position + 1, len(self.records)))
            users = [r[0].title for r in later if type(r) is tuple and position in r[1]]
            raise failure(values, f"the gradient of op {' or '.join(map(repr, dict.fromkeys(users)))}", ())
        return position in self.hooks

    def __getitem__(self, position: int) -> list[Any]:
        return self.hooks[position]


def sound(array: Any) -> bool:
    """Whether an array has neither infinities nor NaNs."""
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def failure(array: Any, where: str, inputs: Any) -> Exception:
    """The exception for an array that is not sound: how many of its numbers, and what the op was given."""
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
