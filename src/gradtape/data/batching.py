"""Transformations that combine elements or split them: batches, windows, groups."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from ..core import dtypes, errors
from ..core.tracebacks import bounded
from ..engine.run.convert import to_array, to_tensor
from ..state.specs import SparseTensorSpec, TensorSpec
from . import grouping
from .calls import begin_made, dataset_of
from .elements.specs import DatasetSpec
from .elements.structure import E, T, batch_spec, copy_for_reader, leaves, map_leaves, pack_leaves, row_spec
from .pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .sources import Sources

if TYPE_CHECKING:
    from ..core.tensor import Tensor
    from ..ragged.tensor import RaggedTensor
    from ..sparse.tensor import SparseTensor
    from .dataset import Dataset


@bounded
class Batching(Sources[T]):
    """The batching methods of `Dataset`."""

    _batch_size: int  # set on batches only: Keras checks for this attribute, as on TensorFlow's datasets

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Stacks `batch_size` consecutive elements; the last batch may be smaller, or is dropped.

        Args:
          batch_size: the number of elements in a batch.
          drop_remainder: whether to drop a last batch with fewer elements.
          num_parallel_calls: ignored; elements are computed in order.
          deterministic: ignored; the order is always deterministic.

        Returns:
          A new dataset.

        Raises:
          tf.errors.InvalidArgumentError: if `batch_size` is not positive or elements of a batch have different shapes.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        size, drop = positive(batch_size, "Batch size"), bool(drop_remainder)
        # TensorFlow fuses `map` and `batch`: an error consumes all elements of its batch.
        aligned = num_parallel_calls is None and self._kind in ("_MapDataset", "_ParallelMapDataset")
        made = self._derived(
            "_BatchDataset" if num_parallel_calls is None else "_ParallelBatchDataset",
            lambda elements: grouping.batches(elements, size, drop, self._known(may_run=False), aligned),
            size=_count_batches(self._size, size, drop),
            specs=lambda given: map_leaves(lambda spec: batch_spec(spec, size if drop else None), given),
            element_at=lambda at, index: next(
                grouping.batches(
                    map(at, range(index * size, min((index + 1) * size, self._size))),
                    size,
                    False,
                    self._known(may_run=False),
                )
            ),
        )
        made._rows = made._batch_size = size
        return made

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Combines elements of different sizes into ragged tensors; components with a static shape become dense.

        >>> data = tf.data.Dataset.range(4).map(tf.range)
        >>> [x.to_list() for x in data.ragged_batch(2)]
        [[[], [0]], [[0, 1], [0, 1, 2]]]
        """
        from .elements.structure import ragged_spec

        size, drop = positive(batch_size, "Batch size"), bool(drop_remainder)
        dtype = dtypes.as_dtype(row_splits_dtype)

        def parts(given: Any) -> Any:
            return map_leaves(lambda spec: ragged_spec(spec, dtype), given)

        made = self._derived(
            "_BatchDataset",
            lambda elements: grouping.batches(elements, size, drop, parts(self._known(may_run=True)), aligned=True),
            size=_count_batches(self._size, size, drop),
            specs=lambda given: map_leaves(lambda spec: batch_spec(spec, size if drop else None), parts(given)),
        )
        made._rows = made._batch_size = size
        return made

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Pads elements to the largest of the batch, or to `padded_shapes` where it defines a size, and stacks them.

        Args:
          batch_size: the number of elements in a batch.
          padded_shapes: the shapes to pad to, in the structure of an element; None, as a size or altogether, means the
            largest size in the batch.
          padding_values: the values to pad with, in the structure of an element; by default, 0 or the empty string.
          drop_remainder: whether to drop a last batch with fewer elements.

        Returns:
          A new dataset.

        Raises:
          ValueError: if a padded shape has another rank than its component.

        >>> data = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
        >>> [x.numpy().tolist() for x in data.padded_batch(2)]
        [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
        """
        size, drop = positive(batch_size, "Batch size"), bool(drop_remainder)

        def specs(given: Any) -> Any:
            for spec in leaves(given):
                if isinstance(spec, DatasetSpec):
                    raise TypeError("`padded_batch` is not supported for datasets of datasets")
                if not isinstance(spec, TensorSpec):
                    raise TypeError(
                        "`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                        f"elements in the input dataset is not a subclass of TensorSpec: `{spec}`."
                    )
            flat = [
                batch_spec(
                    TensorSpec(grouping.padded_component_shape(spec.shape, shape), spec.dtype), size if drop else None
                )
                for spec, shape in zip(leaves(given), grouping.up_to(given, padded_shapes), strict=True)
            ]
            return pack_leaves(given, iter(flat))

        if (known := self._known(may_run=False)) is not None:
            specs(known)
            unknown = next((i for i, spec in enumerate(leaves(known)) if spec.shape.rank is None), None)
            if padded_shapes is None and unknown is not None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {unknown} has unknown rank."
                )
        made = self._derived(
            "_PaddedBatchDataset",
            lambda elements: grouping.iterate_padded_batches(elements, size, drop, padded_shapes, padding_values),
            size=_count_batches(self._size, size, drop),
            specs=specs,
        )
        made._rows = made._batch_size = size
        return made

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset[SparseTensor]:
        """Combines elements of different sizes into sparse tensors whose rows have the shape `row_shape`.

        >>> data = tf.data.Dataset.range(1, 4).map(tf.range)
        >>> [x.dense_shape.numpy().tolist() for x in data.sparse_batch(2, row_shape=[5])]
        [[2, 5], [1, 5]]
        """
        size, shape = positive(batch_size, "Batch size"), grouping.normalize_padded_shape(row_shape)

        def specs(given: Any) -> Any:
            if not isinstance(given, TensorSpec):
                raise TypeError(
                    "`sparse_batch` requires an input dataset whose elements have a single component, a tensor, but "
                    f"they are {given}"
                )
            return SparseTensorSpec([None, *shape], given.dtype)

        if (known := self._known(may_run=False)) is not None:
            specs(known)
        return self._derived(
            "_DenseToSparseBatchDataset",
            lambda elements: grouping.sparse_batches(elements, size, shape),
            size=_count_batches(self._size, size, False),
            specs=specs,
        )

    @overload
    def unbatch(self: Batching[RaggedTensor], name: str | None = ...) -> Dataset[Any]: ...  # rows may be tensors
    @overload
    def unbatch(self, name: str | None = ...) -> Self: ...
    def unbatch(self, name: str | None = None) -> Any:
        """Splits elements into their rows.

        Returns:
          A new dataset.

        Raises:
          ValueError: if a component is a scalar.

        >>> [int(x) for x in tf.data.Dataset.range(5).batch(2).unbatch()]
        [0, 1, 2, 3, 4]
        """

        def specs(given: Any) -> Any:
            shapes = [spec.shape for spec in leaves(given) if hasattr(spec, "shape")]
            if any(shape.rank == 0 for shape in shapes):
                raise ValueError(f"Cannot unbatch an input with scalar components: its elements are {given}")
            rows = {shape[0] for shape in shapes if shape.rank and shape[0] is not None}
            if len(rows) > 1:
                raise ValueError(f"Cannot unbatch components with different numbers of rows, {sorted(rows)}: {given}")
            return map_leaves(row_spec, given)

        total, known = self._size, self._known(may_run=False)
        if known is not None:
            specs(known)
        if total >= 0:
            shapes = [] if known is None else [getattr(spec, "shape", None) for spec in leaves(known)]
            is_sparse = known is not None and any(isinstance(spec, SparseTensorSpec) for spec in leaves(known))
            each = shapes[0][0] if shapes and shapes[0] and not is_sparse else None  # unknown if sparse, as in TF
            total = total * each if each else UNKNOWN_CARDINALITY

        def element_at(at: Callable[[int], Any], index: int) -> Any:
            number, row = divmod(index, total // self._size)
            return grouping.row_at(at(number), row)

        return self._derived(
            "_UnbatchDataset",
            grouping.iterate_rows,
            size=total,
            specs=specs,
            element_at=element_at,
        )

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Self:
        """Changes the batch size, to one size or to several sizes in turn.

        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(6).batch(3).rebatch(2)]
        [[0, 1], [2, 3], [4, 5]]
        """
        given = np.ravel(to_array(batch_size)).tolist()
        sizes = [int(size) if size == 0 and any(given) else positive(size, "Batch size") for size in given]

        def specs(given: Any) -> Any:
            shapes = [spec.shape for spec in leaves(given) if hasattr(spec, "shape")]
            if any(shape.rank == 0 for shape in shapes):
                raise ValueError(f"Cannot rebatch an input with scalar components: its elements are {given}")
            rows = {shape[0] for shape in shapes if shape.rank and shape[0] is not None}
            if len(rows) > 1 and not drop_remainder:
                raise ValueError(f"Invalid input: all components must have one batch size, got {sorted(rows)}")
            is_whole = drop_remainder or (rows and sizes[0] and not rows.pop() % sizes[0])  # no batch has fewer rows
            fixed = sizes[0] if len(set(sizes)) == 1 and is_whole else None
            return map_leaves(lambda spec: batch_spec(row_spec(spec), fixed), given)

        if (known := self._known(may_run=False)) is not None:
            specs(known)
        rows = None if known is None else map_leaves(row_spec, known)
        return self._derived(
            "_RebatchDataset",
            lambda elements: grouping.regroup_rows(
                elements, sizes, drop_remainder, rows, lambda: map_leaves(row_spec, self._known(may_run=True))
            ),
            size=UNKNOWN_CARDINALITY,
            specs=specs,
        )

    @overload
    def window(
        self: Batching[Tensor], size: Any, shift: Any = ..., stride: Any = ..., drop_remainder: bool = ...,
        name: str | None = ...,
    ) -> Dataset[Dataset[Tensor]]: ...  # fmt: skip
    @overload
    def window(
        self, size: Any, shift: Any = ..., stride: Any = ..., drop_remainder: bool = ..., name: str | None = ...
    ) -> Dataset[Any]: ...
    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """Groups elements into datasets of `size` elements; for nested elements, one dataset per component.

        Args:
          size: the number of elements in a window.
          shift: the distance between the first elements of two windows; by default, `size`.
          stride: the distance between two elements of a window.
          drop_remainder: whether to drop last windows with fewer elements.

        Returns:
          A dataset of datasets.

        Raises:
          tf.errors.InvalidArgumentError: if a number is not positive.

        >>> windows = tf.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [x.numpy().tolist() for x in windows.flat_map(lambda window: window.batch(3))]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        count, by = positive(size, "Window size"), positive(size if shift is None else shift, "Window shift")
        step = positive(stride, "Window stride")
        span = (count - 1) * step + 1
        total = self._size
        if total >= 0:
            total = max(0, (total - span) // by + 1) if drop_remainder else -(-total // by)

        def as_datasets(window: list[Any]) -> Any:
            columns = zip(*map(leaves, window), strict=True)
            known = self._known(may_run=False)
            specs = [None] * len(leaves(window[0])) if known is None else leaves(known)
            pairs = zip(columns, specs, strict=True)
            return pack_leaves(window[0], (type(self)._of_elements(column, spec) for column, spec in pairs))

        return self._derived(
            "_WindowDataset",
            lambda elements: map(as_datasets, grouping.windows(elements, count, by, step, drop_remainder)),
            size=total,
            specs=lambda given: map_leaves(DatasetSpec, given),
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Dataset[E]],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset[E]:
        """Groups elements by key; `reduce_func(key, dataset)` transforms each group of up to `window_size` elements.

        >>> data = tf.data.Dataset.range(10).group_by_window(lambda x: x % 2, lambda key, group: group.batch(5), 5)
        >>> [x.numpy().tolist() for x in data]
        [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be specified, and not both."
            )
        key_call, reduce_call = self._call(key_func, "key_func"), self._call(reduce_func, "reduce_func")
        size_func = window_size_func if window_size_func is not None else lambda key: window_size
        sizes = self._call(size_func, "window_size_func")

        def groups(elements: Iterator[Any]) -> Iterator[Any]:
            key_of = key_call.begin()
            reduced, size_of = reduce_call.begin_with_arguments(), sizes.begin_with_arguments()
            begin = begin_made()

            def results(key: int, group: list[Any]) -> Iterator[Any]:
                members = type(self)._of_elements(group, self._known(may_run=False))
                return begin(dataset_of(reduced(to_tensor(key, dtypes.int64), members), "reduce_func"))

            return grouping.GroupByWindowIterator(
                elements,
                lambda element: int(key_of(copy_for_reader(element)).array),
                lambda key: positive(size_of(to_tensor(key, dtypes.int64)), "Window size"),
                results,
            )

        def specs_of_groups(elements: Iterator[Any]) -> Iterator[Any]:
            key_of, reduced = key_call.begin(), reduce_call.begin_with_arguments()
            known = self._known(may_run=True)
            for element in elements:
                key = to_tensor(int(key_of(copy_for_reader(element)).array), dtypes.int64)
                group = type(self)._of_elements([element], known)
                yield dataset_of(reduced(key, group), "reduce_func")._known(may_run=True)

        return self._derived(
            "_GroupByWindowDataset",
            groups,
            size=INFINITE_CARDINALITY if self._size == INFINITE_CARDINALITY else UNKNOWN_CARDINALITY,
            specs_of_samples=specs_of_groups,
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset[T]:
        """Batches elements of similar length, with padding.

        >>> data = tf.data.Dataset.from_tensor_slices([1, 5, 2, 6]).map(lambda n: tf.fill([n], n))
        >>> batches = data.bucket_by_sequence_length(lambda x: len(x), [4], [2, 2])
        >>> [x.shape.as_list() for x in batches]
        [[2, 2], [2, 6]]
        """
        bounds, sizes = list(bucket_boundaries), list(bucket_batch_sizes)
        if len(sizes) != len(bounds) + 1:
            raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but is {len(sizes)}")

        def bucket(*element: Any) -> int:
            length = int(element_length_func(*element))
            return sum(bound <= length for bound in bounds)

        def batch(key: Any, group: Any) -> Any:
            number = int(key)
            if no_padding:
                return group.batch(sizes[number], drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                if number == len(bounds):
                    raise errors.InvalidArgumentError(
                        "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                    )
                first = next(iter(group))
                given = _unknown_sizes(first) if shapes is None else grouping.up_to(first, shapes)
                longest = bounds[number] - 1
                shapes = pack_leaves(first, ([longest if size is None else size for size in shape] for shape in given))
            return group.padded_batch(sizes[number], shapes, padding_values, drop_remainder)

        return self.group_by_window(bucket, batch, window_size_func=lambda key: sizes[int(key)])


def _unknown_sizes(element: Any) -> list[list[None]]:
    return [[None] * len(leaf.dims) for leaf in leaves(element)]


def positive(value: Any, what: str) -> int:
    number = operator.index(value)
    if number <= 0:
        raise errors.InvalidArgumentError(f"{what} must be greater than zero, got {number}.")
    return number


def _count_batches(total: int, size: int, drop_remainder: bool) -> int:
    if total < 0:
        return total
    return total // size if drop_remainder else -(-total // size)
