"""Lists and dicts that replace plain ones while a checkpoint has pending values for elements not added yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class _Waiting:
    """Notifies the pending restorations, each with the container's node id, of added elements."""

    _owns_variables = True
    _restorations: list[tuple[Any, int]]

    def _came(self, name: Any, value: Any) -> None:
        for restoration, number in tuple(vars(self).get("_restorations", ())):
            restoration.was_set(number, str(name), value)


class WaitingList(_Waiting, list[Any]):
    """A list that restores appended elements."""

    def append(self, value: Any) -> None:
        """Append a value."""
        super().append(value)
        self._came(len(self) - 1, value)

    def extend(self, values: Iterable[Any]) -> None:
        """Append several values."""
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> WaitingList:  # type: ignore[misc, override]
        self.extend(values)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)


class WaitingDict(_Waiting, dict[Any, Any]):
    """A dict that restores elements when they are set."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._came(key, value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Returns the value of a key, setting it to the default if it is missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several values."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> WaitingDict:  # type: ignore[misc, override]
        self.update(other)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)
