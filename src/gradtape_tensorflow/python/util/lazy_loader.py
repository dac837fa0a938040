"""`tensorflow.python.util.lazy_loader`: modules that are imported at first use."""

from __future__ import annotations

import importlib
import logging
import types
from typing import Any

from gradtape.core.pickling import ModuleByName


class LazyLoader(ModuleByName):
    """A module that is imported, and put into its parent's names, when an attribute is first used."""

    def __init__(
        self, local_name: str, parent_module_globals: dict[str, Any], name: str, warning: str | None = None
    ) -> None:
        super().__init__(name)
        self.__dict__.update(_local_name=local_name, _parent=parent_module_globals, _warning=warning)

    def _load(self) -> types.ModuleType:
        module = importlib.import_module(self.__name__)
        self._parent[self._local_name] = module
        if self._warning:
            logging.getLogger("tensorflow").warning(self._warning)
            self.__dict__["_warning"] = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)

    def __dir__(self) -> list[str]:
        return dir(self._load())

    def __repr__(self) -> str:
        return f"<LazyLoader {self.__name__} as {self._local_name}>"
