"""`tensorflow.python.eager.context`: execution mode and devices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import gradtape
from gradtape.engine.run import randomness

GRAPH_MODE, EAGER_MODE = 0, 1
DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT = 0, 1, 2


def executing_eagerly() -> bool:
    """Returns whether ops execute eagerly, not traced."""
    return bool(gradtape.executing_eagerly())


def eager_mode() -> AbstractContextManager[None]:
    """Context manager: ops execute eagerly."""
    return nullcontext() if executing_eagerly() else gradtape.init_scope()


@contextmanager
def graph_mode() -> Iterator[None]:
    """Raises: there are no graphs outside of functions."""
    raise NotImplementedError(
        "gradtape has no graphs outside tf.function, and no TensorFlow 1 graphs and sessions: write the graph as a "
        "tf.function"
    )
    yield


class Context:
    """The execution context of the process."""

    def executing_eagerly(self) -> bool:
        """Returns whether ops execute eagerly, not traced."""
        return executing_eagerly()

    def num_gpus(self) -> int:
        """Returns the number of GPUs."""
        return len(gradtape.config.list_physical_devices("GPU"))

    def list_logical_devices(self, device_type: str | None = None) -> Any:
        """Same as `tf.config.list_logical_devices`."""
        return gradtape.config.list_logical_devices(device_type)

    @property
    def device_name(self) -> str:
        """Always empty, even inside `tf.device`."""
        return ""

    @property
    def device_spec(self) -> Any:
        """The requested device as a spec."""
        return gradtape.DeviceSpec.from_string(self.device_name)

    @property
    def run_eager_op_as_function(self) -> bool:
        """Always False."""
        return False

    def ensure_initialized(self) -> None:
        """Does nothing."""

    def clear_kernel_cache(self) -> None:
        """Does nothing: kernels are functions, without a cache."""


_context = Context()


def context() -> Context:
    """Returns the execution context."""
    return _context


def num_gpus() -> int:
    """Returns the number of GPUs."""
    return _context.num_gpus()


def ensure_initialized() -> None:
    """Does nothing."""


def get_config() -> Any:
    """Returns the configuration of the runtime, a `ConfigProto`."""
    return gradtape.compat.v1.ConfigProto()


def get_device_name() -> str:
    """Returns the name of the device that ops run on, empty if none was chosen."""
    return _context.device_name


def async_wait() -> None:
    """Does nothing: ops are finished when they return."""


def _reset_context() -> None:
    """Does nothing: the devices are those of the process."""


def set_soft_device_placement(enabled: bool) -> None:
    """Same as `tf.config.set_soft_device_placement`."""
    gradtape.config.set_soft_device_placement(enabled)


def global_seed() -> int | None:
    """Returns the seed that `tf.random.set_seed` set, or None."""
    return randomness.global_seed()
