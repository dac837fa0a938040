"""`tf.compat.v1.test`: what TensorFlow 1 has for tests besides `tf.test`."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from unittest import mock

NAMESPACES = ("compat.v1.test",)
__all__ = ["get_temp_dir", "mock"]


@functools.cache
def get_temp_dir() -> str:
    """Returns a directory for the files of this process' tests, which is removed at its end.

    >>> tf.compat.v1.test.get_temp_dir() == tf.compat.v1.test.get_temp_dir()
    True
    """
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
