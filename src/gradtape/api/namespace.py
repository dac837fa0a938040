"""The public namespaces, such as `gradtape.math`, which import their names on first use."""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType
from typing import Any

from .names import NAMES, absent_names
from .v1_names import DIFFERENT
from .v1_renamed import RENAMED

V1 = "compat.v1."  # TensorFlow 1, as far as it is implemented


def spaces() -> list[str]:
    """Returns the existing namespaces: `math`, `nn`, `config.experimental`, ..."""
    found = {path.rpartition(".")[0] for path in (*NAMES, *(f"{V1}{old}" for old in RENAMED))} - {""}
    found |= {space.rpartition(".")[0] for space in found} - {""}
    return sorted(found)


def place_of(path: str) -> str | None:
    """Returns the location of a public name; names common to both TensorFlow versions are shared with `compat.v1`."""
    where = NAMES.get(path)
    if where is None and path.startswith(V1):
        own = path.removeprefix(V1)
        if own in RENAMED:
            return NAMES[RENAMED[own]]
        if own in NAMES and own not in DIFFERENT:
            return NAMES[own]
    return where


def resolve(path: str) -> Any:
    """Returns the object with TensorFlow's public name `path`; raises AttributeError if gradtape does not have it."""
    where = place_of(path)
    if where is None:
        raise AttributeError(_absence(path))
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(f"gradtape.{module}"), attribute)


def _absence(path: str) -> str:
    """Returns the message for a name that gradtape does not have, depending on whether TensorFlow has it."""
    if path in absent_names():
        return (
            f"tf.{path} is not in gradtape yet. docs/missing-names.md says why; `gradtape check` lists the missing "
            "names of a program"
        )
    space = path.rpartition(".")[0]
    known = [name for name in (*NAMES, *absent_names()) if name.rpartition(".")[0] == space]
    near = difflib.get_close_matches(path, known, n=1, cutoff=0.75)
    hint = f"Did you mean tf.{near[0]}?" if near else f"dir(tf{'.' * bool(space)}{space}) lists the names there are"
    if path.startswith(("compat.", "raw_ops.")):  # the list of TensorFlow's names does not cover these
        return f"tf.{path} is not in gradtape. {hint}"
    return f"tf.{path} is not in gradtape: there is no such name in TensorFlow either. {hint}"


class Namespace(ModuleType):
    """A TensorFlow namespace, such as `gradtape.math`; the empty name is TensorFlow's root."""

    def __init__(self, space: str) -> None:
        super().__init__(f"gradtape.{space}", f"TensorFlow's `tf.{space}`.")
        self._space = space

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # for `from tensorflow.experimental.numpy import *`
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
