# Written by tools/write_stubs.py.
from gradtape.api.distribute.cloud_resolvers import (
    GCEClusterResolver as GCEClusterResolver,
    KubernetesClusterResolver as KubernetesClusterResolver,
    KubernetesExecutableLocation as KubernetesExecutableLocation,
)
from gradtape.api.distribute.cluster_resolver import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    SlurmClusterResolver as SlurmClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    TPUClusterResolver as TPUClusterResolver,
    UnionResolver as UnionResolver,
)
