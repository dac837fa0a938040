"""`tf.raw_ops`: each op is created on first access. This file contains nothing else, because `Any` is an op's name."""

from . import functions, rows

NAMESPACES = ("raw_ops",)
__all__ = sorted(rows.rows())


def __getattr__(name: str) -> object:
    return functions.op_named(name)
