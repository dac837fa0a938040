"""`tf.data` on lists: the slow, obvious reference for random pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf

from ._dataset_programs import FUNCTIONS


class Lists:
    """A dataset as the list of its elements: nested tuples and dicts of NumPy arrays.

    Args:
      elements: the elements.
      sample: what an element is like, of which the list may have none: its nest, its dtypes and ranks.
    """

    def __init__(self, elements: list[Any], sample: Any) -> None:
        self.elements = elements
        self.sample = sample

    @staticmethod
    def range(*args: Any) -> Lists:
        return Lists([np.int64(n) for n in range(*args)], np.int64(0))

    @staticmethod
    def from_tensors(element: Any) -> Lists:
        return Lists([element], element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Lists:
        return Lists([tensors], tensors).unbatch()

    @staticmethod
    def zip(*datasets: Any) -> Lists:
        nest = datasets[0] if len(datasets) == 1 else datasets
        lengths: list[int] = []
        map_nest(lambda dataset: lengths.append(len(dataset.elements)), nest)
        found = [map_nest(lambda dataset: dataset.elements[i], nest) for i in range(min(lengths))]  # noqa: B023
        return Lists(found, map_nest(lambda dataset: dataset.sample, nest))

    @staticmethod
    def choose_from_datasets(datasets: list[Lists], choices: Lists, stop_on_empty_dataset: bool = True) -> Lists:
        rest, found = [list(dataset.elements) for dataset in datasets], []
        for choice in choices.elements:
            if rest[choice]:
                found.append(rest[choice].pop(0))
            elif stop_on_empty_dataset:
                break
        return Lists(found, datasets[0].sample)

    def map(self, function: Any, **_: Any) -> Lists:
        return Lists([_called(function, element) for element in self.elements], _called(function, self.sample))

    def filter(self, predicate: Any) -> Lists:
        return Lists([element for element in self.elements if _called(predicate, element)], self.sample)

    def take_while(self, predicate: Any) -> Lists:
        wrong = [i for i, element in enumerate(self.elements) if not _called(predicate, element)]
        return Lists(self.elements[: wrong[0]] if wrong else self.elements, self.sample)

    def flat_map(self, function: Any) -> Lists:
        found = [x for element in self.elements for x in _called(function, element).elements]
        return Lists(found, _called(function, self.sample).sample)

    def interleave(
        self, function: Any, cycle_length: int, block_length: int = 1, num_parallel_calls: int = 1
    ) -> Lists:
        if num_parallel_calls > cycle_length:
            raise tf.errors.InvalidArgumentError("more calls than datasets")
        waiting = [list(_called(function, element).elements) for element in self.elements]
        slots: list[Any] = [None] * cycle_length
        found: list[Any] = []
        while waiting or any(slot is not None for slot in slots):
            for i in range(cycle_length):
                if slots[i] is None and waiting:
                    slots[i] = waiting.pop(0)
                if slots[i] is not None:
                    block, slots[i] = slots[i][:block_length], slots[i][block_length:]
                    found += block
                    if len(block) < block_length:
                        slots[i] = None
        return Lists(found, _called(function, self.sample).sample)

    def scan(self, state: Any, function: Any) -> Lists:
        sample, found = function(state, self.sample)[1], []
        for element in self.elements:
            state, output = function(state, element)
            found.append(output)
        return Lists(found, sample)

    def enumerate(self, start: int = 0) -> Lists:
        return Lists([(np.int64(i), element) for i, element in enumerate(self.elements, start)],
                     (np.int64(0), self.sample))  # fmt: skip

    def take(self, count: int) -> Lists:
        return Lists(self.elements if count < 0 else self.elements[:count], self.sample)

    def skip(self, count: int) -> Lists:
        return Lists([] if count < 0 else self.elements[count:], self.sample)

    def shard(self, count: int, index: int) -> Lists:
        return Lists(self.elements[index::count], self.sample)

    def repeat(self, count: int) -> Lists:
        return Lists(self.elements * count, self.sample)

    def concatenate(self, other: Lists) -> Lists:
        return Lists(self.elements + other.elements, self.sample)

    def cache(self) -> Lists:
        return self

    def prefetch(self, size: int | None) -> Lists:
        return self

    def with_options(self, options: Any) -> Lists:
        return self

    def groups(self, size: int, drop_remainder: bool) -> list[list[Any]]:
        groups = [self.elements[i : i + size] for i in range(0, len(self.elements), size)]
        return [group for group in groups if len(group) == size or not drop_remainder]

    def batch(self, size: int, drop_remainder: bool = False, **_: Any) -> Lists:
        found = [_joined(group, _stacked) for group in self.groups(size, drop_remainder)]
        return Lists(found, _joined([self.sample], _stacked))

    def padded_batch(self, size: int, drop_remainder: bool = False) -> Lists:
        found = [_joined(group, _padded) for group in self.groups(size, drop_remainder)]
        return Lists(found, _joined([self.sample], _padded))

    def unbatch(self) -> Lists:
        return Lists([row for element in self.elements for row in _unstacked(element)], map_nest(_row, self.sample))

    def rebatch(self, size: int, drop_remainder: bool = False) -> Lists:
        return self.unbatch().batch(size, drop_remainder)

    def window(self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False) -> Lists:
        starts = range(0, len(self.elements), shift or size)
        windows = [self.elements[start : start + (size - 1) * stride + 1 : stride] for start in starts]
        found = [window for window in windows if len(window) == size or not drop_remainder]
        return Lists([self._columns(window) for window in found], self._columns([self.sample]))

    def _columns(self, elements: list[Any]) -> Any:
        return map_nest(lambda sample, *column: Lists(list(column), sample), self.sample, *elements)

    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: int) -> Lists:
        groups: dict[int, list[Any]] = {}
        found: list[Any] = []
        for element in self.elements:
            key = int(_called(key_func, element))
            groups.setdefault(key, []).append(element)
            if len(groups[key]) == window_size:
                found += reduce_func(np.int64(key), Lists(groups.pop(key), self.sample)).elements
        for key in sorted(groups):
            found += reduce_func(np.int64(key), Lists(groups[key], self.sample)).elements
        return Lists(found, reduce_func(np.int64(0), Lists([self.sample], self.sample)).sample)

    def unique(self) -> Lists:
        parts = [np.asarray(part) for part in NumpyFunctions.nest.flatten(self.sample)]
        if len(parts) > 1 or not (parts[0].dtype.kind in "OS" or parts[0].dtype in (np.int32, np.int64)):
            raise TypeError("neither integers nor strings")
        values = [repr(np.asarray(element).tolist()) for element in self.elements]
        return Lists([x for i, x in enumerate(self.elements) if values[i] not in values[:i]], self.sample)


def _called(function: Any, element: Any) -> Any:
    return function(*element) if type(element) is tuple else function(element)


def map_nest(f: Any, first: Any, *others: Any) -> Any:
    """Applies `f` to the corresponding leaves of nested structures."""
    if isinstance(first, tuple):
        return tuple(map_nest(f, *parts) for parts in zip(first, *others, strict=True))
    if isinstance(first, dict):
        return {name: map_nest(f, first[name], *[other[name] for other in others]) for name in first}
    return f(first, *others)


def _joined(group: list[Any], join: Any) -> Any:
    return map_nest(lambda *arrays: join([np.asarray(array) for array in arrays]), *group)


def _stacked(arrays: list[Any]) -> Any:
    if len({array.shape for array in arrays}) > 1:
        raise tf.errors.InvalidArgumentError("different shapes")
    return np.stack(arrays)


def _padded(arrays: list[Any]) -> Any:
    dims = [max(sizes) for sizes in zip(*[array.shape for array in arrays], strict=True)]
    if not dims:
        return np.stack(arrays)
    return np.stack([np.pad(array, [(0, n - m) for n, m in zip(dims, array.shape, strict=True)]) for array in arrays])


def _unstacked(element: Any) -> list[Any]:
    leaves: list[Any] = []
    map_nest(leaves.append, element)
    if not all(np.ndim(leaf) for leaf in leaves) or len(set(map(len, leaves))) > 1:
        raise tf.errors.InvalidArgumentError("different numbers of rows")
    return [map_nest(lambda array: array[i], element) for i in range(len(leaves[0]))]  # noqa: B023


def _row(array: Any) -> Any:
    """Returns an example of a row of an array, which may be empty."""
    if not np.ndim(array):
        raise ValueError("a scalar has no rows")
    return array[0] if len(array) else np.zeros(array.shape[1:], array.dtype)[()]


class NumpyFunctions:
    """`FUNCTIONS` on NumPy arrays, where they differ."""

    class nest:
        @staticmethod
        def flatten(element: Any) -> list[Any]:
            if isinstance(element, dict):
                return [leaf for name in sorted(element) for leaf in NumpyFunctions.nest.flatten(element[name])]
            if isinstance(element, tuple):
                return [leaf for part in element for leaf in NumpyFunctions.nest.flatten(part)]
            return [element]

        map_structure = staticmethod(map_nest)

    class data:
        Dataset = Lists

        class Options:
            class threading:
                pass


def numpy_scope() -> dict[str, Any]:
    """Returns the names of `FUNCTIONS`, for lists."""
    scope: dict[str, Any] = {"tf": NumpyFunctions, "np": np}
    exec(FUNCTIONS, scope)

    def key(element: Any) -> Any:
        x = np.asarray(scope["first"](element))
        return np.int64((int(x) if x.dtype.kind in "iu" and x.ndim == 0 else x.size) % 3)

    def inc(x: Any) -> Any:
        if isinstance(x, bytes) or np.asarray(x).dtype == object:
            return np.vectorize(lambda text: text + b"!", otypes=[object])(x)[()]
        return np.logical_not(x) if np.asarray(x).dtype == bool else np.asarray(x) + np.asarray(x).dtype.type(1)

    scope.update(key=key, inc=inc, row=lambda x: np.stack([x, x]), varying=lambda element: np.arange(key(element)))
    return scope
