"""The object graph of a SavedModel being written: indices, names of children, and kinds."""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Mapping
from typing import Any

from ..api.lookup.static_tables import StaticHashTable
from ..checkpoint.object_graph import ObjectNode, children, is_trackable, owns_variables, variable_of
from ..checkpoint.tensorflow_graph import encode_graph
from ..core.owners import Owner, Trackable, TrackableReference
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from ..state.variable import Variable
from .format.options import Asset
from .format.structures import argument_spec, shape_proto, structured
from .functions import LoadedFunction
from .loading import Signatures
from .signatures import Served, functions_of, inputs_of
from .tables import TableFunction, functions_of_table

_FUNCTIONS = (Function, ConcreteFunction)
_SAVED = (*_FUNCTIONS, Asset)
_PLAIN = (list, dict)  # they exist after loading even if they are empty
_VERSION = {"producer": 1, "min_consumer": 1}
_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def parts_of(owner: Any, cache: dict[Any, Any]) -> dict[str, Any]:
    """Returns the children of an object that are saved: variables, objects with variables, and functions.

    An object may name them itself, also those that only a SavedModel has; `cache` is the same for all objects.
    """
    if isinstance(owner, StaticHashTable):
        return dict(functions_of_table(owner))
    if isinstance(owner, Function | ConcreteFunction | Asset | Served | TableFunction):
        return {}
    if variable_of(owner) is not None:
        return {}
    if isinstance(owner, Signatures):
        return dict(owner)
    if names_children(owner):
        found = owner._trackable_children("savedmodel", cache=cache)
        return {name: x for name, x in found.items() if isinstance(x, _SAVED) or is_trackable(x) or _is_plain(x)}
    found = dict(children(owner))
    if isinstance(owner, list | tuple):
        found.update({str(i): value for i, value in enumerate(owner) if isinstance(value, _FUNCTIONS)})
    elif not isinstance(owner, Mapping):
        found.update({name: value for name, value in vars(owner).items() if _is_plain(value)})
        found.update(functions_of(owner))
    return found


def _is_plain(value: Any) -> bool:
    """Returns whether a value is a list or dict without variables that is saved: an empty one, or functions.

    It may also be one that tracks what is put into it.
    """
    if type(value) not in _PLAIN and not (isinstance(value, _PLAIN) and owns_variables(value)):
        return False
    return all(isinstance(value, list) and isinstance(each, _FUNCTIONS) for each in value)


def names_children(owner: Any) -> bool:
    """Returns whether an object names the children that a SavedModel has, as those of Keras 2 do."""
    return isinstance(owner, Trackable) and type(owner)._trackable_children is not Owner._trackable_children


class ObjectGraph:
    """The objects reachable from a root, each with an index."""

    def __init__(self, root: Any, further: dict[str, Any], cache: dict[Any, Any] | None = None) -> None:
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []
        self._paths: list[tuple[str, ...]] = []
        self._below: list[dict[str, int]] = []
        cache = {} if cache is None else cache
        waiting = deque([self._add(root, ())])
        while waiting:
            number = waiting.popleft()
            owner = self._alive[number]
            parts = parts_of(owner, cache)
            if number == 0:
                parts.update(further)
            for name, part in parts.items():
                if self.key(part) not in self._numbers:
                    waiting.append(self._add(part, (*self._paths[number], name)))
                self._below[number][name] = self._numbers[self.key(part)]

    @staticmethod
    def key(value: Any) -> int:
        """Returns the identity of an object: a Keras variable is identified with the variable it wraps."""
        variable = variable_of(value)
        if variable is not None:
            return id(variable)
        core = getattr(value, "_core", None)  # accessing a method twice creates two objects with the same function
        return id(core if isinstance(core, Function) else value)

    def paths(self) -> list[tuple[Any, list[TrackableReference]]]:
        """Returns the objects in the order of their indices, each with the children on the way to it from the root."""
        found: list[tuple[Any, list[TrackableReference]]] = []
        for value, path in zip(self._alive, self._paths, strict=True):
            number, way = 0, []
            for name in path:
                number = self._below[number][name]
                way.append(TrackableReference(name, self._alive[number]))
            found.append((value, way))
        return found

    def _add(self, value: Any, path: tuple[str, ...]) -> int:
        number = self._numbers[self.key(value)] = len(self._alive)
        self._alive.append(value)
        self._paths.append(path)
        self._below.append({})
        return number

    def number(self, value: Any) -> int | None:
        """Returns the index of an object, if it is in the graph."""
        return self._numbers.get(self.key(value))

    def of_kind(self, *kinds: Any) -> list[Any]:
        """Returns the objects of these classes."""
        return [value for value in self._alive if isinstance(value, kinds)]

    def variables(self) -> dict[str, Variable]:
        """Returns the variables by their checkpoint keys."""
        found = [(number, variable_of(value)) for number, value in enumerate(self._alive)]
        return {self._stored(number): variable for number, variable in found if variable is not None}

    def _stored(self, number: int) -> str:
        return "/".join(name.replace(".", "..").replace("/", ".S") for name in self._paths[number]) + _SUFFIX

    def for_checkpoint(self) -> bytes:
        """Returns the graph in the format of checkpoints."""
        nodes = []
        for number, value in enumerate(self._alive):
            is_variable = variable_of(value) is not None
            nodes.append(ObjectNode(dict(self._below[number]), self._stored(number) if is_variable else None))
        return encode_graph(nodes)

    def nodes(self, concretes: dict[int, list[str]], assets: list[Asset]) -> list[dict[str, Any]]:
        """Returns the messages of the objects; `concretes` are the names of each function's written functions."""
        found = []
        for number, value in enumerate(self._alive):
            below = [{"node_id": child, "local_name": name} for name, child in self._below[number].items()]
            found.append({"children": below, **_describe_value(value, concretes.get(number, []), assets)})
        return found


