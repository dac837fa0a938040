"""`tf.compat.v1.summary`: writers of events."""

from __future__ import annotations

import os
import socket
import time
import weakref
from typing import Any, ClassVar, Self

from ...core.extension_points import message_class
from ...core.locks import call_in_child, fork_safe_rlock
from ...core.pickling import Unpicklable
from ...core.type_hints import PathLike
from ..io.records import TFRecordWriter
from .events import unique_suffix

NAMESPACES = ("compat.v1.summary",)
__all__ = ["FileWriter", "FileWriterCache"]

_FILE_VERSION = "brain.Event:2"


class FileWriter(Unpicklable):
    """Writes `Event` messages to a file of TensorBoard: summaries, graphs and logs of sessions.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.compat.v1.summary.FileWriter(folder) as writer:
    ...     value = tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)
    ...     writer.add_summary(tf.compat.v1.Summary(value=[value]), global_step=3)
    >>> (path,) = glob.glob(folder + "/*")
    >>> [(e.step, v.simple_value) for e in tf.compat.v1.train.summary_iterator(path) for v in e.summary.value]
    [(3, 0.5)]

    In a forked process, the next event opens a file of this process in the same folder.
    """

    __module__ = "gradtape.compat.v1.summary"

    _instead = "create a writer in each process, with a folder of its own"

    def __init__(
        self, logdir: PathLike, graph: Any = None, max_queue: int = 10, flush_secs: float = 120, graph_def: Any = None,
        filename_suffix: str | None = None, session: Any = None,
    ) -> None:  # fmt: skip
        self._logdir = os.fsdecode(os.fspath(logdir))
        os.makedirs(self._logdir, exist_ok=True)
        self._suffix, self._max_queue, self._flush_secs = filename_suffix or "", max_queue, flush_secs
        self._lock = fork_safe_rlock()
        self._records: TFRecordWriter | None = None
        self._closed = False
        self._tags: set[str] = set()  # those whose metadata was written
        self._open()
        call_in_child(self._leave_file_to_parent)
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def _open(self) -> None:
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}{unique_suffix()}"
        self._records = TFRecordWriter(os.path.join(self._logdir, name + self._suffix))
        weakref.finalize(self, self._records.close)  # also when Python exits: few programs close their writers
        self._waiting, self._flushed = 0, time.monotonic()
        self._tags.clear()
        self.add_event(message_class("Event")(wall_time=time.time(), file_version=_FILE_VERSION))
        self.flush()

    def _leave_file_to_parent(self) -> None:
        self._records = None

    def add_event(self, event: Any) -> None:
        """Writes an event."""
        with self._lock:
            if self._closed:
                raise RuntimeError(f"the FileWriter of {self._logdir} is closed: reopen() continues in a new file")
            if self._records is None:
                self._open()
            assert self._records is not None
            self._records.write(event.SerializeToString())
            self._waiting += 1
            if self._waiting >= self._max_queue or time.monotonic() - self._flushed > self._flush_secs:
                self.flush()

    def _add(self, global_step: Any, **content: Any) -> None:
        event = message_class("Event")(wall_time=time.time(), **content)
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a `Summary`, or a serialized one; metadata of a tag is written once."""
        kind = message_class("Summary")
        found = kind.FromString(summary if isinstance(summary, bytes) else summary.SerializeToString())
        for value in found.value:
            if value.HasField("metadata") and value.tag in self._tags:
                value.ClearField("metadata")
            elif value.HasField("metadata"):
                self._tags.add(value.tag)
        self._add(global_step, summary=found)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph or a `GraphDef`."""
        found = graph_def if graph is None else graph if hasattr(graph, "node") else graph.as_graph_def(add_shapes=True)
        if found is None:
            raise ValueError("The argument graph must be specified for the main graph.")
        self._add(global_step, graph_def=found.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Writes a `MetaGraphDef`."""
        if not isinstance(meta_graph_def, message_class("MetaGraphDef")):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a `SessionLog`."""
        self._add(global_step, session_log=session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Writes a `RunMetadata` under a tag."""
        tagged = message_class("TaggedRunMetadata")(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(global_step, tagged_run_metadata=tagged)

    def get_logdir(self) -> str:
        """Returns the folder of the file."""
        return self._logdir

    def flush(self) -> None:
        """Writes to disk what has been added."""
        with self._lock:
            if self._records is not None:
                self._records.flush()
            self._waiting, self._flushed = 0, time.monotonic()

    def close(self) -> None:
        """Writes to disk and closes the file."""
        with self._lock:
            if self._records is not None:
                self._records.close()
            self._records, self._closed = None, True

    def reopen(self) -> None:
        """Continues in a new file after `close`."""
        with self._lock:
            if self._closed:
                self._closed = False
                self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class FileWriterCache:
    """The writers of folders, one for each.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> cache = tf.compat.v1.summary.FileWriterCache
    >>> cache.get(folder) is cache.get(folder)
    True
    >>> cache.clear()
    """

    __module__ = "gradtape.compat.v1.summary"

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[Any] = fork_safe_rlock()

    @staticmethod
    def get(logdir: PathLike) -> FileWriter:
        """Returns the writer of a folder."""
        path = os.path.abspath(os.fsdecode(os.fspath(logdir)))
        with FileWriterCache._lock:
            if path not in FileWriterCache._writers:
                FileWriterCache._writers[path] = FileWriter(path)
            return FileWriterCache._writers[path]

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()
