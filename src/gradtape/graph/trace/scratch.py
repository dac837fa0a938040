"""Scratch graphs: the shapes and dtypes of a computation whose sizes are partly unknown, as in TensorFlow's graphs.

Keras 2 calls a layer in such a graph to find the shapes of its outputs. A placeholder of unknown sizes stands for two
*examples*, tensors of zeros with different sizes. Every op runs on both; a size that differs between the results is
unknown. So there are no shape rules besides the kernels.

Functions of the API read sizes where the graph has none. Such a read raises `NeedsExamples`, and the front of the
public function runs the function again, once with the examples of either size. Variables are read, but what is assigned
to them and drawn from random streams is dropped with the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core import dtypes, nest
from ...core.errors import (
    BranchNeedsExamples,
    InvalidArgumentError,
    NeedsExamples,
    OperatorNotAllowedInGraphError,
    rejected_shapes,
)
from ...core.pickling import Unpicklable
from ...core.protocols import Line
from ...core.shapes import TensorShape
from ...core.tensor import Tensor, wrap
from ...engine.run import dispatch
from ...engine.run.randomness import Streams, drawing_from, state
from ...ops.arrays import slicing
from ...sparse.tensor import SparseTensor
from ...state.variable import Variable
from ..ir.graph import Attrs, GraphOp
from .abstract import abstracted, run_merged
from .trace import Trace

# The unknown sizes of the two examples, of the first axis and of the others: windows have to fit, programs divide
# batches and images into equal parts, and strides must not make the two equal.
_BATCH = (4, 8)
_SIZE = (64, 128)
# The text of the two examples: it may be split into words, characters or numbers of eight bytes.
_TEXT = (b"AAAAAAAA", b"AAAAAAAA AAAAAAA")


class Example:
    """One of the two sizes that functions of a scratch graph run with; it identifies the graph of such a run."""

    def __init__(self, index: int) -> None:
        self.index = index


def is_in_scratch_graph() -> bool:
    """Whether ops run in a scratch graph now, symbolically or with examples."""
    return dispatch.thread.example is not None or isinstance(dispatch.thread.trace, ScratchTrace)


class ScratchTrace(Trace):
    """The trace of a scratch graph: it has no nodes, and forgets what is assigned."""

    is_scratch = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._assigned: dict[int, Tensor] = {}
        self._runs = (Example(0), Example(1))
        self._placeholders: list[SymbolicTensor] = []  # alive with the graph, as libraries hold them by weak references

    def placeholder(self, dtype: dtypes.DType, shape: TensorShape, name: str = "") -> SymbolicTensor:
        """Returns a tensor of the graph without value."""
        made = SymbolicTensor(_examples(dtype, shape), self, name, shape)
        self._placeholders.append(made)
        return made

    def sparse_placeholder(self, dtype: dtypes.DType, shape: TensorShape) -> SparseTensor:
        """Returns a sparse tensor of the graph: the first entries of its examples are present, in order."""
        rank = shape.rank
        if rank is None:
            raise ValueError("a sparse placeholder needs a shape with a known rank, such as [None, 3]")
        sizes = [x.dims for x in _examples(dtype, shape)]
        first, second = [wrap(np.array(dims, np.int64), dtypes.int64) for dims in sizes]
        dense_shape = SymbolicTensor((first, second), self, "shape")
        places = (_first_places(sizes[0], _BATCH[0]), _first_places(sizes[1], _BATCH[1]))
        indices = SymbolicTensor(places, self, "indices")
        self._placeholders.append(indices)
        return SparseTensor(indices, self.placeholder(dtype, TensorShape([None])), dense_shape)

    def for_examples(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], name: str = "Tensor"
    ) -> Any:
        """Calls a function with the examples of either size, eagerly; returns its results as tensors of the graph."""
        running = dispatch.thread.example
        if running is not None:
            given, keywords = _example((tuple(args), kwargs), running.index)
            with dispatch.traced_by(None):
                return function(*given, **keywords)
        return _merged(*self._results(function, args, kwargs), self, name)

    def call_for_examples(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a user's function, as `for_examples`, in this graph: what it assigns is dropped."""
        if dispatch.thread.example is not None:
            return function(*args, **kwargs)
        return _merged(*self._results(function, args, kwargs, self), self)

    def _results(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        trace: ScratchTrace | None = None,
    ) -> tuple[Any, Any]:
        """Calls a function with either example; with a known batch size if a batch of unknown size meets one."""
        results = []
        for run in self._runs:
            try:
                results.append(self._for_example(run, function, args, kwargs, trace))
            except InvalidArgumentError as error:
                size = _known_batch(error, _BATCH[run.index])
                if size is None:
                    raise
                args, kwargs = _with_batch((tuple(args), kwargs), size)
                break
        else:
            return results[0], results[1]
        first, second = (self._for_example(run, function, args, kwargs, trace) for run in self._runs)
        return first, second

    def _for_example(
        self,
        run: Example,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        trace: ScratchTrace | None = None,
    ) -> Any:
        given, keywords = _example((tuple(args), kwargs), run.index)
        dispatch.thread.example = run
        try:
            # Tapes around the graph record none of it; those that the function enters do.
            with dispatch.traced_by(trace), dispatch.recorded_by(()), np.errstate(all="ignore"):
                return drawing_from(Streams(0), lambda: function(*given, **keywords), ())
        finally:
            dispatch.thread.example = None

    def run(self, op: GraphOp, inputs: Sequence[Tensor], attrs: Attrs, line: Line | None = None) -> Any:
        """Runs an op on the examples, unless it runs for its effect."""
        if getattr(op, "effect", False):
            return None
        return self.for_examples(lambda *given: dispatch.run(op, given, attrs), inputs, {}, op.name)

    def verify(self, test: Callable[..., None], inputs: Sequence[Tensor]) -> None:
        """Drops the check: there are no values."""

    def target_is_unrecorded(self, target: Any) -> None:
        """Has the gradient of a symbolic tensor, which no tape records, computed with examples."""
        if isinstance(target, SymbolicTensor) and dispatch.thread.example is None:
            raise NeedsExamples(self.for_examples)

    def draw(self, take: Callable[[], Any]) -> Any:
        """Returns a state of its own for each example, so that no stream advances and drawn values are unknown."""
        return SymbolicTensor((wrap(state(0, 0), dtypes.uint64), wrap(state(1, 1), dtypes.uint64)), self, "seed")

    def read(self, variable: Variable) -> Tensor:
        """Returns the value assigned in the graph, or the variable's own; tapes record what examples read."""
        found = self._assigned.get(id(variable))
        value = variable._storage.snapshot() if found is None else found
        if dispatch.thread.example is None or isinstance(value, SymbolicTensor):
            return value
        value = value.own_read()
        for recorder in dispatch.thread.recorders:
            value.tracer = recorder.tracer_of(variable, value.tracer)
        return value

    def write(self, variable: Variable, value: Tensor) -> None:
        """Assigns in the graph only."""
        self._assigned[id(variable)] = value

    def made(self, variable: Variable) -> None:
        """Accepts the variable: it exists already."""

    def lifted_out(self, variable: Variable) -> None:
        """Accepts the variable."""

    def lifted(self, value: Any) -> Any:
        """Returns the initial value of a variable, zeros if it depends on a placeholder."""
        return value.examples[0] if isinstance(value, SymbolicTensor) else value

    def iterated(self) -> None:
        """Accepts the iteration, which needs a known size only."""

    def record(self, *_: Any) -> None:
        """Records nothing."""


