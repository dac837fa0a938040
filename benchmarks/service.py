"""Latency of an HTTP service (`examples/predict_api.py`) under concurrent clients, beside TensorFlow and Keras on JAX.

    python benchmarks/service.py [--peer NAME=PYTHON ...] [--requests N] [--clients N] [--rounds N] [--only WORK ...]

NAME is tensorflow or jax, PYTHON the interpreter of an environment with it, Keras, FastAPI and uvicorn. Each work is
served by a fresh process for each framework, in turns. Clients in this process send requests of 1 to 8 instances, each
client one after the other. *Cold*: nothing is warmed up, and the first 400 requests count. *Warm*: those that follow.
Batches are padded to 1, 2, 4 or 8 instances. The table also shows the server's memory after the first 1,000 requests
and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
COLD = 400
SIZES = (1, 2, 4, 8)
FEATURES, IMAGE = (64,), (28, 28, 1)
Predict = Callable[[np.ndarray], Any]


# The works. Each gets the module `tf` (None on JAX) and returns a function of a batch.


def function(tf: Any, jit_compile: bool | None = None) -> Predict:
    """Scores of 1,000 items by a network with two hidden layers, and the ten best."""
    generator = np.random.default_rng(0)
    widths = [*FEATURES, 256, 256, 1000]
    weights = [
        tf.Variable(generator.normal(size=(rows, columns)).astype(np.float32) / rows**0.5)
        for rows, columns in itertools.pairwise(widths)
    ]

    @tf.function(jit_compile=jit_compile)
    def best(x: Any) -> Any:
        for weight in weights[:-1]:
            x = tf.nn.relu(tf.matmul(x, weight))
        return tf.math.top_k(tf.nn.softmax(tf.matmul(x, weights[-1])), k=10).values

    return lambda batch: best(tf.constant(batch))


def compiled_function(tf: Any) -> Predict:
    """The same, with `jit_compile=True`."""
    return function(tf, jit_compile=True)


def model(tf: Any) -> Predict:
    """A Keras CNN of images, by `predict_on_batch`; on JAX one call at a time, for it is not safe in threads there."""
    predict = network().predict_on_batch
    if tf is not None:
        return predict
    one_at_a_time = threading.Lock()

    def wait_and_predict(batch: np.ndarray) -> Any:
        with one_at_a_time:
            return predict(batch)

    return wait_and_predict


def saved_model(tf: Any) -> Predict:
    """The same CNN, exported and loaded as a SavedModel."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        network().export(folder, verbose=False)
        loaded = tf.saved_model.load(folder)
    return lambda batch: loaded.serve(tf.constant(batch))


def network() -> Any:
    """Returns the CNN."""
    import keras

    keras.utils.set_random_seed(0)
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input(IMAGE),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )


class Work(NamedTuple):
    """What is served, the shape of an instance, and the frameworks that have it."""

    create: Callable[[Any], Predict]
    shape: tuple[int, ...]
    peers: tuple[str, ...] = ("tensorflow",)


WORKS = {
    "function": Work(function, FEATURES),
    "compiled function": Work(compiled_function, FEATURES),
    "Keras model": Work(model, IMAGE, ("tensorflow", "jax")),
    "SavedModel": Work(saved_model, IMAGE),
}


# The server.


def serve(framework: str, work: str, port: int, threads: int) -> None:
    """Serves a work with one of the frameworks, without a warm-up."""
    os.environ["KERAS_BACKEND"] = framework
    tf: Any = None
    if framework == "gradtape":
        import gradtape as tf

        if threads:
            tf.config.threading.set_intra_op_parallelism_threads(threads)
    elif framework == "tensorflow":
        import tensorflow as tf

        if threads:
            tf.config.threading.set_intra_op_parallelism_threads(threads)
    sys.path.insert(0, str(EXAMPLES))
    import uvicorn
    from predict_api import Predictor, create_app

    def load() -> dict[str, Predictor]:
        shape = WORKS[work].shape
        return {"work": Predictor(WORKS[work].create(tf), shape, lambda size: None, sizes=SIZES)}

    uvicorn.run(create_app(load), port=port, log_level="warning", access_log=False)


# The clients.


