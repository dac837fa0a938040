"""`ModuleByName`: the base of modules of classes of their own, which pickle does not know for modules."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class ModuleByName(ModuleType):
    """A module that is pickled, and copied, as the import of its name."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)
