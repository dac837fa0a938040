"""Modes: what happens to the outputs of every op beside being recorded, such as a check for NaN.

`active` counts the modes in use in the process. Every runner of ops tests it once, after the kernel and before it tells
the recorder, so that an op costs one test while there are none, and a mode that raises leaves nothing recorded. A mode
is meant for all threads; one that concerns some of them asks which thread it runs in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor

active = 0
_modes: tuple[Mode, ...] = ()
_lock = threading.RLock()


class Mode:
    """Observes ops and what they return. A mode overrides the methods it needs; the others do nothing."""

    checks_values = False  # whether compiled programs must run op by op, each with the kernel that `kernel_of` returns

    def op_finished(self, op: Any, inputs: Sequence[Tensor], outputs: Tensor | tuple[Tensor, ...]) -> None:
        """`outputs = op(*inputs)` has run on plain tensors or those of a device."""

    def results_created(self, results: Any, given: Any) -> None:
        """A tape or a function has created the tensors among `results` that are not among `given`, without ops."""

    def kernel_of(self, op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel that a compiled program calls for `op` in place of `kernel`."""
        return kernel

    def cotangent_hooks(self, log: Any, cotangents: Any, hooks: Any) -> Any:
        """The hooks of a reverse sweep in place of `hooks`: see `backprop.sweep`."""
        return hooks


def enter(mode: Mode) -> None:
    """Activates a mode in all threads; one that is active already stays so."""
    with _lock:
        if mode not in _modes:
            _set((*_modes, mode))


def leave(mode: Mode) -> None:
    """Ends what `enter` began."""
    with _lock:
        _set(tuple([other for other in _modes if other is not mode]))


def is_active(mode: Mode) -> bool:
    return mode in _modes


def _set(modes: tuple[Mode, ...]) -> None:
    global _modes, active
    _modes = modes
    active = len(modes)


def op_finished(op: Any, inputs: Sequence[Tensor], outputs: Tensor | tuple[Tensor, ...]) -> None:
    """Tells every active mode."""
    for mode in _modes:
        mode.op_finished(op, inputs, outputs)


def results_created(results: Any, given: Any) -> None:
    """Tells every active mode."""
    for mode in _modes:
        mode.results_created(results, given)


def checks_values() -> bool:
    """Whether an active mode checks the values that ops compute."""
    return any([mode.checks_values for mode in _modes])


def kernel_of(op: Any) -> Callable[..., Any]:
    """The kernel that a compiled program calls for `op`."""
    kernel: Callable[..., Any] = op.numpy
    for mode in _modes:
        kernel = mode.kernel_of(op, kernel)
    return kernel


def cotangent_hooks(log: Any, cotangents: Any, hooks: Any) -> Any:
    """The hooks of a reverse sweep."""
    for mode in _modes:
        hooks = mode.cotangent_hooks(log, cotangents, hooks)
    return hooks
