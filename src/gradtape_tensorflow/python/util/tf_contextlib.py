"""`tensorflow.python.util.tf_contextlib`."""

from contextlib import contextmanager

__all__ = ["contextmanager"]
