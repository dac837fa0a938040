"""`tf.compat.v1.train.summary_iterator`: the events of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from gradtape.core.type_hints import PathLike
from gradtape.state.record_files import records

from ...protos.generated import message_class

NAMESPACES = ("compat.v1.train",)
__all__ = ["summary_iterator"]


def summary_iterator(path: PathLike) -> Iterator[Any]:
    """Iterates over the `Event` messages of a file of TensorBoard.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.create_file_writer(folder).as_default() as writer:
    ...     _ = tf.summary.scalar("loss", 0.5, step=3)
    >>> writer.close()
    >>> (path,) = glob.glob(folder + "/*")
    >>> [(e.step, v.tag) for e in tf.compat.v1.train.summary_iterator(path) for v in e.summary.value]
    [(3, 'loss')]
    """
    kind = message_class("Event")
    for record in records(os.fsdecode(path)):
        yield kind.FromString(record)
