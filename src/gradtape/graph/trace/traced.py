"""The tensors of a function being traced: each carries its concrete value and its place in the graph.

gradtape itself may read the value, which adds a guard to the graph; user code gets TensorFlow's errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.errors import InaccessibleTensorError, OperatorNotAllowedInGraphError
from ...core.extension_points import public_names
from ...core.pickling import Unpicklable
from ...core.sizes.expression import SymbolicSize
from ...core.tensor import Tensor, wrap
from ...engine.registry.devices import REAL, DeviceTensor
from ...engine.registry.shape_rules import Dims
from ...engine.run import dispatch
from ...engine.run.source_lines import is_called_by_gradtape
from ..ir.graph import Attrs, GraphOp, Value, maker
from .conversion_status import request_conversion
from .lazy_tensors import LazyTensor, lazy_copy

if TYPE_CHECKING:
    from .trace import Trace


class Untraceable(Exception):
    """The function does something that a graph cannot express, and must run eagerly."""

    is_signal = True  # control flow inside the tracer, not an error that the user sees


class InlineIntoCaller(Untraceable):
    """The function uses tensors of its caller's trace, and must be traced as part of it."""


class EndOfElements(BaseException):
    """The function takes an element of an iterator that has ended, which its own code cannot catch in TensorFlow."""

    is_signal = True


class RetraceFollowingConstants(Untraceable):
    """A derivative depends on a constant: the function must be traced again, with all constants tracked."""


class DelegatedToRunner(BaseException):
    """The whole function must be run by another component: `runner(concrete)` returns what handles its calls."""

    def __init__(self, runner: Any) -> None:
        super().__init__()
        self.runner = runner


class NeedsXLA(BaseException):
    """The function must be traced again for XLA, because it uses a variable that is sharded or on a device.

    `required` says whether only XLA can run it, as for sharded variables.
    """

    def __init__(self, required: bool) -> None:
        super().__init__()
        self.required = required


class TracedOp(NamedTuple):
    """The op of a traced tensor, with TensorFlow's name of its type; its inputs if it is an activation."""

    name: str
    type: str
    inputs: tuple[Tensor, ...] = ()
    device: str = ""


class TracedTensor(Unpicklable, Tensor):
    """A tensor of a function being traced."""

    _instead = "it has no value until the function runs. Pickle the tf.function, or what it returns"

    __slots__ = ("level", "made_by", "place", "trace", "value")

    made_by: tuple[GraphOp, Sequence[Tensor], Attrs]  # of the ops in `trace.ACTIVATIONS`

    def __init__(self, value: Tensor, place: Value, trace: Trace) -> None:
        self.value, self.place, self.trace = value, place, trace
        self.level = trace.level  # orders traces, recorders and batches by start
        self.dtype = value.dtype
        self.tracer = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape in this run; reading it fixes dynamic sizes."""
        sizes = self.trace.sizes
        if sizes is not None and sizes.dims:
            sizes.fix(self.place)
        return self.place.shape

    @property
    def symbolic_dims(self) -> Dims:
        sizes = self.trace.sizes
        return self.place.shape if sizes is None else sizes.dims_of(self.place)

    @property
    def has_dynamic_sizes(self) -> bool:  # type: ignore[override]
        return any(isinstance(n, SymbolicSize) for n in self.symbolic_dims)

    @property
    def holds_dynamic_size(self) -> bool:  # type: ignore[override]
        sizes = self.trace.sizes
        return sizes is not None and sizes.size_in(self.place) is not None

    @property
    def ndim(self) -> int:
        return len(self.place.shape)

    @property
    def array(self) -> Any:
        """The value in this run; reading it specializes the graph on this value."""
        return self.trace.known(self)

    def own_read(self) -> Tensor:
        """Returns the tensor itself: in a trace, every read is already a distinct object."""
        return self

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Run `op` and add it to the graph of the innermost trace."""
        trace = dispatch.thread.trace
        if trace is None:
            raise out_of_scope(self, eagerly=True)
        return trace.run(op, inputs, attrs)

    @property
    def name(self) -> str:
        """The name of the tensor's place in the graph."""
        return f"{self.trace.builder.name_of(self.place)}:0"

    @property
    def graph(self) -> Any:
        """The trace that this tensor belongs to."""
        return self.trace

    @property
    def op(self) -> Any:
        """The op that produced the tensor, a placeholder for an argument."""
        made = maker(self.trace.builder.nodes, self.place)
        if made is None:
            return TracedOp(public_names().PLACEHOLDER, public_names().PLACEHOLDER)
        inputs = tuple(self.made_by[1]) if hasattr(self, "made_by") else ()
        return TracedOp(made.op.name, getattr(made.op, "title", made.op.name), inputs)

    @property
    def numpy(self) -> Any:
        """Available to gradtape only: for user code, a traced tensor has no value yet."""
        if is_called_by_gradtape():
            return super().numpy
        raise AttributeError("'SymbolicTensor' object has no attribute 'numpy'")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"'SymbolicTensor' object has no attribute '{name}': this tensor is part of a tf.function that is being "
            "traced, and has no value yet. Use tf ops, or tf.py_function for Python code that needs the value"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if is_called_by_gradtape():
            return super().__array__(dtype, copy)
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that you're "
            "trying to pass a Tensor to a NumPy call, which is not supported."
        )

    def __dlpack__(self, **options: Any) -> Any:
        raise NotImplementedError(f"Cannot export a symbolic tf.Tensor ({self.name}): it has no value yet")

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.__dlpack__()

    def __bool__(self) -> bool:
        if is_called_by_gradtape():
            return super().__bool__()
        request_conversion()
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt the following "
            "resolutions to the problem: If you are running in Graph mode, use Eager execution mode or decorate this "
            "function with @tf.function. If you are using AutoGraph, you can try decorating this function with "
            "@tf.function. If that does not work, then you may be using an unsupported feature or your source code may "
            "not be visible to AutoGraph."
        )

    def _scalar(self, kind: str) -> Any:
        if is_called_by_gradtape(3):
            return super()._scalar(kind)
        request_conversion()
        raise TypeError(
            f"{kind}() argument must be a string or a real number, not 'SymbolicTensor': inside a tf.function a tensor "
            "has no value yet"
        )

    def __index__(self) -> int:
        if is_called_by_gradtape():
            return super().__index__()
        request_conversion()
        raise TypeError("'SymbolicTensor' object cannot be interpreted as an integer")

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    __format__ = object.__format__  # type: ignore[assignment]


