"""The front door's doors: `gradtape.math` and its like, whose names are loaded when they are first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .names import NAMES
from .v1_names import DIFFERENT
from .v1_renamed import RENAMED

V1 = "compat.v1."  # TensorFlow 1, as far as it is there


def spaces() -> list[str]:
    """The namespaces there are: `math`, `nn`, `config.experimental`, ..."""
    found = {path.rpartition(".")[0] for path in (*NAMES, *(f"{V1}{old}" for old in RENAMED))} - {""}
    found |= {space.rpartition(".")[0] for space in found} - {""}
    return sorted(found)


def place_of(path: str) -> str | None:
    """Where a public name lives. What both versions of TensorFlow have alike, `compat.v1` takes from TensorFlow 2."""
    where = NAMES.get(path)
    if where is None and path.startswith(V1):
        own = path.removeprefix(V1)
        if own in RENAMED:
            return NAMES[RENAMED[own]]
        if own in NAMES and own not in DIFFERENT:
            return NAMES[own]
    return where


def resolve(path: str) -> Any:
    """What TensorFlow's public name `path` stands for; AttributeError if gradtape does not have it."""
    where = place_of(path)
    if where is None:
        raise AttributeError(
            f"tf.{path} is not in gradtape yet. `dir()` of its namespace lists what is; docs/differences says what is "
            "left out on purpose"
        )
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(f"gradtape.{module}"), attribute)


class Namespace(ModuleType):
    """One of TensorFlow's namespaces, such as `gradtape.math`; that of the empty name is TensorFlow's root."""

    def __init__(self, space: str) -> None:
        super().__init__(f"gradtape.{space}", f"TensorFlow's `tf.{space}`.")
        self._space = space

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # of `from tensorflow.experimental.numpy import *`
            return [each for each in dir(self) if not each.startswith("_")]
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._space}.{name}".lstrip(".")
        is_space = path in spaces() or path.removeprefix(V1) in spaces()
        value = Namespace(path) if is_space and path not in NAMES else resolve(path)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        prefix = f"{self._space}.".lstrip(".")
        own = [*NAMES, *spaces()]
        if prefix.startswith(V1):
            own += [f"{V1}{path}" for path in (*own, *RENAMED) if path not in DIFFERENT]
        names = {path.removeprefix(prefix) for path in own if path.startswith(prefix)}
        return sorted(name for name in names if "." not in name)


root = Namespace("")
