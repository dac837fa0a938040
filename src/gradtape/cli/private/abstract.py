"""TensorFlow's abstract classes, from which libraries derive classes of their own that are not made as ours are."""

from __future__ import annotations

from typing import Any


class Abstract:
    """Stands for a class of gradtape's, `kind`: to be derived from, it is the class `base`, which has nothing of it.

    Not a class itself, so that a class can be derived from it whatever the metaclasses of its other bases are.
    """

    def __init__(self, base: type, *kinds: type) -> None:
        self._base, self._kinds = base, kinds
        self.__name__ = self.__qualname__ = base.__name__
        self.__doc__ = base.__doc__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self._base,)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, (self._base, *self._kinds))

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, (self._base, *self._kinds))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._kinds[0](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kinds[0], name)

    def __or__(self, other: Any) -> Any:
        return self._kinds[0] | other

    __ror__ = __or__
