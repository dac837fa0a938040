"""Iterators that combine elements into batches, padded batches, windows and groups, and that split batches."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, wrap
from ..engine.run.convert import to_array, to_tensor
from ..sparse.tensor import SparseTensor
from ..state.specs import TensorSpec
from .elements.structure import (
    as_specs,
    is_nest,
    leaves,
    map_leaves,
    pack_leaves,
    row_spec,
    rows,
    stack_elements,
    zip_rows,
)  # fmt: skip
from .resumable import END, CallableIterator, ChainIterator, Failure, FailureIterator


def groups(elements: Iterator[Any], size: int, drop_remainder: bool, aligned: bool = False) -> Iterator[list[Any]]:
    """Groups elements into lists of `size`; the last one may be shorter, or is dropped.

    An error ends a group: the next one starts after the error or, if `aligned`, where it would start without the error.
    """

    def step() -> list[Any]:
        group: list[Any] = []
        try:
            group.extend(itertools.islice(elements, size))  # keeps the elements before an error
        except Exception:
            for _ in range(size - len(group) - 1 if aligned else 0):
                next(FailureIterator(elements), END)
            raise
        if not group or (drop_remainder and len(group) < size):
            raise StopIteration
        return group

    return CallableIterator(step)


def batches(
    elements: Iterator[Any], size: int, drop_remainder: bool, specs: Any = None, aligned: bool = False
) -> Iterator[Any]:
    """Groups elements into batches of `size`; `specs` are the element specs, if known."""
    return map(_batching(specs), groups(elements, size, drop_remainder, aligned))


def _batching(specs: Any) -> Callable[[list[Any]], Any]:
    """Returns the function that stacks elements with these specs, if known."""
    if specs is not None and any(nest.is_composite(spec) for spec in leaves(specs)):
        from .elements.structure import has_ragged, stack_as

        if has_ragged(specs):
            return lambda group: stack_as(specs, group)
    return stack_elements


def iterate_rows(elements: Iterator[Any]) -> Iterator[Any]:
    """Yields the rows of the elements."""
    return ChainIterator(map(_rows, elements))


def _rows(element: Any) -> Iterator[Any]:
    if type(element) is Tensor:
        return rows(element)
    return (pack_leaves(element, iter(row)) for row in zip_rows(leaves(element)))


def row_at(element: Any, index: int) -> Any:
    """Returns a row of an element."""
    return next(itertools.islice(_rows(element), index, None))


def regroup_rows(
    elements: Iterator[Any], sizes: Sequence[int], drop_remainder: bool, specs: Any, find_specs: Callable[[], Any]
) -> Iterator[Any]:
    """Regroups rows into batches of the given sizes, in turn; `specs` are the row specs, if known.

    A size of zero is an empty batch, for which no input is read.
    """
    sizes_in_turn = itertools.cycle(sizes)
    ended = False

    def note_specs(element: Any) -> Any:
        nonlocal specs
        if specs is None:
            specs = map_leaves(row_spec, as_specs(element))
        return element

    rows_of_all = iterate_rows(map(note_specs, elements))

    def step() -> Any:
        nonlocal ended
        size = next(sizes_in_turn)
        if ended:
            raise StopIteration
        if not size:
            return map_leaves(_empty_batch, find_specs() if specs is None else specs)
        group = list(itertools.islice(rows_of_all, size))
        ended = len(group) < size
        if ended and (drop_remainder or not group):
            raise StopIteration
        try:
            return _batching(specs)(group)
        except errors.InvalidArgumentError as error:  # TensorFlow's error class for rows of different shapes
            raise errors.FailedPreconditionError(error.message) from None

    return CallableIterator(step)


def _empty_batch(spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        raise errors.UnimplementedError(f"An empty batch of {spec} is not supported: use positive batch sizes")
    dims = [0 if size is None else size for size in spec.shape] if spec.shape.rank is not None else []
    return wrap(np.zeros((0, *dims), spec.dtype.numpy), spec.dtype)


def iterate_padded_batches(
    elements: Iterator[Any], size: int, drop_remainder: bool, shapes: Any, fillings: Any
) -> Iterator[Any]:
    """Batches elements, padding each to the given shape or to the largest of the batch."""

    def padded(group: list[Any]) -> Any:
        first = group[0]
        wanted, values = up_to(first, shapes), up_to(first, fillings)
        columns = zip(*map(leaves, group), strict=True)
        made = [_pad_tensors(*parts) for parts in zip(columns, wanted, values, strict=True)]
        return pack_leaves(first, iter(made))

    return map(padded, groups(elements, size, drop_remainder))


def sparse_batches(elements: Iterator[Any], size: int, row_shape: TensorShape) -> Iterator[SparseTensor]:
    """Batches elements as sparse tensors with all entries explicit; an undefined size becomes the batch's maximum."""

    def checked(tensor: Any) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"`sparse_batch` takes datasets of single tensors, got an element {tensor!r}")
        if len(tensor.dims) != row_shape.rank:
            raise errors.InvalidArgumentError(
                f"Input element had shape ({list(tensor.dims)}) that is incompatible with the row shape ({row_shape})."
            )
        if any(most is not None and n > most for n, most in zip(tensor.dims, row_shape, strict=True)):
            raise errors.DataLossError(
                f"Input element had shape ({list(tensor.dims)}) that is larger than the row shape ({row_shape})."
            )
        return tensor

    # An element is checked when it is read: in TensorFlow too, the batch that follows an error begins after it.
    return map(lambda group: _sparse_batch(group, row_shape), groups(map(checked, elements), size, False))


