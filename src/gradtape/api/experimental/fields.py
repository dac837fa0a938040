"""The fields of an extension type: checks of annotations, and conversion of values."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.composites import CompositeTensor
from ...core.dtypes import DType, as_dtype
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...state.specs import TypeSpec

_PLAIN = (int, float, str, bytes, bool, type(None))
_RESERVED = frozenset(
    """
    self _type_spec _shape_invariant_to_type_spec _consumers value_type is_compatible_with
    most_specific_compatible_type _with_tensor_ranks_only _to_components _from_components _component_specs
    _to_tensor_list _from_tensor_list _from_compatible_tensor_list _flat_tensor_specs _serialize _deserialize
    _keras_mask _to_legacy_output_types _to_legacy_output_shapes _to_legacy_output_classes
    """.split()
)


class _NoDefault:
    def __repr__(self) -> str:
        return "ExtensionTypeField.NO_DEFAULT"


NO_DEFAULT = _NoDefault()


class Role(enum.Enum):
    """What is converted: a field of a value, a field of a spec, or a default."""

    VALUE = 1
    SPEC = 2
    DEFAULT = 3


class ImmutableDict(Mapping[Any, Any]):
    """An immutable mapping, the type of fields that are mappings."""

    __slots__ = ("_items",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


class Field(NamedTuple):
    """One field of an extension type."""

    name: str
    value_type: Any
    default: Any = NO_DEFAULT


def field(name: str, annotation: Any, default: Any = NO_DEFAULT) -> Field:
    """Creates a field after checking its annotation and default.

    The default of an annotation that Python cannot evaluate before the class exists is checked later.
    """
    try:
        check_annotation(annotation)
    except TypeError as error:
        raise TypeError(f"In field {name!r}: {error}") from error
    if default is not NO_DEFAULT and not isinstance(annotation, typing.ForwardRef):
        default = converted(default, annotation, f"default value for {name}", Role.DEFAULT)
    return Field(name, annotation, default)


def is_reserved(name: str) -> bool:
    """Whether a name is not allowed for fields."""
    return name in _RESERVED or name.lower().startswith("_tf_extension_type")


def is_union(annotation: Any) -> bool:
    """Whether an annotation is `Union[...]`, `Optional[...]` or `a | b`."""
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def is_tuple(annotation: Any) -> bool:
    """Whether an annotation is `tuple[...]`."""
    return typing.get_origin(annotation) is tuple


def is_mapping(annotation: Any) -> bool:
    """Whether an annotation is `Mapping[key, value]`."""
    return typing.get_origin(annotation) is Mapping


def is_forward(annotation: Any) -> bool:
    """Whether an annotation is a forward reference."""
    return isinstance(annotation, str | typing.ForwardRef)


def _is_composite(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, CompositeTensor)


def check_annotation(annotation: Any, is_key: bool = False) -> None:
    """Raises `TypeError` for an unsupported annotation."""
    if is_forward(annotation) or annotation is None or annotation in (*_PLAIN, DType):
        return
    if annotation in (Tensor, TensorShape) or _is_composite(annotation):
        if is_key:
            raise TypeError(f"Mapping had a key {annotation.__name__!r} with type {type(annotation).__name__!r}")
    elif is_tuple(annotation) or is_union(annotation):
        for part in typing.get_args(annotation):
            if part is not Ellipsis:
                check_annotation(part, is_key)
    elif is_mapping(annotation):
        key, value = typing.get_args(annotation)
        check_annotation(key, is_key=True)
        check_annotation(value, is_key)
    else:
        shown = annotation.__name__ if isinstance(annotation, type) else annotation
        raise TypeError(
            f"Unsupported type annotation {shown!r}. A field may be a Tensor, a composite of tensors, a number, a "
            "bool, a string, bytes, None, a DType or TensorShape, or a tuple, Mapping, Union or Optional of these"
        )


def convert_fields(fields: Sequence[Field], values: dict[str, Any], role: Role) -> None:
    """Converts the values of all fields to their annotated types in place; changes nothing if one fails."""
    expected = {field.name for field in fields}
    if values.keys() - expected:
        raise ValueError(f"Got unexpected fields: {values.keys() - expected}")
    if expected - values.keys():
        raise ValueError(f"Missing required fields: {expected - values.keys()}")
    fitting = {field.name: converted(values[field.name], field.value_type, field.name, role) for field in fields}
    values.clear()
    values.update(fitting)


def converted(value: Any, annotation: Any, path: str, role: Role) -> Any:
    """Converts a value to its annotated type; raises `TypeError` if that is not possible."""
    kind = type(value).__name__
    if annotation is Tensor:
        return _tensor(value, path, role)
    if _is_composite(annotation):
        return _composite(value, annotation, path, role)
    if annotation is TensorShape:
        try:
            return TensorShape(value)
        except TypeError as error:
            raise TypeError(f"{path}: expected 'tf.TensorShape', got {kind!r}") from error
    if annotation is DType:
        try:
            return as_dtype(value)
        except TypeError as error:
            raise TypeError(f"{path}: expected 'tf.DType', got {kind!r}") from error
    if annotation is None or annotation in _PLAIN:
        expected = type(None) if annotation is None else annotation
        if not isinstance(value, expected):
            raise TypeError(f"{path}: expected {expected.__name__!r}, got {kind!r}")
        return value
    if is_tuple(annotation):
        return _tuple(value, annotation, path, role)
    if is_mapping(annotation):
        if not isinstance(value, Mapping):
            raise TypeError(f"{path}: expected mapping, got {kind!r}")
        key, part = typing.get_args(annotation)
        return ImmutableDict(
            [(converted(k, key, f"{path}[<key>]", role), converted(v, part, f"{path}[{k!r}]", role))
             for k, v in value.items()]
        )  # fmt: skip
    if is_union(annotation):
        for option in typing.get_args(annotation):
            try:
                return converted(value, option, path, role)
            except TypeError:
                pass
        raise TypeError(f"{path}: expected {annotation!r}, got {kind!r}")
    raise TypeError(f"{path}: Unsupported type annotation {annotation!r}: is the name defined by now?")


def _tensor(value: Any, path: str, role: Role) -> Any:
    if role is Role.SPEC:
        if not (isinstance(value, TypeSpec) and value.value_type is Tensor):
            raise TypeError(f"{path}: expected a TensorSpec, got {type(value).__name__!r}")
        return value
    if isinstance(value, Tensor) or role is Role.DEFAULT:
        return value
    try:
        return to_tensor(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}") from error


def _composite(value: Any, annotation: type, path: str, role: Role) -> Any:
    if role is Role.SPEC:
        if not (isinstance(value, TypeSpec) and issubclass(value.value_type, annotation)):
            raise TypeError(f"{path}: expected a TypeSpec for {annotation.__name__!r}, got {type(value).__name__!r}")
    elif not isinstance(value, annotation):
        raise TypeError(f"{path}: expected {annotation.__name__!r}, got {type(value).__name__!r}")
    return value


def _tuple(value: Any, annotation: Any, path: str, role: Role) -> tuple[Any, ...]:
    if not isinstance(value, Sequence):
        raise TypeError(f"{path}: expected tuple, got {type(value).__name__!r}")
    kinds = typing.get_args(annotation)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(value) != len(kinds):
        kind = type(value).__name__
        raise TypeError(f"{path}: expected tuple with length {len(kinds)}, got {kind!r} of length {len(value)}")
    return tuple(converted(x, kind, f"{path}[{i}]", role) for i, (x, kind) in enumerate(zip(value, kinds, strict=True)))
