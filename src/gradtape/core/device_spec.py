"""`DeviceSpec`: a complete or partial device name, parsed into its fields."""

from __future__ import annotations

from typing import Any

_KINDS = frozenset({"CPU", "GPU", "TPU", "CUSTOM", "EPU"})  # device types that need no `device:` prefix


class DeviceSpec:
    """A device name in fields, each of which may be unspecified. Immutable: `replace` returns a modified copy.

    >>> tf.DeviceSpec.from_string("/job:localhost/gpu:1")
    <DeviceSpec(job=localhost, replica=None, task=None, device_type=GPU, device_index=1)>
    >>> tf.DeviceSpec(device_type="GPU", device_index=1).to_string()
    '/device:GPU:1'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_string", "_task")

    def __init__(
        self, job: str | None = None, replica: int | None = None, task: int | None = None,
        device_type: str | None = None, device_index: int | None = None,
    ) -> None:  # fmt: skip
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else str(device_type)
        if self._device_type in ("cpu", "gpu"):
            self._device_type = self._device_type.upper()
        self._device_index = None if device_index is None else int(device_index)
        parts = [("job", self._job), ("replica", self._replica), ("task", self._task)]
        index = "*" if self._device_index is None else self._device_index
        parts.append(("device", None if self._device_type is None else f"{self._device_type}:{index}"))
        self._string = "".join(f"/{name}:{value}" for name, value in parts if value is not None)

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """Parses a device string such as "/gpu:0" or "/job:localhost/replica:0/task:0/device:CPU:0".

        >>> tf.DeviceSpec.from_string("/CPU:0").device_type
        'CPU'
        """
        given: dict[str, Any] = {}
        text = spec or ""
        for part in text.split("/"):
            name, *values = part.split(":")
            if name in ("job", "replica", "task") and len(values) == 1:
                given[name] = values[0]
            elif name.upper() in _KINDS and len(values) < 2:
                given.update(_device(text, given, name.upper(), *values))
            elif name == "device" and len(values) == 2:
                given.update(_device(text, given, *values))
            elif name:
                raise ValueError(
                    f"Unknown attribute '{name}' is encountered while parsing the device spec: '{text}'. "
                    "Write it as '/GPU:0' or '/job:localhost/replica:0/task:0/device:GPU:0'"
                )
        return cls(**given)

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Same as `from_string`; does not modify this spec.

        >>> tf.DeviceSpec().parse_from_string("/GPU:1").to_string()
        '/device:GPU:1'
        """
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Returns this spec, overridden by the specified fields of `dev`.

        >>> tf.DeviceSpec(job="a", device_type="CPU").make_merged_spec(tf.DeviceSpec(device_type="GPU")).to_string()
        '/job:a/device:GPU:*'
        """
        return self.replace(**{name: value for name, value in dev._parts().items() if value is not None})

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Returns a copy with the given fields replaced.

        >>> tf.DeviceSpec.from_string("/GPU:0").replace(device_index=1).to_string()
        '/device:GPU:1'
        """
        return type(self)(**{**self._parts(), **kwargs})

    def to_string(self) -> str:
        """The spec as a string.

        >>> tf.DeviceSpec(job="localhost", device_type="cpu").to_string()
        '/job:localhost/device:CPU:*'
        """
        return self._string

    def _parts(self) -> dict[str, Any]:
        return {
            "job": self._job, "replica": self._replica, "task": self._task,
            "device_type": self._device_type, "device_index": self._device_index,
        }  # fmt: skip

    @property
    def job(self) -> str | None:
        """The job's name."""
        return self._job

    @property
    def replica(self) -> int | None:
        """The replica index."""
        return self._replica

    @property
    def task(self) -> int | None:
        """The task index."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """The device type, such as "CPU" or "GPU"."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The index among the devices of that type."""
        return self._device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._string == other._string

    def __hash__(self) -> int:
        return hash(self._string)

    def __repr__(self) -> str:
        return (
            f"<DeviceSpec(job={self.job}, replica={self.replica}, task={self.task}, device_type={self.device_type}, "
            f"device_index={self.device_index})>"
        )


DeviceSpec.__module__ = "gradtape"


def _device(text: str, given: dict[str, Any], kind: str, index: str = "*") -> dict[str, Any]:
    """Parses `kind:index` of the spec `text`; `given` holds the fields parsed so far."""
    if "device_type" in given:
        raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {text}.")
    if index != "*":
        try:
            return {"device_type": kind, "device_index": int(index)}
        except ValueError:
            raise ValueError(
                f"invalid literal for int() with base 10: {index!r} is no index of a device, in the device spec "
                f"{text!r}. Write it as '/{kind}:0'"
            ) from None
    return {"device_type": kind}
