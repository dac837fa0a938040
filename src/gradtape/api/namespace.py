"""The front door's doors: `gradtape.math` and its like, whose names are loaded when they are first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from .names import NAMES


def spaces() -> list[str]:
    """The namespaces there are: `math`, `nn`, `config.experimental`, ..."""
    found = {path.rpartition(".")[0] for path in NAMES} - {""}
    found |= {space.rpartition(".")[0] for space in found} - {""}
    return sorted(found)


def resolve(path: str) -> Any:
    """What TensorFlow's public name `path` stands for; AttributeError if gradtape does not have it."""
    where = NAMES.get(path)
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
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self._space}.{name}".lstrip(".")
        value = Namespace(path) if path in spaces() and path not in NAMES else resolve(path)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        prefix = f"{self._space}.".lstrip(".")
        names = (path.removeprefix(prefix) for path in (*NAMES, *spaces()) if path.startswith(prefix))
        return sorted(name for name in names if "." not in name)


root = Namespace("")
