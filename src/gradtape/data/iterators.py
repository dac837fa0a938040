"""Iterators over datasets: `Iterator` returns tensors, `NumpyIterator` arrays."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Iterator as PythonIterator
from contextlib import nullcontext
from types import NoneType
from typing import Any, Generic

import numpy as np

from ..core import dtypes, errors, nest
from ..core.locks import call_in_child, fork_safe_rlock, is_held_elsewhere
from ..core.pickling import Unpicklable
from ..core.tensor import Tensor
from ..core.tracebacks import bounded, hide_frames
from ..engine.run.convert import to_tensor
from ..engine.run.dispatch import recorded_by, thread, traced_by
from ..graph.trace.traced import Untraceable
from ..ragged.tensor import RaggedTensor
from ..sparse.tensor import SparseTensor
from ..state.type_spec import LeafSpec, register_type_spec_from_value_converter
from ..state.variable import Variable
from .background import IN_CHILD
from .calls import start_pass
from .elements.specs import OptionalSpec
from .elements.structure import T, as_element, as_specs, map_leaves
from .resumable import CallableIterator

_END = object()


@bounded
class Iterator(Unpicklable, Generic[T]):
    """One pass over a dataset: `next(iterator)` or `get_next()` returns the next element.

    Tapes do not record the computation of elements. A function that has the iterator as an argument is traced for the
    elements that it takes; one that captures it runs eagerly.

    A checkpoint saves the number of elements taken; after a restore, the iterator skips as many in a new pass. If the
    order is random for each pass, it is that of the new pass.

    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> int(next(iterator)), int(iterator.get_next())
    (0, 1)
    >>> bool(iterator.get_next_as_optional().has_value())
    False
    """

    __module__ = "gradtape.data"

    _instead = "pickle the dataset, or the function that creates it, and save the position by tf.train.Checkpoint"

    supplies_elements = True  # to functions that take it as an argument

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._elements: PythonIterator[Any] = start_pass(dataset._elements)
        self._returned: deque[Any] = deque()  # elements that a function took and did not use: the next ones
        self._lock = fork_safe_rlock()  # threads may share the iterator, but a generator is not reentrant
        self._process = os.getpid()
        call_in_child(self._leave_to_parent)
        self._taken = 0
        self._place: Variable | None = None  # the checkpointed copy of `_taken`

    def _leave_to_parent(self) -> None:
        """Called in a forked child, in which an element that another thread was computing stays incomplete."""
        if is_held_elsewhere(self._lock):
            self._elements = CallableIterator(self._raise_in_child)
            self._returned.clear()

    def _raise_in_child(self) -> Any:
        raise RuntimeError(
            f"Another thread of process {self._process} was computing an element of this iterator, and {IN_CHILD}"
        )

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if thread.trace is not None:
            raise Untraceable("the elements of a dataset are made at every call")
        try:
            with self._lock, recorded_by(()) if thread.recorder is not None else nullcontext():
                self._follow()
                element: T = self._returned.popleft() if self._returned else next(self._elements)
                self._move(1)
                return element
        except Exception as error:
            hide_frames(error)
            raise

    def give_back(self, elements: Sequence[Any]) -> None:
        """Makes `elements`, which were the last ones taken, the next ones."""
        with self._lock:
            self._follow()
            self._returned.extendleft(reversed(elements))
            self._move(-len(elements))

    def _move(self, count: int) -> None:
        self._taken += count
        if self._place is not None:
            self._place.assign(self._taken)

    def next(self) -> T:
        """Returns the next element; raises `StopIteration` at the end."""
        return self.__next__()

    def _follow(self) -> None:
        """Moves to the position of a restored checkpoint."""
        if self._place is not None and int(self._place) != self._taken:
            self._elements, self._taken = start_pass(self._dataset._elements), int(self._place)
            self._returned.clear()
            for _ in range(self._taken):
                next(self._elements, None)

    _owns_variables = True

    def _owned(self) -> dict[str, Any]:
        with self._lock, traced_by(None):
            if self._place is None:
                self._place = Variable(self._taken, trainable=False, dtype=dtypes.int64, name="position")
        return {"position": self._place}

    def get_next(self) -> T:
        """Returns the next element; raises `OutOfRangeError` at the end."""
        found: Any = next(self, _END)
        if found is _END:
            raise errors.OutOfRangeError("End of sequence")
        return found

    _next_internal = get_next  # TensorFlow's name, which code that serves both of its versions calls

    def get_next_as_optional(self) -> Optional[T]:
        """Returns the next element as an `Optional`, empty at the end."""
        found = next(self, _END)
        return Optional(found, lambda: self.element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of an element."""
        return self._dataset.element_spec


