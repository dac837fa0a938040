"""`TF_CONFIG` and launcher variables with damaged values: a consistent identity, or a ValueError."""

from __future__ import annotations

import json
import os
import random

import gradtape as tf
from gradtape.distribute.cluster.membership import discover

from ._sandbox import attempt, folder, is_documented, marks
from .mutations import HOSTILE_NUMBERS, HOSTILE_TEXT, mutate_bytes, mutate_json

_CONFIG = json.dumps({
    "cluster": {"chief": ["a:1"], "worker": ["a:2", "b:3"], "ps": ["c:4"]}, "task": {"type": "worker", "index": 1},
    "rpc_layer": "grpc",
})  # fmt: skip
_LAUNCHERS = (
    {"GRADTAPE_RANK": "1", "GRADTAPE_SIZE": "4", "GRADTAPE_LOCAL_RANK": "1", "GRADTAPE_LOCAL_SIZE": "2",
     "GRADTAPE_COORDINATOR": "a:1"},
    {"SLURM_JOB_ID": "7", "SLURM_PROCID": "1", "SLURM_NTASKS": "3", "SLURM_STEP_NODELIST": "a[1-2],b",
     "SLURM_LOCALID": "0", "SLURM_NODEID": "1", "SLURM_STEP_TASKS_PER_NODE": "1(x3)"},
    {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
     "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "x"},
)  # fmt: skip


def disagreements(seed: int) -> list[str]:
    rng = random.Random(seed)
    environment = _damaged_config(rng) if rng.random() < 0.6 else _damaged_launcher(rng)
    with folder() as place:
        outcome = attempt(lambda: discover(environment))
        problems = [f"{environment} {outcome.problem}"] if outcome.problem else []
        me = outcome.value
        if me is not None and not (0 <= me.rank < me.size and 0 <= me.local_rank < me.local_size <= me.size):
            problems.append(f"{environment} is {me}")
        if "TF_CONFIG" in environment:
            problems += _resolved(environment["TF_CONFIG"])
        return problems + marks(place)


def _damaged_config(rng: random.Random) -> dict[str, str]:
    damaged = mutate_json(_CONFIG, rng)
    if rng.random() < 0.2:
        damaged = mutate_bytes(damaged.encode(), rng).decode("utf-8", "surrogateescape")
    return {"TF_CONFIG": damaged}


def _damaged_launcher(rng: random.Random) -> dict[str, str]:
    environment = dict(rng.choice(_LAUNCHERS))
    for _ in range(rng.randint(1, 2)):
        key = rng.choice(sorted(environment))
        texts = [*HOSTILE_TEXT, *map(str, HOSTILE_NUMBERS), "a[1-999999999]", "1(x999999999)", "a[x-y]", "9[", "٣"]
        environment[key] = rng.choice(texts)
    return environment


def _may_raise(error: Exception) -> bool:
    """Returns whether a cluster may raise an error: TensorFlow's `ClusterSpec` raises TypeError for some."""
    wrong_spec = type(error) is TypeError and str(error).startswith(("`cluster` must be", "The tasks of job"))
    return wrong_spec or is_documented(error)


def _resolved(config: str) -> list[str]:
    """Queries the cluster resolver, which reads the variable itself."""
    if "\0" in config:
        return []
    before = os.environ.get("TF_CONFIG")
    os.environ["TF_CONFIG"] = config
    try:
        resolver = attempt(tf.distribute.cluster_resolver.TFConfigClusterResolver)
        names = ("task_type", "task_id", "rpc_layer")
        asked = [attempt(lambda name=name: getattr(resolver.value, name)) for name in names]
        asked.append(attempt(lambda: resolver.value.cluster_spec().as_dict(), _may_raise))
        asked.append(attempt(lambda: resolver.value.master(), _may_raise))
    finally:
        if before is None:
            del os.environ["TF_CONFIG"]
        else:
            os.environ["TF_CONFIG"] = before
    outcomes = [resolver] if resolver.error is not None else [resolver, *asked]
    return [f"the resolver of {config!r} {x.problem}" for x in outcomes if x.problem]
