"""Name scopes: what variables made inside a `with` block have in front of their names."""

from __future__ import annotations

import threading
from typing import Any


class _Current(threading.local):
    prefix = ""


_current = _Current()


def scoped(name: str) -> str:
    """`name` as it is called in the scope that is open now."""
    return _current.prefix + name


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
        self._outer: list[str] = []

    @property
    def name(self) -> str:
        """The name the scope was made with."""
        return self._name

    def __enter__(self) -> str:
        self._outer.append(_current.prefix)
        relative = self._name and not self._name.endswith("/")
        _current.prefix = f"{_current.prefix}{self._name}/" if relative else self._name
        return _current.prefix

    def __exit__(self, *error: Any) -> None:
        _current.prefix = self._outer.pop()
