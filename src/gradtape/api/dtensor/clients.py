"""The devices and processes of DTensor: what its environment variables say, meshes made of devices, barriers."""

from __future__ import annotations

import math
import os

import numpy as np

from ...core import devices, logger
from ...core.device_spec import DeviceSpec
from ...distribution import cluster, collectives
from ..runtime.config import LogicalDeviceConfiguration, list_physical_devices, set_logical_device_configuration
from .layouts import Layout, Mesh
from .tensors import pack

NAMESPACES = ("experimental.dtensor",)
__all__ = [
    "barrier",
    "client_id",
    "create_distributed_mesh",
    "create_mesh",
    "create_tpu_mesh",
    "full_job_name",
    "heartbeat_enabled",
    "initialize_accelerator_system",
    "job_name",
    "jobs",
    "local_devices",
    "num_clients",
    "num_global_devices",
    "num_local_devices",
    "preferred_device_type",
    "shutdown_accelerator_system",
]

_KINDS = ("CPU", "GPU", "TPU")


class _System:
    """The accelerator system: the type of devices that it was initialized for, or None."""

    kind: str | None = None


def num_local_devices(device_type: str) -> int:
    """Returns the number of devices of a type that this process has.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.num_local_devices("CPU")
    1
    """
    return len(devices.logical_devices(device_type.upper()))


def num_global_devices(device_type: str) -> int:
    """Returns the number of devices of a type that all processes have.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.num_global_devices("CPU")
    1
    """
    return num_local_devices(device_type) * num_clients()


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """Returns the devices of a type that this process has, or another one.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.local_devices("CPU")
    [<DeviceSpec(job=localhost, replica=0, task=0, device_type=CPU, device_index=0)>]
    """
    if device_type.upper() not in _KINDS:
        raise ValueError(f"Device type {device_type} is not CPU, GPU, or TPU.")
    task = client_id() if for_client_id is None else for_client_id
    return [DeviceSpec(job_name(), 0, task, device_type, i) for i in range(num_local_devices(device_type))]


def client_id() -> int:
    """Returns the number of this process, from `DTENSOR_CLIENT_ID`.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.client_id()
    0
    """
    number = int(os.environ.get("DTENSOR_CLIENT_ID", "0"))
    if number < 0:
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be >= 0, got {number}. ")
    if number >= num_clients():
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be < {num_clients()}, got {number}")
    return number


def num_clients() -> int:
    """Returns the number of processes, from `DTENSOR_JOBS`.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.num_clients()
    1
    """
    return max(1, len(jobs()))


def jobs() -> list[str]:
    """Returns the addresses of all processes, from `DTENSOR_JOBS`; an empty list if there is only this one.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.jobs()
    []
    """
    given = os.environ.get("DTENSOR_JOBS")
    if given is None:
        return []
    names = given.split(",")
    if any(name.startswith("/bns/") for name in names) and names != sorted(names, key=_task_of):
        raise ValueError(
            f"Unexpected DTENSOR_JOBS content {given}. Sort entries in DTENSOR_JOBS because cluster construction "
            "relies on the order."
        )
    return names


def _task_of(job: str) -> tuple[int, str]:
    task = job.rpartition("/")[2].partition(":")[0]
    return (int(task), "") if task.isdigit() else (-1, job)


def job_name() -> str:
    """Returns the name of the job, from `DTENSOR_JOB_NAME`.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.job_name()
    'localhost'
    """
    return os.environ.get("DTENSOR_JOB_NAME", "localhost" if num_clients() == 1 else "worker")


def full_job_name(task_id: int | None = None) -> str:
    """Returns the name of the job with the number of a process, by default of this one.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.full_job_name()
    'localhost/replica:0/task:0'
    """
    task = client_id() if task_id is None else task_id
    if num_clients() == 1 and task != 0:
        raise ValueError(f"Unexpected task ID {task} in local runs")
    return f"{job_name()}/replica:0/task:{task}"


def heartbeat_enabled() -> bool:
    """Returns whether `DTENSOR_ENABLE_HEARTBEAT` is not turned off.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.heartbeat_enabled()
    True
    """
    return os.environ.get("DTENSOR_ENABLE_HEARTBEAT", "true").lower() in ("true", "1")


