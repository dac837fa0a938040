"""Signatures: functions that take tensors by name and return dicts of tensors, for serving."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from ..state.specs import TensorSpec
from .format.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from .loading import Signatures

DEFAULT_SIGNATURE = "_default_save_signature"  # for an object that defines its own signatures, as Keras' models do


class Served(NamedTuple):
    """A signature: its name, and the function that it calls."""

    name: str
    function: ConcreteFunction


def chosen_signatures(root: Any, given: Any) -> dict[str, ConcreteFunction]:
    """Returns the functions to serve by signature name: those given, or the only one that qualifies."""
    if given is None:
        kept = getattr(root, "signatures", None)
        if isinstance(kept, Signatures):
            return dict(kept)
        given = getattr(root, DEFAULT_SIGNATURE, None)
        if given is None:
            return _only_one(root)
    if not isinstance(given, Mapping):
        given = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: given}
    return {_check_name(name): _concrete(name, function) for name, function in given.items()}


def _check_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the names of signatures must be strings, got {name!r}")
    if name.startswith("__saved_model"):
        raise KeyError(f"The signature name {name!r} is reserved: choose another")
    return name


def _concrete(name: str, function: Any) -> ConcreteFunction:
    if isinstance(function, Function):
        if function.input_signature is not None:
            return function.get_concrete_function()
        traced = function._list_all_concrete_functions()
        if len(traced) == 1:
            return traced[0]
        raise ValueError(
            f"A TensorFlow function used to generate signature {name!r} has no `input_signature` and was traced for "
            f"{len(traced)} signatures. Give it an `input_signature`, or give `function.get_concrete_function(...)`"
        )
    if not isinstance(function, ConcreteFunction):
        raise ValueError(
            f"Expected a TensorFlow function for which to generate a signature, but got {function} (under the name "
            f"{name!r}). Only `tf.functions` with an input signature or concrete functions can be used as a signature."
        )
    return function


def _only_one(root: Any) -> dict[str, ConcreteFunction]:
    """Returns the function with an input signature of tensors, if there is exactly one."""
    found = []
    for function in functions_of(root).values():
        if isinstance(function, Function) and function.input_signature is not None:
            function = function.get_concrete_function()
        if isinstance(function, ConcreteFunction) and _can_be_served(function):
            found.append(function)
    return {DEFAULT_SERVING_SIGNATURE_DEF_KEY: found[0]} if len(found) == 1 else {}


def _can_be_served(function: ConcreteFunction) -> bool:
    try:
        inputs_of(function)
        outputs_of("", function.structured_outputs)
    except (ValueError, RuntimeError):
        return False
    return True


def functions_of(owner: Any) -> dict[str, Any]:
    """Returns the functions of an object, as attributes or as methods of its class."""
    kinds = (Function, ConcreteFunction)
    found = {name: value for name, value in vars(owner).items() if isinstance(value, kinds)}
    for kind in type(owner).__mro__:
        for name, value in vars(kind).items():
            if isinstance(value, kinds) and name not in found and inspect.getattr_static(owner, name) is value:
                found[name] = getattr(owner, name)
    return dict(sorted(found.items()))


def inputs_of(function: ConcreteFunction, name: str = "") -> list[tuple[str, TensorSpec]]:
    """Returns the input tensors of a signature by name."""
    names = [spec.name or title for spec, title in zip(_specs(function), function._names, strict=True)]
    if len(set(names)) != len(names):
        raise ValueError(
            f"Got non-flat/non-unique argument names for SavedModel signature {name!r}: more than one argument to "
            f"{function.name.decode()} was named {next(n for n in names if names.count(n) > 1)!r}. Signatures have one "
            "Tensor per named input, so names must be unique: name the TensorSpecs"
        )
    return list(zip(names, _specs(function), strict=True))


def _specs(function: ConcreteFunction) -> list[TensorSpec]:
    if not all(isinstance(spec, TensorSpec) for spec in function._given):
        raise ValueError(f"{function.name.decode()} was traced with tensors, not specs")
    return list(function._given)


def outputs_of(name: str, outputs: Any) -> dict[str, TensorSpec]:
    """Returns the outputs of a signature by name; raises ValueError unless they are tensors."""
    if isinstance(outputs, Mapping):
        found = dict(outputs)
    else:
        rows = outputs if isinstance(outputs, list | tuple) else [outputs]
        found = {f"output_{i}": value for i, value in enumerate(rows)}
    for key, value in found.items():
        if not isinstance(key, str):
            raise ValueError(f"The dictionary returned by signature {name!r} has a key that is no string: {key!r}")
        if not isinstance(value, TensorSpec):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {key!r} in the output of the function used to generate the "
                f"SavedModel signature {name!r}. Outputs for functions used as signatures must be a single Tensor, a "
                "sequence of Tensors, or a dictionary from string to Tensor."
            )
    return dict(sorted(found.items())) if isinstance(outputs, Mapping) else found
