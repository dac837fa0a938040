"""`tf.queue`: queues of tensors between threads. In a function, queue operations happen in every run."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import dtypes as _dtypes
from ...core import errors
from ...core.pickling import Unpicklable
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.type_hints import TensorLike
from ...datasets.order import SeedGenerator
from ...engine.run.convert import to_tensor
from ...engine.run.randomness import seeds_of_op
from ..arrays.conversion import convert_to_tensor
from ..runtime.system import numpy_function
from .queue_stores import PaddingStore, PriorityStore, ShufflingStore, Store

NAMESPACES = ("queue",)
__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]

_numbers = itertools.count()


class QueueBase(Unpicklable):
    """The base class of queues. An element is one tensor or several components, which may have names.

    >>> import gradtape as tf
    >>> queue = tf.queue.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []], names=["id", "text"])
    >>> queue.enqueue_many({"id": [1, 2, 3], "text": ["a", "b", "c"]})
    >>> int(queue.dequeue()["id"]), queue.dequeue_many(2)["text"].numpy().tolist()
    (1, [b'b', b'c'])
    """

    _instead = "pass the elements on, or use a multiprocessing.Queue between processes"

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(
                    f"Queue {what} must have the same length as dtypes, received len({what})={len(given)}, "
                    f"len(dtypes)={len(dtypes)}"
                )
        self._dtypes = list(dtypes)
        self._shapes = [TensorShape(None) for _ in dtypes] if shapes is None else [TensorShape(s) for s in shapes]
        self._names = names
        self._queue_ref: Store = queue_ref

    @staticmethod
    def from_list(index: TensorLike, queues: Any) -> QueueBase:
        """Returns `queues[index]` with the properties that all queues share.

        >>> import gradtape as tf
        >>> queues = [tf.queue.FIFOQueue(3, tf.int32, shapes=[[n]]) for n in (2, 3)]
        >>> tf.queue.QueueBase.from_list(1, queues).shapes
        [TensorShape([None])]
        """
        if not isinstance(queues, list) or not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError(f"A list of queues expected, got {queues!r}")
        first = queues[0]
        for what in ("dtypes", "names"):
            if any(getattr(queue, what) != getattr(first, what) for queue in queues):
                raise TypeError(
                    f"Queues do not have matching component {what}: {[getattr(queue, what) for queue in queues]}"
                )
        at = int(to_tensor(index))
        if not 0 <= at < len(queues):
            raise errors.InvalidArgumentError(f"indices = {at} is not in [0, {len(queues)}): there is no such queue")
        shapes = [_common(shapes) for shapes in zip(*(queue.shapes for queue in queues), strict=True)]
        return QueueBase(first.dtypes, shapes, first.names, queues[at].queue_ref)

    @property
    def queue_ref(self) -> Any:
        """The storage of the elements."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The queue's name."""
        return self._queue_ref.name

    @property
    def dtypes(self) -> list[Any]:
        """The dtypes of the components of an element."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components of an element, as far as they are known."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The names of the components of an element, or None."""
        return self._names

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Adds an element when there is space; raises `CancelledError` if the queue is closed."""
        tensors = self._parts(vals)
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.shape.assert_is_compatible_with(shape)
        self._run(lambda *parts: self._queue_ref.put([list(parts)]), tensors, [])

    def enqueue_many(self, vals: Any, name: str | None = None) -> None:
        """Adds the rows of tensors, one element each."""
        tensors = self._parts(vals)
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            if not tensor.shape.rank:
                raise ValueError(f"Shape {tensor.shape} must have rank at least 1: its rows become elements")
            tensor.shape[1:].assert_is_compatible_with(shape)
        if len({tensor.shape[0] for tensor in tensors}) > 1:
            raise ValueError(
                f"Dimensions are not compatible: the parts have {[tensor.shape[0] for tensor in tensors]} rows"
            )
        self._run(
            lambda *parts: self._queue_ref.put([list(row) for row in zip(*parts, strict=True)]),
            tensors,
            [],
        )

    def dequeue(self, name: str | None = None) -> Any:
        """Removes an element when there is one; raises `OutOfRangeError` if the queue is closed and empty."""
        return self._named(self._run(lambda: self._queue_ref.take(1)[0], [], self._dtypes))

    def dequeue_many(self, n: TensorLike, name: str | None = None) -> Any:
        """Removes `n` elements as one batch, when there are that many."""
        return self._batch(n, fewer=False)

    def dequeue_up_to(self, n: TensorLike, name: str | None = None) -> Any:
        """Removes `n` elements as one batch, or the remaining ones if the queue is closed."""
        return self._batch(n, fewer=True)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> None:
        """Closes the queue for new elements; existing ones can still be removed."""
        self._run(lambda: self._queue_ref.close(bool(cancel_pending_enqueues)), [], [])

    def is_closed(self, name: str | None = None) -> Tensor:
        """Returns whether the queue is closed."""
        return self._run(lambda: [np.bool_(self._queue_ref.closed)], [], [_dtypes.bool])[0]

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of elements."""
        return self._run(lambda: [np.int32(len(self._queue_ref))], [], [_dtypes.int32])[0]

    def _run(self, call: Callable[..., Any], inputs: list[Any], results: list[Any]) -> list[Tensor]:
        """Runs `call` on arrays, now or, in a function, in every run."""
        found = numpy_function(lambda *arrays: call(*arrays) or [], inputs, results)
        return found if isinstance(found, list) else [found]

    def _batch(self, n: Any, fewer: bool) -> Any:
        if not all(shape.rank is not None for shape in self._shapes):
            raise errors.InvalidArgumentError(
                f"{self._queue_ref.kind}'s DequeueMany and DequeueUpTo require the components to have specified "
                "shapes: give the queue `shapes`"
            )

        def take(count: Any) -> list[Any]:
            if int(count) < 0:
                raise errors.InvalidArgumentError(f"DequeueManyOp requested {int(count)} < 0 elements")
            elements = self._queue_ref.take(int(count), fewer)
            parts = zip(*elements, strict=True) if elements else [()] * len(self._dtypes)
            return [self._stacked(rows, i) for i, rows in enumerate(parts)]

        return self._named(self._run(take, [to_tensor(n)], self._dtypes))

    def _stacked(self, rows: Sequence[Any], part: int) -> Any:
        if not rows:
            return np.empty([0, *(size or 0 for size in self._shapes[part])], self._dtypes[part].numpy)
        return np.stack(rows)

    def _parts(self, vals: Any) -> list[Tensor]:
        """Returns an element's components in order, as tensors."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(map(str, vals)) != sorted(map(str, self._names)):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue. Dictionary: {sorted(map(str, vals))}, "
                    f"Queue: {sorted(self._names)}"
                )
            vals = [vals[key] for key in self._names]
        elif self._names:
            raise ValueError(f"You must enqueue a dictionary in a Queue with names: {self._names}")
        elif not isinstance(vals, list | tuple):
            vals = [vals]
        if len(vals) != len(self._dtypes):
            raise errors.InvalidArgumentError(
                f"Signature mismatch: an element of this queue has {len(self._dtypes)} parts, got {len(vals)}"
            )
        return [convert_to_tensor(part, dtype) for part, dtype in zip(vals, self._dtypes, strict=True)]

    def _named(self, tensors: list[Tensor]) -> Any:
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors


class FIFOQueue(QueueBase):
    """A first-in, first-out queue.

    >>> import gradtape as tf
    >>> queue = tf.queue.FIFOQueue(3, tf.int32)
    >>> queue.enqueue(1)
    >>> queue.enqueue(2)
    >>> int(queue.dequeue()), int(queue.size())
    (1, 1)
    """

    def __init__(
        self,
        capacity: Any,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        kinds = _as_dtypes(dtypes)
        store = Store(int(capacity), _unique(name))
        super().__init__(kinds, _check_shapes(shapes, kinds), _check_names(names, kinds), store)


class PaddingFIFOQueue(QueueBase):
    """A `FIFOQueue` whose elements may differ in sizes that are None in `shapes`; batches are padded with zeros.

    >>> import gradtape as tf
    >>> queue = tf.queue.PaddingFIFOQueue(3, tf.int32, shapes=[[None]])
    >>> for n in (1, 3):
    ...     queue.enqueue([tf.range(1, n + 1)])
    >>> queue.dequeue_many(2).numpy().tolist()
    [[1, 0, 0], [1, 2, 3]]
    """

    def __init__(
        self,
        capacity: Any,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "padding_fifo_queue",
    ) -> None:
        kinds = _as_dtypes(dtypes)
        if not isinstance(shapes, list | tuple) or not shapes or any(s is None or isinstance(s, int) for s in shapes):
            raise ValueError(f"When providing partial shapes, a list of shapes must be provided, got {shapes!r}")
        found = [TensorShape(shape) for shape in shapes]
        if any(shape.rank is None for shape in found):
            raise ValueError(f"All shapes must have a defined rank: {found}")
        if len(found) != len(kinds):
            raise ValueError(
                f"Shapes must be provided for all components, but received {len(kinds)} dtypes and {len(found)} shapes."
            )
        super().__init__(kinds, found, _check_names(names, kinds), PaddingStore(int(capacity), _unique(name)))

    def _stacked(self, rows: Sequence[Any], part: int) -> Any:
        if self._shapes[part].is_fully_defined() or not rows:
            return super()._stacked(rows, part)
        dtype, sizes = self._dtypes[part], np.max([row.shape for row in rows], axis=0)
        batch: Any = np.full([len(rows), *sizes], b"" if dtype is _dtypes.string else 0, dtype.numpy)
        for i, row in enumerate(rows):
            batch[(i, *map(slice, row.shape))] = row
        return batch


class PriorityQueue(QueueBase):
    """A queue ordered by the first component of an element, an int64 priority: the smallest is removed first.

    >>> import gradtape as tf
    >>> queue = tf.queue.PriorityQueue(5, tf.string, shapes=[[]])
    >>> queue.enqueue_many([[3, 1, 2], ["c", "a", "b"]])
    >>> [int(part) if part.dtype is tf.int64 else part.numpy() for part in queue.dequeue()]
    [1, b'a']
    """

    def __init__(
        self,
        capacity: Any,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "priority_queue",
    ) -> None:
        kinds = _as_dtypes(types)
        fixed = _check_shapes(shapes, kinds)
        super().__init__(
            [_dtypes.int64, *kinds],
            None if fixed is None else [TensorShape([]), *fixed],
            names,
            PriorityStore(int(capacity), _unique(name)),
        )

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Adds an element: a priority and its other components."""
        priority = self._parts(vals)[0]
        if priority.shape.rank:
            raise errors.InvalidArgumentError(f"a priority is a scalar int64, got one of shape {priority.shape}")
        super().enqueue(vals, name)


