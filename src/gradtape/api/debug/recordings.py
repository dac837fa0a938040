"""`load_tape`: loads a step written by `tape.save`."""

from __future__ import annotations

from ...inspect.recordings.recordings import load_tape

NAMESPACES = ("",)
__all__ = ["load_tape"]
