"""The bases of what is pickled in a way of its own: objects that belong to their process, and modules."""

from __future__ import annotations

import importlib
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
