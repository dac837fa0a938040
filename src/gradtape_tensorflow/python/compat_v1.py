"""The names of `tf.compat.v1` that only `gradtape run` serves: Keras, command lines, and classes of sessions.

Libraries import them next to names that they use; what needs a session raises an error when it is called.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import gradtape
from gradtape.core.pickling import ModuleByName

from . import keras2
from .table import COMPAT, COMPAT_NAMES

NAME = "tensorflow.compat.v1"


class LazyModule(ModuleByName):
    """A module that is imported when the first name is used."""

    def __init__(self, name: str, load: Callable[[], types.ModuleType]) -> None:
        super().__init__(name, "A namespace of TensorFlow 1, imported at first use.")
        self.__path__: list[str] = []
        self._load = load

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__internal__":
            raise AttributeError(name)
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())


@cache
def names() -> dict[str, Callable[[], Any]]:
    """Returns the names by path, with functions that return what each names."""
    modules: dict[str, Callable[[], types.ModuleType]] = {
        "keras": _keras, "layers": partial(_legacy, "layers"), "nn.rnn_cell": partial(_legacy, "nn.rnn_cell"),
        **{name: partial(importlib.import_module, f"tensorflow.python.{at}") for name, at in COMPAT.items()},
    }  # fmt: skip
    return {
        "compat.v1.__version__": lambda: gradtape.version.VERSION,
        **{f"compat.v1.{name}": partial(LazyModule, f"{NAME}.{name}", load) for name, load in modules.items()},
        **{
            f"compat.v1.{space}.{name}".replace("..", "."): partial(_member, place, name)
            for space, place, listed in COMPAT_NAMES
            for name in listed.split()
        },
    }


def _member(place: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{__package__}.{place}"), name)


def _keras() -> types.ModuleType:
    """Returns `tf.compat.v1.keras`: the names of TensorFlow 1 in Keras 2, or Keras 3."""
    return keras2.public(1) if keras2.is_chosen() else gradtape.keras


def _legacy(name: str) -> types.ModuleType:
    """Returns the namespace `name` of TensorFlow 1 that Keras 2 defines, such as `tf.compat.v1.layers`."""
    if not keras2.is_chosen():
        raise AttributeError(f"`tf.compat.v1.{name}` is not available with Keras 3. Set TF_USE_LEGACY_KERAS=1")
    return importlib.import_module(f"tf_keras.api._v1.keras.__internal__.legacy.{name.rpartition('.')[2]}")