def preferred_device_type() -> str:
    """Returns `GPU` if there is one, else `CPU`.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.preferred_device_type() in ("CPU", "GPU")
    True
    """
    return "GPU" if list_physical_devices("GPU") else "CPU"


def initialize_accelerator_system(
    device_type: str | None = None,
    enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None,
    experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:
    """Prepares the devices for meshes, and connects the processes named by `DTENSOR_JOBS`; returns the device type.

    Call it before the first tensor is created.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.initialize_accelerator_system("CPU")
    'CPU'
    >>> tf.experimental.dtensor.shutdown_accelerator_system()

    Args:
      device_type: `CPU` or `GPU`; by default `preferred_device_type()`.
      enable_coordination_service: processes are always coordinated.
      num_logical_cpu_devices: the number of logical CPUs to make.
      experimental_reset_context: there is no context to reset.
      experimental_enable_megcore: for TPUs only.
    """
    if _System.kind is not None:
        raise ValueError(
            "Accelerator system has already been initialized. "
            "Call tf.experimental.dtensor.shutdown_accelerator_system() first."
        )
    kind = (device_type or preferred_device_type()).upper()
    if kind not in _KINDS:
        raise ValueError(f"Unknown device_type {kind}. Allowed values are CPU, GPU, or TPU")
    if kind == "TPU":
        raise _no_tpu()
    if num_logical_cpu_devices is not None:
        made = [LogicalDeviceConfiguration() for _ in range(num_logical_cpu_devices)]
        set_logical_device_configuration(list_physical_devices("CPU")[0], made)
    if jobs():
        cluster.initialize(jobs()[0], num_clients(), client_id())
    _System.kind = kind
    return kind


def shutdown_accelerator_system() -> None:
    """Ends the use of the devices for meshes.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.initialize_accelerator_system("CPU")
    'CPU'
    >>> tf.experimental.dtensor.shutdown_accelerator_system()
    """
    if _System.kind is None:
        raise ValueError(
            "Accelerator system is not initialized. Call tf.experimental.dtensor.initialize_accelerator_system first."
        )
    if jobs():
        raise ValueError("Shutting down accelerator system under multi-client mode is not supported.")
    _System.kind = None


def create_mesh(
    mesh_dims: list[tuple[str, int]] | dict[str, int] | None = None,
    mesh_name: str = "",
    devices: list[DeviceSpec | str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Creates a mesh of devices of this process.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.create_mesh({"x": 1}, devices=["CPU:0"]).shape()
    [1]

    Args:
      mesh_dims: the names and sizes of the dimensions; by default one dimension `x` of all devices. The size -1, of
        the only dimension, stands for all devices too.
      mesh_name: a name for the mesh.
      devices: the devices, such as `CPU:0`; by default all of the type.
      device_type: their type; by default `CPU`.
      use_xla_spmd: for TPUs only.
    """
    specs, kind = _device_specs(devices, device_type)
    local = DeviceSpec(job=job_name(), replica=0, task=0)
    specs = [local.make_merged_spec(spec) for spec in specs]
    dims = list(mesh_dims.items()) if isinstance(mesh_dims, dict) else mesh_dims
    if dims is None:
        dims = [("x", len(specs))]
    elif len(dims) == 1 and dims[0][1] == -1:
        dims = [(dims[0][0], len(specs))]
    shape = [size for _, size in dims]
    if math.prod(shape) != len(specs):
        raise ValueError(f"length of devices ({len(specs)}) must be equal to total size of the mesh of shape {shape}")
    numbers = np.arange(len(specs)).reshape(shape)
    names = [name for name, _ in dims]
    mesh = Mesh(names, numbers, numbers.ravel().tolist(), [*specs], mesh_name, use_xla_spmd=use_xla_spmd)
    logger.info("A mesh of %d %s: %s", len(specs), kind, mesh)
    return mesh


def create_distributed_mesh(
    mesh_dims: list[tuple[str, int]] | dict[str, int],
    mesh_name: str = "",
    local_devices: list[DeviceSpec | str] | None = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Creates a mesh of devices of all processes, each of which has equally many.

    >>> import gradtape as tf
    >>> dtensor = tf.experimental.dtensor
    >>> dtensor.initialize_accelerator_system("CPU")
    'CPU'
    >>> dtensor.create_distributed_mesh({"x": 1}, local_devices=["CPU:0"]).size
    1
    >>> dtensor.shutdown_accelerator_system()

    Args:
      mesh_dims: the names and sizes of the dimensions.
      mesh_name: a name for the mesh.
      local_devices: the devices of this process, such as `CPU:0`; by default all of the type.
      device_type: their type; by default `CPU`.
      use_xla_spmd: for TPUs only.
    """
    dims = list(mesh_dims.items()) if isinstance(mesh_dims, dict) else mesh_dims
    names, shape = [name for name, _ in dims], tuple(size for _, size in dims)
    if _System.kind is None:
        raise ValueError("Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first.")
    if device_type and device_type.upper() == "TPU":
        raise _no_tpu()
    specs, _ = _device_specs(local_devices, device_type)
    local = DeviceSpec(job=job_name(), replica=0, task=client_id())
    specs = [local.make_merged_spec(spec) for spec in specs]
    count = len(specs) * num_clients()
    if math.prod(shape) != count:
        raise ValueError(
            f"Global number of devices ({len(specs)} per client * {num_clients()} clients = {count}) must be equal to "
            f"total size of the mesh of shape {shape}"
        )
    first = len(specs) * client_id()
    here = list(range(first, first + len(specs)))
    return Mesh(names, np.arange(count).reshape(shape), here, [*specs], mesh_name, use_xla_spmd=use_xla_spmd)


def _device_specs(given: list[DeviceSpec | str] | None, kind: str | None) -> tuple[list[DeviceSpec], str]:
    """Returns the devices given, or all of a type, and their type."""
    if given is None:
        kind = kind or "CPU"
        return local_devices(kind), kind
    specs = [DeviceSpec.from_string(d if "/" in d else f"/{d}") if isinstance(d, str) else d for d in given]
    found = specs[0].device_type or ""
    if kind is not None and kind.upper() != found.upper():
        raise ValueError(f"Conflicting devices {specs} and device_type {kind}")
    return specs, found


def create_tpu_mesh(
    mesh_dim_names: list[str],
    mesh_shape: list[int],
    mesh_name: str,
    ring_dims: int | None = None,
    ring_axes: list[str] | None = None,
    ring_bounds: list[int] | None = None,
    can_split_host_across_rings: bool = True,
    build_ring_across_rings: bool = False,
    rotate_ring_across_rings: bool = False,
    use_xla_spmd: bool = False,
) -> Mesh:
    """Raises an error, as there are no TPUs; `create_mesh` makes meshes of CPUs and GPUs.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.create_tpu_mesh(["x"], [1], "tpu")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    NotFoundError: ...
    """
    raise _no_tpu()


def _no_tpu() -> Exception:
    from ...core.errors import NotFoundError

    return NotFoundError("gradtape knows of no TPUs. Use dtensor.create_mesh(..., device_type='CPU') or 'GPU'")


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Waits until all processes of a mesh have called this.

    >>> import gradtape as tf
    >>> tf.experimental.dtensor.barrier(tf.experimental.dtensor.create_mesh({"x": 1}, devices=["CPU:0"]))

    Args:
      mesh: the mesh.
      barrier_name: a name for messages.
      timeout_in_ms: the timeout is that of the job; see `GRADTAPE_TIMEOUT`.
    """
    ones = np.ones([1] * len(mesh.shape()), np.float32)
    if num_clients() == 1:
        total = float(np.sum(pack([ones] * mesh.num_local_devices(), Layout(mesh.dim_names, mesh)).array))
        if total != mesh.size:
            raise ValueError(
                f"Global barrier produced wrong mesh size : {total} while mesh has actual size : {mesh.size}"
            )
    collectives.barrier(barrier_name or "(barrier)")
