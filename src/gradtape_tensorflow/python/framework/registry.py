"""`tensorflow.python.framework.registry`: objects by their names."""

from __future__ import annotations

from typing import Any


class Registry:
    """A table of objects with unique names."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._registry: dict[str, Any] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Adds an object, under its own name unless another is given."""
        name = name or candidate.__name__
        if name in self._registry:
            raise KeyError(f"Registering two {self._name} with name '{name}'! (Previous registration was of "
                           f"{self._registry[name]})")  # fmt: skip
        self._registry[name] = candidate

    def list(self) -> Any:
        """Returns the names."""
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        """Returns the object with a name."""
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name]
