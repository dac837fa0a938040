"""The device types: physical and logical devices, and how a physical device is split into logical ones."""

from __future__ import annotations

from typing import NamedTuple

PREFIX = "/job:localhost/replica:0/task:0"


class PhysicalDevice(NamedTuple):
    """A physical device of this machine.

    >>> tf.config.list_physical_devices("CPU")[0].device_type
    'CPU'
    """

    name: str
    device_type: str


PhysicalDevice.__module__ = "gradtape.config"


class LogicalDevice(NamedTuple):
    """A logical device, on which computations run; `tf.device` accepts it.

    >>> with tf.device(tf.config.list_logical_devices("CPU")[0]):
    ...     x = tf.constant(1.0)
    """

    name: str
    device_type: str


LogicalDevice.__module__ = "gradtape.config"


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of one of the logical devices that a physical device is split into.

    >>> tf.config.LogicalDeviceConfiguration(memory_limit=1024).memory_limit
    1024
    """

    memory_limit: int | None = None  # in megabytes, for GPUs
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


LogicalDeviceConfiguration.__module__ = "gradtape.config"


class Device:
    """A logical device. Each has a single object, so devices compare by identity.

    `physical` is the index, among the GPUs that the probe found, of the GPU that the device is or is part of.
    """

    __slots__ = ("index", "kind", "name", "physical")

    def __init__(self, kind: str, index: int, physical: int = 0) -> None:
        self.kind, self.index, self.physical = kind, index, physical
        self.name = f"{PREFIX}/device:{kind}:{index}"

    def __repr__(self) -> str:
        return f"<Device {self.kind}:{self.index}>"
