"""Python values in a SavedModel: signatures and return values, as `StructuredValue`."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...api.io.tensors import encoded, parsed
from ...core import nest
from ...core.dtypes import DType, as_dtype
from ...core.protos.records import Record
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...ragged.tensor import RaggedTensorSpec
from ...state.specs import IndexedSlicesSpec, SparseTensorSpec, TensorSpec, TypeSpec, VariableSpec

_SPECS: dict[int, Any] = {1: SparseTensorSpec, 2: IndexedSlicesSpec, 3: RaggedTensorSpec, 9: VariableSpec}


class UnknownSpecError(ValueError):
    """A SavedModel contains a value of an unsupported type."""


def shape_of(proto: Record | None) -> TensorShape:
    """Returns the shape of a `TensorShapeProto`; a missing one is that of a scalar."""
    if proto is None:
        return TensorShape([])
    return TensorShape(None if proto.unknown_rank else [None if d.size < 0 else d.size for d in proto.dim])


def shape_proto(shape: Any) -> dict[str, Any]:
    """Converts a shape to a `TensorShapeProto`."""
    shape = TensorShape(shape)
    if shape.rank is None:
        return {"unknown_rank": True}
    return {"dim": [{"size": -1 if n is None else n} for n in shape]}


def tensor_bytes(tensor: Tensor) -> bytes:
    """Returns the bytes of a `TensorProto`."""
    return encoded(np.asarray(tensor.array), tensor.dtype)


def value_of(proto: Record) -> Any:
    """Returns the Python value of a `StructuredValue`."""
    for kind, value in proto.values.items():
        return _READERS[kind](value)
    return None


def _named_tuple(proto: Record) -> Any:
    names = [pair.key for pair in proto.values.get("values", ())]
    made = namedtuple(proto.name or "Tuple", names)  # type: ignore[misc]
    return made(*[value_of(pair.value) for pair in proto.values.get("values", ())])


def _type_spec(proto: Record) -> Any:
    kind = _SPECS.get(proto.type_spec_class)
    if kind is None:
        raise UnknownSpecError(
            f"the SavedModel has a value of the type {proto.type_spec_class_name or proto.type_spec_class}, which is "
            f"not read here: of composite types there are {', '.join(spec.__name__ for spec in _SPECS.values())}"
        )
    return kind(*value_of(proto.type_state)) if kind is VariableSpec else kind._deserialize(value_of(proto.type_state))


def _decode_list(proto: Record) -> list[Any]:
    return [value_of(one) for one in proto.values.get("values", ())]


_READERS: dict[str, Any] = {
    "none_value": lambda _: None,
    "float64_value": lambda x: x,
    "int64_value": lambda x: x,
    "string_value": lambda x: x,
    "bool_value": lambda x: x,
    "tensor_shape_value": shape_of,
    "tensor_dtype_value": DType,
    "tensor_spec_value": lambda x: TensorSpec(shape_of(x.shape), DType(x.dtype), x.name or None),
    "type_spec_value": _type_spec,
    "list_value": _decode_list,
    "tuple_value": lambda x: tuple(_decode_list(x)),
    "dict_value": lambda x: {key: value_of(value) for key, value in x.fields.items()},
    "named_tuple_value": _named_tuple,
    "tensor_value": parsed,
    "numpy_value": lambda x: parsed(x).numpy(),
}


def structured(value: Any) -> dict[str, Any]:
    """Returns the `StructuredValue` of a Python value; raises TypeError if a SavedModel cannot hold it."""
    if value is None:
        return {"none_value": {}}
    if isinstance(value, bool):
        return {"bool_value": value}
    if isinstance(value, int):
        return {"int64_value": value}
    if isinstance(value, float):
        return {"float64_value": value}
    if isinstance(value, str):
        return {"string_value": value}
    if isinstance(value, TensorShape):
        return {"tensor_shape_value": shape_proto(value)}
    if isinstance(value, DType):
        return {"tensor_dtype_value": value.as_datatype_enum}
    if isinstance(value, Tensor):
        return {"tensor_value": tensor_bytes(value)}
    if isinstance(value, TensorSpec):
        return {"tensor_spec_value": _spec(value)}
    if isinstance(value, TypeSpec):
        return {"type_spec_value": _spec_of_composite(value)}
    if isinstance(value, Mapping):
        return {"dict_value": {"fields": {str(key): structured(part) for key, part in value.items()}}}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        pairs = [{"key": key, "value": structured(getattr(value, key))} for key in value._fields]
        return {"named_tuple_value": {"name": type(value).__name__, "values": pairs}}
    if isinstance(value, list | tuple):
        kind = "list_value" if isinstance(value, list) else "tuple_value"
        return {kind: {"values": list(map(structured, value))}}
    raise TypeError(f"a SavedModel cannot hold {value!r} as an argument or a result of a function")


def _spec(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name or "", "shape": shape_proto(spec.shape), "dtype": spec.dtype.as_datatype_enum}


def _spec_of_composite(spec: TypeSpec) -> dict[str, Any]:
    number = next((number for number, kind in _SPECS.items() if type(spec) is kind), None)
    if number is None:
        raise TypeError(f"a SavedModel written here cannot hold {spec!r} as an argument or a result of a function")
    if isinstance(spec, VariableSpec):
        state: Any = (spec.shape, spec.dtype, spec.trainable, None)
    else:
        state = tuple(as_dtype(x) if isinstance(x, DType) else x for x in spec._serialize())
    return {
        "type_spec_class": number,
        "type_state": structured(state),
        "type_spec_class_name": type(spec).__name__,
        "num_flat_components": len(nest.flatten(spec, expand_composites=True)),
    }


FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")


def argument_spec(signature: inspect.Signature) -> dict[str, Any]:
    """Returns the parameters of a function as a `StructuredValue`."""
    by_kind: dict[Any, list[Any]] = {}
    for parameter in signature.parameters.values():
        by_kind.setdefault(parameter.kind, []).append(parameter)
    positional = by_kind.get(inspect.Parameter.POSITIONAL_ONLY, []) + by_kind.get(
        inspect.Parameter.POSITIONAL_OR_KEYWORD, []
    )
    named = by_kind.get(inspect.Parameter.KEYWORD_ONLY, [])
    starred, others = (
        found[0].name if (found := by_kind.get(kind)) else None
        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    )
    defaults = tuple(_storable(p.default) for p in positional if p.default is not p.empty)
    return structured(
        FullArgSpec(
            [p.name for p in positional],
            starred,
            others,
            defaults or None,
            [p.name for p in named],
            {p.name: _storable(p.default) for p in named if p.default is not p.empty} or None,
            {},
        )
    )


def _storable(value: Any) -> Any:
    """Returns a default value, or None if it cannot be stored: calls must then pass the argument."""
    try:
        structured(value)
    except TypeError:
        return None
    return value


def signature_of(spec: Any, is_method: bool) -> inspect.Signature:
    """Returns the parameters of a `FullArgSpec`."""
    kinds = inspect.Parameter
    names = spec.args[1:] if is_method else spec.args
    defaults = list(spec.defaults or ())
    found = []
    for i, name in enumerate(names):
        at = i - (len(names) - len(defaults))
        found.append(kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults[at] if at >= 0 else kinds.empty))
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    for name in spec.kwonlyargs:
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=(spec.kwonlydefaults or {}).get(name, kinds.empty)))
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)
