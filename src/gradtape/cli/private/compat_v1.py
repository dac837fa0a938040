"""The names of `tf.compat.v1` that only `gradtape run` serves: Keras, command lines, and classes of sessions.

Libraries import them next to names that they use; what needs a session raises an error when it is called.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from functools import partial
from typing import Any

import gradtape

from . import keras2
from .table import COMPAT, COMPAT_NAMES

NAME = "tensorflow.compat.v1"


class LazyModule(types.ModuleType):
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


def complete() -> None:
    """Adds the names to gradtape's `compat.v1`."""
    v1 = gradtape.compat.v1
    vars(v1)["__version__"] = gradtape.version.VERSION
    vars(v1)["keras"] = LazyModule(f"{NAME}.keras", _keras)
    vars(v1)["layers"] = LazyModule(f"{NAME}.layers", partial(_legacy, "layers"))
    vars(v1.nn)["rnn_cell"] = LazyModule(f"{NAME}.nn.rnn_cell", partial(_legacy, "nn.rnn_cell"))
    for name, place in COMPAT.items():
        vars(v1)[name] = LazyModule(f"{NAME}.{name}", partial(importlib.import_module, f"tensorflow.python.{place}"))
    for space, place, names in COMPAT_NAMES:
        module = importlib.import_module(f"{__package__}.{place}")
        vars(getattr(v1, space) if space else v1).update({name: getattr(module, name) for name in names.split()})


def _keras() -> types.ModuleType:
    """Returns `tf.compat.v1.keras`: the names of TensorFlow 1 in Keras 2, or Keras 3."""
    return keras2.public(1) if keras2.is_chosen() else gradtape.keras


def _legacy(name: str) -> types.ModuleType:
    """Returns the namespace `name` of TensorFlow 1 that Keras 2 defines, such as `tf.compat.v1.layers`."""
    if not keras2.is_chosen():
        raise AttributeError(f"`tf.compat.v1.{name}` is not available with Keras 3. Set TF_USE_LEGACY_KERAS=1")
    return importlib.import_module(f"tf_keras.api._v1.keras.__internal__.legacy.{name.rpartition('.')[2]}")
