"""Modes: process-wide observers of ops, new tensors, function calls and queries of tapes, such as a check for NaN.

`active` is the number of active modes in the process. Every op runner tests it once, after the kernel and before it
notifies the recorder: so an op costs one test while no mode is active, and a mode that raises leaves nothing recorded.
Modes apply to all threads; a mode for some threads must check which thread it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .locks import fork_safe_rlock

if TYPE_CHECKING:
    from .protocols import FunctionLike, OpLike, Outputs, VariableLike
    from .tensor import Tensor

# Classes of `engine/tape`, which this layer does not know; the modes that override a method name them.
Log: TypeAlias = Any
QueryResult: TypeAlias = Any
Tape: TypeAlias = Any

active = 0
entered: tuple[Mode, ...] = ()  # the active modes in order of entry
_op_observers: tuple[Mode, ...] = ()  # those of them that observe ops
_lock = fork_safe_rlock()
_M = TypeVar("_M", bound="Mode")


class Mode:
    """Observes ops and what they return. A mode overrides the methods it needs; the others do nothing."""

    checks_values = False  # whether compiled programs must run op by op, each with the kernel that `kernel_of` returns
    block: object | None = None  # identifies a block with observer nodes: see `query_block`

    def op_finished(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """`outputs = op(*inputs)` has run on plain tensors or device tensors."""

    def tensor_created(self, x: Tensor) -> None:
        """`x` was created from a non-tensor value."""

    def results_created(self, results: object, given: object) -> None:
        """A tape or a function has created, without ops, the tensors among `results` that are not among `given`."""

    def function_called(
        self, function: FunctionLike, args: tuple[Any, ...], kwargs: dict[str, Any], result: object
    ) -> None:
        """`result = function(*args, **kwargs)`, a `tf.function`, has run."""

    def graph_called(
        self, name: str, inputs: Sequence[Tensor], variables: Sequence[VariableLike], result: object
    ) -> None:
        """A function's graph has run outside of a trace, as one call."""

    def scope_changed(self) -> None:
        """This thread has entered or left a name scope or a layer."""

    def kernel_of(self, op: OpLike, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the kernel that a compiled program calls for `op` in place of `kernel`."""
        return kernel

    def cotangent_hooks(self, log: Log, cotangents: Any, hooks: Any) -> Any:
        """Returns the hooks of a reverse sweep in place of `hooks`: see `backprop.sweep`."""
        return hooks

    def log_class(self, in_function: bool) -> type[Log] | None:
        """Returns the log that a new tape needs for this mode, if not any; `in_function`: in a traced function."""
        return None

    def results_found(self, tape: Tape, query: QueryResult) -> None:
        """The results of a query exist; those of a Hessian are reported in addition to those of its gradient."""

    def query_finished(self, tape: Tape) -> None:
        """A query ends; its records are released after this call, unless the tape is persistent."""


def enter(mode: Mode) -> None:
    """Activates a mode in all threads; does nothing if it is active."""
    _change(lambda modes: modes if mode in modes else (*modes, mode))


def leave(mode: Mode) -> None:
    """Deactivates a mode."""
    _change(lambda modes: tuple([other for other in modes if other is not mode]) if mode in modes else modes)


def is_active(mode: Mode) -> bool:
    return mode in entered


def innermost(kind: type[_M]) -> _M | None:
    """Returns the active mode of this class that was entered last."""
    return next((mode for mode in reversed(entered) if isinstance(mode, kind)), None)


def _change(change: Callable[[tuple[Mode, ...]], tuple[Mode, ...]]) -> None:
    """Sets the active modes. The garbage collector may end a traced tape at any call, which leaves a mode in turn."""
    global active, entered, _op_observers
    with _lock:
        while True:
            before = entered
            modes = change(before)
            observers = tuple([mode for mode in modes if type(mode).op_finished is not Mode.op_finished])
            count = len(modes)
            if entered is before:  # no call between this test and the assignments
                entered, _op_observers, active = modes, observers, count
                return


def op_finished(op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
    """Notifies every active mode."""
    for mode in _op_observers:
        mode.op_finished(op, inputs, outputs)


def tensor_created(x: Tensor) -> None:
    """Notifies every active mode."""
    for mode in entered:
        mode.tensor_created(x)


def results_created(results: object, given: object) -> None:
    """Notifies every active mode."""
    for mode in entered:
        mode.results_created(results, given)


def function_called(function: FunctionLike, args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> None:
    """Notifies every active mode."""
    for mode in entered:
        mode.function_called(function, args, kwargs, result)


def graph_called(name: str, inputs: Sequence[Tensor], variables: Sequence[VariableLike], result: object) -> None:
    """Notifies every active mode."""
    for mode in entered:
        mode.graph_called(name, inputs, variables, result)


def scope_changed() -> None:
    """Notifies every active mode."""
    for mode in entered:
        mode.scope_changed()


def checks_values() -> bool:
    """Whether an active mode checks the values that ops compute."""
    return any([mode.checks_values for mode in entered])


def kernel_of(op: OpLike) -> Callable[..., Any]:
    """Returns the kernel that a compiled program calls for `op`, wrapped by the active modes."""
    kernel: Callable[..., Any] = op.numpy
    for mode in entered:
        kernel = mode.kernel_of(op, kernel)
    return kernel


def cotangent_hooks(log: Log, cotangents: Any, hooks: Any) -> Any:
    """Returns the hooks of a reverse sweep, extended by the active modes."""
    for mode in entered:
        hooks = mode.cotangent_hooks(log, cotangents, hooks)
    return hooks


def log_class(in_function: bool) -> type[Log] | None:
    """Returns the log that the first mode with such a requirement needs, or None."""
    for mode in entered:
        kind = mode.log_class(in_function)
        if kind is not None:
            return kind
    return None


def results_found(tape: Tape, query: QueryResult) -> None:
    """Notifies every active mode of a query's results."""
    for mode in entered:
        mode.results_found(tape, query)


def query_finished(tape: Tape) -> None:
    """Notifies every active mode that a query ends."""
    for mode in entered:
        mode.query_finished(tape)


def query_block() -> object | None:
    """Returns the identity of the innermost block whose functions contain observer nodes, such as that of `tracing`.

    Functions that queried a tape before the block are retraced in it.
    """
    return next((mode.block for mode in reversed(entered) if mode.block is not None), None)
