"""Logical devices as JAX knows them, and meshes of them: what a program that runs on several devices is compiled for.

A logical CPU is one of JAX's virtual ones, which must be asked for before JAX computes anything: `prepare` does so as
soon as several are in use. A logical GPU is a whole GPU of JAX's, in the same order. With several processes, the mesh
of all devices spans them: see `global_devices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.devices import Device, logical_devices
from ....core.errors import FailedPreconditionError
from .executor import check_jax

_EARLIER = (
    "Call tf.config.set_logical_device_configuration before anything is compiled with jit_compile=True or with JAX"
)


def prepare() -> None:
    """Makes JAX have as many CPU devices as there are logical ones. Nothing happens where there is only one."""
    count = len(logical_devices("CPU"))
    if count < 2:
        return
    check_jax()
    import jax

    if count == getattr(jax.config, "jax_num_cpu_devices", None):
        return
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError as error:  # the backends have started
        there = len(jax.local_devices(backend="cpu"))
        if there < count:
            raise FailedPreconditionError(
                f"There are {count} logical CPUs, and JAX has started with {there}. {_EARLIER}"
            ) from error


def jax_devices(devices: Sequence[Device]) -> list[Any]:
    """The devices of this process as JAX's objects; FailedPreconditionError, saying what to do, if it has too few."""
    check_jax()
    prepare()
    import jax

    found = []
    for device in devices:
        try:
            there = jax.local_devices(backend=device.kind.lower())
        except RuntimeError as error:
            raise FailedPreconditionError(
                f"JAX finds no {device.kind}: {error}. Install the JAX of this device, or name CPUs as devices"
            ) from error
        at = device.physical if device.kind == "GPU" else device.index
        if at >= len(there):
            raise FailedPreconditionError(f"{device.name} is none of JAX's {len(there)} {device.kind}s. {_EARLIER}")
        found.append(there[at])
    if len(set(found)) < len(found):
        raise FailedPreconditionError(
            f"Several of the logical devices {[d.name for d in devices]} are parts of one GPU, which XLA cannot divide"
        )
    return found


def global_devices(kind: str | None = None) -> list[Any]:
    """JAX's devices of all processes that take part, in the order of the processes; those of `kind`, CPU or GPU."""
    prepare()
    import jax

    found: list[Any] = jax.devices(None if kind is None else kind.lower())
    return found


def make_mesh(devices: Sequence[Any], axes: Sequence[str] = ("replica",), shape: Sequence[int] | None = None) -> Any:
    """A mesh of JAX's devices, in their order: `shape` says how many along each axis; all along the only one.

    XLA decides how what is not annotated is divided (axes of the type Auto).
    """
    import jax
    import numpy as np

    sizes = (len(devices),) if shape is None else tuple(shape)
    if len(sizes) != len(axes) or int(np.prod(sizes)) != len(devices):
        raise ValueError(
            f"{len(devices)} devices do not make a mesh of shape {sizes} with the axes {tuple(axes)}. The sizes must "
            "multiply to the number of devices"
        )
    placed = np.empty(len(devices), object)
    placed[:] = list(devices)
    auto = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.sharding.Mesh(placed.reshape(sizes), tuple(axes), axis_types=auto)


def sharding(mesh: Any, *axes: Any) -> Any:
    """How an array lies on a mesh: for each of its axes the axis of the mesh it is divided along, or None.

    `sharding(mesh)` is a copy on every device, `sharding(mesh, "replica")` divides the first axis among them.
    """
    from jax.sharding import NamedSharding, PartitionSpec

    return NamedSharding(mesh, PartitionSpec(*axes))
