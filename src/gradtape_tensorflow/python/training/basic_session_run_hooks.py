"""`tensorflow.python.training.basic_session_run_hooks`: hooks of TensorFlow 1, which need its sessions."""

from __future__ import annotations

from functools import cache
from typing import Any

from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

__all__ = ["SessionRunArgs", "SessionRunContext", "SessionRunValues"]


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


_HOOKS = frozenset(
    """
    CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanTensorHook ProfilerHook
    StepCounterHook StopAtStepHook SummarySaverHook
    """.split()
)


@cache
def __getattr__(name: str) -> Any:
    if name not in _HOOKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (SessionHook,), {"__doc__": SessionHook.__doc__, "__module__": __name__})
