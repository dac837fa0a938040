"""Profiles other processes of this machine, which have started a server: see `server`."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from ...core import errors

NAMESPACES = ("profiler.experimental.client",)
__all__ = ["monitor", "trace"]


def trace(
    service_addr: str,
    logdir: Any,
    duration_ms: int,
    worker_list: str = "",
    num_tracing_attempts: int = 3,
    options: Any = None,
) -> None:
    """Profiles processes that have called `tf.profiler.experimental.server.start`, for a while.

    >>> import tempfile
    >>> import gradtape as tf
    >>> tf.profiler.experimental.client.trace("grpc://localhost:1", tempfile.mkdtemp(), 10)
    Traceback (most recent call last):
    gradtape.errors.UnavailableError: No profiler server answers at localhost:1: [Errno 111] Connection refused

    Args:
      service_addr: the addresses of the servers, such as `grpc://localhost:6009`, separated by commas.
      logdir: the folder that the servers write their profiles to.
      duration_ms: how long to profile, in milliseconds.
      worker_list: for TPUs only.
      num_tracing_attempts: how often to try until a server answers.
      options: a `ProfilerOptions`.
    """
    if duration_ms <= 0:
        raise errors.InvalidArgumentError("duration_ms must be greater than zero.")
    request = json.dumps({"logdir": os.path.abspath(os.fsdecode(logdir)), "duration_ms": duration_ms}).encode() + b"\n"
    for address in service_addr.split(","):
        _ask(address.removeprefix("grpc://"), request, duration_ms / 1e3 + 60.0, max(1, num_tracing_attempts))


def _ask(address: str, request: bytes, seconds: float, attempts: int) -> None:
    host, _, port = address.rpartition(":")
    for left in reversed(range(attempts)):
        try:
            with socket.create_connection((host, int(port)), timeout=seconds) as connection:
                connection.sendall(request)
                with connection.makefile("rb") as lines:
                    answer = json.loads(lines.readline() or b"{}")
            break
        except OSError as error:
            if not left:
                raise errors.UnavailableError(f"No profiler server answers at {address}: {error}") from error
    if "error" in answer:
        raise errors.UnavailableError(f"The profiler at {address} failed: {answer['error']}")


def monitor(service_addr: str, duration_ms: int, level: int = 1) -> str:
    """Raises an error: only TPUs are monitored, and there are none. `trace` profiles other processes.

    >>> import gradtape as tf
    >>> tf.profiler.experimental.client.monitor("grpc://localhost:1", 10)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise errors.UnimplementedError(
        "client.monitor observes TPUs, and gradtape knows of none. Use tf.profiler.experimental.client.trace"
    )
