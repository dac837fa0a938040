"""`tensorflow.python.client.device_lib`: the devices of this machine."""

from __future__ import annotations

import zlib
from typing import Any

import gradtape
from gradtape_tensorflow.protos import generated


def list_local_devices(session_config: Any = None) -> list[Any]:
    """Returns a `DeviceAttributes` message for each device."""
    messages = generated.module("tensorflow/core/framework/device_attributes.proto")
    return [_attributes(messages, device) for device in gradtape.config.list_logical_devices()]


def _attributes(messages: Any, device: Any) -> Any:
    details = gradtape.config.experimental.get_device_details
    found = messages.DeviceAttributes(name=device.name, device_type=device.device_type)
    found.incarnation = zlib.crc32(device.name.encode())
    found.memory_limit = 1 << 28  # TensorFlow's limit for the CPU
    found.xla_global_id = -1
    if device.device_type == "GPU":
        physical = gradtape.config.list_physical_devices("GPU")[int(device.name.rpartition(":")[2])]
        found.physical_device_desc = str(details(physical).get("device_name", ""))
    return found
