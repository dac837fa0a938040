"""`PlacementMode`: assigns devices to new tensors where the default is wrong, and logs placements.

It is inactive while everything is on the host's first CPU, or on a GPU, whose tensors know their device. It is active
while a thread is in a `tf.device` scope of another CPU or of an unavailable device, and while placements are logged.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from ...core import devices, logger, modes, nest
from ...core.device_kinds import Device
from ...core.devices import here
from ...core.locks import fork_safe_rlock
from ...core.protocols import FunctionLike, OpLike, Outputs
from ...core.tensor import Tensor

_lock = fork_safe_rlock()
_threads: set[int | None] = set()  # threads in a scope that needs the mode


class PlacementMode(modes.Mode):
    """Places new tensors and the outputs of ops on the device that is current in their thread."""

    logs = False  # whether each op that runs is logged, with its device

    def op_finished(self, op: OpLike, inputs: Sequence[Tensor], outputs: Outputs) -> None:
        device = devices.default_device()
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        for y in several:
            _put(y, device)
        if self.logs:
            name = several[0].device if several else device.name
            logger.info("Executing op %s in device %s", op.title, name)

    def tensor_created(self, x: Tensor) -> None:
        device = devices.default_device()
        if device is not devices.HOST:
            _put(x, device)

    def function_called(
        self, function: FunctionLike, args: tuple[Any, ...], kwargs: dict[str, Any], result: object
    ) -> None:
        self.results_created(result, (args, kwargs))

    def results_created(self, results: object, given: object) -> None:
        device = devices.default_device()
        arguments = set(map(id, nest.flatten(given)))
        for y in nest.flatten(results):
            if id(y) not in arguments:
                _put(y, device)


MODE = PlacementMode()


def log_placements(enabled: bool) -> None:
    """Sets whether each op that runs is logged, with its device."""
    with _lock:
        MODE.logs = enabled
        _settle()


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
    (modes.enter if _threads or MODE.logs else modes.leave)(MODE)


def _put(y: Any, device: Device) -> None:
    if type(y) is Tensor and device.kind == "CPU" and y.placement is not device:
        y.placement = device


devices.when_changed(_changed)
