"""`tensorflow.python.pywrap_tfe`: the parts of TensorFlow's runtime that libraries ask about."""

from __future__ import annotations


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Returns the devices of plugins: none."""
    return []


def TF_ListPhysicalDevices() -> list[bytes]:
    """Returns the names of the physical devices."""
    import gradtape

    return [device.name.encode() for device in gradtape.config.list_physical_devices()]
