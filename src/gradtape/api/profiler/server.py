"""A server in the profiled process, which profiles it for as long as a client asks: see `client`."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from typing import Any

from ...core import errors
from . import sessions

NAMESPACES = ("profiler.experimental.server",)
__all__ = ["start"]
_MOST_SECONDS = 3600.0  # of one profile: there is one at a time


class _Handler(socketserver.StreamRequestHandler):
    """Answers one request, a line of JSON, by another one."""

    def handle(self) -> None:
        try:
            asked = json.loads(self.rfile.readline(1 << 16))
            seconds = float(asked["duration_ms"]) / 1e3
            if not 0.0 < seconds <= _MOST_SECONDS:
                raise ValueError(f"duration_ms must be between 0 and {_MOST_SECONDS * 1000:.0f}, got {seconds * 1e3}")
            sessions.start(str(asked["logdir"]))
            try:
                time.sleep(seconds)
            finally:
                sessions.stop()
            answer: dict[str, Any] = {}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def start(port: int) -> None:
    """Starts a server, at this address of the local machine, that `tf.profiler.experimental.client.trace` can call.

    >>> import socket, tempfile
    >>> import gradtape as tf
    >>> with socket.socket() as free:
    ...     free.bind(("localhost", 0))
    ...     port = free.getsockname()[1]
    >>> tf.profiler.experimental.server.start(port)
    >>> tf.profiler.experimental.client.trace(f"grpc://localhost:{port}", tempfile.mkdtemp(), 1)
    """
    try:
        server = _Server(("localhost", int(port)), _Handler)
    except OSError as error:
        raise errors.UnavailableError(f"The profiler cannot listen at port {port}: {error}") from error
    threading.Thread(target=server.serve_forever, name="profiler server", daemon=True).start()
