"""`Options`: settings of a pipeline. Order is always deterministic here, so most of them have no effect."""

from __future__ import annotations

import enum
from typing import Any


class AutoShardPolicy(enum.IntEnum):
    """How the workers of a strategy shard a dataset: by files, by batches, or not at all.

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
    """Arbitrary attributes with default None; `merge` overrides them by those set in another object."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def merge(self, options: Any) -> Any:
        """Returns these settings, overridden by those set in `options`."""
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
    """Thread pool settings of TensorFlow, without effect here."""


class DistributeOptions(_Settings):
    """How the workers of a strategy shard a dataset: `options.experimental_distribute`.

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
    """Settings for `Dataset.with_options`. They are stored and merged; element order is always deterministic.

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