def _sparse_batch(group: list[Tensor], row_shape: TensorShape) -> SparseTensor:
    first = group[0]
    largest = [max(sizes) for sizes in zip(*[tensor.dims for tensor in group], strict=True)]
    dims = [n if most is None else most for n, most in zip(largest, row_shape, strict=True)]
    places = [np.argwhere(np.ones(tensor.dims, bool)) for tensor in group]
    indices = [np.insert(at, 0, row, axis=1) for row, at in enumerate(places)]
    values = np.concatenate([np.ravel(tensor.array) for tensor in group])
    return SparseTensor(
        wrap(np.concatenate(indices).astype(np.int64), dtypes.int64),
        wrap(values, first.dtype),
        wrap(np.array([len(group), *dims], np.int64), dtypes.int64),
    )


def up_to(structure: Any, given: Any) -> list[Any]:
    """Broadcasts `given` to the leaves of `structure`: a value for a subtree applies to all leaves below it."""
    if not is_nest(structure):
        return [given]
    if not is_nest(given):
        return [given] * len(leaves(structure))
    found: list[Any] = []
    for part, its in zip(nest.parts(structure), nest.parts(given), strict=True):
        found += up_to(part, its)
    return found


def normalize_padded_shape(shape: Any) -> TensorShape:
    """Normalizes a user's padded shape; None or -1 is a size determined by the batch."""
    if shape is None or isinstance(shape, TensorShape):
        return TensorShape(shape)
    if not isinstance(shape, Tensor | np.ndarray) and any(size is None for size in shape):
        return TensorShape([None if size == -1 else size for size in shape])
    sizes = to_array(to_tensor(shape, dtypes.int64) if np.size(shape) == 0 else shape)
    if np.ndim(sizes) != 1:
        given = TensorShape(np.shape(sizes))
        raise ValueError(f"Padded shape {shape} must be a `tf.int64` vector tensor, but its shape was {given}.")
    if sizes.dtype.kind not in "iu":
        kind = to_tensor(shape).dtype.name
        raise TypeError(f"Padded shape {shape} must be a `tf.int64` vector tensor, but its element type was {kind}.")
    return TensorShape([None if size == -1 else size for size in sizes.tolist()])


def padded_component_shape(component: TensorShape, shape: Any) -> TensorShape:
    """Returns the shape of a padded component; raises `ValueError` if its elements do not fit into the padded shape."""
    if shape is None:
        return component
    padded = normalize_padded_shape(shape)
    if component.rank is None or padded.rank is None:
        return padded
    fits = padded.rank == component.rank and all(
        size is None or given is None or size >= given for size, given in zip(padded, component, strict=True)
    )
    if not fits:
        raise ValueError(
            f"The padded shape {padded} is not compatible with the shape {component} of the corresponding input "
            "component."
        )
    return padded


