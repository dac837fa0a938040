"""`tf.compat.v1`: the functions of its table, created on first access. Names may contain dots."""

from . import expressions as v1_expressions

NAMESPACES = ("compat.v1",)
__all__ = sorted(v1_expressions.rows())


def __getattr__(name: str) -> object:
    return v1_expressions.function_named(name)
