"""`tensorflow.python.eager.record`: queries and control of recording."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradtape
from gradtape.engine.run.dispatch import thread


def should_record_backprop(tensors: Iterable[Any]) -> bool:
    """Returns whether an active tape traces one of `tensors`."""
    if thread.recorder is None:
        return False
    return any(gradtape.convert_to_tensor(x).tracer is not None for x in tensors)


def could_possibly_record() -> bool:
    """Returns whether a tape is recording."""
    return bool(thread.recorders)


def stop_recording() -> Any:
    """Context manager: tapes do not record."""
    from gradtape.engine.run import dispatch

    return dispatch.recorded_by(())
