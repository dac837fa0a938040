"""`TypeSpec`: the static type of a value. How to write one: see `CompositeTensor`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import nest
from ..core.composites import CompositeTensor
from ..core.nest import Composite
from ..core.shapes import TensorShape


class TypeSpec(Composite):
    """The static type of a value, for code that does not have the value yet.

    A subclass is compared, hashed, printed and pickled by the result of `_serialize`, its constructor's arguments.

    >>> isinstance(tf.TensorSpec([None, 2]), tf.TypeSpec)
    True
    """

    __slots__ = ()

    # Defined by subclasses

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization: Iterable[Any]) -> Any:
        return cls(*serialization)

    @property
    def _component_specs(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._component_specs()")

    def _to_components(self, value: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    # Derived from it

    def is_subtype_of(self, other: object) -> bool:
        """Whether every value of this type is also of type `other`."""
        if type(self) is not type(other):
            return False

        def is_part(mine: Any, its: object) -> bool:
            return bool(mine.is_subtype_of(its) if hasattr(mine, "is_subtype_of") else mine == its)

        try:
            return all(nest.flatten(nest.map_structure(is_part, self._serialize(), other._serialize())))
        except (TypeError, ValueError):
            return False

    def is_compatible_with(self, spec_or_value: object) -> bool:
        """Whether the value, or some value of that spec, could be of this type."""
        other = spec_of(spec_or_value)
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The most specific type that includes this one and all the others, or None."""
        if any(type(self) is not type(other) for other in others):
            return None
        try:
            both = nest.map_structure(_supertype, self._serialize(), *(other._serialize() for other in others))
        except (TypeError, ValueError):
            return None
        return self._deserialize(both)

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """Like `most_specific_common_supertype` for one other type; `ValueError` if there is none."""
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    def flatten(self) -> list[Any]:
        """The specs of the component tensors of a value."""
        return nest.flatten(self._component_specs, expand_composites=True)

    def to_tensors(self, value: object) -> list[Any]:
        """The component tensors of a value."""
        if not self.is_compatible_with(value):
            raise ValueError(f"a value of {self} was expected, got {value!r}")
        return nest.flatten(self._to_components(value), expand_composites=True)

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """Build a value from the next tensors."""
        return self._from_compatible_tensor_list([next(tensors) for _ in self.flatten()])

    def cast(self, value: object, casting_context: object = None) -> Any:
        """Returns the value, which must be of this type."""
        if not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    def _to_tensor_list(self, value: object) -> list[Any]:
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        expected = self._flat_tensor_specs
        if len(tensor_list) != len(expected):
            raise ValueError(
                f"Cannot create a {self.value_type.__name__} from the tensor list because the TypeSpec expects "
                f"{len(expected)} items, but the provided tensor list has {len(tensor_list)} items."
            )
        for i, (tensor, spec) in enumerate(zip(tensor_list, expected, strict=True)):
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"Cannot create a {self.value_type.__name__} from the tensor list because item {i} ({tensor!r}) "
                    f"is incompatible with the expected TypeSpec {spec}."
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return self._from_components(
            nest.pack_sequence_as(self._component_specs, list(tensor_list), expand_composites=True)
        )

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return self.flatten()

    def _with_tensor_ranks_only(self) -> Any:
        """Returns the spec with only the ranks of its shapes."""

        def relaxed(value: object) -> Any:
            if isinstance(value, TypeSpec):
                return value._with_tensor_ranks_only()
            if isinstance(value, TensorShape) and value.rank is not None:
                return TensorShape([None] * value.rank)
            return value

        return self._deserialize(nest.map_structure(relaxed, self._serialize()))

    def _without_tensor_names(self) -> Any:
        """Returns the spec without the names of its tensors."""
        return self._deserialize(
            nest.map_structure(lambda x: x._without_tensor_names() if isinstance(x, TypeSpec) else x, self._serialize())
        )

    def _parts(self) -> list[Any]:
        return [self._component_specs]

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        return self._from_components(parts[0])  # called with tensors: packing a structure of specs yields values

    # Specs of libraries call these by their mangled names, to derive their comparison from TensorFlow's.

    def __make_cmp_key(self, value: object) -> Any:
        return _hashable(value)

    @staticmethod
    def __is_compatible(a: object, b: object) -> bool:
        return _compatible(a, b)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bool(_hashable(self._serialize()) == _hashable(other._serialize()))

    def __hash__(self) -> int:
        return hash((type(self), _hashable(self._serialize())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()


TypeSpec.__module__ = "gradtape"


class LeafSpec(TypeSpec):
    """The spec of a value without component tensors: a variable, a dataset, None."""

    __slots__ = ()
    _is_whole = True

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components


def _supertype(mine: Any, *its: Any) -> Any:
    """The common supertype of corresponding parts of specs; `ValueError` if there is none."""
    if hasattr(mine, "most_specific_common_supertype"):
        found = mine.most_specific_common_supertype(list(its))
        if found is None:
            raise ValueError(f"{mine!r} and {its!r} have nothing in common")
        return found
    if any(mine != other for other in its):
        raise ValueError(f"{mine!r} and {its!r} differ")
    return mine


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, TypeSpec) or (isinstance(a, TensorShape) and isinstance(b, TensorShape)):
        return bool(a.is_compatible_with(b))
    if type(a) is not type(b) and not (hasattr(a, "_fields") and getattr(b, "_fields", None) == a._fields):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_compatible, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_compatible(a[key], b[key]) for key in a)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a == b)