class RandomShuffleQueue(QueueBase):
    """A queue with random order. Until it is closed, `min_after_dequeue` elements remain for mixing.

    >>> import gradtape as tf
    >>> tf.random.set_seed(7)
    >>> queue = tf.queue.RandomShuffleQueue(20, 2, tf.int32, shapes=[[]], seed=3)
    >>> queue.enqueue_many([tf.range(12)])
    >>> queue.dequeue_many(4).numpy().tolist()
    [9, 5, 0, 11]
    """

    def __init__(
        self,
        capacity: Any,
        min_after_dequeue: Any,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: Any = None,
        shared_name: str | None = None,
        name: str | None = "random_shuffle_queue",
    ) -> None:
        kinds, room, keep = _as_dtypes(dtypes), int(capacity), int(min_after_dequeue)
        if keep < 0 or (0 <= room <= keep):
            raise errors.InvalidArgumentError(f"min_after_dequeue {keep} must be >= 0 and < capacity {room}")
        words = SeedGenerator(seeds_of_op(None if seed is None else int(seed)), again_each_time=False).begin()
        store = ShufflingStore(room, _unique(name), keep, words.__next__)
        super().__init__(kinds, _check_shapes(shapes, kinds), _check_names(names, kinds), store)


def _unique(name: str | None) -> str:
    return f"{name or 'queue'}_{next(_numbers)}"