@bounded
class Optional(Generic[T]):
    """A value that may be absent.

    >>> some = tf.experimental.Optional.from_value(3)
    >>> bool(some.has_value()), int(some.get_value())
    (True, 3)
    """

    __module__ = "gradtape.experimental"

    def __init__(self, value: Any, element_spec: Callable[[], Any]) -> None:
        self._value = value
        self._find_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        return self._find_spec()

    @staticmethod
    def from_value(value: Any) -> Optional[Any]:
        """Creates an optional that holds `value`."""
        element = as_element(value)
        return Optional(element, lambda: as_specs(element))

    @staticmethod
    def empty(element_spec: Any) -> Optional[Any]:
        """Creates an empty optional."""
        return Optional(_END, lambda: element_spec)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._value is _END:
            return Optional.empty, (self.element_spec,)
        return Optional.from_value, (self._value,)

    def has_value(self, name: str | None = None) -> Tensor:
        """Returns whether there is a value."""
        return to_tensor(self._value is not _END)

    def get_value(self, name: str | None = None) -> T:
        """Returns the value; raises `InvalidArgumentError` if there is none."""
        if self._value is _END:
            raise errors.InvalidArgumentError("The given optional does not have a value.")
        return self._value


@bounded
class NumpyIterator(Unpicklable):
    """One pass over a dataset, with NumPy arrays as elements. A checkpoint saves its position.

    >>> list(tf.data.Dataset.range(3).as_numpy_iterator())
    [np.int64(0), np.int64(1), np.int64(2)]
    """

    __module__ = "gradtape.data"

    _instead = "pickle the dataset, or the function that creates it"
    _owns_variables = True

    def __init__(self, dataset: Any) -> None:
        if thread.trace is not None:
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        for spec in nest.flatten(dataset._known(may_run=False)):  # others are checked when there is an element
            _check_type(getattr(spec, "value_type", None))
        self._iterator = Iterator(dataset)

    def _owned(self) -> dict[str, Any]:
        return self._iterator._owned()

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_leaves(_as_numpy, next(self._iterator))

    def next(self) -> Any:
        """Returns the next element; raises `StopIteration` at the end."""
        return self.__next__()

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _as_numpy(leaf: Any) -> Any:
    if leaf is None:
        return None
    _check_type(type(leaf))
    if isinstance(leaf, SparseTensor):
        array = np.zeros(leaf.dense_shape.numpy(), leaf.dtype.as_numpy_dtype)
        array[tuple(leaf.indices.numpy().T)] = leaf.values.numpy()
    else:
        array = leaf.numpy()
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _check_type(kind: Any) -> None:
    if kind is not None and not issubclass(kind, Tensor | RaggedTensor | SparseTensor | NoneType):
        raise TypeError(
            f"`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type {kind}"
        )


OptionalSpec.value_type = Optional
register_type_spec_from_value_converter(Optional, OptionalSpec.from_value)


class IteratorSpec(LeafSpec):
    """The spec of an iterator over a dataset, as an argument of a function.

    >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int64)).is_compatible_with(iter(tf.data.Dataset.range(3)))
    True
    """

    __module__ = "gradtape.data"

    __slots__ = ("_element_spec",)
    value_type = Iterator

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Iterator[Any]) -> IteratorSpec:
        """Returns the spec of an iterator."""
        return IteratorSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether an iterator or spec is compatible with this spec."""
        spec = self.from_value(spec_or_value) if isinstance(spec_or_value, Iterator) else spec_or_value
        return super().is_compatible_with(spec)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)


register_type_spec_from_value_converter(Iterator, IteratorSpec.from_value, allow_subclass=True)
