"""`tensorflow.python.eager.record`: what tapes note."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradtape
from gradtape.engine.run.dispatch import thread


def should_record_backprop(tensors: Iterable[Any]) -> bool:
    """Whether a tape that is recording knows one of `tensors`."""
    if thread.recorder is None:
        return False
    return any(gradtape.convert_to_tensor(x).tracer is not None for x in tensors)


def could_possibly_record() -> bool:
    """Whether a tape is recording."""
    return bool(thread.recorders)


def stop_recording() -> Any:
    """Nothing done inside the block is noted by a tape."""
    from gradtape.engine.run import dispatch

    return dispatch.recorded_by(())
