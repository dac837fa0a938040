"""Stand-ins for hooks, queues and sessions of TensorFlow 1, of which there are none: most raise when they are used.

They have the names of `tensorflow.python.training.basic_session_run_hooks`, `evaluation`, `monitored_session`,
`queue_runner` and `session_run_hook`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import gradtape


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


class SessionHook(SessionRunHook):
    """A hook that only a session of TensorFlow 1 could run."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} needs a session of TensorFlow 1, and gradtape has none. Do its work in the loop "
            "that trains: tf.train.CheckpointManager saves checkpoints, and tf.summary writes summaries"
        )


class CheckpointSaverListener:
    """Is called before and after checkpoints are saved, by a hook of TensorFlow 1."""

    def begin(self) -> None:
        """Called before the session starts."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before a checkpoint is saved."""

    def after_save(self, session: Any, global_step_value: int) -> Any:
        """Called after a checkpoint has been saved."""

    def end(self, session: Any, global_step_value: int) -> None:
        """Called at the end."""


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self) -> str:
        return "NaN loss during training."


class _Session:
    """The base class of what only a session of TensorFlow 1 could do."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} needs graphs and sessions of TensorFlow 1, and gradtape has none: write the step "
            "as a tf.function, and the loop in Python"
        )


class MonitoredSession(_Session):
    """A session with hooks."""


class QueueRunner:
    """Fills a queue in threads of a session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("QueueRunners are not supported when eager execution is enabled. Use tf.data instead.")


def add_queue_runner(qr: Any, collection: Any = None) -> None:
    """Raises: there are no queue runners to add."""
    QueueRunner()


def start_queue_runners(*args: Any, **kwargs: Any) -> list[Any]:
    """Raises: there are no sessions."""
    raise RuntimeError("Queues are not compatible with eager execution. Use tf.data instead.")


def _get_or_create_eval_step() -> Any:
    """Returns the variable that counts evaluations."""
    collection = gradtape.compat.v1.get_collection_ref("eval_step")
    if not collection:
        collection.append(gradtape.Variable(0, trainable=False, dtype=gradtape.int64, name="eval_step"))
    return collection[0]


def _evaluate_once(*args: Any, **kwargs: Any) -> Any:
    """Raises: there are no sessions."""
    return MonitoredSession()


_HOOKS = """
    CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanTensorHook ProfilerHook
    StepCounterHook StopAtStepHook SummarySaverHook _StopAfterNEvalsHook
"""
_SESSIONS = "ChiefSessionCreator MonitoredTrainingSession Scaffold SessionManager Supervisor WorkerSessionCreator"
_BASES: dict[str, type] = {
    **dict.fromkeys(_HOOKS.split(), SessionHook),
    **dict.fromkeys(_SESSIONS.split(), _Session),
    "SingularMonitoredSession": MonitoredSession,
}


@cache
def __getattr__(name: str) -> Any:
    if name not in _BASES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (_BASES[name],), {"__doc__": _BASES[name].__doc__, "__module__": __name__})
