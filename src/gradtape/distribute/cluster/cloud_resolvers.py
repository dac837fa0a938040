"""Cluster resolvers that ask Kubernetes or Google Compute Engine for the addresses of the workers."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...api.train.threads import ClusterSpec
from .resolvers import ClusterResolver

NAMESPACES = ("distribute.cluster_resolver",)
__all__ = ["GCEClusterResolver", "KubernetesClusterResolver", "KubernetesExecutableLocation"]


class ExecutableLocation(enum.Enum):
    """Where a program runs: in a pod of the cluster, or elsewhere."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


KubernetesExecutableLocation = ExecutableLocation


class _CloudResolver(ClusterResolver):
    """A resolver whose workers are known to a service."""

    rpc_layer: Any = None

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """Returns the address of a task."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        address, layer = self.cluster_spec().task_address(kind, number), rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if layer else address


class KubernetesClusterResolver(_CloudResolver):
    """The running pods with given labels are the workers. Set `task_type` and `task_id` for a strategy.

    >>> from types import SimpleNamespace as Some
    >>> pod = Some(metadata=Some(name="a"), status=Some(phase="Running", host_ip="10.0.0.1"))
    >>> client = Some(list_pod_for_all_namespaces=lambda label_selector: Some(items=[pod]))
    >>> resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver(override_client=client)
    >>> resolver.cluster_spec().as_dict()
    {'worker': ['10.0.0.1:8470']}

    Args:
      job_to_label_mapping: the label selectors of each job.
      tf_server_port: the port of the workers.
      rpc_layer: the prefix of `master`.
      override_client: the client of Kubernetes to use, with credentials.
      executable_location: where this program runs.
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
        executable_location: ExecutableLocation = ExecutableLocation.WITHIN_CLUSTER,
    ) -> None:
        self._client, self._port, self.rpc_layer = override_client, tf_server_port, rpc_layer
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        if override_client is None:
            config = _kubernetes().config
            if executable_location is ExecutableLocation.OFF_CLUSTER:
                config.load_kube_config()
            elif executable_location is ExecutableLocation.WITHIN_CLUSTER:
                config.load_incluster_config()
            else:
                raise ValueError("The executable location provided is invalid.")

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks, which Kubernetes is asked for."""
        client = self._client
        if client is None:
            kubernetes = _kubernetes()
            kubernetes.config.load_kube_config()
            client = kubernetes.client.CoreV1Api()
        return ClusterSpec({job: self._addresses(client, selectors) for job, selectors in self._labels.items()})

    def _addresses(self, client: Any, selectors: Sequence[str]) -> list[str]:
        found = []
        for selector in selectors:
            pods = client.list_pod_for_all_namespaces(label_selector=selector).items
            for pod in sorted(pods, key=lambda pod: pod.metadata.name):
                if pod.status.phase != "Running":
                    raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
                found.append(f"{pod.status.host_ip}:{self._port}")
        return found


def _kubernetes() -> Any:
    try:
        for name in ("client", "config"):
            importlib.import_module(f"kubernetes.{name}")
        return importlib.import_module("kubernetes")
    except ImportError:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install "
            "the Kubernetes Python client, run `pip install kubernetes` on your command line."
        ) from None


class GCEClusterResolver(_CloudResolver):
    """The instances of an instance group of Google Compute Engine are the workers.

    >>> resolver = tf.distribute.cluster_resolver.GCEClusterResolver("project", "zone", "group", 8470, service=object())
    >>> resolver.task_type, resolver.task_id
    ('worker', 0)

    Args:
      project: the project.
      zone: the zone of the instance group.
      instance_group: the name of the instance group.
      port: the port of the workers.
      task_type: the name of the job.
      task_id: the number of this process.
      rpc_layer: the prefix of `master`.
      credentials: the credentials; by default those of the application.
      service: what `googleapiclient.discovery.build("compute", "v1")` returns, to use instead.
    """

    __module__ = "gradtape.distribute.cluster_resolver"

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._where = {"project": project, "zone": zone}
        self._group, self._port = instance_group, port
        self._task_type, self._task_id, self.rpc_layer = task_type, task_id, rpc_layer
        if service is None:
            try:
                discovery: Any = importlib.import_module("googleapiclient.discovery")
                client: Any = importlib.import_module("oauth2client.client")
            except ImportError:
                raise ImportError("googleapiclient must be installed before using the GCE cluster resolver") from None
            given = client.GoogleCredentials.get_application_default() if credentials == "default" else credentials
            service = discovery.build("compute", "v1", credentials=given)
        self._service = service

    @property
    def task_type(self) -> Any:
        """The name of this process' job."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self) -> Any:
        """Returns the addresses of all tasks, which the service is asked for."""
        groups, instances = self._service.instanceGroups(), self._service.instances()
        request = groups.listInstances(
            **self._where, instanceGroups=self._group, body={"instanceState": "RUNNING"}, orderBy="name"
        )
        found = []
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                details = instances.get(**self._where, instance=item["instance"].rpartition("/")[2]).execute()
                found.append(f"{details['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(found)})
