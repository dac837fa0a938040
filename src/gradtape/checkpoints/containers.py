"""Lists and dicts that stand in for plain ones while a checkpoint has values for what is not in them yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class _Waiting:
    """Tells the restorations that wait, each with the number of the container in it, of what comes into it."""

    _owns_variables = True
    _restorations: list[tuple[Any, int]]

    def _came(self, name: Any, value: Any) -> None:
        for restoration, number in tuple(vars(self).get("_restorations", ())):
            restoration.was_set(number, str(name), value)


class WaitingList(_Waiting, list[Any]):
    """A list: what is put at its end is restored."""

    def append(self, value: Any) -> None:
        """Adds a value at the end."""
        super().append(value)
        self._came(len(self) - 1, value)

    def extend(self, values: Iterable[Any]) -> None:
        """Adds values at the end."""
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> WaitingList:  # type: ignore[misc, override]
        self.extend(values)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (list(self),)


class WaitingDict(_Waiting, dict[Any, Any]):
    """A dict: what is put under a key is restored."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._came(key, value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value under a key, which is put there if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Puts several values."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> WaitingDict:  # type: ignore[misc, override]
        self.update(other)
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)
