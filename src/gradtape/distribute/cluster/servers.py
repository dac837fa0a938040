"""TensorFlow's servers, which run ops for other processes; gradtape's processes run the whole program instead."""

from __future__ import annotations

from typing import Any

from ...api.train.threads import ClusterSpec
from ...core import errors
from .resolvers import ClusterResolver

NAMESPACES = ("distribute", "config", "config.experimental", "test")
__all__ = [
    "ClusterDeviceFilters",
    "Server",
    "create_local_cluster",
    "experimental_connect_to_cluster",
    "experimental_connect_to_host",
]

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


def create_local_cluster(
    num_workers: int, num_ps: int, protocol: str = "grpc", worker_config: Any = None, ps_config: Any = None
) -> tuple[list[Server], list[Server]]:
    """Raises an error, unless no servers are asked for; `gradtape launch` starts a program in several processes.

    >>> tf.test.create_local_cluster(0, 0)
    ([], [])
    """
    cluster = {"worker": num_workers, "ps": num_ps}
    made = {job: [Server(cluster, job, i, protocol) for i in range(count)] for job, count in cluster.items()}
    return made["worker"], made["ps"]


class ClusterDeviceFilters:
    """Which devices the tasks of a cluster see.

    >>> filters = tf.config.experimental.ClusterDeviceFilters()
    >>> filters.set_device_filters("worker", 0, ["/job:ps"])
    """

    __module__ = "gradtape.config.experimental"

    def __init__(self) -> None:
        self._device_filters: dict[str, dict[int, list[str]]] = {}

    def set_device_filters(self, job_name: str, task_index: int, device_filters: list[str]) -> None:
        """Sets the filters of a task: parts of device names."""
        assert all(isinstance(name, str) for name in device_filters)
        self._device_filters.setdefault(job_name, {})[task_index] = list(device_filters)


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: ClusterDeviceFilters | None = None,
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
    if cluster_device_filters is not None and not isinstance(cluster_device_filters, ClusterDeviceFilters):
        raise ValueError(
            "`cluster_device_filters` must be an instance of `tf.train.experimental.ClusterDeviceFilters`."
        )
    raise errors.UnimplementedError(_INSTEAD)


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Raises an error: other processes do not run ops of this one; see `gradtape launch`.

    >>> tf.config.experimental_connect_to_host()
    Traceback (most recent call last):
    ValueError: Must provide at least one remote_host
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    raise errors.UnimplementedError(_INSTEAD)
