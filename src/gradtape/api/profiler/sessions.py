"""Profiling sessions: `start` and `stop`, `Profile`, and the scopes of `Trace`."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ...core import errors, modes
from ...core.locks import fork_safe_lock
from .timeline import Timeline

NAMESPACES = ("profiler.experimental",)
__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]

_lock = fork_safe_lock()


class _Session:
    """The running session, if there is one."""

    timeline: Timeline | None = None
    logdir = ""


class _Options(NamedTuple):
    host_tracer_level: int
    python_tracer_level: int
    device_tracer_level: int
    delay_ms: int | None


class ProfilerOptions(_Options):
    """Options of a profiling session. The events of single ops are collected from `host_tracer_level=2` on.

    >>> tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)
    ProfilerOptions(host_tracer_level=3, python_tracer_level=0, device_tracer_level=1, delay_ms=None)
    """

    __module__ = "gradtape.profiler.experimental"

    def __new__(
        cls,
        host_tracer_level: int = 2,
        python_tracer_level: int = 0,
        device_tracer_level: int = 1,
        delay_ms: int | None = None,
    ) -> ProfilerOptions:
        return super().__new__(cls, host_tracer_level, python_tracer_level, device_tracer_level, delay_ms)


def start(logdir: Any, options: Any = None) -> None:
    """Starts profiling: collects the times of ops, of calls of functions and of `Trace` scopes until `stop`.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.profiler.experimental.start(folder)
    >>> x = tf.ones([2]) + 1.0
    >>> tf.profiler.experimental.stop()
    >>> os.listdir(folder + "/plugins")
    ['profile']

    Args:
      logdir: TensorBoard's folder. `stop` writes `<host>.xplane.pb`, for TensorBoard, and `<host>.trace.json.gz`, for
        Perfetto and Chrome's trace viewer, to a new folder below `plugins/profile`.
      options: a `ProfilerOptions`.
    """
    with _lock:
        if _Session.timeline is not None:
            raise errors.AlreadyExistsError("Another profiler is running.")
        _Session.timeline = Timeline(ops=options is None or options.host_tracer_level > 1)
        _Session.logdir = os.fsdecode(logdir)
        modes.enter(_Session.timeline)


def stop(save: bool = True) -> None:
    """Ends profiling, and writes the files unless `save` is False.

    >>> import tempfile
    >>> tf.profiler.experimental.start(tempfile.mkdtemp())
    >>> tf.profiler.experimental.stop(save=False)
    """
    with _lock:
        timeline = _Session.timeline
        if timeline is None:
            raise errors.UnavailableError("Cannot export profiling results. No profiler is running.")
        _Session.timeline = None
        modes.leave(timeline)
        if save:
            timeline.write(_Session.logdir)


class Profile:
    """Context manager: profiles the block; see `start`.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.profiler.experimental.Profile(folder):
    ...     x = tf.ones([2]) + 1.0
    >>> os.listdir(folder + "/plugins")
    ['profile']
    """

    __module__ = "gradtape.profiler.experimental"

    def __init__(self, logdir: Any, options: Any = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, typ: object, value: object, tb: object) -> None:
        stop()


class Trace:
    """Context manager: makes the block an event of the profile, if there is a profiling session.

    >>> with tf.profiler.experimental.Trace("train", step_num=1, _r=1) as trace:
    ...     trace.set_metadata(examples=32)

    Args:
      name: the name of the event.
      **kwargs: what to show with it.
    """

    __module__ = "gradtape.profiler.experimental"

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._stats = name, kwargs
        self._timeline = _Session.timeline
        self._start = 0 if self._timeline is None else self._timeline.scope_entered()

    def __enter__(self) -> Trace:
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds to what is shown with the event."""
        self._stats.update(kwargs)

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        if self._timeline is not None:
            self._timeline.scope_left(self._name, self._start, self._stats)
