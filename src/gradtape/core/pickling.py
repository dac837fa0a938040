"""What is pickled in a way of its own: objects that belong to their process, modules, what was in moved modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar


class Unpicklable:
    """An object of which pickling and copying raise a TypeError that says what to pickle instead."""

    __slots__ = ()
    _instead: ClassVar[str]  # what to do, as a sentence without a full stop

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"cannot pickle or copy '{type(self).__name__}' object: {self._instead}")


class ModuleByName(ModuleType):
    """A module that is pickled, and copied, as the import of its name. Pickle knows no modules."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


class MovedModule(ModuleByName):
    """A module under a former name, for pickles that refer to it; imported when one asks for what is in it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what walks over `sys.modules` asks for `__file__`, `__warningregistry__`, ...
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(_moved[self.__name__]), name)


_moved: dict[str, str] = {}


def register_moved(moved: Mapping[str, str]) -> None:
    """Makes modules importable under their former names, from which `moved` maps to the new ones."""
    _moved.update(moved)
    sys.modules.update((name, MovedModule(name)) for name in moved)