class SymbolicOp(NamedTuple):
    """An op of a scratch graph, which does not keep its type, attributes and inputs."""

    name: str
    type: str = ""
    inputs: tuple[Tensor, ...] = ()
    device: str = ""


class SymbolicTensor(Unpicklable, Tensor):
    """A tensor of a scratch graph."""

    _instead = "it has no value until the function runs. Pickle the tf.function, or what it returns"

    __slots__ = ("_name", "_shape", "examples", "level", "place", "trace")

    def __init__(
        self, examples: tuple[Tensor, Tensor], trace: ScratchTrace, name: str, shape: TensorShape | None = None
    ) -> None:
        self.examples, self.trace = examples, trace
        self.dtype = examples[0].dtype
        self.tracer = None
        self.level = trace.level
        self._name = name
        self._shape = _common(examples) if shape is None else shape

    @property
    def dims(self) -> tuple[int, ...]:
        if (running := dispatch.thread.example) is not None:
            return self.examples[running.index].dims
        if not self._shape.is_fully_defined():
            raise NeedsExamples(self.trace.for_examples)
        return self.examples[0].dims

    @property
    def array(self) -> Any:
        if (running := dispatch.thread.example) is None:
            raise NeedsExamples(self.trace.for_examples)
        return self.examples[running.index].array

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def static_values(self) -> list[int | None]:
        """The values of a vector of sizes; those that differ between the examples are unknown."""
        first, second = (x.array.tolist() for x in self.examples)
        return [m if m == n else None for m, n in zip(first, second, strict=True)]

    def set_shape(self, shape: object) -> None:
        """Adds what `shape` knows to the shape of the tensor."""
        merged = self._shape.merge_with(shape)
        if merged != self._shape or merged.rank is None:
            self._shape = merged
            self.examples = _examples(self.dtype, merged)

    def interpret(self, op: Any, inputs: Sequence[Tensor], attrs: Attrs) -> Any:
        """Run `op` on the examples."""
        return self.trace.for_examples(lambda *given: _run(op, given, attrs), inputs, {}, op.title)

    def own_read(self) -> Tensor:
        """Returns the tensor itself."""
        return self

    @property
    def name(self) -> str:
        """The name of the op that made the tensor."""
        return f"{self._name}:0"

    @property
    def graph(self) -> Any:
        """The trace that this tensor belongs to."""
        return self.trace

    @property
    def op(self) -> SymbolicOp:
        """The name of the op that made the tensor; nothing else is known of it."""
        return SymbolicOp(self._name)

    @property
    def numpy(self) -> Any:
        raise AttributeError("'SymbolicTensor' object has no attribute 'numpy'")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if (running := dispatch.thread.example) is not None:
            return self.examples[running.index].__array__(dtype, copy)
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that you're "
            "trying to pass a Tensor to a NumPy call, which is not supported."
        )

    def __getitem__(self, key: Any) -> Tensor:
        return self.trace.for_examples(slicing.getitem, (self, key), {})

    def __len__(self) -> int:
        raise TypeError(f"len is not well defined for a symbolic Tensor ({self.name}). Please call `x.shape` rather "
                        "than `len(x)` for shape information.")  # fmt: skip

    def __iter__(self) -> Any:
        if self._shape.rank is None or (self._shape.rank and self._shape[0] is None):
            raise OperatorNotAllowedInGraphError("Cannot iterate over a tensor with unknown first dimension.")
        return super().__iter__()

    def __bool__(self) -> bool:
        if (running := dispatch.thread.example) is not None:
            return bool(self.examples[running.index])
        raise BranchNeedsExamples(self.trace.for_examples)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    __format__ = object.__format__  # type: ignore[assignment]


