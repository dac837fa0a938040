"""`tensorflow.python`: the private modules of TensorFlow that libraries import, made of what gradtape has.

`tensorflow.__internal__`, which Keras and others are given, is served in the same way.

A module here is what `table.py` says of it, and what the file of the same place below this folder defines:
`tensorflow.python.util.nest` has the names of `util/nest.py`. Only the stand-in for TensorFlow serves these modules,
and no other part of gradtape may import them. A name that is missing raises an error that says so, and who asked.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import types
from functools import cache
from typing import Any

import gradtape

from .table import MODULES, PACKAGES

ROOT = "tensorflow.python"
INTERNAL = "tensorflow.__internal__"


class PrivateModule(types.ModuleType):
    """The counterpart of a module below `tensorflow.python`, whose names are looked up when they are first used."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "A private module of TensorFlow's, made of what gradtape has.")
        self.__path__: list[str] = []  # so that a name that is missing is looked for as a module, and named
        self._place = _place(name)
        self._row = MODULES.get(self._place, {})
        self._file = _file(self._place)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._place}.{name}".lstrip(".")
        if path in places() or _is_generated(path):
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
        for space in self._row.get("*", "").split():
            try:
                return _public(_join(space, name))
            except AttributeError:
                continue
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        written = () if self._file is None else (name for name in vars(self._file) if not name.startswith("_"))
        return sorted({*vars(self), *(name for name in self._row if name != "*"), *written})


def module(name: str) -> types.ModuleType:
    """The counterpart of `tensorflow.python` or of a module below it."""
    place = _place(name)
    for package, elsewhere in PACKAGES.items():
        if place == package or place.startswith(f"{package}."):
            return importlib.import_module(elsewhere + place.removeprefix(package))
    if place and place not in places() and not _is_generated(place):
        raise ModuleNotFoundError(missing(name))
    return PrivateModule(name)


def is_private(name: str) -> bool:
    """Whether the module `name` is one of these."""
    return f"{name}.".startswith((f"{ROOT}.", f"{INTERNAL}."))


def _place(name: str) -> str:
    """Where the table has the module `name`."""
    return name.removeprefix("tensorflow.").removeprefix("python").lstrip(".")


@cache
def places() -> frozenset[str]:
    """The modules there are, and the packages they are in, without `tensorflow.python`."""
    found = {*MODULES, *PACKAGES}
    for place in (*MODULES, *PACKAGES):
        while "." in place:
            place = place.rpartition(".")[0]
            found.add(place)
    return frozenset(found)


def _is_generated(place: str) -> bool:
    """Whether a module is one of those that TensorFlow's build writes, with a function for each op: `gen_math_ops`."""
    return re.fullmatch(r"ops\.gen_\w+_ops", place) is not None


def _raw_op(name: str) -> Any:
    """The op that such a module calls `name`: that of `tf.raw_ops`, with positional arguments too."""
    for op in dir(gradtape.raw_ops):
        if op.lower() == name.replace("_", "").lower():
            return getattr(gradtape.raw_ops, op).__wrapped__
    raise AttributeError(name)


def missing(name: str) -> str:
    """What to say of a private name that is not here."""
    return (
        f"{name}, which {_who_asks()} asks for, is private to TensorFlow, and gradtape has no counterpart for it. If "
        "there is a public name for it, that may be there: `gradtape check` lists what a program would miss"
    )


def _who_asks() -> str:
    """The package, or the module, whose code is looking for a name."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("importlib", "gradtape.cli", "_frozen")):
            return "the program" if name == "__main__" else name.partition(".")[0]
        frame = frame.f_back
    return "the program"


def _join(space: str, name: str) -> str:
    """The path of a name in a namespace of TensorFlow's, or in a module of gradtape's, which ends with a colon."""
    return f"{space}{name}" if space.endswith(":") else f"{space}.{name}".removeprefix("tf.")


def _public(path: str) -> Any:
    """What TensorFlow's public name `path` stands for; `module:name` is a name of one of gradtape's own modules."""
    module, colon, name = path.partition(":")
    if colon:
        return getattr(importlib.import_module(f"gradtape.{module}"), name)
    value: Any = gradtape
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _file(place: str) -> types.ModuleType | None:
    """The file below this folder that defines names of the module at `place`, if there is one."""
    name = f"{__name__}.{place}"
    try:
        there = bool(place) and importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # nor is there the folder
        return None
    return importlib.import_module(name) if there else None
