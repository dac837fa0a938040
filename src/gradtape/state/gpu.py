"""Registers GPUs if PyTorch is installed. PyTorch is imported when the first tensor is created, not before."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..backends.arrays import ArrayModule
from ..core import devices
from ..core.device_kinds import Device


def use_if_there() -> None:
    """Place new tensors on a GPU if PyTorch supports one and GPUs are not disabled."""
    if devices.turned_off() or find_spec("torch") is None:
        return
    from ..engine.registry.devices import use

    use(_gpus, _module_of)


def _torch() -> Any:
    return import_module("gradtape.backends.torch.device")


def _gpus() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _torch().gpus()
    devices.set_memory_probe(_torch().memory_info, _torch().reset_memory_stats)
    devices.when_tensor_float_32(_torch().use_tensor_float_32)
    from . import device_storage  # noqa: F401  where variables are stored there

    return found


def _module_of(device: Device) -> ArrayModule:
    return _torch().module_of(device.name)
