"""What a device is: as the machine has it, as computations see it, and what it may be divided into."""

from __future__ import annotations

from typing import NamedTuple

PREFIX = "/job:localhost/replica:0/task:0"


class PhysicalDevice(NamedTuple):
    """A device of this machine.

    >>> import gradtape as tf
    >>> tf.config.list_physical_devices("CPU")[0].device_type
    'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as computations see it; `tf.device` takes it.

    >>> import gradtape as tf
    >>> with tf.device(tf.config.list_logical_devices("CPU")[0]):
    ...     x = tf.constant(1.0)
    """

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """One of the logical devices that a physical one is divided into.

    >>> import gradtape as tf
    >>> tf.config.LogicalDeviceConfiguration(memory_limit=1024).memory_limit
    1024
    """

    memory_limit: int | None = None  # in megabytes, for GPUs
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


class Device:
    """A logical device. There is one object for each, so `is` tells whether two are the same.

    `physical` is the number of the GPU that it is, or is part of, among those the probe has found.
    """

    __slots__ = ("index", "kind", "name", "physical")

    def __init__(self, kind: str, index: int, physical: int = 0) -> None:
        self.kind = kind
        self.index = index
        self.physical = physical
        self.name = f"{PREFIX}/device:{kind}:{index}"

    def __repr__(self) -> str:
        return f"<Device {self.kind}:{self.index}>"
