"""The device registry: which devices exist, which are visible, and where new tensors are placed.

The CPU always exists. The probe that a GPU backend registers discovers GPUs once, lazily, when a device is first
needed; without a registered probe there are no GPUs. *Physical* devices are the hardware. On first use the *visible*
ones become the *logical* devices that computations run on (several per physical device if so configured), and the
configuration is frozen.

`default_device()` is where new tensors are placed. `here.elsewhere` is False when that is the host's first CPU, as
always without a GPU, so that the common case needs only this test.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from . import errors, logger, modes
from .device_kinds import PREFIX, Device, LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice
from .device_spec import DeviceSpec
from .locks import fork_safe_rlock
from .scopes import carried

Details = dict[str, Any]  # attributes of a GPU: device_name, compute_capability and others
_EARLIER = "configure them before creating the first tensor"


HOST = Device("CPU", 0)
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class _Machine:
    """Discovered devices, and the configuration that the program has set."""

    def __init__(self) -> None:
        self.probe: Callable[[], list[Details]] | None = None
        self.memory: tuple[Callable[[int], dict[str, int]], Callable[[int], None]] | None = None
        self.physical: dict[PhysicalDevice, Details] | None = None  # None until the first query
        self.visible: list[PhysicalDevice] = []
        self.growth: dict[PhysicalDevice, bool] = {}
        self.divided: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
        self.logical: list[Device] | None = None  # None until devices are first used
        self.reason = ""  # why no GPU is available
        self.soft_placement = True
        self.changed: list[Callable[[], None]] = []
        self.readers: dict[int, Callable[[Any], Any]] = {}


_machine = _Machine()
_lock = fork_safe_rlock()


class _Here(threading.local):
    """The thread's device scopes, and whether new tensors go to a device other than `HOST`."""

    elsewhere = False  # class attributes: the defaults of threads outside any device scope
    device: Device | None = None  # where new tensors are placed; None if unresolved or unavailable
    asked: DeviceSpec | None = None  # the merged spec of the enclosing device scopes
    blocks: tuple[Any, ...] = ()


here = carried(_Here())


# Discovery of the hardware.


def set_probe(count_gpus: Callable[[], list[Details]] | None) -> None:
    """Sets (or clears) the function that discovers GPUs.

    `count_gpus()` returns a dict of attributes for each GPU, or raises an exception that says why there is none. It is
    called when a device is first needed, and never if `GRADTAPE_DEVICE=cpu` or `CUDA_VISIBLE_DEVICES` (empty, or -1)
    disables GPUs. Until then `here.elsewhere` is True.
    """
    with _lock:
        _machine.probe = count_gpus
        _machine.physical = _machine.logical = None
        _Here.device = None
        _Here.elsewhere = count_gpus is not None
        _tell()


def has_probe() -> bool:
    """Whether a GPU backend has registered a probe."""
    return _machine.probe is not None


def set_memory_probe(info: Callable[[int], dict[str, int]], reset: Callable[[int], None]) -> None:
    """Registers the memory statistics of GPUs.

    `info(n)` returns the bytes `current` and `peak` in use on physical GPU `n`; `reset(n)` resets the peak.
    """
    _machine.memory = (info, reset)


def set_capsule_reader(kind: int, read: Callable[[Any], Any]) -> None:
    """Registers `read(capsule)`, which creates a tensor from a DLPack capsule of that device type (`dlpack.CUDA`)."""
    _machine.readers[kind] = read


def capsule_reader(kind: int) -> Callable[[Any], Any] | None:
    """Returns the reader of DLPack capsules for that device type; None for host memory."""
    return _machine.readers.get(kind)


def when_changed(told: Callable[[], None]) -> None:
    """Registers a callback, invoked in the affected thread, for when the placement of new tensors may have changed."""
    _machine.changed.append(told)


# What CUDA says of a kernel that has failed: every later call of the process gives the same error.
_LASTING = (
    "misaligned address", "illegal memory access", "ILLEGAL_ADDRESS", "device-side assert", "illegal instruction",
    "invalid program counter", "unspecified launch failure", "hardware stack error",
)  # fmt: skip