def _hashable(value: object) -> Any:
    """Convert the serialization of a spec to a hashable key."""
    if isinstance(value, dict):
        return tuple([(key, _hashable(value[key])) for key in sorted(value)])
    if isinstance(value, tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, list):
        return list, tuple(map(_hashable, value))
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, value.dtype.str, tuple(value.ravel().tolist())
    return value


class TypeSpecBatchEncoder:
    """Encodes values of a spec as tensors that can be stacked and unstacked, and decodes them."""

    def batch(self, spec: BatchableTypeSpec, batch_size: int | None) -> Any:
        """The spec of a batch of values."""
        raise NotImplementedError(f"{type(self).__name__}.batch")

    def unbatch(self, spec: BatchableTypeSpec) -> Any:
        """The spec of one element of a batch."""
        raise NotImplementedError(f"{type(self).__name__}.unbatch")

    def encode(self, spec: BatchableTypeSpec, value: object, minimum_rank: int = 0) -> Any:
        """Encode a value as a nest of tensors and batchable composites of at least this rank."""
        raise NotImplementedError(f"{type(self).__name__}.encode")

    def decode(self, spec: BatchableTypeSpec, encoded_value: Any) -> Any:
        """Decode a value, an element of a batch, or a batch."""
        raise NotImplementedError(f"{type(self).__name__}.decode")

    def encoding_specs(self, spec: BatchableTypeSpec) -> Any:
        """The specs of an encoded value."""
        raise NotImplementedError(f"{type(self).__name__}.encoding_specs")


