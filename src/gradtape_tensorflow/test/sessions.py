"""`tf.test.benchmark_config`: the settings of a benchmark's sessions."""

from __future__ import annotations

from typing import Any

from ..protos import generated

NAMESPACES = ("test",)
__all__ = ["benchmark_config"]


def benchmark_config() -> Any:
    """Returns a `ConfigProto` that turns the dependency optimizer off, for `tf.compat.v1` sessions in benchmarks.

    >>> tf.test.benchmark_config().graph_options.rewrite_options.dependency_optimization
    2
    """
    config = generated.message_class("ConfigProto")()
    config.graph_options.rewrite_options.dependency_optimization = 2  # RewriterConfig.OFF
    return config
