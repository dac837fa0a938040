"""Maps logical devices to JAX devices and builds meshes of them, for programs that run on several devices.

A logical CPU is one of JAX's virtual CPU devices, which must be requested before JAX initializes its backends:
`prepare` does so as soon as several are in use. A logical GPU is a whole JAX GPU, in the same order. With several
processes, the mesh of all devices spans them: see `global_devices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.device_kinds import Device
from ....core.devices import logical_devices
from ....core.errors import FailedPreconditionError
from .executor import check_jax, check_process

_EARLIER = (
    "Call tf.config.set_logical_device_configuration before anything is compiled with jit_compile=True or with JAX"
)


def prepare() -> None:
    """Configure JAX with as many CPU devices as there are logical ones; do nothing for a single one."""
    count = len(logical_devices("CPU"))
    if count < 2:
        return
    check_jax()
    import jax

    if count == getattr(jax.config, "jax_num_cpu_devices", None):
        return
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError as error:  # the backends have been initialized
        there = len(jax.local_devices(backend="cpu"))
        if there < count:
            raise FailedPreconditionError(
                f"There are {count} logical CPUs, and JAX has started with {there}. {_EARLIER}"
            ) from error


def jax_devices(devices: Sequence[Device]) -> list[Any]:
    """Returns JAX's devices for local devices; raises FailedPreconditionError if there are too few."""
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
    """The JAX devices of all participating processes, in process order; optionally only those of `kind`, CPU or GPU."""
    check_process()
    prepare()
    import jax

    return jax.devices(None if kind is None else kind.lower())


def make_mesh(devices: Sequence[Any], axes: Sequence[str] = ("replica",), shape: Sequence[int] | None = None) -> Any:
    """Make a mesh of JAX devices in the given order; `shape` has a size per axis, by default all devices on one axis.

    Axes have type Auto: XLA chooses the sharding of values without annotations.
    """
    import jax
    import numpy as np

    sizes = (len(devices),) if shape is None else tuple(shape)
    if len(sizes) != len(axes) or int(np.prod(sizes)) != len(devices):
        raise ValueError(
            f"{len(devices)} devices do not make a mesh of shape {sizes} with the axes {tuple(axes)}. The sizes must "
            "multiply to the number of devices"
        )
    auto = (jax.sharding.AxisType.Auto,) * len(sizes)
    return jax.sharding.Mesh(np.asarray(devices, object).reshape(sizes), tuple(axes), axis_types=auto)


def sharding(mesh: Any, *axes: Any) -> Any:
    """Returns the sharding that maps each array axis to a mesh axis, or to None.

    `sharding(mesh)` replicates; `sharding(mesh, "replica")` splits the first axis.
    """
    from jax.sharding import NamedSharding, PartitionSpec

    return NamedSharding(mesh, PartitionSpec(*axes))