def _run(op: Any, inputs: Sequence[Tensor], attrs: Attrs) -> Any:
    """Runs an op on an example of each input."""
    try:
        return dispatch.run(op, inputs, attrs)
    except InvalidArgumentError:
        running = dispatch.thread.example
        found: Any = NotImplemented
        if op.family == "elementwise" and running is not None:
            found = run_merged(op, inputs, attrs, (_BATCH[running.index], _SIZE[running.index]))
        elif op.name == "matmul" and not attrs:
            a, b = with_equal_sizes(inputs[0], -1, inputs[1], -2)
            found = dispatch.run(op, (a, b), attrs) if a.dims[-1] == b.dims[-2] else found
        if found is NotImplemented:
            raise
        return found


def with_equal_sizes(a: Tensor, axis_of_a: int, b: Tensor, axis_of_b: int) -> tuple[Tensor, Tensor]:
    """Gives one of two examples the size of the other along an axis, if its own stands for an unknown size."""
    running = dispatch.thread.example
    unknown = () if running is None else (_BATCH[running.index], _SIZE[running.index])
    if a.dims[axis_of_a] in unknown:
        return _resized(a, axis_of_a, b.dims[axis_of_b]), b
    if b.dims[axis_of_b] in unknown:
        return a, _resized(b, axis_of_b, a.dims[axis_of_a])
    return a, b


def _resized(x: Tensor, axis: int, size: int) -> Tensor:
    dims = list(x.dims)
    dims[axis] = size
    return _zeros(x.dtype, tuple(dims), 0)  # numbers, which do not depend on the example


def _examples(dtype: dtypes.DType, shape: TensorShape) -> tuple[Tensor, Tensor]:
    """Returns zeros, or texts, of the two sizes; if the rank is unknown, of two ranks."""
    if shape.rank is None:
        return _zeros(dtype, (), 0), _zeros(dtype, _BATCH[:1], 1)
    sizes = [tuple((_SIZE if axis else _BATCH)[i] if n is None else n for axis, n in enumerate(shape)) for i in (0, 1)]
    return _zeros(dtype, sizes[0], 0), _zeros(dtype, sizes[1], 1)


