"""Dataset elements: nests whose leaves are tensors, composites, datasets or None; their specs and their rows.

Unlike in `tf.nest`, a list is a leaf: it is converted to a tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, TypeVarTuple

import numpy as np

from ...core import dtypes, errors, nest
from ...core.composites import CompositeTensor
from ...core.dtypes import DType
from ...core.tensor import Tensor, wrap
from ...core.type_hints import SupportsArray
from ...engine.registry.devices import REAL, staying
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...graph.trace.traced import Untraceable
from ...ragged.tensor import RaggedTensor, RaggedTensorSpec
from ...ragged.value import RaggedTensorValue
from ...sparse.tensor import SparseTensor, SparseTensorValue
from ...state.specs import TensorSpec, TypeSpec
from ...state.tensor_array import TensorArray
from .specs import DatasetBatch, NoneTensorSpec, leaf_spec

# `Dataset[T]` is a dataset whose elements are `T`; where this cannot be told from arguments, they are `Any`.
if TYPE_CHECKING:
    import typing_extensions  # whose type variables have defaults, as those of `typing` have from Python 3.13 on

    from ..pipeline import Pipeline

    T = typing_extensions.TypeVar("T", default=Any, covariant=True)
else:
    T = TypeVar("T", covariant=True)

# A structure of tensors, which a dataset returns as it is, and a variable for one.
Element: TypeAlias = "Tensor | CompositeTensor | Pipeline[Any] | tuple[Element, ...] | Mapping[Any, Element]"
E = TypeVar("E", bound=Element)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
K = TypeVar("K")
Ts = TypeVarTuple("Ts")  # the components of a tuple


class ListLike(Protocol):
    """A list of anything: in `list[Any]`, the type argument would make overloads ambiguous."""

    def reverse(self) -> None:
        """Reverses the order of the elements."""


# What becomes one tensor in `from_tensors` and `from_tensor_slices`. Rows of a ragged tensor may be tensors or not.
Array: TypeAlias = complex | str | bytes | np.generic | SupportsArray | ListLike | range


def is_nest(value: Any) -> bool:
    """Returns whether `value` is a container of elements: a tuple, a mapping or an object of a user's nest class."""
    if isinstance(value, tuple | Mapping):
        return not isinstance(value, SparseTensorValue)
    return type(value) is not Tensor and nest.is_nest_class(type(value))  # type: ignore[arg-type]


def map_leaves(f: Callable[..., Any], first: Any, *others: Any) -> Any:
    """Maps `f` over the corresponding leaves of nests; the result has the structure of the first."""
    kind = type(first)
    if kind is tuple:
        return tuple([map_leaves(f, *parts) for parts in zip(first, *_check_same_size(first, others), strict=True)])
    if not is_nest(first):
        return f(first, *others)
    columns = zip(nest.parts(first), *[nest.parts(other) for other in _check_same_size(first, others)], strict=True)
    made = iter([map_leaves(f, *parts) for parts in columns])
    return _like(first, made)


def _check_same_size(first: Any, others: Sequence[Any]) -> Sequence[Any]:
    for other in others:
        kind = next((kind for kind in (Mapping, tuple) if isinstance(first, kind)), type(first))
        same = isinstance(other, kind) and len(nest.parts(other)) == len(nest.parts(first))
        if not same or (kind is Mapping and set(first) != set(other)):
            raise TypeError(f"The elements must have the same structure, got {first!r} and {other!r}")
    return others


def _like(structure: Any, parts: Iterator[Any]) -> Any:
    """Builds a container like `structure` from parts in the order of `nest.parts`."""
    if isinstance(structure, Mapping):
        values = dict(zip(sorted(structure), parts, strict=True))
        return type(structure)({key: values[key] for key in structure})  # type: ignore[call-arg]
    if nest.is_nest_class(type(structure)):  # type: ignore[arg-type]
        return nest.like(structure, list(parts))
    kind = structure.__class__  # that of the tuple behind a proxy
    return kind(*parts) if hasattr(structure, "_fields") else kind(parts)


def leaves(element: Any) -> list[Any]:
    """Returns the leaves of an element, in order."""
    if not is_nest(element):
        return [element]
    return [leaf for part in nest.parts(element) for leaf in leaves(part)]


def pack_leaves(structure: Any, flat: Iterator[Any]) -> Any:
    """Packs the next leaves of `flat` into the structure of `structure`."""
    return map_leaves(lambda _: next(flat), structure)


def as_element(value: Any) -> Any:
    """Converts a user's value to an element, in which every leaf is a tensor, a composite, a dataset or None."""
    return as_leaf(value) if not is_nest(value) else map_leaves(as_leaf, value)


