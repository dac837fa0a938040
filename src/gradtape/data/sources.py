"""Sources of elements: tensors, ranges, Python generators, files, and combinations of datasets."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from ..core import dtypes, errors
from ..core.dtypes import as_dtype
from ..core.shapes import TensorShape
from ..core.tensor import Tensor, wrap
from ..core.tracebacks import bounded
from ..engine.run.convert import to_array, to_tensor
from ..engine.run.namespace import ops
from ..engine.run.randomness import seeds_of_op
from ..state import file_systems
from ..state.record_files import open_records
from ..state.specs import TensorSpec
from .calls import input_pass
from .elements.structure import (
    A,
    Array,
    B,
    C,
    K,
    T,
    as_element,
    as_leaf,
    as_specs,
    common,
    copy_for_reader,
    is_nest,
    leaves,
    map_leaves,
    pack_leaves,
    row_count,
    row_spec,
    rows,
    zip_rows,
)
from .order import DirectedInterleaveIterator, SeedGenerator, sample_indices
from .pipeline import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Pipeline, merge_options
from .resumable import ZipIterator

if TYPE_CHECKING:
    from ..core.composites import CompositeTensor
    from ..sparse.tensor import SparseTensor
    from .dataset import Dataset

_Self = TypeVar("_Self", bound="Sources[Any]")


@bounded
class Sources(Pipeline[T]):
    """The constructors of `Dataset`."""

    @overload
    @classmethod
    def from_tensors(cls, tensors: SparseTensor, name: str | None = ...) -> Dataset[SparseTensor]: ...
    @overload
    @classmethod
    def from_tensors(cls, tensors: CompositeTensor, name: str | None = ...) -> Dataset[Any]: ...
    @overload
    @classmethod
    def from_tensors(cls, tensors: tuple[Array, Array], name: str | None = ...) -> Dataset[tuple[Tensor, Tensor]]: ...
    @overload
    @classmethod
    def from_tensors(
        cls, tensors: tuple[Array, Array, Array], name: str | None = ...
    ) -> Dataset[tuple[Tensor, Tensor, Tensor]]: ...
    @overload
    @classmethod
    def from_tensors(
        cls, tensors: tuple[Mapping[K, Array], Array], name: str | None = ...
    ) -> Dataset[tuple[dict[K, Tensor], Tensor]]: ...
    @overload
    @classmethod
    def from_tensors(cls, tensors: Mapping[K, Array], name: str | None = ...) -> Dataset[dict[K, Tensor]]: ...
    @overload
    @classmethod
    def from_tensors(cls, tensors: Array, name: str | None = ...) -> Dataset[Tensor]: ...
    @overload
    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = ...) -> Dataset[Any]: ...
    @classmethod
    def from_tensors(cls: type[Any], tensors: Any, name: str | None = None) -> Any:
        """Creates a dataset with a single element.

        >>> list(tf.data.Dataset.from_tensors([1, 2]).as_numpy_iterator())
        [array([1, 2], dtype=int32)]
        """
        element = as_element(tensors)
        return cls(
            "_TensorDataset", lambda: iter([copy_for_reader(element)]), lambda _: as_specs(element), 1,
            element_at=lambda _: copy_for_reader(element),
        )  # fmt: skip

    @overload
    @classmethod
    def from_tensor_slices(cls, tensors: SparseTensor, name: str | None = ...) -> Dataset[SparseTensor]: ...
    @overload
    @classmethod
    def from_tensor_slices(cls, tensors: CompositeTensor, name: str | None = ...) -> Dataset[Any]: ...
    @overload
    @classmethod
    def from_tensor_slices(
        cls, tensors: tuple[Array, Array], name: str | None = ...
    ) -> Dataset[tuple[Tensor, Tensor]]: ...
    @overload
    @classmethod
    def from_tensor_slices(
        cls, tensors: tuple[Array, Array, Array], name: str | None = ...
    ) -> Dataset[tuple[Tensor, Tensor, Tensor]]: ...
    @overload
    @classmethod
    def from_tensor_slices(
        cls, tensors: tuple[Mapping[K, Array], Array], name: str | None = ...
    ) -> Dataset[tuple[dict[K, Tensor], Tensor]]: ...
    @overload
    @classmethod
    def from_tensor_slices(cls, tensors: Mapping[K, Array], name: str | None = ...) -> Dataset[dict[K, Tensor]]: ...
    @overload
    @classmethod
    def from_tensor_slices(cls, tensors: Array, name: str | None = ...) -> Dataset[Tensor]: ...
    @overload
    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = ...) -> Dataset[Any]: ...
    @classmethod
    def from_tensor_slices(cls: type[Any], tensors: Any, name: str | None = None) -> Any:
        """Creates a dataset of the rows of tensors, which must have the same number of rows.

        Args:
          tensors: a tensor, or a nested structure of tensors with the same first axis; arrays and lists are converted.

        Returns:
          A dataset whose elements have the structure of `tensors`.

        Raises:
          ValueError: if a tensor is a scalar, or first axes differ.

        >>> data = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": [0, 1]})
        >>> [(float(row["x"]), int(row["y"])) for row in data]
        [(1.0, 0), (2.0, 1)]
        """
        element = as_element(tensors)
        flat = leaves(element)
        counts = [row_count(leaf) for leaf in flat if leaf is not None]
        if not counts:
            raise ValueError(f"There must be a tensor to take slices of, got {tensors!r}")
        if len(set(counts)) > 1:
            other = next(count for count in counts if count != counts[0])
            raise ValueError(
                f"Dimensions {counts[0]} and {other} are not compatible: all tensors must have the same number of rows"
            )

        def slices() -> Iterator[Any]:
            if not is_nest(element):
                return rows(element)
            columns = zip_rows(flat)
            if type(element) is tuple and len(flat) == len(element) and not any(map(is_nest, element)):
                return columns
            return (pack_leaves(element, iter(row)) for row in columns)

        return cls(
            "_TensorSliceDataset", slices, lambda _: map_leaves(row_spec, as_specs(element)), counts[0],
            element_at=lambda index: next(itertools.islice(slices(), index, None)),
        )  # fmt: skip

    @classmethod
    def range(cls: type[Any], *args: Any, **kwargs: Any) -> Dataset[Tensor]:
        """Creates a dataset of Python's `range`, as int64 unless `output_type` is given.

        >>> [int(x) for x in tf.data.Dataset.range(1, 10, 3)]
        [1, 4, 7]
        """
        dtype = as_dtype(kwargs.pop("output_type", dtypes.int64))
        kwargs.pop("name", None)
        if kwargs or not 1 <= len(args) <= 3:
            raise ValueError(f"range takes 1 to 3 numbers and `output_type`, got {args} and {kwargs}")
        try:
            numbers = range(*[int(number) for number in args])
        except ValueError:
            raise errors.InvalidArgumentError(f"the step of a range must not be zero, got {args}") from None
        spec, scalar = TensorSpec([], dtype), dtype.numpy.type
        return cls(
            "_RangeDataset", lambda: (wrap(scalar(n), dtype) for n in numbers), lambda _: spec, len(numbers),
            element_at=lambda index: wrap(scalar(numbers[index]), dtype),
        )  # fmt: skip

    @classmethod
    def counter(
        cls: type[Any], start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64, name: str | None = None
    ) -> Dataset[Tensor]:
        """Counts from `start` in steps of `step`, infinitely.

        >>> [int(x) for x in tf.data.Dataset.counter(5, 2).take(3)]
        [5, 7, 9]
        """
        kind = as_dtype(dtype)
        first, by = (to_tensor(x, kind).array for x in (start, step))
        return cls(
            "_ScanDataset",
            lambda: (wrap(kind.numpy.type(n), kind) for n in itertools.count(first, by)),
            lambda _: TensorSpec([], kind),
            INFINITE_CARDINALITY,
        )

    @classmethod
    def random(
        cls: type[Any], seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset[Tensor]:
        """Yields random int64 numbers in [0, 2³²), with a seed the same in every pass unless rerandomized.

        >>> tf.random.set_seed(5)
        >>> data = tf.data.Dataset.random(seed=4).take(3)
        >>> [int(x) for x in data], [int(x) for x in data]
        ([3949691112, 1216040066, 825314089], [3949691112, 1216040066, 825314089])
        """
        seeds = seeds_of_op(_seed(seed))
        passes = SeedGenerator(seeds, seeds is None or bool(rerandomize_each_iteration))

        def numbers() -> Iterator[Tensor]:
            return (wrap(np.int64(word), dtypes.int64) for word in passes.begin())

        spec, zero = TensorSpec([], dtypes.int64), wrap(np.int64(0), dtypes.int64)
        return cls("_RandomDataset", numbers, lambda _: spec, INFINITE_CARDINALITY, lambda: itertools.repeat(zero))

    @overload
    @classmethod
    def from_generator(
        cls, generator: Callable[..., Any], output_types: None = ..., output_shapes: None = ..., args: Any = ..., *,
        output_signature: TensorSpec, name: str | None = ...,
    ) -> Dataset[Tensor]: ...  # fmt: skip
    @overload
    @classmethod
    def from_generator(
        cls, generator: Callable[..., Any], output_types: None = ..., output_shapes: None = ..., args: Any = ..., *,
        output_signature: tuple[TensorSpec, TensorSpec], name: str | None = ...,
    ) -> Dataset[tuple[Tensor, Tensor]]: ...  # fmt: skip
    @overload
    @classmethod
    def from_generator(
        cls, generator: Callable[..., Any], output_types: None = ..., output_shapes: None = ..., args: Any = ..., *,
        output_signature: dict[K, TensorSpec], name: str | None = ...,
    ) -> Dataset[dict[K, Tensor]]: ...  # fmt: skip
    @overload
    @classmethod
    def from_generator(
        cls, generator: Callable[..., Any], output_types: Any = ..., output_shapes: Any = ..., args: Any = ...,
        output_signature: Any = ..., name: str | None = ...,
    ) -> Dataset[Any]: ...  # fmt: skip
    @classmethod
    def from_generator(
        cls: type[Any],
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """Creates a dataset from a Python generator, which is called for each pass and closed at its end.

        Args:
          output_signature: the specs of an element. `output_types` and `output_shapes` are the deprecated alternative.
          args: tensors passed to `generator` as NumPy values.

        >>> def numbers(n):
        ...     for i in range(n):
        ...         yield i, [i] * i
        >>> signature = (tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
        >>> data = tf.data.Dataset.from_generator(numbers, args=[3], output_signature=signature)
        >>> [(int(i), x.numpy().tolist()) for i, x in data]
        [(0, []), (1, [1.0]), (2, [2.0, 2.0])]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise TypeError(
                    "To specify the output signature you need to provide either the `output_signature` argument or the "
                    "`output_types` argument."
                )
            output_signature = _signature(output_types, output_shapes)
        elif output_types is not None or output_shapes is not None:
            raise TypeError("The `output_types` and `output_shapes` arguments cannot be used with `output_signature`.")
        signature = tuple(output_signature) if isinstance(output_signature, list) else output_signature
        wrong = next((spec for spec in leaves(signature) if not hasattr(spec, "most_specific_common_supertype")), None)
        if wrong is not None:
            raise TypeError(f"`output_signature` must contain instances of `tf.TypeSpec`, got {wrong!r}")
        given = [to_tensor(arg).numpy() for arg in (() if args is None else args)]
        return cls(
            "_FlatMapDataset",
            lambda: GeneratorIterator(generator, given, signature),
            lambda _: signature,
            UNKNOWN_CARDINALITY,
        )

    @overload
    @classmethod
    def zip(cls, first: Dataset[A], second: Dataset[B], /, *, name: str | None = ...) -> Dataset[tuple[A, B]]: ...
    @overload
    @classmethod
    def zip(
        cls, first: Dataset[A], second: Dataset[B], third: Dataset[C], /, *, name: str | None = ...
    ) -> Dataset[tuple[A, B, C]]: ...
    @overload
    @classmethod
    def zip(
        cls, datasets: tuple[Dataset[A], Dataset[B]], *, name: str | None = ...
    ) -> Dataset[tuple[A, B]]: ...
    @overload
    @classmethod
    def zip(
        cls, datasets: tuple[Dataset[A], Dataset[B], Dataset[C]], *, name: str | None = ...
    ) -> Dataset[tuple[A, B, C]]: ...
    @overload
    @classmethod
    def zip(cls, datasets: dict[K, Dataset[A]], *, name: str | None = ...) -> Dataset[dict[K, A]]: ...
    @overload
    @classmethod
    def zip(cls, *args: Any, datasets: Any = ..., name: str | None = ...) -> Dataset[Any]: ...
    @classmethod
    def zip(cls: type[Any], *args: Any, datasets: Any = None, name: str | None = None) -> Any:
        """Zips datasets; ends with the shortest.

        Args:
          args: datasets, or a nested structure of datasets.
          datasets: the same, by keyword.

        Returns:
          A dataset whose elements have the structure of the arguments.

        Raises:
          TypeError: if an argument is not a dataset.

        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 20)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(a, b)]
        [(0, 10), (1, 11), (2, 12)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        flat = leaves(given)
        for dataset in flat:
            _check(dataset, "zip")
        if type(given) is tuple and not any(map(is_nest, given)):
            pack: Any = iter
        else:
            pack = lambda columns: map(lambda column: pack_leaves(given, iter(column)), columns)  # noqa: E731
        sizes = [dataset._size for dataset in flat]
        finite = [size for size in sizes if size != INFINITE_CARDINALITY]
        size = UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in sizes else min(finite, default=INFINITE_CARDINALITY)

        def specs(may_run: bool) -> Any:
            known = [dataset._known(may_run) for dataset in flat]
            return None if None in known else map_leaves(lambda dataset: dataset._known(may_run), given)

        return cls(
            "_ZipDataset",
            lambda: pack(ZipIterator(_start_passes(flat))),
            specs,
            size,
            lambda: pack(zip(*[dataset._samples() for dataset in flat], strict=False)),
            merge_options(flat),
            lambda index: map_leaves(lambda dataset: dataset._element_at(index), given),
        )._made_of(flat, lambda *others: cls.zip(pack_leaves(given, iter(others))))

    @classmethod
    def choose_from_datasets(
        cls: type[Any], datasets: Sequence[Dataset[A]], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Dataset[A]:
        """Takes each element from the dataset whose index `choice_dataset` yields.

        >>> data = [tf.data.Dataset.from_tensors(x).repeat() for x in "ab"]
        >>> choice = tf.data.Dataset.from_tensor_slices(tf.constant([1, 0, 1], tf.int64))
        >>> [x.decode() for x in tf.data.Dataset.choose_from_datasets(data, choice).as_numpy_iterator()]
        ['b', 'a', 'b']
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if _check(choice_dataset, "choose_from_datasets")._known(True) != TensorSpec([], dtypes.int64):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                f"{choice_dataset.element_spec}."
            )

        def choices() -> Iterator[int]:
            return map(lambda n: int(n.array), input_pass(choice_dataset._elements, len(datasets))())

        return cls._directed(datasets, choices, stop_on_empty_dataset, choice_dataset)

    @classmethod
    def sample_from_datasets(
        cls: type[Any],
        datasets: Sequence[Dataset[A]],
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset[A]:
        """Takes each element from a random dataset, until all end, or the first one with `stop_on_empty_dataset`.

        Args:
          weights: the probabilities of the datasets, or a dataset of such vectors, one per choice.

        >>> tf.random.set_seed(5)
        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
        >>> [int(x) for x in tf.data.Dataset.sample_from_datasets([a, b], seed=4)]
        [10, 11, 12, 0, 1, 2]
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if isinstance(weights, Pipeline):
            changing = weights

            def logits() -> Iterator[Tensor]:
                return map(lambda p: _logits(to_tensor(p)), input_pass(changing._elements, len(datasets))())

        else:
            datasets, fixed = _drawable(list(datasets), weights)
            if len(datasets) == 1:
                return datasets[0]

            def logits() -> Iterator[Tensor]:
                return itertools.repeat(fixed)

        seeds = seeds_of_op(_seed(seed))
        passes = SeedGenerator(seeds, seeds is None or bool(rerandomize_each_iteration))
        return cls._directed(datasets, lambda: sample_indices(logits(), passes.begin()), stop_on_empty_dataset)

    @classmethod
    def _directed(
        cls: type[_Self],
        datasets: Sequence[Any],
        choices: Callable[[], Iterator[int]],
        stop_on_empty: bool,
        *choosing: Any,
    ) -> _Self:
        for dataset in datasets:
            _check(dataset, "datasets")

        def specs(may_run: bool) -> Any:
            known = [dataset._known(may_run) for dataset in datasets]
            found = known[0]
            for other in known[1:]:
                found = None if found is None or other is None else common(found, other)
            return found

        return cls(
            "_DirectedInterleaveDataset",
            lambda: DirectedInterleaveIterator(_start_passes(datasets), choices(), stop_on_empty),
            specs,
            INFINITE_CARDINALITY if any(dataset._size == INFINITE_CARDINALITY for dataset in datasets)
            else UNKNOWN_CARDINALITY,
            lambda: itertools.chain.from_iterable(dataset._samples() for dataset in datasets),
            merge_options([*choosing, *datasets]),
        )  # fmt: skip

    @classmethod
    def list_files(
        cls: type[Any], file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset[Tensor]:
        """Lists the files that match one or more patterns, shuffled unless `shuffle=False`.

        >>> import tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in "ab":
        ...     _ = (folder / f"{name}.txt").write_text(name)
        >>> files = tf.data.Dataset.list_files(f"{folder}/*.txt", shuffle=False)
        >>> [pathlib.Path(x.decode()).name for x in files.as_numpy_iterator()]
        ['a.txt', 'b.txt']
        """
        patterns = [os.fsdecode(pattern) for pattern in file_names(file_pattern).array.tolist()]
        found = sorted(name for pattern in patterns for name in file_systems.glob(pattern))
        if not found:
            raise errors.InvalidArgumentError(f"No files matched pattern: {', '.join(patterns)}")
        files: Any = cls.from_tensor_slices(to_tensor(found))
        return files.shuffle(len(found), seed) if shuffle is None or shuffle else files

    @classmethod
    def _of_elements(cls: type[_Self], elements: Sequence[Any], specs: Any = None) -> _Self:
        """Creates a dataset of existing elements."""
        return cls("_VariantDataset", lambda: map(copy_for_reader, elements), lambda _: specs, len(elements))


def text_lines(
    dataset: type[_Self], filenames: Any, compression_type: str | None, num_parallel_reads: int | None = None
) -> _Self:
    """Creates a dataset of the lines of text files, without line ends; `num_parallel_reads` files are interleaved."""
    if num_parallel_reads is not None:
        files: Any = filenames if isinstance(filenames, Pipeline) else dataset.from_tensor_slices(file_names(filenames))
        read = functools.partial(text_lines, dataset, compression_type=compression_type)
        return files.interleave(read, cycle_length=num_parallel_reads)  # type: ignore[no-any-return]
    if isinstance(filenames, Pipeline):
        return filenames.flat_map(lambda names: text_lines(dataset, names, compression_type))  # type: ignore[attr-defined, no-any-return]
    names = [os.fsdecode(name) for name in file_names(filenames).array.tolist()]
    compression = compression_name(compression_type)

    def lines() -> Iterator[Tensor]:
        for name in names:
            with open_records(name, compression) as file:
                for line in file:
                    yield to_tensor(line.rstrip(b"\n").replace(b"\r", b""))  # TensorFlow removes every \r, too

    made = dataset("TextLineDatasetV2", lines, lambda _: TensorSpec([], dtypes.string), UNKNOWN_CARDINALITY)
    return reading(made, names, lambda name: text_lines(dataset, name, compression_type))


def compression_name(kind: Any) -> str | None:
    """Returns the name of a compression as text; it is checked when a file is read, as in TensorFlow."""
    return None if kind is None else os.fsdecode(to_tensor(kind, dtypes.string).array.item())


def file_names(given: Any) -> Tensor:
    """Converts one or more file names (strings, paths or a tensor) to a vector of strings."""
    listed = given if isinstance(given, list | tuple) else [given]
    names = [os.fspath(x) if isinstance(x, os.PathLike) else x for x in listed]
    tensor = given if isinstance(given, Tensor) else to_tensor(names, dtypes.string)
    return to_tensor(np.ravel(tensor.array).tolist(), dtypes.string)


def reading(dataset: _Self, names: Any, read: Callable[[Any], Any]) -> _Self:
    """Records that a dataset reads files, and how one file is read, for sharding by files."""
    files: Any = type(dataset).from_tensor_slices(to_tensor(names, dtypes.string))
    dataset._reads_files = True
    return dataset._made_of([files], lambda files: files.flat_map(read))


def _start_passes(datasets: Sequence[Any]) -> list[Iterator[Any]]:
    """Starts a pass over each input of the dataset being started."""
    return [input_pass(dataset._elements, number)() for number, dataset in enumerate(datasets)]


def _check(dataset: Any, what: str) -> Any:
    if not isinstance(dataset, Pipeline):
        raise TypeError(f"Invalid input to `{what}`: a `tf.data.Dataset` was expected, got {dataset!r}")
    return dataset


def _drawable(datasets: list[Any], weights: Any) -> tuple[list[Any], Tensor]:
    """Returns the datasets with positive weight and their logits; the others must not delay the end."""
    if weights is None:
        return datasets, to_tensor([[1.0] * len(datasets)])
    given = to_tensor(weights)
    if given.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"Invalid `weights`: they must be of dtype float32 or float64, got {given.dtype.name}")
    if given.dims != (len(datasets),):
        raise ValueError(
            f"Invalid `weights`: one number for each of the {len(datasets)} datasets is needed, got shape {given.shape}"
        )
    if isinstance(weights, Tensor):
        return datasets, _logits(given)
    positive = [i for i, weight in enumerate(given.array.tolist()) if weight > 0]
    if not positive:
        return [datasets[0].take(0)], _logits(to_tensor([1.0]))
    return [datasets[i] for i in positive], _logits(wrap(given.array[positive], given.dtype))


def _logits(weights: Tensor) -> Tensor:
    return ops.reshape(ops.log(weights), shape=(1, -1))


def _seed(seed: Any) -> int | None:
    return None if seed is None else int(seed)


def _signature(types: Any, shapes: Any) -> Any:
    if shapes is None:
        return map_leaves(lambda dtype: TensorSpec(None, dtype), types)
    shapes = tuple(shapes) if isinstance(types, tuple) and isinstance(shapes, list) else shapes
    return map_leaves(lambda dtype, shape: TensorSpec(TensorShape(shape), dtype), types, shapes)


# Python errors and TensorFlow's runtime errors for them.
_RUNTIME_ERRORS = (
    ((TypeError, ValueError), errors.InvalidArgumentError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (Exception, errors.UnknownError),
)


class GeneratorIterator(Iterator[Any]):
    """One pass over a user's generator; converts its errors to TensorFlow's, and continues after an invalid element."""

    def __init__(self, generator: Callable[..., Any], args: Sequence[Any], signature: Any) -> None:
        self._begin: Callable[[], Any] | None = lambda: iter(generator(*args))
        self._values: Iterator[Any] = iter(())
        self._signature = signature

    def __next__(self) -> Any:
        try:
            if self._begin is not None:
                begin, self._begin = self._begin, None
                self._values = begin()
            value = next(self._values)
            return _convert_element(value, self._signature)
        except StopIteration:
            self._values = iter(())  # the user's iterator is released, and with it what it holds
            raise
        except errors.OpError:
            raise
        except Exception as error:
            kind = next(ours for theirs, ours in _RUNTIME_ERRORS if isinstance(error, theirs))
            raise kind(f"{type(error).__name__}: {error}") from error


def _convert_element(value: Any, signature: Any) -> Any:
    """Converts a value yielded by a generator to an element with this signature."""
    if is_nest(signature):
        value = tuple(value) if isinstance(value, list) and isinstance(signature, tuple) else value
        try:
            return map_leaves(_convert_leaf, signature, value)
        except TypeError as error:
            if "same structure" not in str(error):
                raise
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected structure was "
                f"{signature}, but the yielded element was {value}."
            ) from None
    return _convert_leaf(signature, value)


def _convert_leaf(spec: Any, value: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(f"`generator` yielded {value!r} where a value of {spec} was expected.")
        return as_leaf(value)
    try:
        if (isinstance(value, Tensor) and value.dtype is spec.dtype) or spec.dtype is dtypes.string:
            tensor = to_tensor(value, spec.dtype)
        else:
            array = np.array(to_array(value) if isinstance(value, Tensor) else value, spec.dtype.numpy)
            tensor = wrap(array if array.ndim else array[()], spec.dtype)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{spec.dtype.name}, but the yielded element was {value}."
        ) from None
    if not spec.shape.is_compatible_with(tensor.shape):
        raise TypeError(
            f"`generator` yielded an element of shape {tensor.shape} where an element of shape {spec.shape} was "
            "expected."
        )
    return tensor
