"""`tf.summary`: scalars for TensorBoard, as messages of tensorboardX; errors say how to install it.

A flush returns when the file has everything: tensorboardX's own writer leaves that to a thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, SupportsInt

import numpy as np

from ...core import dtypes, scopes
from ...core.extras import install_command
from ...core.pickling import Unpicklable
from ...core.scopes import carried
from ...core.tensor import Tensor
from ...core.type_hints import PathLike, TensorLike
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ..runtime.system import py_function
from .events import plugin_metadata, tensor_event
from .writers import FileWriter

NAMESPACES = ("summary",)
__all__ = [
    "SummaryWriter", "create_file_writer", "create_noop_writer", "flush", "record_if", "scalar",
    "should_record_summaries",
]  # fmt: skip


class _Current(threading.local):
    writer: Any = None
    step: Any = None
    condition: Any = True


current = carried(_Current())


class SummaryWriter(Unpicklable):
    """The destination of summaries: `create_file_writer` writes event files, `create_noop_writer` drops summaries.

    >>> with tf.summary.create_noop_writer().as_default(step=1):
    ...     bool(tf.summary.scalar("loss", 0.5))
    False
    """

    __module__ = "gradtape.summary"

    _instead = "create a writer in each process, with a folder of its own"

    def __init__(self) -> None:
        self._events: Any = None
        self._closed = False

    def _check(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    @contextmanager
    def as_default(self, step: TensorLike | None = None) -> Iterator[SummaryWriter]:
        """Context manager: summaries of this thread go to this writer, with `step` as the default step."""
        self._check()
        before = current.writer, current.step
        self.set_as_default(step)
        try:
            yield self
        finally:
            self.flush()
            current.writer = before[0]
            if step is not None:
                current.step = before[1]

    def set_as_default(self, step: TensorLike | None = None) -> None:
        """Makes this the writer of this thread's summaries."""
        self._check()
        current.writer = self
        if step is not None:
            current.step = step

    def init(self) -> None:
        """Does nothing."""
        self._check()

    def flush(self) -> None:
        """Flushes pending summaries."""
        if self._events is not None and not self._closed:
            self._events.flush()

    def close(self) -> None:
        """Flushes pending summaries and closes the file."""
        if self._events is not None and not self._closed:
            self._events.close()
        self._closed = True


def create_file_writer(
    logdir: PathLike,
    max_queue: SupportsInt | None = None,
    flush_millis: SupportsInt | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: object = None,
) -> SummaryWriter:
    """Creates a writer of event files for TensorBoard in the folder `logdir`.

    >>> import tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> writer = tf.summary.create_file_writer(folder)
    >>> with writer.as_default():
    ...     for step in range(3):
    ...         _ = tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
    >>> writer.close()
    >>> os.listdir(folder)[0].startswith("events.out.tfevents")
    True
    """
    try:
        import tensorboardX  # noqa: F401
    except ImportError:
        how = install_command("summary")
        raise ImportError(f"tf.summary writes event files with tensorboardX: {how}") from None
    folder = np.asarray(to_tensor(logdir).array).item().decode() if isinstance(logdir, Tensor | bytes) else str(logdir)
    writer = SummaryWriter()
    writer._events = FileWriter(
        folder,
        max_queue=10 if max_queue is None else int(max_queue),
        flush_secs=120 if flush_millis is None else int(flush_millis) / 1000,
        filename_suffix=".v2" if filename_suffix is None else str(filename_suffix),
    )
    return writer


def create_noop_writer() -> SummaryWriter:
    """Creates a writer that writes nothing.

    >>> writer = tf.summary.create_noop_writer()
    >>> writer.flush()
    """
    return SummaryWriter()


def scalar(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Writes a number under `name` at `step`; returns whether it was written.

    >>> bool(tf.summary.scalar("loss", 0.5, step=1))
    False

    It is not written if there is no writer: see `create_file_writer`.
    """

    def number() -> Tensor:
        value = ops.cast(to_tensor(data), dtype=dtypes.float32)
        if value.dims:
            raise ValueError(f"Expected scalar shape, saw shape: {value.dims}.")
        return value

    def event(tag: str, value: Tensor) -> Any:
        return tensor_event(tag, np.asarray(value.array), value.dtype, plugin_metadata("scalars", description))

    return written(name, step, number, event)


def written(name: str, step: Any, value: Callable[[], Tensor], event: Callable[[str, Tensor], Any]) -> Tensor:
    """Writes `event(tag, value())`, a summary of tensorboardX, if the writer accepts it; returns whether it did."""
    return written_as(scopes.scoped(name), step, value, event)


def written_as(tag: str, step: Any, value: Callable[[], Tensor], event: Callable[[str, Tensor], Any]) -> Tensor:
    """Like `written`, with the complete tag."""
    writer = current.writer
    if writer is None or writer._events is None:
        return to_tensor(False)
    at = current.step if step is None else step
    if at is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )

    def write(x: Tensor, place: Tensor, wanted: Tensor) -> Tensor:
        if bool(wanted):
            from tensorboardX.proto.event_pb2 import Event

            writer._check()
            writer._events.add_event(Event(wall_time=time.time(), step=int(place), summary=event(tag, x)))
        return wanted

    return py_function(write, [value(), ops.cast(to_tensor(at), dtype=dtypes.int64), _condition()], dtypes.bool)


def _condition() -> Tensor:
    wanted = current.condition
    return ops.cast(to_tensor(wanted() if callable(wanted) else wanted), dtype=dtypes.bool)


def flush(writer: Any = None, name: str | None = None) -> None:
    """Flushes pending summaries of `writer` or of the current writer.

    >>> tf.summary.flush()
    """
    target = current.writer if writer is None else writer
    if target is not None:
        target.flush()


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Context manager: writes summaries only if `condition`, a bool, a tensor or a function, is true.

    >>> with tf.summary.record_if(False):
    ...     bool(tf.summary.scalar("loss", 0.5, step=1))
    False
    """
    before = current.condition
    current.condition = condition
    try:
        yield
    finally:
        current.condition = before


def should_record_summaries() -> Tensor:
    """Returns whether a summary would be written now.

    >>> bool(tf.summary.should_record_summaries())
    False
    """
    return _condition() if current.writer is not None and current.writer._events is not None else to_tensor(False)
