"""Placement of ops and tensors: `tf.device` and device names."""

from __future__ import annotations

from ...core.device_kinds import LogicalDevice
from ...core.device_spec import DeviceSpec
from ...core.devices import device_scope
from ...engine.registry import placement  # noqa: F401  # sees to it that tensors know where they are

NAMESPACES = ("",)
__all__ = ["DeviceSpec", "device"]


def device(device_name: str | DeviceSpec | LogicalDevice | None) -> device_scope:
    """Context manager: places ops and new tensors on the named device.

    A missing device is replaced by an existing one, unless `tf.config.set_soft_device_placement(False)` was called:
    then ops in the block raise an error. None restores the default placement, regardless of enclosing blocks.

    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions. Give the device's name, such as '/GPU:0'")
    return device_scope(device_name)
