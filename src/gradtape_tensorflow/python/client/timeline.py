"""`tensorflow.python.client.timeline`: traces of sessions of TensorFlow 1, of which there are none."""

from __future__ import annotations

from typing import Any


class Timeline:
    """A trace of a session's steps."""

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        raise NotImplementedError(
            "Timeline needs the step_stats of a session of TensorFlow 1, and gradtape has no sessions: tf.profiler "
            "records what a program runs"
        )