def _first_places(dims: tuple[int, ...], count: int) -> Tensor:
    """Returns the indices of the first elements of a tensor, which begin again where it has fewer."""
    sizes = [max(n, 1) for n in dims]
    places = np.unravel_index(np.arange(count) % math.prod(sizes), sizes)
    return wrap(np.stack(places, 1).astype(np.int64), dtypes.int64)


def _zeros(dtype: dtypes.DType, dims: tuple[int, ...], example: int) -> Tensor:
    if dtype is dtypes.string:
        texts = np.empty(dims, object)
        texts[...] = _TEXT[example]
        return wrap(texts, dtype)
    # A single integer may be a step or a size, and a vector sizes or indices: they are unknown, so they differ.
    value = example + (not dims) if dtype.is_integer and len(dims) < 2 else 0
    return abstracted(wrap(np.broadcast_to(np.array(value, dtype.numpy), dims), dtype))


def _common(examples: Sequence[Tensor]) -> TensorShape:
    """Returns the shape of both examples: sizes that differ are unknown."""
    first, second = (x.dims for x in examples)
    if len(first) != len(second):
        return TensorShape(None)
    return TensorShape([m if m == n else None for m, n in zip(first, second, strict=True)])


def _example(structure: Any, i: int) -> Any:
    """Replaces the symbolic tensors of a structure by their examples."""
    if isinstance(structure, SymbolicTensor):
        return structure.examples[i]
    if isinstance(structure, slice):
        start, stop, step = (_example(part, i) for part in (structure.start, structure.stop, structure.step))
        if step is not structure.step and not int(step):
            step = 2  # instead of the 0 of an example, which is no step; the other example has 1
        return slice(start, stop, step)
    if nest.is_composite(structure) or nest.is_nested(structure):
        leaves = nest.flatten(structure, expand_composites=True)
        if not any(isinstance(x, SymbolicTensor | slice) for x in leaves):
            return structure
        found = nest.pack_sequence_as(structure, [_example(x, i) for x in leaves], expand_composites=True)
        return nest.map_structure(_with_rows, found)
    return structure


def _known_batch(error: BaseException, unknown: int) -> int | None:
    """Returns the first size of an operand that was rejected beside an example of an unknown batch, if there is one."""
    shapes = rejected_shapes(error)
    sizes = {dims[0] for dims in shapes if dims}
    if len(sizes) != 2 or unknown not in sizes or len({dims[1:] for dims in shapes if dims}) != 1:
        return None
    return min(sizes - {unknown})


def _with_batch(structure: Any, size: int) -> Any:
    """Replaces the symbolic tensors of a structure whose first size is unknown by zeros with this size."""

    def sized(x: Any) -> Any:
        if not isinstance(x, SymbolicTensor) or not x.shape.rank or x.shape[0] is not None:
            return x
        shape = TensorShape([size, *x.shape[1:]])
        return SymbolicTensor(_examples(x.dtype, shape), x.trace, x._name, shape)

    return nest.map_structure(sized, structure)


def _with_rows(x: Any) -> Any:
    """Divides the values of a ragged example into rows: those of placeholders do not match."""
    from ...ragged.constructors import rows_of  # imported lazily: few functions need it
    from ...ragged.partition import cut_at
    from ...ragged.tensor import RaggedTensor

    if not isinstance(x, RaggedTensor):
        return x
    values, splits = _with_rows(x.values), x.row_splits.array
    count = rows_of(values)
    if splits[-1] != count or np.any(splits[1:] < splits[:-1]):
        splits = np.full_like(splits, count)  # one row has all values, so that its length differs between the examples
        splits[0] = 0
    rows = cut_at(wrap(splits, x.row_splits.dtype), x._row_partition.static_uniform_row_length)
    return RaggedTensor(values, rows, internal=True)


def _merged(first: Any, second: Any, trace: ScratchTrace, name: str = "Tensor") -> Any:
    """Returns the results for both examples as a structure of symbolic tensors."""
    leaves = zip(nest.flatten(first, expand_composites=True), nest.flatten(second, expand_composites=True), strict=True)
    made = [
        SymbolicTensor((x, y), trace, name) if isinstance(x, Tensor) and not isinstance(x, SymbolicTensor) else x
        for x, y in leaves
    ]
    if nest.is_composite(first) or nest.is_nested(first):
        return nest.pack_sequence_as(first, made, expand_composites=True)
    return made[0]
