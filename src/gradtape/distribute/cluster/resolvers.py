"""`tf.distribute.cluster_resolver`: the workers of a cluster, and the task of this process; TensorFlow's servers.

TPUs and servers, which run ops for other processes, do not exist; programs that look for one get an error.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ...api.train.threads import ClusterSpec
from ...core import devices, errors
from . import membership as cluster

NAMESPACES = ("distribute.cluster_resolver", "distribute", "config")
__all__ = [
    "ClusterResolver", "Server", "SimpleClusterResolver", "SlurmClusterResolver", "TFConfigClusterResolver",
    "TPUClusterResolver", "experimental_connect_to_cluster",
]  # fmt: skip

_NO_SERVERS = (
    "gradtape has no servers that run ops for other processes. Start the same program in every process, by "
    "`gradtape launch -n 4 train.py` or with TF_CONFIG, and use tf.distribute.MultiWorkerMirroredStrategy()"
)


class ClusterResolver:
    """The base class of cluster resolvers, also for user-defined ones.

    >>> class Fixed(tf.distribute.cluster_resolver.ClusterResolver):
    ...     def cluster_spec(self):
    ...         return tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    >>> Fixed().cluster_spec().num_tasks("worker")
    2
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    _task_type: str | None
    _task_id: int | None

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks as a `tf.train.ClusterSpec`."""
        raise NotImplementedError("cluster_spec is not there: a resolver of your own must have it")

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the session address of a task; sessions do not exist."""
        raise NotImplementedError("master is not there: a resolver of your own must have it")

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Returns the number of GPUs of this process."""
        return {"GPU": len(devices.logical_devices("GPU"))}

    @property
    def environment(self) -> str:
        """The environment; it has no effect."""
        return ""

    @property
    def task_type(self) -> Any:
        """The name of this process' job, such as "worker"."""
        return getattr(self, "_task_type", None)

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> Any:
        """The index of this process in its job."""
        return getattr(self, "_task_id", None)

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._task_id = task_id


class SimpleClusterResolver(ClusterResolver):
    """A resolver with the values given by the program.

    >>> spec = tf.train.ClusterSpec({"worker": ["a:1", "b:1"]})
    >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, task_type="worker", task_id=1)
    >>> resolver.master(resolver.task_type, resolver.task_id)
    'b:1'
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    def __init__(
        self,
        cluster_spec: Any,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self._spec, self._master, self._environment = cluster_spec, master, environment
        self._task_type, self._task_id = task_type, task_id
        self._accelerators = num_accelerators
        self.rpc_layer = rpc_layer

    rpc_layer: Any

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks."""
        return self._spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task."""
        found = self._master if task_type is None or task_id is None else self._spec.task_address(task_type, task_id)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{found}" if layer and found else found

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Returns the number of GPUs of this process."""
        return super().num_accelerators() if self._accelerators is None else self._accelerators

    @property
    def environment(self) -> str:
        """The given environment."""
        return self._environment


