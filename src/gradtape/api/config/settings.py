"""`tf.config`: devices, their configuration, and eager execution of functions.

Settings for hardware that gradtape does not use are stored and returned, so that scripts that set them run.
"""

from __future__ import annotations

import operator
import os
from typing import Any

from ...backends import blas
from ...backends.numpy import threads
from ...backends.torch import library as torch_library
from ...core import devices as machine
from ...core.device_kinds import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice

NAMESPACES = ("config", "config.experimental", "config.threading", "config.optimizer")
__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "enable_op_determinism",
    "enable_repeated_row_sums", "enable_tensor_float_32_execution", "experimental_functions_run_eagerly",
    "experimental_run_functions_eagerly", "functions_run_eagerly", "get_device_details",
    "get_inter_op_parallelism_threads", "get_intra_op_parallelism_threads", "get_jit",
    "get_logical_device_configuration", "get_memory_growth", "get_memory_info", "get_memory_usage",
    "get_soft_device_placement", "get_visible_devices", "list_logical_devices", "list_physical_devices",
    "repeated_row_sums_enabled", "reset_memory_stats", "run_functions_eagerly", "set_inter_op_parallelism_threads",
    "set_intra_op_parallelism_threads", "set_jit", "set_logical_device_configuration", "set_memory_growth",
    "set_soft_device_placement", "set_visible_devices", "tensor_float_32_execution_enabled",
]  # fmt: skip

_THREADS_OF_XLA = os.environ.get("PJRT_NPROC")
_settings: dict[str, Any] = {
    "inter_op": 0,
    "intra_op": 0,
    "jit": "",
    "repeated_row_sums": os.environ.get("GRADTAPE_REPEATED_ROW_SUMS", "0") not in ("", "0"),
}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of this machine that gradtape can use.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return machine.physical_devices(device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Returns the devices for computations: the visible ones, or their logical partitions.

    >>> tf.config.list_logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    found = machine.logical_devices(device_type)
    return [LogicalDevice(f"/device:{device.kind}:{device.index}", device.kind) for device in found]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of this machine that computations may use.

    >>> tf.config.get_visible_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return machine.visible_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Selects the devices to use, of one type or of all. Must be called before the first tensor is created.

    >>> tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"), "CPU")
    """
    machine.set_visible(devices if isinstance(devices, list) else [devices], device_type)


def get_logical_device_configuration(device: Any) -> list[LogicalDeviceConfiguration] | None:
    """Returns the logical devices into which a device is divided, or None.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices("CPU")[0])
    """
    return machine.divisions(device)


def set_logical_device_configuration(device: Any, logical_devices: Any) -> None:
    """Divides a device into several logical devices. Must be called before the first tensor is created.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> x = tf.constant(1.0)
    >>> try:
    ...     tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    ... except RuntimeError as error:
    ...     print(error)
    Virtual devices cannot be modified after being initialized: configure them before creating the first tensor
    """
    machine.divide(device, logical_devices)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python code in each call.

    >>> tf.config.run_functions_eagerly(False)
    """
    from ...graph.function.function import settings

    settings.run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Returns whether `tf.function`s run as Python, untraced: the setting of `run_functions_eagerly`.

    >>> tf.config.functions_run_eagerly()
    False
    """
    from ...graph.function.function import settings

    return settings.run_eagerly


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """The older name of `run_functions_eagerly`.

    >>> tf.config.experimental_run_functions_eagerly(False)
    """
    run_functions_eagerly(run_eagerly)


def experimental_functions_run_eagerly() -> bool:
    """The older name of `functions_run_eagerly`.

    >>> tf.config.experimental_functions_run_eagerly()
    False
    """
    return functions_run_eagerly()


def set_soft_device_placement(enabled: bool) -> None:
    """Sets whether an op may run on another device if the named one does not exist; otherwise it is an error.

    >>> tf.config.set_soft_device_placement(True)
    """
    machine.set_soft_placement(bool(enabled))


def get_soft_device_placement() -> bool:
    """Returns the setting of `set_soft_device_placement`; True by default.

    >>> tf.config.get_soft_device_placement()
    True
    """
    return machine.soft_placement()


def set_memory_growth(device: Any, enable: bool) -> None:
    """Sets whether a GPU's memory is allocated on demand. Must be called before the first tensor is created.

    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    machine.set_memory_growth(device, enable)


def get_memory_growth(device: Any) -> bool | None:
    """Returns the setting of `set_memory_growth` for a GPU, or None.

    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     growth = tf.config.experimental.get_memory_growth(gpu)
    """
    return machine.memory_growth(device)


def get_memory_info(device: str) -> dict[str, int]:
    """Returns the current and peak bytes of tensors on a device; the CPU is not counted.

    >>> tf.config.experimental.get_memory_info("CPU:0")
    {'current': 0, 'peak': 0}
    """
    return machine.memory_info(device)


