"""`tf.compat.v1`: the functions of its table, created on first access. Names may contain dots."""

from . import v1_made

NAMESPACES = ("compat.v1",)
__all__ = sorted(v1_made.rows())


def __getattr__(name: str) -> object:
    return v1_made.function_named(name)