def raise_if_lost(what: str, error: BaseException) -> None:
    """Raises the error that says what to do, if after a library's error the process cannot use a GPU any more.

    `what` has met the error.
    """
    if isinstance(error, RuntimeError) and any(words in str(error) for words in _LASTING):
        reason = str(error).partition("\n")[0]
        raise errors.InternalError(
            f"restart the process, which cannot use the GPU any more after an op has failed there ({reason}); {what} "
            "has met the error, which may be of an earlier op, since they run asynchronously: with "
            "CUDA_LAUNCH_BLOCKING=1, the error names the op that fails"
        ) from error


class _FirstUse(modes.Mode):
    """Creates the logical devices before the first tensor; active until they exist."""

    def tensor_created(self, x: object) -> None:
        logical_devices()


_FIRST_USE = _FirstUse()
modes.enter(_FIRST_USE)


def _tell() -> None:
    (modes.leave if in_use() else modes.enter)(_FIRST_USE)
    for told in _machine.changed:
        told()


def turned_off() -> str:
    """Returns the environment setting that disables GPUs, or an empty string."""
    wanted = os.environ.get("GRADTAPE_DEVICE", "").strip().lower()
    if wanted == "cpu":
        return "GRADTAPE_DEVICE=cpu"
    if wanted not in ("", "gpu"):
        logger.warning("GRADTAPE_DEVICE is %r: it may be 'cpu' or 'gpu'. Ignored", wanted)
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if seen is not None and seen.strip() in ("", "-1"):
        return f"CUDA_VISIBLE_DEVICES={seen}"
    return ""


def no_gpu_because() -> str:
    """Returns why no GPU is available; an empty string if one is."""
    _found()
    return _machine.reason


def _found() -> dict[PhysicalDevice, Details]:
    """Returns the physical devices in order, with their attributes; runs the probe on the first call."""
    with _lock:
        if _machine.physical is None:
            gpus, _machine.reason = _probed()
            named = {PhysicalDevice(f"/physical_device:GPU:{i}", "GPU"): details for i, details in enumerate(gpus)}
            _machine.physical = {_CPU: {}, **named}
            _machine.visible = list(_machine.physical)
            _machine.growth, _machine.divided = {}, {}
        return _machine.physical


def _probed() -> tuple[list[Details], str]:
    """Returns the GPUs that the probe finds and, if there are none, the reason."""
    if off := turned_off():
        return [], off
    if _machine.probe is None:
        return [], "there is no backend for GPUs"
    try:
        gpus = _machine.probe()
    except Exception as error:  # a broken driver must not prevent use of the CPU
        return [], str(error) or type(error).__name__
    return gpus, "" if gpus else "the backend for GPUs has found none"


def physical_devices(kind: str | None = None) -> list[PhysicalDevice]:
    """The physical devices of this machine."""
    return [d for d in _found() if kind in (None, d.device_type)]


def _known(device: object) -> PhysicalDevice:
    found = _found()
    if not isinstance(device, PhysicalDevice) or device not in found:
        raise ValueError(f"Unrecognized device: {device!r}. The devices are {list(found)}")
    return device


