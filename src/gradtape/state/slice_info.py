"""Which part of a larger variable a variable is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SaveSliceInfo:
    """The place of a variable in a larger one, of which checkpoints save it as a part."""

    def __init__(
        self, full_name: str | None = None, full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None, var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None, import_scope: str | None = None,
    ) -> None:  # fmt: skip
        given = save_slice_info_def
        if given is not None:
            full_name, full_shape = given.full_name, list(given.full_shape)
            var_offset, var_shape = list(given.var_offset), list(given.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The shape of the larger variable, then offset and size along each axis."""
        full = " ".join(str(size) for size in self.full_shape or ())
        pairs = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{full} {':'.join(f'{offset},{size}' for offset, size in pairs)}"

    @classmethod
    def from_spec(cls, spec: str) -> SaveSliceInfo:
        """Reads a text that `spec` has written."""
        *full, parts = spec.split()
        if not full:
            raise ValueError(f"Spec string must contain space-separated full_shape info. Received: {spec!r}")
        try:
            shape = [int(size) for size in full]
        except ValueError:
            raise ValueError(f"Spec string full_shape must be a sequence of integers. Received: {full}") from None
        pairs = [_read_pair(part) for part in parts.split(":")]
        return cls(full_shape=shape, var_offset=[first for first, _ in pairs], var_shape=[size for _, size in pairs])


def _read_pair(text: str) -> list[int]:
    """Reads an offset and a size."""
    pair = text.split(",")
    if len(pair) != 2:
        raise ValueError(f"Spec string must contain comma-separated pairs of offsets and shapes. Received: {text!r}")
    found = []
    for name, number in zip(("var_offset", "var_shape"), pair, strict=True):
        try:
            found.append(int(number))
        except ValueError:
            raise ValueError(f"Spec string {name} must be an integer. Received: {text!r}") from None
    return found
