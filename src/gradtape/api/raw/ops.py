"""`tf.raw_ops` itself: each op is made when it is first asked for. Nothing else is here, for `Any` is an op's name."""

from . import made, rows

NAMESPACES = ("raw_ops",)
__all__ = sorted(rows.rows())


def __getattr__(name: str) -> object:
    return made.op_named(name)