def as_leaf(value: Any) -> Any:
    """Converts a value to a tensor without tracer; returns other kinds of leaves unchanged."""
    if type(value) is Tensor and value.tracer is None:
        return value
    if value is None or hasattr(type(value), "element_spec"):
        return value
    if isinstance(value, TensorArray):
        return copy_for_reader(value)
    if isinstance(value, list) and value and all(hasattr(type(part), "element_spec") for part in value):
        return DatasetBatch(value)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        value = RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits, validate=False)
    if isinstance(value, CompositeTensor):
        return nest.map_structure(as_leaf, value, expand_composites=True)
    with staying():  # elements stay on the host, as in TensorFlow
        tensor = to_tensor(value)
    if type(tensor) not in REAL:
        raise Untraceable("a dataset is made of the tensors of a function")
    if tensor.tracer is not None:
        dispatch.escaped(tensor, "a dataset")
    return wrap(tensor.array, tensor.dtype)


def copy_for_reader(element: Any) -> Any:
    """Returns a copy for one reader: reading an entry of a TensorArray clears it, and writing changes it."""
    if type(element) is Tensor:
        return element
    if isinstance(element, TensorArray):
        return element.copy()
    return map_leaves(copy_for_reader, element) if is_nest(element) else element


def as_result(value: Any) -> Any:
    """Converts the result of a user's function to an element; a list becomes a tuple, as in TensorFlow."""
    return as_element(tuple(value) if isinstance(value, list) else value)


def as_specs(element: Any) -> Any:
    """Returns the specs of an element's leaves, in its nest."""
    return map_leaves(leaf_spec, element)


def common(specs: Any, others: Any) -> Any:
    """Returns the most specific common supertypes of two nests of specs; raises `TypeError` if there are none."""

    def one(a: TypeSpec, b: TypeSpec) -> TypeSpec:
        found = a.most_specific_common_supertype([b])
        if found is None:
            raise TypeError(f"No common supertype of {a} and {b}.")
        return found

    try:
        return map_leaves(one, specs, others)
    except TypeError as error:
        raise TypeError(f"Incompatible dataset elements:\n  {specs} vs.   {others}") from error


def scalar(value: Any) -> Any:
    """Converts an array entry to a tensor's array: strings have no NumPy scalar type."""
    if isinstance(value, bytes | str):
        boxed = np.empty((), object)
        boxed[()] = value
        return boxed
    return value


def rows(leaf: Any) -> Iterator[Any]:
    """Iterates over the rows of a leaf along its first axis."""
    if isinstance(leaf, CompositeTensor):
        spec = leaf._type_spec
        _batchable(spec)
        if isinstance(leaf, SparseTensor) and leaf.shape.rank == 1:
            raise errors.InvalidArgumentError(
                f"Rows of a sparse tensor must have at least one axis, got a vector to unbatch: {leaf!r}"
            )
        return iter(spec._rows(leaf, rows))
    if isinstance(leaf, DatasetBatch):
        return iter(leaf.datasets)
    if not isinstance(leaf, Tensor) or not leaf.dims:
        raise ValueError(f"Unbatching a tensor is only supported for rank >= 1, got {leaf!r}")
    dtype = leaf.dtype
    if dtype is dtypes.string:
        return (wrap(scalar(row), dtype) for row in leaf.array)
    return (wrap(row, dtype) for row in leaf.array)


