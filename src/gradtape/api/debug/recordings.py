"""`load_tape`: a step that `tape.save` has written."""

from __future__ import annotations

from ...inspect.recordings.recordings import load_tape

NAMESPACES = ("",)
__all__ = ["load_tape"]