class LegacyTypeSpecBatchEncoder(TypeSpecBatchEncoder):
    """Delegates to the spec's own `_batch`, `_unbatch`, `_to_tensor_list` and `_from_tensor_list`."""

    def batch(self, spec: BatchableTypeSpec, batch_size: int | None) -> Any:
        """The spec of a batch."""
        return spec._batch(batch_size)

    def unbatch(self, spec: BatchableTypeSpec) -> Any:
        """The spec of one element."""
        return spec._unbatch()

    def encode(self, spec: BatchableTypeSpec, value: object, minimum_rank: int = 0) -> Any:
        """Encode a value as a list of tensors."""
        if minimum_rank > 1:
            raise ValueError(f"{type(spec).__name__}.encode does not support minimum_rank>1.")
        return spec._to_batched_tensor_list(value) if minimum_rank else spec._to_tensor_list(value)

    def decode(self, spec: BatchableTypeSpec, encoded_value: Any) -> Any:
        """Decode the value from its tensors."""
        return spec._from_tensor_list(encoded_value)

    def encoding_specs(self, spec: BatchableTypeSpec) -> Any:
        """The specs of these tensors."""
        return spec._flat_tensor_specs


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be stacked and unstacked, as datasets and `map_fn` do.

    A subclass defines `_batch(size)` and `_unbatch()`, the specs of a batch and of an element. If stacking the
    components does not stack the values, it overrides `_to_tensor_list`, `_from_compatible_tensor_list` and
    `_flat_tensor_specs`, or altogether `_stacked`, `_rows` and `_row_count`.
    """

    __slots__ = ()
    __batch_encoder__: Any = LegacyTypeSpecBatchEncoder()

    def _batch(self, batch_size: int | None) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [tensor for spec in nest.flatten(self._component_specs) for tensor in encoded_specs(spec)]

    def _to_tensor_list(self, value: object) -> list[Any]:
        return self._encoded_components(value, 0)

    def _to_batched_tensor_list(self, value: object) -> list[Any]:
        tensors = self._encoded_components(value, 1)
        if any(tensor.shape.rank == 0 for tensor in tensors):
            raise ValueError(
                f"While converting {value} to a list of tensors for batching, found a scalar item which cannot be "
                "batched."
            )
        return tensors

    def _encoded_components(self, value: object, minimum_rank: int) -> list[Any]:
        specs, components = nest.flatten(self._component_specs), nest.flatten(self._to_components(value))
        return [x for spec, part in zip(specs, components, strict=True) for x in encoded(spec, part, minimum_rank)]

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        rest = iter(tensor_list)
        return self._from_components(nest.map_structure(lambda spec: decoded(spec, rest), self._component_specs))

    def _stacked(self, values: Sequence[Any], stack: Callable[[Sequence[Any]], Any]) -> Any:
        """Stack values of this spec along a new first axis; `stack` does so for tensors."""
        columns = zip(*[encoded(self, value) for value in values], strict=True)
        batch = self.__batch_encoder__.batch(self, len(values))
        return decoded(batch, iter([stack(column) for column in columns]))

    def _row_count(self, value: Any) -> int:
        """The number of rows of a value of this spec."""
        return int(encoded(self, value, 1)[0].shape[0])

    def _rows(self, value: Any, rows: Callable[[Any], Sequence[Any]]) -> list[Any]:
        """Unstack a value of this spec into its rows; `rows` does so for a tensor."""
        row_spec = self.__batch_encoder__.unbatch(self)
        columns = [rows(tensor) for tensor in encoded(self, value, 1)]
        return [decoded(row_spec, iter(row)) for row in zip(*columns, strict=True)]


def encoded(spec: TypeSpec, value: object, minimum_rank: int = 0) -> list[Any]:
    """Encode a value as tensors that can be stacked."""
    if not nest.is_composite(spec):
        return [value]
    encoder = getattr(spec, "__batch_encoder__", None)
    if encoder is None:
        return spec._to_tensor_list(value)
    specs = nest.flatten(encoder.encoding_specs(spec))
    parts = nest.flatten(encoder.encode(spec, value, minimum_rank))
    return [x for its, part in zip(specs, parts, strict=True) for x in encoded(its, part, minimum_rank)]


def decoded(spec: TypeSpec, tensors: Iterator[Any]) -> Any:
    """Decode a value from the next tensors."""
    if not nest.is_composite(spec):
        return next(tensors)
    encoder = getattr(spec, "__batch_encoder__", None)
    if encoder is None:
        return spec._from_compatible_tensor_list([next(tensors) for _ in spec._flat_tensor_specs])
    return encoder.decode(spec, nest.map_structure(lambda its: decoded(its, tensors), encoder.encoding_specs(spec)))


def encoded_specs(spec: TypeSpec) -> list[Any]:
    """The specs of the encoded tensors."""
    if not nest.is_composite(spec):
        return [spec]
    encoder = getattr(spec, "__batch_encoder__", None)
    if encoder is None:
        return spec._flat_tensor_specs
    return [x for its in nest.flatten(encoder.encoding_specs(spec)) for x in encoded_specs(its)]


_converters: list[tuple[type, Callable[[Any], Any], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], Any], allow_subclass: bool = False
) -> None:
    """Register `converter_fn` for values of a type in `type_spec_from_value`; later registrations take precedence."""
    _converters.append((type_object, converter_fn, allow_subclass))


def spec_of(value: object) -> Any:
    """The spec of a tensor, of a composite, or of anything that converts to a tensor."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, list) and value and isinstance(value[0], CompositeTensor):
        first, *others = map(spec_of, value)
        both = first.most_specific_common_supertype(others)
        if isinstance(both, BatchableTypeSpec):
            return both.__batch_encoder__.batch(both, len(value))
    for kind, converter, subclasses in reversed(_converters):
        if type(value) is kind or (subclasses and isinstance(value, kind)):
            return converter(value)
    raise TypeError(f"Could not build a `TypeSpec` for {value!r} with type {type(value).__name__}")