class Latencies(NamedTuple):
    """Seconds of each request in the order of their answers, and the server's memory in MB: early and at the end."""

    seconds: list[float]
    memory: tuple[float, float]

    def figures(self) -> dict[str, float]:
        """Returns the percentiles in milliseconds."""
        cold, warm = self.seconds[:COLD], self.seconds[COLD:]
        return {
            name: 1000 * float(np.percentile(part, percent))
            for name, part, percent in (
                ("cold p50", cold, 50), ("cold p99", cold, 99), ("warm p50", warm, 50), ("warm p99", warm, 99),
            )
        }  # fmt: skip


def bodies(shape: tuple[int, ...]) -> list[bytes]:
    """Returns whole HTTP requests of 1 to 8 instances: vectors in JSON, images in NumPy's file format."""
    generator = np.random.default_rng(1)
    found = []
    for count in (1, 3, 2, 5, 1, 8, 4, 1, 6, 7):
        instances = generator.random((count, *shape), np.float32)
        if len(shape) == 1:
            kind, body = "json", json.dumps({"instances": instances.astype(np.float16).tolist()}).encode()
        else:
            file = io.BytesIO()
            np.save(file, instances)
            kind, body = "x-npy", file.getvalue()
        head = f"POST /v1/models/work:predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/{kind}\r\n"
        found.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return found


async def ask(port: int, requests: list[bytes], total: int, clients: int) -> list[float]:
    """Sends `total` requests from `clients` connections; returns the seconds of each."""
    seconds: list[float] = []
    numbers = iter(range(total))

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in numbers:
            began = time.perf_counter()
            writer.write(requests[number % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            body = await reader.readexactly(int(length.split(b":")[1]))
            seconds.append(time.perf_counter() - began)
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{head.decode()}{body[:500].decode()}")
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return seconds


def measure(framework: str, python: str, work: str, options: argparse.Namespace) -> Latencies:
    """Starts a server, sends the requests and stops it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, __file__, "--serve", framework, "--port", str(port), "--only", work]
    command += ["--threads", str(options.threads)]
    server = subprocess.Popen(command, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                if server.poll() is not None:
                    raise SystemExit(f"the server of {framework} has ended") from None
                time.sleep(0.05)
        requests = bodies(WORKS[work].shape)
        seconds = asyncio.run(ask(port, requests, 1000, options.clients))
        early = memory_of(server.pid)
        seconds += asyncio.run(ask(port, requests, options.requests - 1000, options.clients))
        return Latencies(seconds, (early, memory_of(server.pid)))
    finally:
        server.terminate()
        server.wait()


def memory_of(process: int) -> float:
    """Returns the resident memory in MB; Linux only, elsewhere NaN."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peer", action="append", default=[], help="NAME=PYTHON, such as tensorflow=venv/bin/python")
    parser.add_argument("--requests", type=int, default=4000, help="per work, framework and round (default: 4000)")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=1, help="the table shows medians (default: 1)")
    parser.add_argument("--only", action="append", choices=WORKS, help="measure these works only")
    parser.add_argument("--threads", type=int, default=1, help="threads of an op, 0: each framework's way (default: 1)")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.only[0], options.port, options.threads)
        return
    pythons = {"gradtape": sys.executable, **dict(peer.split("=", 1) for peer in options.peer)}
    table = Table(title=f"Milliseconds of a request under {options.clients} clients")
    for title in ("work", "framework", "cold p50", "cold p99", "warm p50", "warm p99", "MB early", "MB at the end"):
        table.add_column(title, justify="left" if title in ("work", "framework") else "right")
    console = Console(width=118)
    for work in options.only or WORKS:
        measured: dict[str, list[Latencies]] = {
            name: [] for name in pythons if name in ("gradtape", *WORKS[work].peers)
        }
        for _ in range(options.rounds):
            for name, rounds in measured.items():
                console.print(f"{work}: {name}")
                rounds.append(measure(name, pythons[name], work, options))
        for name, rounds in measured.items():
            figures = [latencies.figures() for latencies in rounds]
            cells = [f"{statistics.median(figure[title] for figure in figures):.3g}" for title in figures[0]]
            memory = [f"{statistics.median(part):.0f}" for part in zip(*(r.memory for r in rounds), strict=True)]
            table.add_row(work, name, *cells, *memory, end_section=name == list(measured)[-1])
    console.print(table)


if __name__ == "__main__":
    main()
