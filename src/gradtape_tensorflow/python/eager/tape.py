"""`tensorflow.python.eager.tape` of older versions: see `record`."""

from __future__ import annotations

from .record import could_possibly_record, should_record_backprop, stop_recording

__all__ = ["could_possibly_record", "should_record_backprop", "stop_recording"]
