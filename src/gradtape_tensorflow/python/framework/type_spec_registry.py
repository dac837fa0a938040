"""`tensorflow.python.framework.type_spec_registry`: names of type spec classes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import gradtape
from gradtape.state.type_spec import TypeSpec

_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_TYPE_SPEC_TO_NAME: dict[type, str] = {}
_REGISTERED_NAME = re.compile(r"^(\w+\.)+\w+$")


def register(name: str) -> Callable[[Any], Any]:
    """Returns a decorator that registers a type spec class under a name such as `my_project.MySpec`."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _REGISTERED_NAME.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); got "
            f"{name!r}."
        )

    def decorate(kind: Any) -> Any:
        if not (isinstance(kind, type) and issubclass(kind, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {kind!r}")
        if kind in _TYPE_SPEC_TO_NAME:
            raise ValueError(
                f"Class {kind.__module__}.{kind.__name__} has already been registered with name {get_name(kind)}."
            )
        if name in _NAME_TO_TYPE_SPEC:
            raise ValueError(f"Name {name} has already been registered for class {_NAME_TO_TYPE_SPEC[name].__name__}.")
        _TYPE_SPEC_TO_NAME[kind], _NAME_TO_TYPE_SPEC[name] = name, kind
        return kind

    return decorate


def get_name(cls: type) -> str:
    """Returns the name of a registered class."""
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def lookup(name: str) -> type:
    """Returns the class registered under `name`."""
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]


for _spec in (gradtape.TensorSpec, gradtape.RaggedTensorSpec, gradtape.SparseTensorSpec):
    register(f"tf.{_spec.__name__}")(_spec)
