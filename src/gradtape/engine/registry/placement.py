"""A switch: while it is on, what makes tensors asks where they go, tells it to them, and to the log.

There is nothing to ask as long as everything is on the host's first CPU, or on a GPU, whose tensors know their place.
The switch is on while a thread is in a `tf.device` block of another CPU or of a device that it cannot have, and while
placements are logged. Off, it costs nothing, because nothing asks whether it is on: switching it on exchanges the calls
of all ops, the operators of `Tensor`, and whatever else has said that it `makes_tensors`.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from typing import Any

from ...core import devices, nest
from ...core.devices import here
from ...core.tensor import Tensor, place_made
from ..run.namespace import Namespace, ops
from .op import registry

logger = logging.getLogger("gradtape")
_lock = threading.RLock()
_originals: list[tuple[Any, str, Any]] = []  # what was exchanged: owner, name, and what was there
_others: list[tuple[Any, str]] = []
_threads: set[int] = set()  # that are in a block that asks for the switch
_logged = False


class _Now(threading.local):
    running = False  # whether an op is being run, whose parts are not logged


_now = _Now()


def makes_tensors(owner: Any, *names: str) -> None:
    """These methods of a class return tensors that they have not made by ops."""
    with _lock:
        _others.extend((owner, name) for name in names)
        if _originals:  # modules are loaded when they are first used, which may be now
            _exchange_others([(owner, name) for name in names])


def log_placements(enabled: bool) -> None:
    """Whether each op that is run is logged, with where it is run."""
    global _logged
    Namespace.load_all()
    with _lock:
        _logged = enabled
        _settle()


def logs_placements() -> bool:
    """Whether each op that is run is logged."""
    return _logged


def _changed() -> None:
    """This thread has entered or left a block of `tf.device`, or devices are in use from now on."""
    refused = here.device is None and devices.in_use()
    other_cpu = here.device is not None and here.device is not devices.HOST and here.device.kind == "CPU"
    if refused or other_cpu:
        Namespace.load_all()  # before the lock is taken: who imports a module may be waiting for it
    with _lock:
        (_threads.add if refused or other_cpu else _threads.discard)(threading.get_ident())
        _settle()


def _settle() -> None:
    on = bool(_threads) or _logged
    if on and not _originals:
        place_made(_place)
        _exchange_all()
    elif not on and _originals:
        place_made(_place, begin=False)
        while _originals:
            owner, name, original = _originals.pop()
            setattr(owner, name, original)


def _exchange_all() -> None:
    by_call = {}
    for op in registry.values():
        by_call[op.call] = placed = _placing(op.call, op.title)
        _exchange(op, "call", placed)
    for name, call in list(vars(ops).items()):
        _exchange(ops, name, by_call.get(call) or _placing(call, name))
    for name, method in list(vars(Tensor).items()):
        if name in _OPERATORS:
            _exchange(Tensor, name, by_call.get(method) or _placing(method, None))
    _exchange_others(_others)


def _exchange_others(methods: list[tuple[Any, str]]) -> None:
    for owner, name in methods:
        _exchange(owner, name, _placing(getattr(owner, name), None))


def _exchange(owner: Any, name: str, value: Any) -> None:
    _originals.append((owner, name, getattr(owner, name)))
    setattr(owner, name, value)


_SIGNS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_OPERATORS = {f"__{way}{sign}__" for sign in _SIGNS for way in ("", "r")} | {
    f"__{name}__" for name in ("neg", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne", "getitem")
}


def _placing(make: Callable[..., Any], title: str | None) -> Callable[..., Any]:
    """`make`, whose tensors are where the thread's new tensors go; it is an op if it has a title."""

    @functools.wraps(make)
    def placed(*args: Any, **kwargs: Any) -> Any:
        device = devices.default_device()
        if title is None or _now.running or not _logged:
            return _put(make(*args, **kwargs), args, device)
        _now.running = True
        try:
            result = _put(make(*args, **kwargs), args, device)
        finally:
            _now.running = False
        first = next((y for y in nest.flatten(result) if isinstance(y, Tensor)), None)
        logger.info("Executing op %s in device %s", title, device.name if first is None else first.device)
        return result

    return placed


def _put(result: Any, args: tuple[Any, ...], device: devices.Device) -> Any:
    """The result; the tensors in it that are no arguments are on that device from now on."""
    if device.kind == "CPU":
        for y in (result,) if type(result) is Tensor else nest.flatten(result):
            if type(y) is Tensor and y.placement is not device and not any(y is x for x in args):
                y.placement = device
    return result


def _place(x: Tensor) -> None:
    """Puts a tensor that is made of a value where this thread's new tensors go."""
    device = devices.default_device()
    if type(x) is Tensor and device.kind == "CPU" and device is not devices.HOST:
        x.placement = device


devices.when_changed(_changed)
