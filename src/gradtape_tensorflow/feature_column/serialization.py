"""Feature columns as plain data, in the format of TensorFlow's configurations."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from gradtape.core.dtypes import DType, as_dtype

C = TypeVar("C")
Objects = Mapping[str, Any] | None  # classes and functions by name

_COLUMNS: dict[str, type] = {}
_NESTED = ("categorical_column", "source_column", "keys")  # parameters that are columns
_OBJECTS = ("initializer", "normalizer_fn")  # parameters that are functions or objects with a configuration


def register_feature_column(column: type[C]) -> type[C]:
    """Registers a column class, so that `deserialize_feature_column` finds it by name."""
    _COLUMNS[column.__name__] = column
    return column


def serialize_feature_column(fc: Any) -> Any:
    """Returns a column as a dictionary of its class and its parameters; the key of a feature stays a string."""
    if isinstance(fc, str):
        return fc
    if hasattr(fc, "parse_example_spec"):
        return {"class_name": type(fc).__name__, "config": fc.get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Objects = None, columns_by_name: dict[str, Any] | None = None
) -> Any:
    """Creates the column of a configuration; one that `columns_by_name` contains already is returned from there."""
    if isinstance(config, str):
        return config
    kind, parameters = _class_and_config(config, _COLUMNS, custom_objects, "feature_column_v2")
    if not hasattr(kind, "parse_example_spec"):
        raise ValueError(f"Expected FeatureColumn class, instead found: {kind}")
    known = {} if columns_by_name is None else columns_by_name
    column = kind.from_config(parameters, custom_objects=custom_objects, columns_by_name=known)
    return known.setdefault(f"{kind.__name__}:{column.name}", column)


def serialize_feature_columns(feature_columns: Iterable[Any]) -> list[Any]:
    """Returns the configurations of columns."""
    return [serialize_feature_column(column) for column in feature_columns]


def deserialize_feature_columns(configs: Iterable[Any], custom_objects: Objects = None) -> list[Any]:
    """Creates columns from configurations; equal columns become one object."""
    known: dict[str, Any] = {}
    return [deserialize_feature_column(config, custom_objects, known) for config in configs]


def serialize_parameter(value: Any) -> Any:
    """Returns a parameter of a column as plain data."""
    if hasattr(value, "parse_example_spec"):
        return serialize_feature_column(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple) and any(hasattr(part, "parse_example_spec") for part in value):
        return tuple(serialize_feature_column(part) for part in value)
    return _serialize_object(value) if callable(value) else value


def deserialize_parameter(name: str, value: Any, custom_objects: Objects, columns_by_name: Any) -> Any:
    """Creates the parameter `name` of a column from plain data."""
    if name == "keys":
        return tuple(deserialize_feature_column(part, custom_objects, columns_by_name) for part in value)
    if name in _NESTED:
        return deserialize_feature_column(value, custom_objects, columns_by_name)
    if name in _OBJECTS:
        return _deserialize_object(value, custom_objects)
    if name == "dtype":
        return as_dtype(value)
    return tuple(value) if isinstance(value, list) else value


def _serialize_object(value: Any) -> Any:
    if hasattr(value, "get_config"):
        config = {name: part.name if isinstance(part, DType) else part for name, part in value.get_config().items()}
        name = type(value).__name__
        return {"class_name": _camel_case(name) if name.endswith("_initializer") else name, "config": config}
    if hasattr(value, "__name__"):
        return value.__name__
    raise ValueError("Cannot serialize", value)


def _deserialize_object(identifier: Any, custom_objects: Objects) -> Any:
    if identifier is None or inspect.isfunction(identifier):
        return identifier
    if isinstance(identifier, dict):
        kind, config = _class_and_config(identifier, _initializers(), custom_objects, "object")
        return kind.from_config(config) if hasattr(kind, "from_config") else kind(**config)
    if not isinstance(identifier, str):
        raise ValueError(f"Could not interpret serialized object: {identifier}")
    found = (custom_objects or {}).get(identifier, _initializers().get(identifier))
    if found is None:
        raise ValueError(f"Unknown object: {identifier}")
    return found() if inspect.isclass(found) else found


def _initializers() -> dict[str, Any]:
    """Returns TensorFlow 1's initializers, by the names that configurations contain."""
    from ..v1.initializers import classes  # here: only to read configurations

    found = {name: kind for name, kind in vars(classes).items() if inspect.isclass(kind)}
    return found | {_camel_case(name): kind for name, kind in found.items() if name.endswith("_initializer")}


def _camel_case(name: str) -> str:
    return "".join(part.capitalize() for part in name.removesuffix("_initializer").split("_"))


def _class_and_config(config: Any, known: Mapping[str, Any], custom_objects: Objects, title: str) -> tuple[Any, Any]:
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    kind = (custom_objects or {}).get(name, known.get(name))
    if kind is None:
        raise ValueError(f"Unknown {title}: {name}")
    return kind, config["config"]
