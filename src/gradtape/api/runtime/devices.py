"""Where ops run and tensors are: `tf.device`, and names of devices in parts."""

from __future__ import annotations

from ...core.device_spec import DeviceSpec
from ...core.devices import LogicalDevice, device_scope
from ...engine.registry import placement  # noqa: F401  # sees to it that tensors know where they are

NAMESPACES = ("",)
__all__ = ["DeviceSpec", "device"]


def device(device_name: str | DeviceSpec | LogicalDevice | None) -> device_scope:
    """A block in which ops run, and new tensors are, on the device of that name.

    A device that is not there is replaced by one that is, unless `tf.config.set_soft_device_placement(False)` was said:
    then an op in the block is an error. None lets gradtape choose, whatever blocks are around.

    >>> import gradtape as tf
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions. Give the device's name, such as '/GPU:0'")
    return device_scope(device_name)
