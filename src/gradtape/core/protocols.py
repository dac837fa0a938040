"""Interfaces of what the dispatcher runs, notifies and reads: ops, recorders and variables.

The implementations are in packages above this one: `Op` and `Unregistered` in `engine/registry`, `Log` in
`engine/tape`, `Variable` in `state`. The interface of a trace is in `engine/run/trace_protocol`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .dtypes import DType
from .tensor import Tensor

Line = tuple[str, int, str]  # of source: file, line number, function
Tensors = Sequence[Tensor]
Attrs = dict[str, Any]  # the attributes of an op
Outputs = Tensor | tuple[Tensor, ...]  # what an op returns
Tracers = tuple[Any, Any, Any] | None  # a linked list: the recorder's key, its entry for the tensor, the rest


class OpLike(Protocol):
    """An op as dispatch, recorders and graphs use it: in the registry, or around a graph or user code.

    `vjp(m, g, saved, parents)`, `jvp(m, inputs, outputs, attrs, tangents)`, `batch(m, size, inputs, flags, attrs)` and
    `keep(inputs, outputs, attrs)` are described at `Op`; `vjp_raw` is `vjp` on bare arrays.
    """

    name: str
    title: str
    family: str
    @property
    def numpy(self) -> Callable[..., Any]: ...
    @property
    def kernel(self) -> Any: ...
    @property
    def attributes(self) -> dict[str, bool]: ...
    moves_data: bool
    shaped_by_values: bool
    detaches: bool
    takes_none: bool
    backward_may_raise: bool
    is_repeatable: bool
    @property
    def keep(self) -> Callable[..., tuple[Any, ...]]: ...
    @property
    def vjp(self) -> Callable[..., Any] | None: ...
    @property
    def vjp_raw(self) -> Callable[..., Any] | None: ...
    @property
    def jvp(self) -> Callable[..., Any] | None: ...
    @property
    def batch(self) -> Callable[..., Any] | None: ...
    @property
    def rows(self) -> Callable[..., Any] | None: ...


class OpNamespace(Protocol):
    """A namespace of ops, which rules receive as `m`: `ops`, `raw`, or the kernels of one array library."""

    def __getattr__(self, name: str) -> Any: ...


class Operand(Protocol):
    """A tensor, or an array of any library, as rules compute with it."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...


class Differentiable(Protocol):
    """A tensor or a variable."""

    @property
    def dims(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...


Differentiables = Sequence[Differentiable]


class VariableLike(Differentiable, Protocol):
    """A variable as recorders and traces use it."""

    @property
    def trainable(self) -> bool: ...
    @property
    def _trainable(self) -> bool: ...  # `trainable`, for the log: one call less per variable and step
    def _as_tensor(self) -> Tensor: ...


class FunctionLike(Protocol):
    """A `tf.function`."""

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any: ...


class Recorder:
    """Interface of an object notified of every op on a tensor it traces, and of reads and assignments of variables."""

    level: float = 0
    key: object = None
    keeps_residuals = False  # whether it saves what a kernel leaves for its vjp, and never runs a recorded op again
    traces = False  # whether it forwards to the event log itself what it does not record

    def unary(self, op: OpLike, x: Tensor, y: Tensor) -> None:
        """`y = op(x)` has run on plain tensors."""
        self.record(op, (x,), y, {})

    def binary(self, op: OpLike, a: Tensor, b: Tensor, y: Tensor) -> None:
        """`y = op(a, b)` has run on plain tensors."""
        self.record(op, (a, b), y, {})

    def record(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs, attrs: dict[str, Any]) -> None:
        """`outputs = op(*inputs, **attrs)` has run."""

    def constant(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        """`outputs = op(*inputs)` has run, and has no derivative."""

    def escaped(self, x: Tensor, how: str) -> None:
        """The value of `x` was read by NumPy or by a Python number, so later computation is not recorded."""

    def tracer_of(self, variable: VariableLike, rest: Tracers) -> Tracers:
        """Returns the tracers of a value just read from `variable`: its own entry, if any, before `rest`."""
        return rest

    def trace_read(self, variable: VariableLike, value: Tensor) -> None:
        """Sets the tracer of `value`, a new tensor read from `variable`; called if this is the only recorder."""
        value.tracer = self.tracer_of(variable, None)

    def assigned(self, variable: VariableLike, value: Tensor) -> None:
        """`variable` is about to be assigned `value`."""

    def record_check(self, op: OpLike, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
        """`op`, which only checks its inputs, has run; called if it `traces`."""

    def drawn(self, state: Tensor) -> None:
        """`state` is the generator state of a random op that is about to run."""

    def at_node(self, line: Line | None) -> None:
        """This thread is about to run, op by op, a graph's node from source line `line`; None: the graph has ended."""