def _as_dtypes(dtypes: Any) -> list[Any]:
    return [_dtypes.as_dtype(kind) for kind in (dtypes if isinstance(dtypes, list | tuple) else [dtypes])]


def _check_names(names: Any, kinds: list[Any]) -> list[Any] | None:
    if names is None:
        return None
    found = list(names) if isinstance(names, list | tuple) else [names]
    if len(found) != len(kinds):
        raise ValueError(
            "List of names must have the same length as the list of dtypes, received "
            f"len(names)={len(found)}, len(dtypes)={len(kinds)}"
        )
    return found


def _check_shapes(shapes: Any, kinds: list[Any]) -> list[TensorShape] | None:
    """Returns fully known shapes, one per component; None if none are given."""
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, list | tuple):
        raise TypeError(f"Shapes must be a TensorShape or a list or tuple of TensorShapes, got {type(shapes)} instead.")
    if all(size is None or isinstance(size, int) for size in shapes):
        shapes = [shapes]
    found = [TensorShape(shape) for shape in shapes]
    if not all(shape.is_fully_defined() for shape in found):
        raise ValueError(f"All shapes must be fully defined: {found}. A `tf.queue.PaddingFIFOQueue` takes others")
    if len(found) != len(kinds):
        raise errors.InvalidArgumentError(f"Different number of component types. Types: {kinds}, Shapes: {found}")
    return found


def _common(shapes: Sequence[TensorShape]) -> TensorShape:
    """Returns the common part of all shapes."""
    if len({shape.rank for shape in shapes}) > 1 or shapes[0].rank is None:
        return TensorShape(None)
    return TensorShape([sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)])