def get_memory_usage(device: str) -> int:
    """The older form of `get_memory_info(device)["current"]`.

    >>> tf.config.experimental.get_memory_usage("CPU:0")
    0
    """
    return machine.memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Resets the peak of `get_memory_info` to the current value.

    >>> tf.config.experimental.reset_memory_stats("CPU:0")
    """
    machine.reset_memory_stats(device)


def get_device_details(device: Any) -> dict[str, Any]:
    """Returns further properties of a device: for a GPU `device_name` and `compute_capability`.

    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices("CPU")[0])
    {}
    """
    return machine.details_of(device)


def enable_op_determinism() -> None:
    """Makes ops on a GPU deterministic, as those on the CPU always are: equal inputs have equal results in every run.

    A GPU adds floats in any order otherwise, as in updates of rows of a variable, so that the last bits differ.

    >>> tf.config.experimental.enable_op_determinism()
    """
    machine.op_determinism.set(True)


def disable_op_determinism() -> None:
    """Withdraws `enable_op_determinism`, on which libraries' own choices depend."""
    machine.op_determinism.set(False)


def is_op_determinism_enabled() -> bool:
    """Returns whether the program called `enable_op_determinism`."""
    return machine.op_determinism.enabled


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Sets whether GPUs may round the factors of float32 products to ten bits, which is faster; the CPU never does.

    >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    machine.tensor_float_32.set(bool(enabled))


def enable_repeated_row_sums(enabled: bool = True) -> None:
    """Selects that Keras' optimizers sum the entries of a repeated row of a gradient before they square or clip them.

    By default they square and clip each entry by itself, as TensorFlow's do, which gives the rows of an `Embedding`
    that a batch contains several times other steps than a dense gradient would. Call it before the first function is
    traced: functions traced before keep the old setting. `GRADTAPE_REPEATED_ROW_SUMS=1` in the environment has the same
    effect.

    >>> tf.config.enable_repeated_row_sums()
    >>> tf.config.repeated_row_sums_enabled()
    True
    >>> tf.config.enable_repeated_row_sums(False)
    """
    _settings["repeated_row_sums"] = bool(enabled)


def repeated_row_sums_enabled() -> bool:
    """Returns the setting of `enable_repeated_row_sums`.

    >>> tf.config.repeated_row_sums_enabled()
    False
    """
    return _settings["repeated_row_sums"]


def tensor_float_32_execution_enabled() -> bool:
    """Returns the setting of `enable_tensor_float_32_execution`; True by default.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return machine.tensor_float_32.enabled


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of threads that one op uses; 0: one on each core.

    A service whose threads compute concurrently is fastest with 1. The OpenBLAS libraries of NumPy and SciPy, PyTorch's
    kernels and gradtape's own threads follow at once; XLA reads the number when the first function is compiled.

    >>> tf.config.threading.set_intra_op_parallelism_threads(0)
    """
    count = operator.index(num_threads)
    if count < 0:
        raise ValueError(f"num_threads must be 0 or more, got {num_threads}")
    blas.set_threads(count)
    threads.set_limit(count)
    torch_library.set_threads(count or threads.CORES)
    of_xla = str(count) if count else _THREADS_OF_XLA
    if of_xla is None:
        os.environ.pop("PJRT_NPROC", None)
    else:
        os.environ["PJRT_NPROC"] = of_xla
    _settings["intra_op"] = count


def get_intra_op_parallelism_threads() -> int:
    """Returns the setting of `set_intra_op_parallelism_threads`; 0 means one on each core.

    >>> tf.config.threading.get_intra_op_parallelism_threads()
    0
    """
    return _settings["intra_op"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets the number of ops that run in parallel. Stored only: ops run in sequence.

    >>> tf.config.threading.set_inter_op_parallelism_threads(0)
    """
    _settings["inter_op"] = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """Returns the number that was set with `set_inter_op_parallelism_threads`, 0 by default.

    >>> tf.config.threading.get_inter_op_parallelism_threads()
    0
    """
    return _settings["inter_op"]


def set_jit(enabled: bool | str) -> None:
    """Sets whether XLA compiles every `tf.function` without `jit_compile`, where it can; False: none of them.

    Functions traced before keep their executor. "" restores the default: functions are compiled if their tensors are on
    a GPU, and on the CPU if `TF_XLA_FLAGS=--tf_xla_auto_jit=2` is set in the environment.

    >>> tf.config.optimizer.set_jit("autoclustering")
    >>> tf.config.optimizer.get_jit()
    'autoclustering'
    >>> tf.config.optimizer.set_jit("")
    """
    from ...graph.function.jit_policy import from_environment, settings

    on = enabled in (True, "autoclustering")
    settings.autoclustering = from_environment() if enabled == "" else on
    _settings["jit"] = "autoclustering" if on else ""


def get_jit() -> str:
    """Returns the setting of `set_jit`: "autoclustering" or "".

    >>> tf.config.optimizer.get_jit()
    ''
    """
    return _settings["jit"]
