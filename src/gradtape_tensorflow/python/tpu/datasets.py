"""`tensorflow.python.tpu.datasets`: a class that libraries import, which raises an error when it is used."""

from __future__ import annotations

from typing import Any


class StreamingFilesDataset:
    """Needs a TPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("StreamingFilesDataset needs a TPU, and gradtape runs on CPUs and GPUs only")
