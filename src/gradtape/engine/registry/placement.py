"""`PlacementMode`: assigns devices to new tensors where the default is wrong, and logs placements.

It is inactive while everything is on the host's first CPU, or on a GPU, whose tensors know their device. It is active
while a thread is in a `tf.device` scope of another CPU or of an unavailable device, and while placements are logged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from ...core import devices, nest
from ...core.device_kinds import Device
from ...core.devices import here
from ...core.tensor import Tensor, place_made
from ..run import modes
from ..run.protocols import OpLike, Outputs

logger = logging.getLogger("gradtape")
_lock = threading.RLock()
_threads: set[int | None] = set()  # threads in a scope that needs the mode
_logged = False


class PlacementMode(modes.Mode):
    """Places the outputs of ops on the device that is current in their thread."""

    def op_finished(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        device = devices.default_device()
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        for y in several:
            _put(y, device)
        if _logged:
            name = several[0].device if several else device.name
            logger.info("Executing op %s in device %s", op.title, name)

    def results_created(self, results: object, given: object) -> None:
        device = devices.default_device()
        arguments = set(map(id, nest.flatten(given)))
        for y in nest.flatten(results):
            if id(y) not in arguments:
                _put(y, device)


MODE = PlacementMode()


def log_placements(enabled: bool) -> None:
    """Sets whether each op that runs is logged, with its device."""
    global _logged
    with _lock:
        _logged = enabled
        _settle()


def logs_placements() -> bool:
    """Whether each op that runs is logged."""
    return _logged


def _changed() -> None:
    """Updates the mode when this thread enters or leaves a `tf.device` scope, or when devices are first used."""
    refused = here.device is None and devices.in_use()
    other_cpu = here.device is not None and here.device is not devices.HOST and here.device.kind == "CPU"
    current = threading.current_thread().ident
    with _lock:
        (_threads.add if refused or other_cpu else _threads.discard)(current)
        if _threads - {current}:  # a thread may end inside of its scope
            _threads.intersection_update(thread.ident for thread in threading.enumerate())
        _settle()


def _settle() -> None:
    if _threads or _logged:
        place_made(_place)
        modes.enter(MODE)
    elif modes.is_active(MODE):
        place_made(_place, begin=False)
        modes.leave(MODE)


def _put(y: Any, device: Device) -> None:
    if type(y) is Tensor and device.kind == "CPU" and y.placement is not device:
        y.placement = device


def _place(x: Tensor) -> None:
    """Places a tensor that is created from a non-tensor value on the current device."""
    device = devices.default_device()
    if device is not devices.HOST:
        _put(x, device)


devices.when_changed(_changed)
