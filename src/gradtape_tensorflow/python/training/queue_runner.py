"""`tensorflow.python.training.queue_runner`: threads of TensorFlow 1, which TensorFlow 2 refuses eagerly, too."""

from __future__ import annotations

from typing import Any


class QueueRunner:
    """Fills a queue in threads of a session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("QueueRunners are not supported when eager execution is enabled. Use tf.data instead.")


def add_queue_runner(qr: Any, collection: Any = None) -> None:
    """Raises: there are no queue runners to add."""
    raise RuntimeError("QueueRunners are not supported when eager execution is enabled. Use tf.data instead.")


def start_queue_runners(*args: Any, **kwargs: Any) -> list[Any]:
    """Raises: there are no sessions."""
    raise RuntimeError("Queues are not compatible with eager execution. Use tf.data instead.")
