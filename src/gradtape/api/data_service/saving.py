"""`tf.data.experimental.distributed_save`: a dataset that the workers of a service write."""

from __future__ import annotations

import os
from typing import Any

from ...core import errors
from ...datasets.dataset import Dataset
from .servers import dispatcher_at

NAMESPACES = ("data.experimental",)
__all__ = ["distributed_save"]


def distributed_save(dataset: Dataset, path: Any, data_service_address: str, compression: str | None = "AUTO") -> None:
    """Writes a dataset, for `tf.data.Dataset.load`, on a worker of the service; returns when it is written.

    >>> import tempfile
    >>> import gradtape as tf
    >>> service = tf.data.experimental.service
    >>> dispatcher = service.DispatchServer()
    >>> worker = service.WorkerServer(service.WorkerConfig(dispatcher.target.split("://")[1]))
    >>> folder = tempfile.mkdtemp() + "/data"
    >>> tf.data.experimental.distributed_save(tf.data.Dataset.range(3), folder, dispatcher.target)
    >>> [int(x) for x in tf.data.Dataset.load(folder)]
    [0, 1, 2]
    """
    if not isinstance(data_service_address, str):
        raise ValueError(
            f"`data_service_address` must be a string, but is a {type(data_service_address)} ({data_service_address}"
        )
    if not data_service_address:
        raise ValueError("`data_service_address` must not be empty")
    dispatcher_at(data_service_address.rpartition("://")[2])._await_workers()
    if os.path.exists(path):
        raise errors.AlreadyExistsError(f"tf.data snapshot at {os.fsdecode(path)} is already started or completed")
    dataset.save(path, compression="GZIP" if compression == "GZIP" else None)
