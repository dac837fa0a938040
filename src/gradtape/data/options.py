"""`Options`: settings of a pipeline. Order is always deterministic here, so most of them have no effect."""

from __future__ import annotations

import enum
from typing import Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How the workers of a strategy shard a dataset: by files, by batches, or not at all.

    >>> options = tf.data.Options()
    >>> options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    >>> options.experimental_distribute.auto_shard_policy.name
    'DATA'
    """

    __module__ = "gradtape.data.experimental"

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

    __module__ = "gradtape.data"


class _TypedSettings(_Settings):
    """Settings with checked names and types, which default to None."""

    _KINDS: ClassVar[dict[str, type]]

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._KINDS.get(name)
        if kind is None:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if not isinstance(value, kind):
            raise TypeError(f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})')
        super().__setattr__(name, value)


class DistributeOptions(_TypedSettings):
    """How the workers of a strategy shard a dataset: `options.experimental_distribute`.

    >>> tf.data.experimental.DistributeOptions().auto_shard_policy.name
    'AUTO'
    """

    __module__ = "gradtape.data.experimental"

    _KINDS: ClassVar[dict[str, type]] = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
    auto_shard_policy = AutoShardPolicy.AUTO
    num_devices: int | None = None


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes the parallelism of a pipeline; without effect here."""

    __module__ = "gradtape.data.experimental"

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutotuneOptions(_TypedSettings):
    """How to tune a pipeline: `options.autotune`. Stored only.

    >>> options = tf.data.Options()
    >>> options.autotune.cpu_budget = 2
    >>> options.autotune.enabled is None
    True
    """

    __module__ = "gradtape.data.experimental"

    _KINDS: ClassVar[dict[str, type]] = {
        "autotune_algorithm": AutotuneAlgorithm, "cpu_budget": int, "enabled": bool, "initial_parallelism": int,
        "min_parallelism": int, "ram_budget": int,
    }  # fmt: skip


class OptimizationOptions(_TypedSettings):
    """Which rewrites of a pipeline to apply: `options.experimental_optimization`. Stored only.

    >>> options = tf.data.experimental.OptimizationOptions()
    >>> options.map_fusion = True
    >>> options.noop_elimination is None
    True
    """

    __module__ = "gradtape.data.experimental"

    _KINDS: ClassVar[dict[str, type]] = dict.fromkeys(
        """
        apply_default_optimizations filter_fusion filter_parallelization inject_prefetch map_and_batch_fusion
        map_and_filter_fusion map_fusion map_parallelization noop_elimination parallel_batch seq_interleave_prefetch
        shuffle_and_repeat_fusion
        """.split(),
        bool,
    )


class ServiceOptions(_TypedSettings):
    """Settings of datasets from a data service: `options.experimental_service`. Stored only."""

    __module__ = "gradtape.data.experimental"

    _KINDS: ClassVar[dict[str, type]] = {"pinned": bool}


class Options(_Settings):
    """Settings for `Dataset.with_options`. They are stored and merged; element order is always deterministic.

    >>> options = tf.data.Options()
    >>> options.threading.private_threadpool_size = 2
    >>> options.deterministic is None
    True
    """

    __module__ = "gradtape.data"

    def __init__(self) -> None:
        self.threading = ThreadingOptions()
        self.autotune = AutotuneOptions()
        self.experimental_distribute = DistributeOptions()
        self.experimental_optimization = OptimizationOptions()
        self.experimental_service = ServiceOptions()
