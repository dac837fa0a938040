"""`tensorflow.python.training.evaluation`: evaluations in sessions of TensorFlow 1, of which there are none."""

from __future__ import annotations

from typing import Any

import gradtape

from .basic_session_run_hooks import SessionHook
from .monitored_session import MonitoredSession


class StopAfterNEvalsHook(SessionHook):
    """Stops after a number of evaluations."""


class SummaryAtEndHook(SessionHook):
    """Writes summaries at the end."""


def get_or_create_eval_step() -> Any:
    """Returns the variable that counts evaluations."""
    collection = gradtape.compat.v1.get_collection_ref("eval_step")
    if not collection:
        collection.append(gradtape.Variable(0, trainable=False, dtype=gradtape.int64, name="eval_step"))
    return collection[0]


def evaluate_once(*args: Any, **kwargs: Any) -> Any:
    """Raises: there are no sessions."""
    return MonitoredSession()


_get_or_create_eval_step, _evaluate_once = get_or_create_eval_step, evaluate_once
_StopAfterNEvalsHook = StopAfterNEvalsHook