def _pad_tensors(tensors: Sequence[Tensor], shape: Any, filling: Any) -> Tensor:
    first = tensors[0]
    other = next((t for t in tensors if len(t.dims) != len(first.dims)), None)
    if other is not None:
        raise errors.InvalidArgumentError(
            f"All elements in a batch must have the same rank, got shapes {first.shape} and {other.shape}"
        )
    largest = tuple(max(sizes) for sizes in zip(*[t.dims for t in tensors], strict=True))
    wanted = normalize_padded_shape(shape)
    if wanted.rank is not None:
        if wanted.rank != len(largest):
            raise errors.InvalidArgumentError(
                f"All elements in a batch must have the same rank as the padded shape: it is {wanted}, an element has "
                f"shape {first.shape}"
            )
        if any(size is not None and size < least for size, least in zip(wanted, largest, strict=True)):
            raise errors.DataLossError(
                f"Attempted to pad to a smaller size than the input element: {wanted} is less than {list(largest)}"
            )
        largest = tuple(least if size is None else size for size, least in zip(wanted, largest, strict=True))
    value = _filling(filling, first)
    array = np.full((len(tensors), *largest), value, first.dtype.numpy)
    for row, tensor in zip(array, tensors, strict=True) if largest else ():
        row[tuple([slice(size) for size in tensor.dims])] = tensor.array
    if not largest:
        array[:] = [tensor.array[()] for tensor in tensors]
    return wrap(array, first.dtype)


def _filling(filling: Any, like: Tensor) -> Any:
    if filling is None:
        return b"" if like.dtype is dtypes.string else 0
    try:
        return to_tensor(filling, like.dtype).array[()]
    except (TypeError, ValueError):
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` value {filling!r} does not match type {like.dtype!r} of the "
            "corresponding input component."
        ) from None


def windows(elements: Iterator[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> Iterator[list[Any]]:
    """Returns lists of `size` elements, `stride` apart; each list starts `shift` elements after the previous one."""
    span = (size - 1) * stride + 1
    seen: deque[Any] = deque()

    def take() -> bool:
        """Reads an element and returns whether there was one. Windows with an error raise it, as in TensorFlow."""
        try:
            element = next(elements, END)
        except errors.OpError as error:
            element = Failure(error)
        if element is not END:
            seen.append(element)
        return element is not END

    def step() -> list[Any]:
        while len(seen) < span and take():
            pass
        if not seen or (len(seen) < span and drop_remainder):
            raise StopIteration
        window = list(itertools.islice(seen, 0, span, stride))
        for _ in range(shift):
            if seen or take():
                seen.popleft()
        for element in window:
            if type(element) is Failure:
                raise element.error
        return window

    return CallableIterator(step)


class GroupByWindowIterator(Iterator[Any]):
    """Calls `reduced(key, elements)` for each group of `size_of(key)` elements with the same key, and for the rest."""

    def __init__(
        self,
        elements: Iterator[Any],
        key_of: Callable[[Any], int],
        size_of: Callable[[int], int],
        reduced: Callable[[int, list[Any]], Iterator[Any]],
    ) -> None:
        self._elements, self._key_of, self._size_of, self._reduced = elements, key_of, size_of, reduced
        self._groups: dict[int, list[Any]] = {}
        self._results: Iterator[Any] = iter(())  # results of the last complete group
        self._ended = False

    def __next__(self) -> Any:
        while (result := next(self._results, END)) is END:
            element = END if self._ended else next(self._elements, END)
            if element is END:
                self._ended = True
                if not self._groups:
                    raise StopIteration
                key = min(self._groups)
            else:
                key = self._key_of(element)
                group = self._groups.setdefault(key, [])
                group.append(element)
                if len(group) < self._size_of(key):
                    continue
            self._results = self._reduced(key, self._groups.pop(key))
        return result
