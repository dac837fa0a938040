"""`Options`: settings of a pipeline. Elements come in their order always, so most of them change nothing here."""

from __future__ import annotations

import enum
from typing import Any


class AutoShardPolicy(enum.IntEnum):
    """How the workers of a strategy share a dataset: by its files, by its batches, or not at all.

    >>> import gradtape as tf
    >>> options = tf.data.Options()
    >>> options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    >>> options.experimental_distribute.auto_shard_policy.name
    'DATA'
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


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


class DistributeOptions(_Settings):
    """How a dataset is shared by the workers of a strategy: `options.experimental_distribute`.

    >>> import gradtape as tf
    >>> tf.data.experimental.DistributeOptions().auto_shard_policy.name
    'AUTO'
    """

    auto_shard_policy = AutoShardPolicy.AUTO
    num_devices: int | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        kinds = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
        if name not in kinds:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if not isinstance(value, kinds[name]):
            raise TypeError(f'Property "{name}" must be of type {kinds[name]}, got: {value!r} (type: {type(value)})')
        super().__setattr__(name, value)


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
        self.experimental_distribute = DistributeOptions()
        self.experimental_optimization = _Settings()
