"""TensorFlow's servers, which run ops for other processes; gradtape's processes run the whole program instead."""

from __future__ import annotations

from typing import Any

from ...api.train.threads import ClusterSpec
from ...core import errors
from .resolvers import ClusterResolver

NAMESPACES = ("distribute", "config")
__all__ = ["Server", "experimental_connect_to_cluster"]

_INSTEAD = (
    "gradtape has no servers that run ops for other processes. Start the same program in every process, by "
    "`gradtape launch -n 4 train.py` or with TF_CONFIG, and use tf.distribute.MultiWorkerMirroredStrategy()"
)


class Server:
    """Raises an error: there are no servers; `gradtape launch` starts a program in several processes.

    >>> tf.distribute.Server.create_local_server()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.distribute"

    target = ""

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        raise errors.UnimplementedError(_INSTEAD)

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Raises an error."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    @property
    def server_def(self) -> Any:
        """The cluster, and the task of the server."""
        raise errors.UnimplementedError(_INSTEAD)

    def start(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def join(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> None:
    """Does nothing for a resolver that names this process alone; else raises an error, see `gradtape launch`.

    >>> spec = tf.train.ClusterSpec({})
    >>> tf.config.experimental_connect_to_cluster(tf.distribute.cluster_resolver.SimpleClusterResolver(spec))
    """
    given = cluster_spec_or_resolver
    if isinstance(given, ClusterResolver):
        if given.master() in ("", "local"):
            return
    elif not isinstance(given, ClusterSpec):
        raise ValueError("`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`.")
    raise errors.UnimplementedError(_INSTEAD)