class PoisonTensor(TracedTensor):
    """The result of an op that failed on the values of this run, such as an index out of range.

    In a graph, an op whose result is unused does not run. So the error is deferred to the use of the result: further
    ops propagate it silently, and any other use, such as returning it, raises.
    """

    __slots__ = ("error",)

    def __init__(self, error: Exception, dtype: Any, trace: Trace) -> None:
        self.error = error
        self.dtype = dtype  # that of the op's first argument, which determines the conversion of Python numbers
        self.trace = trace
        self.level = trace.level

    def _raise(self, *_: Any) -> Any:
        raise self.error

    tracer = place = value = array = dims = ndim = property(_raise, _raise)
    symbolic_dims = has_dynamic_sizes = holds_dynamic_size = property(_raise, _raise)

    def __getitem__(self, key: Any) -> PoisonTensor:
        return self  # one of several results, or a part of one


def value_of(x: Tensor) -> Tensor:
    """Returns the concrete value of a tensor in this run, plain or lazy."""
    while type(x) is TracedTensor:
        x = x.value
    if type(x) is LazyTensor:
        return x
    trace = dispatch.thread.trace
    if type(x) is DeviceTensor and trace is not None and trace.for_xla:
        return lazy_copy(x)
    if type(x) not in REAL:
        raise Untraceable(f"it is called with a {type(x).__name__}")
    return wrap(x.array, x.dtype)


def out_of_scope(x: TracedTensor, eagerly: bool = False) -> Exception:
    """Returns the error for a traced tensor that has escaped its trace: the function, or a branch or loop in it."""
    made = maker(x.trace.builder.nodes, x.place)
    where = made.line if made is not None and made.line is not None else ("?", 0, "?")
    return (TypeError if eagerly or x.trace.outer is None else InaccessibleTensorError)(
        f"{x!r} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
        "collections to access it.\nPlease see https://www.tensorflow.org/guide/"
        "function#all_outputs_of_a_tffunction_must_be_return_values for more information.\n\n"
        f'{x!r} was defined here:\n    File "{where[0]}", line {where[1]}, in {where[2]}'
    )


def check_scope(tensors: Sequence[Tensor]) -> None:
    """Raises if one of the tensors has escaped its trace."""
    for x in tensors:
        if type(x) is TracedTensor and not x.trace.open:
            raise out_of_scope(x, eagerly=dispatch.thread.trace is None)


def _graph(x: Tensor) -> Any:
    """Returns the function being traced, to which constants belong too."""
    if dispatch.thread.trace is None:
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
    return dispatch.thread.trace


Tensor.graph = property(_graph)  # type: ignore[method-assign,assignment]
