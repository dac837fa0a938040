"""`tensorflow.python.training.monitored_session`: sessions of TensorFlow 1, of which there are none."""

from __future__ import annotations

from typing import Any


class _Session:
    """The base class of what only a session of TensorFlow 1 could do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} needs graphs and sessions of TensorFlow 1, and gradtape has none: write the step "
            "as a tf.function, and the loop in Python"
        )


class ChiefSessionCreator(_Session):
    """Creates the session of the chief."""


class MonitoredSession(_Session):
    """A session with hooks."""


class Scaffold(_Session):
    """What creates a session."""


class SessionManager(_Session):
    """Prepares sessions."""


class SingularMonitoredSession(MonitoredSession):
    """A session with hooks that does not recover."""


class Supervisor(_Session):
    """Starts and saves sessions."""


class WorkerSessionCreator(_Session):
    """Creates the session of a worker."""


class MonitoredTrainingSession(_Session):
    """A session with the hooks of training."""
