"""`tensorflow.python`: counterparts of TensorFlow's private modules that libraries import.

`tensorflow.__internal__`, used by Keras and others, is served in the same way, and so is `tensorflow.core`, of which
the modules of messages (`graph_pb2`) are generated.

A module consists of its row in `table.py` and of the file with the same path in this folder:
`tensorflow.python.util.nest` has the names of `util/nest.py`. Only the TensorFlow import hook serves these modules; no
other part of gradtape may import them. A missing name raises an error with the name and the package that uses it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import types
from functools import cache, wraps
from typing import Any

import gradtape
from gradtape.core.pickling import ModuleByName

from ..protos import generated
from . import keras2
from .table import EXPORTED, MODULES, PACKAGES

ROOT = "tensorflow.python"
INTERNAL = "tensorflow.__internal__"
_OTHERS = ("__operators__", "core", "compiler", "dtensor", "tools", "tsl")
_WITH_GENERATED = (
    "array|batch|bitwise|clustering|control_flow|data_flow|image|io|linalg|list|logging|lookup|map|math|nn|parsing|"
    "random|resource_variable|sparse|state|string"
)
_ROOTS = (ROOT, INTERNAL, *(f"tensorflow.{name}" for name in _OTHERS))


class PrivateModule(ModuleByName):
    """The counterpart of a module below `tensorflow.python`, whose names are resolved at first use."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "A private module of TensorFlow's, made of what gradtape has.")
        self.__path__: list[str] = []  # makes Python import a missing name as a submodule, which reports it
        self._place = _place(name)
        self._row = MODULES.get(self._place, {})
        self._exported = EXPORTED.get(self._place, {})
        self._file = _file(self._place)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._place}.{name}".lstrip(".")
        if path in places() or path in keras2.PLACES or _is_generated(path):
            return importlib.import_module(f"{self.__name__}.{name}")
        try:
            value = self._found(name)
        except AttributeError:
            raise AttributeError(missing(f"{self.__name__}.{name}"), name=name, obj=self) from None
        setattr(self, name, value)
        return value

    def _found(self, name: str) -> Any:
        if self._file is not None and name in vars(self._file):
            return vars(self._file)[name]
        if name in self._row:
            return _public(self._row[name])
        if _is_generated(self._place):
            return _raw_op(name)
        exported = [self._exported[name]] if name in self._exported else []
        for path in (*exported, *(_join(space, name) for space in self._row.get("*", "").split())):
            try:
                return _public(path)
            except AttributeError:
                continue
        if _has_generated(self._place):
            return _raw_op(name)
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        written = () if self._file is None else (name for name in vars(self._file) if not name.startswith("_"))
        return sorted({*vars(self), *(name for name in self._row if name != "*"), *self._exported, *written})


def module(name: str) -> types.ModuleType:
    """Returns the counterpart of `tensorflow.python` or of one of its submodules."""
    place = _place(name)
    for package, elsewhere in PACKAGES.items():
        if place == package or place.startswith(f"{package}."):
            return importlib.import_module(elsewhere + place.removeprefix(package))
    if keras2.serves(place):
        found = keras2.module(place)
        if found is None:
            raise ModuleNotFoundError(missing(name), name=name)
        return found
    if place and place not in places() and not _is_generated(place):
        raise ModuleNotFoundError(missing(name))
    path = generated.paths().get(name)
    return PrivateModule(name) if path is None else generated.module(path)


def is_private(name: str) -> bool:
    """Returns whether `name` is a private module of TensorFlow."""
    return f"{name}.".startswith(tuple(f"{root}." for root in _ROOTS))


def _place(name: str) -> str:
    """Returns the key of the module `name` in the table."""
    return name.removeprefix("tensorflow.").removeprefix("python").lstrip(".")


@cache
def places() -> frozenset[str]:
    """Returns all modules and their parent packages, relative to `tensorflow.python`."""
    found = {*MODULES, *EXPORTED, *PACKAGES, *map(_place, generated.paths())}
    for place in tuple(found):
        while "." in place:
            place = place.rpartition(".")[0]
            found.add(place)
    return frozenset(found)


def _has_generated(place: str) -> bool:
    """Returns whether a module has all names of a generated one, as `math_ops` has those of `gen_math_ops`."""
    return re.fullmatch(rf"ops\.({_WITH_GENERATED})_ops", place) is not None


def _is_generated(place: str) -> bool:
    """Returns whether a module is generated by TensorFlow's build, one function per op, as `gen_math_ops`."""
    return re.fullmatch(r"(ops\.gen_\w+_ops|training\.(gen_)?training_ops)", place) is not None


def _raw_op(name: str) -> Any:
    """Returns the op `name` of a generated module: that of `tf.raw_ops`, or in snake case with positional arguments."""
    for op in dir(gradtape.raw_ops):
        if op == name:
            return getattr(gradtape.raw_ops, op)
        if op.lower() == name.replace("_", "").lower():
            return _with_positions(getattr(gradtape.raw_ops, op))
    raise AttributeError(name)


def _with_positions(op: Any) -> Any:
    """Returns a raw op, which takes arguments by name only, as a function that also takes them by position."""
    names = list(inspect.signature(op).parameters)

    @wraps(op.__wrapped__)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(names):
            raise TypeError(f"{op.__name__} takes {len(names)} arguments, got {len(args)}")
        return op(**dict(zip(names, args, strict=False)), **kwargs)

    return call


def missing(name: str) -> str:
    """Returns the error message for a private name without counterpart."""
    return (
        f"{name}, which {_who_asks()} asks for, is private to TensorFlow, and gradtape has no counterpart for it. Use "
        "a public name if there is one: `gradtape check` lists the missing names of a program"
    )


def _who_asks() -> str:
    """Returns the package or module whose code uses a name."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("importlib", "gradtape_tensorflow", "gradtape.core.tracebacks", "_frozen")):
            return "the program" if name == "__main__" else name.partition(".")[0]
        frame = frame.f_back
    return "the program"


def _join(space: str, name: str) -> str:
    """Joins a TensorFlow namespace, or a gradtape module that ends with a colon, and a name."""
    return f"{space}{name}" if space.endswith(":") else f"{space}.{name}".removeprefix("tf.")


def _public(path: str) -> Any:
    """Resolves the public TensorFlow name `path`; `module:name` is a name of a gradtape module."""
    module, colon, name = path.partition(":")
    if colon:
        return getattr(importlib.import_module(module), name)
    value: Any = gradtape
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _file(place: str) -> types.ModuleType | None:
    """Imports the file in this folder that defines names of the module at `place`, if there is one."""
    name = f"{__name__}.{place}"
    try:
        there = bool(place) and importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the folder does not exist either
        return None
    return importlib.import_module(name) if there else None
