"""Thread-local scopes: name scopes of variables, layer scopes for attribution, and their transfer between threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from . import modes

_Local = TypeVar("_Local", bound=threading.local)
_carried: list[threading.local] = []


def carried(local: _Local) -> _Local:
    """Registers a thread-local object whose state `held` captures and `adopt` copies to another thread."""
    _carried.append(local)
    return local


def held() -> list[tuple[threading.local, dict[str, Any]]]:
    """Captures this thread's registered state, for `adopt` in a thread that continues its work."""
    return [(local, dict(vars(local))) for local in _carried]


def adopt(those: list[tuple[threading.local, dict[str, Any]]]) -> None:
    """Installs state that `held` captured in another thread; this thread must be new."""
    for local, values in those:
        vars(local).update(values)


class _Current(threading.local):
    prefix = ""
    parts: tuple[str, ...] = ()  # the enclosing name scopes and layers
    left: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the previous (prefix, parts) of each open scope


_current = carried(_Current())


def parts() -> tuple[str, ...]:
    """Returns the enclosing name scopes and layers, outermost first."""
    return _current.parts


class holding(AbstractContextManager[None]):
    """Sets attributes of `local` in this thread inside the block, and restores them afterwards.

    An interrupt during the exit does not prevent the restoration: a thread that kept the random stream of a block that
    has ended would draw the same numbers forever.
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


class LayerName(str):
    """The name of a layer, with the user's line that constructed it: file, line number, function."""

    __slots__ = ("line",)
    line: tuple[str, int, str] | None

    def __new__(cls, name: str, line: tuple[str, int, str] | None = None) -> LayerName:
        """Returns the name with its line."""
        scope = super().__new__(cls, name)
        scope.line = line
        return scope


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Attributes the ops in the block to `name`, such as a layer, without changing the names of variables."""
    outer = _current.parts
    _become((*outer, name))
    try:
        yield
    finally:
        _become(outer)


def _become(parts: tuple[str, ...]) -> None:
    _current.parts = parts
    if modes.active:
        modes.scope_changed()


def scoped(name: str) -> str:
    """Returns `name` prefixed by the open name scopes."""
    return _current.prefix + name


def unscoped() -> AbstractContextManager[None]:
    """Disables the name prefix inside the block."""
    return holding(_current, prefix="")


def get_current_name_scope() -> str:
    """Returns the open name scopes as a path.

    >>> with tf.name_scope("encoder"), tf.name_scope("layer"):
    ...     tf.get_current_name_scope()
    'encoder/layer'
    """
    return _current.prefix.rstrip("/")


class name_scope:
    """Prefixes `name/` to the names of variables created inside the block.

    A name that ends in `/` is absolute: it replaces the enclosing scopes. The empty name clears them.

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
        """The name passed to the constructor."""
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


name_scope.__module__ = "gradtape"
