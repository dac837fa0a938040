"""An HTTP API for predictions, with FastAPI: requests and answers as those of TensorFlow Serving's REST API.

`create_app` serves functions of arrays, whatever computes them; `service.py` serves models with it.

    POST /v1/models/NAME:predict    {"instances": [...]}  ->  {"predictions": [...]}
                                    with Content-Type: application/x-npy, both are arrays in NumPy's file format
    GET  /v1/models/NAME            the shape of an instance, and the batch sizes that are ready
    GET  /health                    200 once all models are warm
    GET  /metrics                   for Prometheus, if the package prometheus-client is installed
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response

try:
    import prometheus_client
except ImportError:
    prometheus_client = None  # type: ignore[assignment]

NPY = "application/x-npy"
SIZES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Predictor:
    """A function from a batch of instances to predictions, and how to prepare it for batches of one size."""

    predict: Callable[[np.ndarray], Any]
    shape: tuple[int, ...]  # of one instance
    warm_up: Callable[[int], object]  # is called with each batch size before the first request
    dtype: str = "float32"
    sizes: Sequence[int] = SIZES  # in ascending order; other batches are padded to the next one

    def __call__(self, instances: np.ndarray) -> np.ndarray:
        count = len(instances)
        size = self.sizes[bisect_left(self.sizes, count)]
        padded = np.zeros((size, *self.shape), self.dtype)
        padded[:count] = instances
        return np.asarray(self.predict(padded))[:count]

    def check(self, instances: Any) -> np.ndarray:
        """Returns the instances of a request as a batch; raises HTTPException if they are not one."""
        try:
            batch = np.asarray(instances, self.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise HTTPException(400, f"instances must be an array of {self.dtype}: {error}") from error
        if not batch.ndim or not len(batch) or batch.shape[1:] != self.shape:
            expected = ", ".join(map(str, ("n", *self.shape)))
            raise HTTPException(400, f"instances must have the shape ({expected}), n > 0, got {batch.shape}")
        if len(batch) > self.sizes[-1]:
            raise HTTPException(413, f"a request has 1 to {self.sizes[-1]} instances, this one has {len(batch)}")
        return batch


class Metrics:
    """Counts and times of requests; nothing without prometheus-client."""

    def __init__(self) -> None:
        if prometheus_client is None:
            return
        self._registry = prometheus_client.CollectorRegistry()
        names: dict[str, Any] = {"labelnames": ("model",), "registry": self._registry}
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:  # several workers: each answers for all, by their files
            from prometheus_client import multiprocess

            multiprocess.MultiProcessCollector(self._registry)
            names["registry"] = None
        self._seconds = prometheus_client.Histogram("predict_seconds", "Duration of requests", **names)
        self._instances = prometheus_client.Counter("predict_instances", "Instances of answered requests", **names)
        self._refused = prometheus_client.Counter("predict_refused", "Requests that were not answered", **names)

    def answered(self, model: str, seconds: float, instances: int) -> None:
        """Counts an answered request."""
        if prometheus_client is not None:
            self._seconds.labels(model).observe(seconds)
            self._instances.labels(model).inc(instances)

    def refused(self, model: str) -> None:
        """Counts a request that was not answered."""
        if prometheus_client is not None:
            self._refused.labels(model).inc()

    def text(self) -> bytes:
        """Returns what Prometheus reads; raises HTTPException without prometheus-client."""
        if prometheus_client is None:
            raise HTTPException(404, "pip install prometheus-client")
        return prometheus_client.generate_latest(self._registry)


def create_app(
    load: Callable[[], Mapping[str, Predictor]],
    threads: int | None = None,
    max_waiting: int = 128,
    max_bytes: int = 10_000_000,
) -> FastAPI:
    """Returns a service that calls `load` when it starts, in each of its processes, and warms all models up.

    Models compute in `threads` threads (default: the number of cores). Requests above `max_waiting` at a time get
    status 503 at once, longer ones than `max_bytes` 413.
    """
    models: dict[str, Predictor] = {}
    metrics = Metrics()
    waiting = 0

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.pool = ThreadPoolExecutor(threads or os.cpu_count(), thread_name_prefix="predict")
        with app.state.pool:  # at the end, running requests are answered
            models.update(load())
            for model in models.values():
                for size in model.sizes:
                    model.warm_up(size)
            yield

    app = FastAPI(title="Predictions", lifespan=lifespan)

    def find(name: str) -> Predictor:
        if name not in models:
            raise HTTPException(404, f"there is no model {name!r}, only {', '.join(models)}")
        return models[name]

    @app.post("/v1/models/{name}:predict")
    async def predict(name: str, request: Request) -> Response:
        nonlocal waiting
        model = find(name)
        began = time.perf_counter()
        if waiting >= max_waiting:
            metrics.refused(name)
            raise HTTPException(503, f"{waiting} requests are waiting", headers={"Retry-After": "1"})
        waiting += 1
        try:
            batch = model.check(await instances_of(request, max_bytes))
            loop = asyncio.get_running_loop()
            predictions = await loop.run_in_executor(app.state.pool, model, batch)
        except BaseException:
            metrics.refused(name)
            raise
        finally:
            waiting -= 1
        metrics.answered(name, time.perf_counter() - began, len(batch))
        if request.headers.get("Content-Type") == NPY:
            file = io.BytesIO()
            np.save(file, predictions)
            return Response(file.getvalue(), media_type=NPY)
        return Response(json.dumps({"predictions": predictions.tolist()}), media_type="application/json")

    @app.get("/v1/models/{name}")
    async def describe(name: str) -> dict[str, Any]:
        model = find(name)
        return {"name": name, "shape": model.shape, "dtype": model.dtype, "batch_sizes": list(model.sizes)}

    @app.get("/health")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "models": list(models)}

    @app.get("/metrics")
    async def show_metrics() -> Response:
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    return app


async def instances_of(request: Request, max_bytes: int) -> Any:
    """Returns the instances in the request's body; raises HTTPException if it is too long or cannot be read."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise HTTPException(413, f"the body of a request has at most {max_bytes} bytes")
    if request.headers.get("Content-Type") == NPY:
        try:
            return np.load(io.BytesIO(body), allow_pickle=False)  # a pickle could run any code
        except (EOFError, OSError, ValueError) as error:
            raise HTTPException(400, f"the body of the request is no array written by np.save: {error}") from error
    try:
        return json.loads(body)["instances"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise HTTPException(400, f'the body of a request is JSON such as {{"instances": [...]}}: {error!r}') from error
