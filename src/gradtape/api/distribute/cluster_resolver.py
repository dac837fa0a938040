"""`tf.distribute.cluster_resolver`: there is no TPU, and programs that look for one are told so as by TensorFlow."""

from __future__ import annotations

from typing import Any

NAMESPACES = ("distribute.cluster_resolver",)
__all__ = ["TPUClusterResolver"]


class TPUClusterResolver:
    """Raises ValueError, as on any machine without a TPU; programs that can do without go on.

    >>> import gradtape as tf
    >>> try:
    ...     tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    ... except ValueError:
    ...     strategy = tf.distribute.get_strategy()
    """

    def __init__(
        self,
        tpu: Any = None,
        zone: Any = None,
        project: Any = None,
        job_name: str = "worker",
        coordinator_name: Any = None,
        coordinator_address: Any = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: Any = None,
    ) -> None:
        raise ValueError("Please provide a TPU Name to connect to: gradtape computes on the CPU, there is no TPU")

    @staticmethod
    def connect(tpu: Any = None, zone: Any = None, project: Any = None) -> TPUClusterResolver:
        """The same, for the TPU named."""
        return TPUClusterResolver(tpu, zone, project)
