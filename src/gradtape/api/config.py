"""`tf.config`: which devices there are, and whether functions run eagerly."""

from __future__ import annotations

from typing import Any, NamedTuple

NAMESPACES = ("config",)
__all__ = [
    "functions_run_eagerly", "list_logical_devices", "list_physical_devices", "run_functions_eagerly",
    "set_visible_devices",
]  # fmt: skip


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as computations see it."""

    name: str
    device_type: str


_PHYSICAL = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
_LOGICAL = [LogicalDevice("/device:CPU:0", "CPU")]
_settings = {"run_eagerly": False}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine that gradtape uses.

    >>> import gradtape as tf
    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [d for d in _PHYSICAL if device_type in (None, d.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices computations can be placed on.

    >>> import gradtape as tf
    >>> tf.config.list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    return [d for d in _LOGICAL if device_type in (None, d.device_type)]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Chooses the devices to use; the CPU cannot be left out.

    >>> import gradtape as tf
    >>> tf.config.set_visible_devices([], "GPU")
    """
    chosen = list(devices) if isinstance(devices, list | tuple) and not hasattr(devices, "_fields") else [devices]
    for device in chosen:
        if device not in _PHYSICAL:
            raise ValueError(f"Unrecognized device: {device!r}. The devices are {_PHYSICAL}")
    if device_type in (None, "CPU") and not any(d.device_type == "CPU" for d in chosen):
        raise RuntimeError("Visible devices cannot be modified after being initialized: the CPU is always there")


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python code at each call.

    >>> import gradtape as tf
    >>> tf.config.run_functions_eagerly(False)
    """
    _settings["run_eagerly"] = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What the last call of `run_functions_eagerly` said.

    >>> import gradtape as tf
    >>> tf.config.functions_run_eagerly()
    False
    """
    return _settings["run_eagerly"]
