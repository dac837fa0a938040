"""`tensorflow.python.pywrap_tfe`: the parts of TensorFlow's runtime that libraries ask about."""

from __future__ import annotations


def TF_ListPluggablePhysicalDevices() -> list[bytes]:
    """Returns the devices of plugins: none."""
    return []