def details_of(device: object) -> Details:
    """Returns the attributes of a physical device."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    if device not in _found():
        raise ValueError(
            f"The PhysicalDevice must be one obtained from calling `tf.config.list_physical_devices`, but got: {device}"
        )
    return dict(_found()[device])


# Configuration, which is frozen when devices are first used.


def in_use() -> bool:
    """Whether logical devices exist, so that the configuration is frozen."""
    return _machine.logical is not None


def visible_devices(kind: str | None = None) -> list[PhysicalDevice]:
    """The physical devices that become logical ones."""
    _found()
    return [d for d in _machine.visible if kind in (None, d.device_type)]


def set_visible(devices: list[Any], kind: str | None) -> None:
    """Makes these the only visible devices of the kind; `kind=None` means of all kinds."""
    for device in devices:
        if kind not in (None, _known(device).device_type):
            raise ValueError(f"Unrecognized device: {device!r}. It is no {kind}")
    with _lock:
        kept = [] if kind is None else [d for d in visible_devices() if d.device_type != kind]
        chosen = [*kept, *devices]
        if chosen != _machine.visible:
            if in_use():
                raise RuntimeError(f"Visible devices cannot be modified after being initialized: {_EARLIER}")
            _machine.visible = chosen


def memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether a GPU allocates memory on demand; None if not configured."""
    if _known(device).device_type != "GPU":
        raise KeyError(device)
    return _machine.growth.get(device)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Sets whether a GPU allocates memory on demand."""
    if _known(device) in _machine.divided:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError(
            f"Cannot set memory growth on non-GPU and non-Pluggable devices, got {device!r}: a CPU's always grows"
        )
    with _lock:
        if _machine.growth.get(device) != enable:
            if in_use():
                raise RuntimeError(f"Physical devices cannot be modified after being initialized: {_EARLIER}")
            _machine.growth[device] = enable


def divisions(device: object) -> list[LogicalDeviceConfiguration] | None:
    """The logical devices that a physical device is split into; None if not configured."""
    return _machine.divided.get(_known(device))


def divide(device: PhysicalDevice, parts: list[LogicalDeviceConfiguration]) -> None:
    """Splits a physical device into several logical ones."""
    _known(device)
    for part in parts:
        if device.device_type == "GPU":
            if part.memory_limit is None:
                raise ValueError("Setting memory limit is required for GPU virtual devices")
            continue
        for name, value in part._asdict().items():
            if value is not None:
                shown = "memory limit" if name == "memory_limit" else name
                raise ValueError(
                    f"Setting {shown} on CPU virtual devices is currently not supported, got {name}={value!r}"
                )
    with _lock:
        if _machine.divided.get(device) != parts:
            if in_use():
                raise RuntimeError(f"Virtual devices cannot be modified after being initialized: {_EARLIER}")
            _machine.divided[device] = list(parts)


# Logical devices.


def logical_devices(kind: str | None = None) -> list[Device]:
    """Returns the logical devices. The first call creates them and freezes the configuration."""
    with _lock:
        if _machine.logical is None:
            found = list(_found())
            made: list[Device] = []
            for device in _machine.visible:
                number = found.index(device) - 1 if device.device_type == "GPU" else 0
                for _ in range(len(_machine.divided.get(device) or [()])):
                    index = sum(d.kind == device.device_type for d in made)
                    is_host = device.device_type == "CPU" and not index
                    made.append(HOST if is_host else Device(device.device_type, index, number))
            _machine.logical = made
            _Here.device = _first(made)
            _Here.elsewhere = _Here.device is not HOST
            _tell()
        return [d for d in _machine.logical if kind in (None, d.kind)]


def find(kind: str, index: int) -> Device | None:
    """Returns the logical device of that kind and index, or None."""
    return next((d for d in logical_devices(kind) if d.index == index), None)


def memory_info(name: object) -> dict[str, int]:
    """Returns the bytes `current` and `peak` in use on the named device; both are 0 for the CPU, as in TensorFlow."""
    device = by_name(name)
    if device.kind == "CPU" or _machine.memory is None:
        return {"current": 0, "peak": 0}
    return _machine.memory[0](device.physical)


def reset_memory_stats(name: object) -> None:
    """Resets the named device's peak memory to its current use."""
    device = by_name(name)
    if device.kind != "CPU" and _machine.memory is not None:
        _machine.memory[1](device.physical)


def by_name(name: object) -> Device:
    """Returns the logical device of that name."""
    if not isinstance(name, str):
        raise TypeError(f"the device must be given as a string, such as 'GPU:0', got {name!r}")
    try:
        spec = DeviceSpec.from_string(name if ":" not in name or "/" in name else f"/device:{name}")
    except ValueError:
        spec = DeviceSpec()
    if spec.device_type is None or spec.device_index is None:
        raise ValueError(
            f"Failed parsing device name: {name!r}. Note a valid device string should at least contain a device type "
            'and a device index, like "GPU:0".'
        )
    device = find(spec.device_type, spec.device_index)
    if device is None:
        raise ValueError(f"No matching devices found for {name!r}. The devices are {logical_devices()}")
    return device


def soft_placement() -> bool:
    """Whether an unavailable device is replaced by another one."""
    return _machine.soft_placement


def set_soft_placement(enabled: bool) -> None:
    """Sets whether an unavailable device is replaced by another one, in this thread's open scopes and in later ones."""
    _machine.soft_placement = enabled
    if here.asked is not None:
        _settle(here.asked)