def zip_rows(flat: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Iterates over the corresponding rows of leaves; None has the row None."""
    if all(leaf is None for leaf in flat):
        raise ValueError(f"There must be a tensor to take rows of, got {list(flat)!r}")
    counts = {row_count(leaf) for leaf in flat if leaf is not None}
    if len(counts) > 1:
        raise errors.InvalidArgumentError(
            f"Input element must have the same batch size in each component, got {sorted(counts)} rows"
        )
    (count,) = counts
    return zip(*[itertools.repeat(None, count) if leaf is None else rows(leaf) for leaf in flat], strict=True)


def row_count(leaf: Any) -> int:
    """Returns the number of rows of a leaf."""
    if isinstance(leaf, CompositeTensor):
        spec = leaf._type_spec
        _batchable(spec)
        return int(spec._row_count(leaf))
    if isinstance(leaf, DatasetBatch):
        return len(leaf.datasets)
    if hasattr(leaf, "element_spec"):
        raise ValueError("Slicing dataset elements is not supported for rank 0.")
    if leaf is None or leaf.shape.rank == 0:
        raise ValueError(f"Unbatching a tensor is only supported for rank >= 1, got {leaf!r}")
    return int(leaf.shape[0])


def row_spec(spec: Any) -> Any:
    """Returns the spec of a row."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    return _batchable(spec).unbatch(spec)


def batch_spec(spec: Any, size: int | None) -> Any:
    """Returns the spec of a stack of values with this spec."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    return _batchable(spec).batch(spec, size)


def _batchable(spec: Any) -> Any:
    """Returns the batch encoder of a spec; raises TypeError if its values cannot be stacked."""
    if not hasattr(spec, "__batch_encoder__"):
        raise TypeError(f"A dataset of {spec} cannot be batched or unbatched: the spec is no BatchableTypeSpec.")
    return spec.__batch_encoder__


def stack_leaves(values: Sequence[Any], component: int = 0) -> Any:
    """Stacks corresponding leaves of several elements, their `component`-th ones, along a new first axis."""
    first = values[0]
    if first is None:
        return None
    if isinstance(first, CompositeTensor):
        return _stack_composites(values)
    if hasattr(first, "element_spec"):
        stack_batch_sizes(values)
        return DatasetBatch(values)
    if not isinstance(first, Tensor):
        raise TypeError(f"A {type(first).__name__} cannot be batched. Stack it before: .map(lambda x: x.stack())")
    kinds = {value.dtype.name for value in values}
    if len(kinds) > 1:
        raise errors.InvalidArgumentError(
            f"Cannot add tensor to the batch: the elements are of different dtypes, {', '.join(sorted(kinds))}. Use "
            "tf.cast in the function that makes them"
        )
    arrays = [value.array for value in values]
    try:
        # `np.array` stacks scalars ten times faster than `np.stack`, but would nest the arrays of strings.
        array = np.stack(arrays) if first.dims or first.dtype is dtypes.string else np.array(arrays)
    except ValueError:
        array = None
    if array is None or array.shape != (len(values), *first.dims):
        other = next(i for i, value in enumerate(values) if value.dims != first.dims)
        raise errors.InvalidArgumentError(
            f"Cannot batch tensors with different shapes in component {component}. First element had shape "
            f"{list(first.dims)} and element {other} had shape {list(values[other].dims)}. Use padded_batch for "
            "elements whose sizes do not match"
        )
    return wrap(array, first.dtype)


def _stack_composites(values: Sequence[Any]) -> Any:
    specs = [value._type_spec for value in values]
    both = specs[0].most_specific_common_supertype(specs[1:])
    if both is None:
        other = next(spec for spec in specs if specs[0].most_specific_common_supertype([spec]) is None)
        raise errors.InvalidArgumentError(f"Cannot add tensor to the batch: {specs[0]} and {other} do not go together")
    _batchable(both)
    return with_batch_sizes(both._stacked(values, stack_leaves), values)


def stack_batch_sizes(values: Sequence[Any]) -> tuple[int, ...]:
    """Returns the batch sizes of a stack of these values; raises `InvalidArgumentError` if inner batch sizes differ.

    In TensorFlow, a batch of sparse or ragged tensors is a tensor of variants, which cannot be stacked with one of
    another size, until a user function receives it as a single value.
    """
    sizes = [
        tuple(value.shape) if isinstance(value, DatasetBatch) else getattr(value, "_batch_sizes", ())
        for value in values
    ]
    other = next((i for i, found in enumerate(sizes) if found != sizes[0]), None)
    if other is not None:
        raise errors.InvalidArgumentError(
            "Cannot batch tensors with different shapes in component 0. First element had shape "
            f"{list(sizes[0])} and element {other} had shape {list(sizes[other])}. Use "
            "drop_remainder=True for the inner batches"
        )
    return len(values), *sizes[0]


def with_batch_sizes(batch: Any, values: Sequence[Any]) -> Any:
    """Records the batch sizes on a stack of sparse or ragged values."""
    if isinstance(batch, SparseTensor | RaggedTensor):
        batch._batch_sizes = stack_batch_sizes(values)
    return batch


def stack_elements(elements: Sequence[Any]) -> Any:
    """Stacks elements leaf by leaf."""
    first = elements[0]
    if type(first) is Tensor:
        return stack_leaves(elements)
    if type(first) is tuple and not any(map(is_nest, first)):
        return tuple([stack_leaves(column, i) for i, column in enumerate(zip(*elements, strict=True))])
    components = itertools.count()
    return map_leaves(lambda *values: stack_leaves(values, next(components)), first, *elements[1:])


def ragged_spec(spec: Any, dtype: DType) -> Any:
    """Returns the spec of a leaf, made ragged if it is a tensor with an undefined size."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
        return spec
    depth = max(axis for axis, size in enumerate(spec.shape) if size is None)
    return RaggedTensorSpec(spec.shape, spec.dtype, depth, dtype)


def has_ragged(specs: Any) -> bool:
    """Returns whether a component of an element is ragged, or a row of a ragged tensor."""
    return specs is not None and any(isinstance(spec, RaggedTensorSpec) for spec in leaves(specs))


def stack_as(specs: Any, elements: Sequence[Any]) -> Any:
    """Stacks elements; components with a ragged spec are stacked with variable row lengths, even if rows are dense."""

    def one(spec: Any, *values: Any) -> Any:
        if not isinstance(spec, RaggedTensorSpec) or spec.ragged_rank < 0:  # -1: entries of a former vector
            return stack_leaves(values)
        return with_batch_sizes(spec._stacked([_as_ragged(spec, value) for value in values], stack_leaves), values)

    return map_leaves(one, specs, *elements)


def _as_ragged(spec: RaggedTensorSpec, value: Any) -> Any:
    if isinstance(value, Tensor) and spec.ragged_rank > 0:
        return RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype)
    return value
