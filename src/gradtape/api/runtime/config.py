"""`tf.config`: which devices there are, how they are used, and whether functions run eagerly.

Settings for hardware gradtape does not drive are kept and answered, so that a script that sets them runs on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NAMESPACES = ("config", "config.experimental", "config.threading", "config.optimizer")
__all__ = [
    "LogicalDevice", "PhysicalDevice", "enable_op_determinism", "enable_tensor_float_32_execution",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly", "functions_run_eagerly",
    "get_device_details", "get_inter_op_parallelism_threads",
    "get_intra_op_parallelism_threads", "get_jit", "get_memory_growth", "get_soft_device_placement",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "run_functions_eagerly",
    "set_inter_op_parallelism_threads", "set_intra_op_parallelism_threads", "set_jit", "set_memory_growth",
    "set_soft_device_placement", "set_visible_devices", "tensor_float_32_execution_enabled",
]  # fmt: skip


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as computations see it."""

    name: str
    device_type: str


_PHYSICAL = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
_LOGICAL = [LogicalDevice("/device:CPU:0", "CPU")]
_settings: dict[str, Any] = {
    "soft_placement": True, "inter_op": 0, "intra_op": 0, "jit": "", "tensor_float_32": True
}  # fmt: skip


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine that gradtape uses.

    >>> import gradtape as tf
    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [d for d in _PHYSICAL if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices computations can be placed on.

    >>> import gradtape as tf
    >>> tf.config.list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    return [d for d in _LOGICAL if device_type in (None, d.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine that computations may use: all of them.

    >>> import gradtape as tf
    >>> tf.config.get_visible_devices("GPU")
    []
    """
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Chooses the devices to use; the CPU cannot be left out.

    >>> import gradtape as tf
    >>> tf.config.set_visible_devices([], "GPU")
    """
    chosen = list(devices) if isinstance(devices, list | tuple) and not hasattr(devices, "_fields") else [devices]
    for device in chosen:
        if device not in _PHYSICAL:
            raise ValueError(f"Unrecognized device: {device!r}. The devices are {_PHYSICAL}")
    if device_type in (None, "CPU") and not any(d.device_type == "CPU" for d in chosen):
        raise RuntimeError("Visible devices cannot be modified after being initialized: the CPU is always there")


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python code at each call.

    >>> import gradtape as tf
    >>> tf.config.run_functions_eagerly(False)
    """
    from ...graph.function.function import settings

    settings.run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What the last call of `run_functions_eagerly` said.

    >>> import gradtape as tf
    >>> tf.config.functions_run_eagerly()
    False
    """
    from ...graph.function.function import settings

    return settings.run_eagerly


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """The older name of `run_functions_eagerly`.

    >>> import gradtape as tf
    >>> tf.config.experimental_run_functions_eagerly(False)
    """
    run_functions_eagerly(run_eagerly)


def experimental_functions_run_eagerly() -> bool:
    """The older name of `functions_run_eagerly`.

    >>> import gradtape as tf
    >>> tf.config.experimental_functions_run_eagerly()
    False
    """
    return functions_run_eagerly()


def set_soft_device_placement(enabled: bool) -> None:
    """Whether an op may run on another device than the one named; there is one device only.

    >>> import gradtape as tf
    >>> tf.config.set_soft_device_placement(True)
    """
    _settings["soft_placement"] = bool(enabled)


def get_soft_device_placement() -> bool:
    """What the last call of `set_soft_device_placement` said.

    >>> import gradtape as tf
    >>> tf.config.get_soft_device_placement()
    True
    """
    return _settings["soft_placement"]


def set_memory_growth(device: Any, enable: bool) -> None:
    """Whether a GPU's memory is taken as it is needed; the CPU's always is.

    >>> import gradtape as tf
    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    if device not in _PHYSICAL:
        raise ValueError(f"Unrecognized device: {device!r}. The devices are {_PHYSICAL}")
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def get_memory_growth(device: Any) -> bool:
    """Whether a GPU's memory is taken as it is needed.

    >>> import gradtape as tf
    >>> [tf.config.experimental.get_memory_growth(gpu) for gpu in tf.config.list_physical_devices("GPU")]
    []
    """
    raise ValueError(f"Unrecognized device: {device!r}. Memory growth is a setting of GPUs, and there are none")


def get_device_details(device: Any) -> dict[str, Any]:
    """What else is known of a device.

    >>> import gradtape as tf
    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices("CPU")[0])
    {}
    """
    if device not in _PHYSICAL:
        raise ValueError(f"Unrecognized device: {device!r}. The devices are {_PHYSICAL}")
    return {}


def enable_op_determinism() -> None:
    """Makes ops give the same bits at every run, as gradtape's do anyway.

    >>> import gradtape as tf
    >>> tf.config.experimental.enable_op_determinism()
    """


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether some GPUs may round float32 products; NumPy never does.

    >>> import gradtape as tf
    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    _settings["tensor_float_32"] = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """What the last call of `enable_tensor_float_32_execution` said.

    >>> import gradtape as tf
    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return _settings["tensor_float_32"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """How many threads one op may use. Kept only: the BLAS library behind NumPy reads `OMP_NUM_THREADS` and its like.

    >>> import gradtape as tf
    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    _settings["intra_op"] = int(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """What the last call of `set_intra_op_parallelism_threads` said; 0 is a number the library chooses.

    >>> import gradtape as tf
    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _settings["intra_op"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """How many ops may run at a time. Kept only: ops run one after the other.

    >>> import gradtape as tf
    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    _settings["inter_op"] = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """What the last call of `set_inter_op_parallelism_threads` said.

    >>> import gradtape as tf
    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _settings["inter_op"]


def set_jit(enabled: bool | str) -> None:
    """Whether functions are compiled. Kept only.

    >>> import gradtape as tf
    >>> tf.config.optimizer.set_jit(False)
    """
    _settings["jit"] = "autoclustering" if enabled else ""


def get_jit() -> str:
    """What the last call of `set_jit` said: "autoclustering" or "".

    >>> import gradtape as tf
    >>> tf.config.optimizer.get_jit()
    ''
    """
    return _settings["jit"]