class DeviceSetting:
    """A switch that array libraries of devices follow from the time that they are loaded."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._followers: list[Callable[[bool], None]] = []

    def set(self, enabled: bool) -> None:
        """Turns the switch on or off."""
        self.enabled = enabled
        for follow in self._followers:
            follow(enabled)

    def add_follower(self, follow: Callable[[bool], None]) -> None:
        """Registers a callback and invokes it now and on every change."""
        self._followers.append(follow)
        follow(self.enabled)


# Whether a GPU may compute float32 products in TensorFloat-32 (10-bit mantissas).
tensor_float_32 = DeviceSetting(True)
# Whether a GPU gives the same result in every run, where it would otherwise add in any order.
op_determinism = DeviceSetting(False)


# Placement of new tensors.


def default_device() -> Device:
    """Returns the thread's placement: the `tf.device` scope's device, else GPU:0 if one is visible, else HOST."""
    return here.device or _placed(here.asked)


def _first(devices: list[Device]) -> Device:
    return next((d for d in devices if d.kind == "GPU"), devices[0] if devices else HOST)


def _placed(asked: DeviceSpec | None) -> Device:
    """Resolves a spec to a logical device, by soft placement if that is enabled."""
    if asked is None or not asked.to_string():
        return _first(logical_devices())
    name = asked.to_string()
    if (asked.job, asked.replica, asked.task) != ("localhost", 0, 0):
        raise errors.InvalidArgumentError(f"{name} unknown device. There is one job with one task, {PREFIX}")
    kind, index = asked.device_type or "CPU", asked.device_index or 0
    if index < 0:
        raise errors.InvalidArgumentError(f"Malformed device specification '{name}': an index is 0 or more")
    device = find(kind, index)
    if device is not None:
        return device
    if _machine.soft_placement:
        return _first(logical_devices())
    there = logical_devices()
    raise errors.InvalidArgumentError(
        f"Could not satisfy device specification '{name}'. enable_soft_placement=0. Supported device types "
        f"[{', '.join(sorted({d.kind for d in there}))}]. All available devices [{', '.join(d.name for d in there)}]. "
        "Name one of these, or call tf.config.set_soft_device_placement(True)"
    )


def _settle(asked: DeviceSpec | None) -> None:
    """Sets this thread's merged spec; `elsewhere` is True also if it cannot be satisfied, so that its use raises."""
    here.asked = asked
    if asked is None:
        for name in ("elsewhere", "device"):
            vars(here).pop(name, None)  # falls back to the class attribute, which all threads share
    else:
        try:
            here.device = _placed(asked)
        except errors.InvalidArgumentError:
            here.device = None
        here.elsewhere = here.device is not HOST
    _tell()


class device_scope:
    """A context in which new tensors are placed on the named device and ops run there.

    Unspecified fields of the name are those of the enclosing scope, or of the CPU; None clears all enclosing scopes.
    """

    def __init__(self, name: object) -> None:
        self._name = name.name if isinstance(name, LogicalDevice) else name
        if isinstance(name, DeviceSpec):
            self._name = name.to_string()
        self._outer: tuple[tuple[DeviceSpec | None, tuple[Any, ...]], ...] = ()  # the previous state, once per entry

    def __enter__(self) -> None:
        name = self._name
        if name is not None and not isinstance(name, str):
            raise ValueError(
                f"Expecting a string device name. Got {type(name)}({name}). Write it as '/GPU:0', or give a "
                "tf.DeviceSpec or a tf.config.LogicalDevice"
            )
        asked = DeviceSpec()
        if name is not None:
            around = here.asked if here.asked is not None and here.asked.to_string() else _OUTERMOST
            asked = around.make_merged_spec(DeviceSpec.from_string(name))
        logical_devices()
        entered = self._outer
        before = (here.asked, here.blocks)
        try:
            self._outer = (*entered, before)
            here.blocks = (*here.blocks, self)
            _settle(asked)
        except BaseException:  # such as an interrupt: `__exit__` will not be called
            self._be(entered, *before)
            raise

    def __exit__(self, *error: Any) -> None:
        if here.blocks[-1:] != (self,):
            raise RuntimeError("Exiting device scope without proper scope nesting: leave the inner one first")
        *entered, before = self._outer
        try:
            self._be(tuple(entered), *before)
        except BaseException:  # an interrupt may arrive here too; restoring is idempotent
            self._be(tuple(entered), *before)
            raise

    def _be(self, entered: tuple[Any, ...], asked: DeviceSpec | None, blocks: tuple[Any, ...]) -> None:
        """Restores this thread's device scopes."""
        _settle(asked)
        here.blocks = blocks
        self._outer = entered


_OUTERMOST = DeviceSpec.from_string(HOST.name)
