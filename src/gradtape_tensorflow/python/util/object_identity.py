"""`tensorflow.python.util.object_identity`: sets and mappings that compare by identity."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from gradtape.core.tensor import Reference

__all__ = ["Reference"]


class _ObjectIdentityWrapper:
    """A hashable wrapper that compares its object by identity."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._wrapped is other._wrapped

    def __lt__(self, other: _ObjectIdentityWrapper) -> bool:
        return id(self._wrapped) < id(other._wrapped)

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """The same with a weak reference."""

    __slots__ = ()

    def __init__(self, wrapped: Any) -> None:
        super().__init__(weakref.ref(wrapped))

    @property
    def unwrapped(self) -> Any:
        """The object, or None if it is dead."""
        return self._wrapped()


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A mapping whose keys are compared by identity."""

    _wrap: Any = _ObjectIdentityWrapper

    def __init__(self) -> None:
        self._storage: dict[Any, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap(key)]

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __iter__(self) -> Iterator[Any]:
        return _living(self._storage)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same with weak references to keys."""

    _wrap = _WeakObjectIdentityWrapper


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose members are compared by identity."""

    _wrap: Any = _ObjectIdentityWrapper

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._storage = {self._wrap(item) for item in items}

    def __contains__(self, key: object) -> bool:
        return self._wrap(key) in self._storage

    def __iter__(self) -> Iterator[Any]:
        return _living(self._storage)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def add(self, value: Any) -> None:
        """Adds `value`."""
        self._storage.add(self._wrap(value))

    def discard(self, value: Any) -> None:
        """Removes `value` if present."""
        self._storage.discard(self._wrap(value))

    def update(self, items: Iterable[Any]) -> None:
        """Adds all `items`."""
        self._storage.update(self._wrap(item) for item in items)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Returns the members that are not among `items`."""
        others = type(self)(items)
        return type(self)(item for item in self if item not in others)

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Returns the members that are among `items`."""
        return type(self)(item for item in items if item in self)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same with weak references to members."""

    _wrap = _WeakObjectIdentityWrapper


def _living(storage: Iterable[Any]) -> Iterator[Any]:
    """Yields the live objects of the wrappers."""
    for wrapper in list(storage):
        found = wrapper.unwrapped
        if found is not None or not isinstance(wrapper, _WeakObjectIdentityWrapper):
            yield found
