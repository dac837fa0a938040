"""`tensorflow.python.training.session_run_hook`: classes of hooks, which a session of TensorFlow 1 would call."""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunHook:
    """The base class of hooks. Nothing calls them here: there are no sessions."""

    def begin(self) -> None:
        """Called once before the session is used."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when the session has been created."""

    def before_run(self, run_context: Any) -> Any:
        """Called before each call to run; returns what to fetch besides."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Called after each call to run."""

    def end(self, session: Any) -> None:
        """Called at the end of the session."""


class SessionRunArgs(NamedTuple):
    """The arguments of a call to run."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of a call to run."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The call to run that a hook sees."""

    def __init__(self, original_args: Any, session: Any) -> None:
        self.original_args, self.session = original_args, session
        self.stop_requested = False

    def request_stop(self) -> None:
        """Asks the session to end."""
        self.stop_requested = True