class TFConfigClusterResolver(ClusterResolver):
    """A resolver that reads `TF_CONFIG`; without it, there is one process.

    >>> tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().jobs
    []
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:  # fmt: skip
        self._given = (task_type, task_id)
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        try:
            found = json.loads(os.environ.get("TF_CONFIG") or "{}")
        except (RecursionError, ValueError) as error:
            raise ValueError(f"TF_CONFIG is no JSON: {os.environ['TF_CONFIG']!r}: {error}") from error
        if not isinstance(found, dict) or not isinstance(found.get("task") or {}, dict):
            raise ValueError(f"TF_CONFIG must be an object that has `cluster` and `task`, which are objects: {found!r}")
        return found

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks."""
        return ClusterSpec(self._config().get("cluster") or {})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task, by default of this one."""
        spec = self.cluster_spec()
        if not spec or (not self.task_type and task_type is None):
            return ""
        found = spec.task_address(task_type or self.task_type, self.task_id if task_id is None else task_id)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{found}" if layer else found

    @property
    def environment(self) -> Any:
        """The environment in `TF_CONFIG`."""
        return self._environment or self._config().get("environment", "")

    @property
    def rpc_layer(self) -> Any:
        """The protocol of addresses; it has no effect."""
        return self._rpc_layer or self._config().get("rpc_layer")

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer

    @property
    def task_type(self) -> Any:
        """The name of this process' job."""
        found = self._given[0] or (self._config().get("task") or {}).get("type")
        return str(found) if found is not None else ""

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        self._given = (task_type, self._given[1])

    @property
    def task_id(self) -> Any:
        """The index of this process in its job."""
        found = self._given[1] if self._given[1] is not None else (self._config().get("task") or {}).get("index")
        try:
            return int(found) if found is not None else None
        except (ArithmeticError, TypeError, ValueError):
            raise ValueError(f"The index of a task in TF_CONFIG must be a number, got {found!r}") from None

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._given = (self._given[0], task_id)


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a SLURM job: all as workers, or divided into `jobs`.

    >>> tf.distribute.cluster_resolver.SlurmClusterResolver({"worker": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: SLURM_...
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    def __init__(
        self,
        jobs: dict[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: Any = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        for name in ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"):
            if name not in os.environ:
                raise RuntimeError(f"{name} is not there: this is no task of SLURM's. Start the program by srun")
        self._rank, count = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_STEP_NUM_TASKS"])
        self._jobs = {"worker": count} if jobs is None else dict(jobs)
        if sum(self._jobs.values()) != count:
            raise RuntimeError(f"Mismatch between the number of tasks in {self._jobs} and SLURM's, {count}.")
        hosts = cluster.slurm_hosts(os.environ["SLURM_STEP_NODELIST"])
        if tasks_per_node is None:
            tasks_per_node = cluster.slurm_tasks_per_node(os.environ.get("SLURM_STEP_TASKS_PER_NODE", ""))
        each = [tasks_per_node] * len(hosts) if isinstance(tasks_per_node, int) else list(tasks_per_node)
        self._addresses = [
            f"{host}:{port_base + i}" for host, tasks in zip(hosts, each, strict=True) for i in range(tasks)
        ]
        self._gpus = gpus_per_task
        self.rpc_layer = rpc_layer
        self._task_type, self._task_id = self.get_task_info()

    def get_task_info(self) -> tuple[str, int]:
        """Returns the job and the index of this task."""
        number = self._rank
        for job, tasks in self._jobs.items():
            if number < tasks:
                return job, number
            number -= tasks
        raise RuntimeError(f"Task {self._rank} is in none of the jobs {self._jobs}")

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks."""
        found, at = {}, 0
        for job, tasks in self._jobs.items():
            found[job] = self._addresses[at : at + tasks]
            at += tasks
        return ClusterSpec(found)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task, by default of this one."""
        job = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        layer, found = rpc_layer or self.rpc_layer, self.cluster_spec().task_address(job, number)
        return f"{layer}://{found}" if layer else str(found)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """Returns the number of GPUs per task."""
        return super().num_accelerators() if self._gpus is None else {"GPU": self._gpus}


class TPUClusterResolver:
    """Raises ValueError, as on any machine without a TPU, so that programs can fall back.

    >>> try:
    ...     tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    ... except ValueError:
    ...     strategy = tf.distribute.get_strategy()
    """

    __module__ = "gradtape.distribute.cluster_resolver"

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
    def connect(tpu: str | None = None, zone: str | None = None, project: str | None = None) -> TPUClusterResolver:
        """Raises the same error for the named TPU."""
        return TPUClusterResolver(tpu, zone, project)


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
        raise errors.UnimplementedError(_NO_SERVERS)

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Raises an error."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    @property
    def server_def(self) -> Any:
        """The cluster, and the task of the server."""
        raise errors.UnimplementedError(_NO_SERVERS)

    def start(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_NO_SERVERS)

    def join(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_NO_SERVERS)


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
    raise errors.UnimplementedError(_NO_SERVERS)
