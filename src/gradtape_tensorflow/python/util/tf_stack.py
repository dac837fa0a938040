"""`tensorflow.python.util.tf_stack`: the program's stack."""

from __future__ import annotations

import traceback


def extract_stack(stacklevel: int = 1) -> list[traceback.FrameSummary]:
    """Returns the frames of the caller, the outermost first."""
    frames = traceback.extract_stack()
    return frames[: len(frames) - stacklevel]
