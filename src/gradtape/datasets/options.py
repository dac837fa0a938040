"""`Options`: settings of a pipeline. Elements come in their order always, so most of them change nothing here."""

from __future__ import annotations

from typing import Any


class _Settings:
    """Attributes by any name, None until they are set; `merge` takes those that are set in another."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def merge(self, options: Any) -> Any:
        """These settings, with those that are set in `options`."""
        found = type(self)()
        vars(found).update(vars(self))
        for name, value in vars(options).items():
            mine = vars(self).get(name)
            setattr(found, name, mine.merge(value) if isinstance(mine, _Settings) else value)
        return found

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return id(self)


class ThreadingOptions(_Settings):
    """How many threads TensorFlow would use."""


class Options(_Settings):
    """Settings for `Dataset.with_options`. They are kept and merged; the order of elements is always deterministic.

    >>> import gradtape as tf
    >>> options = tf.data.Options()
    >>> options.threading.private_threadpool_size = 2
    >>> options.deterministic is None
    True
    """

    def __init__(self) -> None:
        self.threading = ThreadingOptions()
        self.autotune = _Settings()
        self.experimental_distribute = _Settings()
        self.experimental_optimization = _Settings()
