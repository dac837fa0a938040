"""`tensorflow.python.training.monitored_session`: sessions of TensorFlow 1, of which there are none."""

from __future__ import annotations

from functools import cache
from typing import Any


class _Session:
    """The base class of what only a session of TensorFlow 1 could do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} needs graphs and sessions of TensorFlow 1, and gradtape has none: write the step "
            "as a tf.function, and the loop in Python"
        )


class MonitoredSession(_Session):
    """A session with hooks."""


_SESSIONS = {
    **dict.fromkeys(
        "ChiefSessionCreator MonitoredTrainingSession Scaffold SessionManager Supervisor WorkerSessionCreator".split(),
        _Session,
    ),
    "SingularMonitoredSession": MonitoredSession,
}


@cache
def __getattr__(name: str) -> Any:
    if name not in _SESSIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (_SESSIONS[name],), {"__doc__": _Session.__doc__, "__module__": __name__})
