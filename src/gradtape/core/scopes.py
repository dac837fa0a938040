"""Scopes: the names in front of variables' names, the layers that what happens belongs to, what a thread holds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

_Local = TypeVar("_Local", bound=threading.local)
_carried: list[threading.local] = []


def carried(local: _Local) -> _Local:
    """Declares what a thread holds to be part of what `adopt` takes over from another thread."""
    _carried.append(local)
    return local


def held() -> list[tuple[threading.local, dict[str, Any]]]:
    """What this thread holds, for `adopt` in another one that goes on in its place."""
    return [(local, dict(vars(local))) for local in _carried]


def adopt(those: list[tuple[threading.local, dict[str, Any]]]) -> None:
    """Makes this thread, a new one, hold what another one held."""
    for local, values in those:
        vars(local).update(values)


class _Current(threading.local):
    prefix = ""
    parts: tuple[str, ...] = ()  # the name scopes and layers around what happens now
    left: tuple[tuple[str, tuple[str, ...]], ...] = ()  # what the two were before each scope that is open


_current = carried(_Current())
_told: Callable[[], None] | None = None


def when_changed(told: Callable[[], None] | None) -> None:
    """Makes `told()`, or nobody, the one who is told when the scopes of a thread change."""
    global _told
    _told = told


def parts() -> tuple[str, ...]:
    """The name scopes and layers around what happens now, the outermost first."""
    return _current.parts


class holding(AbstractContextManager[None]):
    """Inside the block this thread has these values in `local`; then those that it had before.

    They are restored even if an interrupt comes while that is done: a thread that kept the random stream of a block
    that has ended would draw the same numbers for ever.
    """

    def __init__(self, local: threading.local, **values: Any) -> None:
        self._local, self._values = local, values
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        try:
            self._before = {name: getattr(self._local, name) for name in self._values}
            vars(self._local).update(self._values)
        except BaseException:
            vars(self._local).update(self._before)
            raise

    def __exit__(self, *_: object) -> None:
        try:
            vars(self._local).update(self._before)
        except BaseException:
            vars(self._local).update(self._before)
            raise


@contextmanager
def inside(name: str) -> Iterator[None]:
    """What happens in the block belongs to `name`, such as a layer; names of variables are not touched."""
    outer = _current.parts
    _become((*outer, name))
    try:
        yield
    finally:
        _become(outer)


def _become(parts: tuple[str, ...]) -> None:
    _current.parts = parts
    if _told is not None:
        _told()


def scoped(name: str) -> str:
    """`name` as it is called in the scope that is open now."""
    return _current.prefix + name


def unscoped() -> AbstractContextManager[None]:
    """Names in the block are as they are given, whatever scopes are open."""
    return holding(_current, prefix="")


def get_current_name_scope() -> str:
    """The name scopes that are open now, as one path.

    >>> import gradtape as tf
    >>> with tf.name_scope("encoder"), tf.name_scope("layer"):
    ...     tf.get_current_name_scope()
    'encoder/layer'
    """
    return _current.prefix.rstrip("/")


class name_scope:
    """Puts `name/` in front of the names of variables made inside the block.

    A name that ends in `/` replaces the scopes around it, and the empty name leaves them all.

    >>> import gradtape as tf
    >>> with tf.name_scope("outer") as scope:
    ...     v = tf.Variable(1.0, name="v")
    >>> scope, v.name
    ('outer/', 'outer/v:0')
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {name!r}.")
        self._name = name

    @property
    def name(self) -> str:
        """The name the scope was made with."""
        return self._name

    def __enter__(self) -> str:
        _current.left = (*_current.left, (_current.prefix, _current.parts))
        relative = self._name and not self._name.endswith("/")
        _current.prefix = f"{_current.prefix}{self._name}/" if relative else self._name
        _become((*_current.parts, self._name) if relative else tuple(filter(None, self._name.split("/"))))
        return _current.prefix

    def __exit__(self, *error: Any) -> None:
        *left, (_current.prefix, parts) = _current.left
        _current.left = tuple(left)
        _become(parts)
