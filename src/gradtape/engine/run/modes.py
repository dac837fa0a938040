"""Modes: global hooks on the outputs of every op, such as a check for NaN.

`active` is the number of active modes in the process. Every op runner tests it once, after the kernel and before it
notifies the recorder: so an op costs one test while no mode is active, and a mode that raises leaves nothing recorded.
Modes apply to all threads; a mode for some threads must check which thread it runs in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor
from .protocols import OpLike, Outputs

if TYPE_CHECKING:
    from ..tape.log import Log

active = 0
_modes: tuple[Mode, ...] = ()
_lock = threading.RLock()


class Mode:
    """Observes ops and what they return. A mode overrides the methods it needs; the others do nothing."""

    checks_values = False  # whether compiled programs must run op by op, each with the kernel that `kernel_of` returns

    def op_finished(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """`outputs = op(*inputs)` has run on plain tensors or device tensors."""

    def results_created(self, results: object, given: object) -> None:
        """A tape or a function has created, without ops, the tensors among `results` that are not among `given`."""

    def kernel_of(self, op: OpLike, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the kernel that a compiled program calls for `op` in place of `kernel`."""
        return kernel

    def cotangent_hooks(self, log: Log, cotangents: Any, hooks: Any) -> Any:
        """Returns the hooks of a reverse sweep in place of `hooks`: see `backprop.sweep`."""
        return hooks


def enter(mode: Mode) -> None:
    """Activates a mode in all threads; does nothing if it is active."""
    with _lock:
        if mode not in _modes:
            _set((*_modes, mode))


def leave(mode: Mode) -> None:
    """Deactivates a mode."""
    with _lock:
        _set(tuple([other for other in _modes if other is not mode]))


def is_active(mode: Mode) -> bool:
    return mode in _modes


def _set(modes: tuple[Mode, ...]) -> None:
    global _modes, active
    _modes = modes
    active = len(modes)


def op_finished(op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
    """Notifies every active mode."""
    for mode in _modes:
        mode.op_finished(op, inputs, outputs)


def results_created(results: object, given: object) -> None:
    """Notifies every active mode."""
    for mode in _modes:
        mode.results_created(results, given)


def checks_values() -> bool:
    """Whether an active mode checks the values that ops compute."""
    return any([mode.checks_values for mode in _modes])


def kernel_of(op: OpLike) -> Callable[..., Any]:
    """Returns the kernel that a compiled program calls for `op`, wrapped by the active modes."""
    kernel: Callable[..., Any] = op.numpy
    for mode in _modes:
        kernel = mode.kernel_of(op, kernel)
    return kernel


def cotangent_hooks(log: Log, cotangents: Any, hooks: Any) -> Any:
    """Returns the hooks of a reverse sweep, extended by the active modes."""
    for mode in _modes:
        hooks = mode.cotangent_hooks(log, cotangents, hooks)
    return hooks
