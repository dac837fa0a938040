"""TensorFlow's abstract classes, which libraries subclass with their own constructors."""

from __future__ import annotations

from typing import Any


class Abstract:
    """Represents gradtape's classes `kinds` in isinstance checks; subclassing it uses the empty class `base` instead.

    It is not a class itself, so it can be combined with bases of any metaclass.
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
