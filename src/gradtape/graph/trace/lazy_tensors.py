"""Values that are computed only when somebody looks at them: those of a trace for XLA, or with a memory budget.

Such a trace infers shapes and dtypes alone; a `Thunk` stands for what a node would compute. Reading a value makes NumPy
compute it and what it depends on, from the values of inputs and variables, once. Effects keep their order:
one that is performed for its value is performed after all that come before it, and the run that follows replays them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import DType
from ...core.errors import FailedPreconditionError, InvalidArgumentError
from ...core.tensor import Tensor, wrap
from ...engine.registry.op import Op
from ...engine.run import dispatch
from ...engine.run.dispatch import thread
from ..executors.xla.executor import check_jax
from ..executors.xla.mesh import prepare
from ..ir.effects import performance, performed_as


class LazyTensor(Tensor):
    """A value that nobody has looked at, or only some have."""

    __slots__ = ("_at", "_dims", "_work")

    def __init__(self, dims: tuple[int, ...], dtype: DType, work: Thunk, at: int = 0) -> None:
        self._dims = dims
        self.dtype = dtype
        self.tracer = None
        self._work = work
        self._at = at

    @property
    def dims(self) -> tuple[int, ...]:
        return self._dims

    @property
    def array(self) -> Any:
        """The value, computed now if it has not been."""
        return self._work.results()[self._at].array

    @property
    def work(self) -> Thunk:
        """What computes it."""
        return self._work


class Thunk:
    """What computes awaited values: `run(*inputs)` gives them as plain tensors, and is called once.

    An effect is performed as it would have been when it was traced: imagined or not, replayed or recorded.
    """

    __slots__ = ("_performance", "_results", "after", "inputs", "run")

    def __init__(
        self, run: Callable[..., Sequence[Tensor]], inputs: Sequence[Tensor] = (), effect: bool = False,
        after: Thunk | None = None,
    ) -> None:  # fmt: skip
        self.run = run
        self.inputs = inputs
        self.after = after  # an effect that must be performed before this
        self._performance = {"frames": (), "imagined": False, **performance()} if effect else None
        self._results: Sequence[Tensor] | None = None

    @property
    def is_done(self) -> bool:
        """Whether the values are there."""
        return self._results is not None

    def results(self) -> Sequence[Tensor]:
        """The values. What they depend on is computed first, without recursion: there may be thousands of steps."""
        todo = [self]
        while todo:
            work = todo[-1]
            missing = [] if work.is_done else work._missing()
            todo += missing
            if not missing:
                todo.pop()._compute()
        assert self._results is not None
        return self._results

    def _missing(self) -> list[Thunk]:
        before = [] if self.after is None or self.after.is_done else [self.after]
        return before or [x.work for x in self.inputs if type(x) is LazyTensor and not x.work.is_done]

    def _compute(self) -> None:
        if self._results is not None:
            return
        recorder, thread.recorder = thread.recorder, None
        try:
            with nullcontext() if self._performance is None else performed_as(self._performance):
                self._results = self.run(*map(plain, self.inputs))
        except InvalidArgumentError as error:
            error.about_values = True
            raise
        finally:
            thread.recorder = recorder
        self.inputs, self.after = (), None  # what was needed may go

    def take_over(self, other: Thunk) -> None:
        """Computes what `other` would, of which its own values are the first ones."""
        self.run, self.inputs = other.run, other.inputs

    def wait_for(self, other: Thunk) -> None:
        """Takes the values that `other` computes."""
        self.run, self.inputs, self.after = (lambda: other.results()), (), other


def plain(x: Tensor) -> Tensor:
    """The tensor with its value, looked at."""
    return wrap(x.array, x.dtype) if type(x) is LazyTensor else x


def work_of(op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any], effect: bool, after: Thunk | None) -> Thunk:
    """What computes the values that a node gives."""

    def run(*values: Tensor) -> Sequence[Tensor]:
        result = computed(op, values, attrs)
        return result if type(result) is tuple else (result,)

    return Thunk(run, inputs, effect, after)


def computed(op: Any, values: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """What `op` gives for plain tensors; as it is called eagerly, it knows what to do with large arrays."""
    return op.call(*values, **attrs) if type(op) is Op else dispatch.run(op, values, attrs)


def of_variable(variable: Any) -> LazyTensor:
    """What a variable holds."""
    return LazyTensor(variable.dims, variable.dtype, Thunk(lambda: (wrap(variable._settled(), variable.dtype),)))


def ones_like(x: Tensor, awaits: bool) -> Tensor:
    """An example of a cotangent of `x`, for a trace."""
    dims, dtype = x.dims, x.dtype

    def make() -> tuple[Tensor]:
        return (wrap(np.ones(dims, dtype.numpy), dtype),)

    return LazyTensor(dims, dtype, Thunk(make)) if awaits else make()[0]


def first_of(x: Tensor) -> Tensor:
    """The first row of a value that has rows."""
    if type(x) is not LazyTensor:
        return wrap(x.array[0, ...], x.dtype)  # of strings `array[0]` is no array, but bytes
    return LazyTensor(x.dims[1:], x.dtype, Thunk(lambda rows: (wrap(rows.array[0, ...], rows.dtype),), (x,)))


def is_replayed() -> bool:
    """Whether the next effect is given what it gave before."""
    frames = performance().get("frames", ())
    return any(type(frame) is not list and operator.length_hint(frame) for frame in frames)


def outcome_of(
    op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any], for_xla: bool
) -> tuple[Sequence[Any], bool] | None:
    """The shapes and dtypes that `op` gives, and whether they are a tuple; None where its values must tell."""
    if op.shaped_by_values:
        return None
    if not for_xla:
        return _by_numpy(op, inputs, attrs)
    found: tuple[Sequence[Any], bool] | None
    found = _on_xla()(op, inputs, attrs) if type(op) is Op else op.outcome(inputs, attrs)
    return found


def _by_numpy(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> tuple[Sequence[Any], bool] | None:
    """The same by the kernel itself, on zeros that take no memory; what it gives is let go at once."""
    if any(x.dtype.kind == dtypes.STRING for x in inputs):
        return None
    zeros = [np.broadcast_to(np.zeros((), x.dtype.numpy), x.dims) for x in inputs]
    try:
        with np.errstate(all="ignore"):
            result = op.numpy(*zeros, **attrs)
    except Exception:  # a kernel that has no use for zeros, or shapes that do not fit, of which it will say so again
        return None
    several = type(result) is tuple
    arrays = result if several else (result,)
    if any(not isinstance(y, np.ndarray | np.generic) or y.dtype.kind == "O" for y in arrays):
        return None
    return [(y.shape, dtypes.of_numpy(y.dtype)) for y in arrays], several


@cache
def _on_xla() -> Callable[..., Any]:
    """What finds the shapes and dtypes that an op gives: JAX is imported when a function is first traced for XLA.

    It has as many devices then as the program has asked for.
    """
    check_jax()
    with suppress(FailedPreconditionError):  # whoever needs several devices, and cannot have them, will be told
        prepare()
    from ..executors.xla.shapes import outcome

    return outcome
