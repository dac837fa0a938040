"""`tensorflow.python.eager.context`: whether ops run at once, and where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import gradtape

GRAPH_MODE, EAGER_MODE = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2


def executing_eagerly() -> bool:
    """Whether ops run at once, rather than being traced."""
    return bool(gradtape.executing_eagerly())


def in_eager_mode() -> bool:
    """Whether ops run at once, rather than being traced."""
    return executing_eagerly()


def eager_mode() -> AbstractContextManager[None]:
    """Ops inside the block run at once."""
    return nullcontext() if executing_eagerly() else gradtape.init_scope()


@contextmanager
def graph_mode() -> Iterator[None]:
    """There is no graph without a function."""
    raise NotImplementedError(
        "gradtape has no graphs outside of a tf.function: write what is to be a graph as one. TensorFlow 1's graphs "
        "and sessions are not there"
    )
    yield


class Context:
    """What is known about the process."""

    def executing_eagerly(self) -> bool:
        """Whether ops run at once, rather than being traced."""
        return executing_eagerly()

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        return len(gradtape.config.list_physical_devices("GPU"))

    def list_logical_devices(self, device_type: str | None = None) -> Any:
        """As `tf.config.list_logical_devices`."""
        return gradtape.config.list_logical_devices(device_type)

    def list_physical_devices(self, device_type: str | None = None) -> Any:
        """As `tf.config.list_physical_devices`."""
        return gradtape.config.list_physical_devices(device_type)

    @property
    def device_name(self) -> str:
        """The device that was asked for: none but by `tf.device`."""
        return ""

    @property
    def device_spec(self) -> Any:
        """The same, taken apart."""
        return gradtape.DeviceSpec.from_string(self.device_name)

    @property
    def run_eager_op_as_function(self) -> bool:
        """Never."""
        return False

    def ensure_initialized(self) -> None:
        """Nothing to do."""


_context = Context()


def context() -> Context:
    """What is known about the process."""
    return _context


def num_gpus() -> int:
    """How many GPUs there are."""
    return _context.num_gpus()


def ensure_initialized() -> None:
    """Nothing to do."""


def set_global_seed(seed: int | None) -> None:
    """As `tf.random.set_seed`."""
    gradtape.random.set_seed(seed)