def _describe_value(value: Any, concretes: list[str], assets: list[Asset]) -> dict[str, Any]:
    variable = variable_of(value)
    if variable is not None:
        return {
            "variable": {
                "dtype": variable.dtype.as_datatype_enum, "shape": shape_proto(variable.shape),
                "trainable": bool(variable.trainable), "name": variable.name.partition(":")[0],
            }
        }  # fmt: skip
    if isinstance(value, Function):
        return {"function": {"concrete_functions": concretes, "function_spec": _function_spec(value)}}
    if isinstance(value, ConcreteFunction):
        names = [spec.name or title for spec, title in zip(value.inputs, value._names, strict=False)]
        return {"bare_concrete_function": _bare(names, len(names), concretes[0])}
    if isinstance(value, Served):
        names = sorted(name for name, _ in inputs_of(value.function))
        return {"bare_concrete_function": _bare(names, len(names) == 1, concretes[0])}
    if isinstance(value, StaticHashTable):
        return {"resource": {}}
    if isinstance(value, TableFunction):
        spec = {"fullargspec": argument_spec(inspect.Signature()), "input_signature": structured(())}
        return {"function": {"concrete_functions": concretes, "function_spec": spec}}
    if isinstance(value, Asset):
        return {"asset": {"asset_file_def_index": next(i for i, asset in enumerate(assets) if asset is value)}}
    return {"user_object": {"identifier": _identifier(value), "version": _VERSION}}


def _identifier(value: Any) -> str:
    if isinstance(value, Signatures):
        return "signature_map"
    if isinstance(value, Mapping):
        return "trackable_dict_wrapper"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    if isinstance(value, list):
        return "trackable_list_wrapper"
    return getattr(value, "_object_identifier", "_generic_user_object")


def _function_spec(function: Function) -> dict[str, Any]:
    specs = function.input_signature
    return {
        "fullargspec": argument_spec(function.function_spec.signature),
        "input_signature": structured(specs),
        "jit_compile": 1 if function._options[1] else 0,
    }


def _bare(names: list[str], positional: int, name: str) -> dict[str, Any]:
    return {
        "concrete_function_name": name, "argument_keywords": names, "allowed_positional_arguments": positional
    }  # fmt: skip


def concrete_functions_of(function: Any) -> list[ConcreteFunction]:
    """Returns the traces of a function; one with an input signature is traced for it."""
    if isinstance(function, ConcreteFunction):
        return [function]
    if isinstance(function, LoadedFunction):
        return list(function.concrete_functions)
    if function.input_signature is not None:
        return [function.get_concrete_function()]
    # What was traced for this SavedModel has a single value per distributed variable.
    here = function._here()
    return here._list_all_concrete_functions_for_serialization() or (
        function._list_all_concrete_functions_for_serialization()
    )


def file_of(asset: Asset) -> str:
    """Returns the path of an asset's file."""
    return os.fsdecode(asset.asset_path.numpy())
