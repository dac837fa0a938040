"""`tensorflow.python.distribute.strategy_combinations`: strategies with names, for tests that run once for each.

Those that need TPUs, clusters or more GPUs than there are have names, too: their tests are skipped.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import gradtape

from .combinations import Combination, NamedDistribution, combine

_config, _distribute = gradtape.config, gradtape.distribute


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Creates logical CPUs, unless there are enough; skips the test if devices have been used already."""
    if len(_config.list_logical_devices("CPU")) >= num_virtual_cpus:
        return
    cpu = _config.list_physical_devices("CPU")[0]
    try:
        _config.set_logical_device_configuration(cpu, [_config.LogicalDeviceConfiguration()] * num_virtual_cpus)
    except RuntimeError as error:
        raise unittest.SkipTest(f"The test needs {num_virtual_cpus} logical CPUs: {error}") from None


def _mirrored(*devices: str) -> Callable[[], Any]:
    def create() -> Any:
        set_virtual_cpus_to_at_least(1 + max((int(d[5:]) for d in devices if d.startswith("/cpu:")), default=0))
        return _distribute.MirroredStrategy(devices)

    return create


def _central(*devices: str) -> Callable[[], Any]:
    return lambda: _distribute.experimental.CentralStorageStrategy(devices)


def _of_missing_hardware() -> Any:
    raise NotImplementedError("the strategy needs a TPU or a cluster")


def _on_tpu(name: str, use_cloud_tpu: bool = False) -> NamedDistribution:
    return NamedDistribution(name, _of_missing_hardware, required_tpu=True, use_cloud_tpu=use_cloud_tpu)


def _on_cluster(name: str, workers: int, gpus: int = 0, servers: int = 0) -> NamedDistribution:
    return NamedDistribution(
        name, _of_missing_hardware, gpus, has_chief=True, num_workers=workers, num_ps=servers
    )


default_strategy = NamedDistribution("Default", _distribute.get_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", lambda: _distribute.OneDeviceStrategy("/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", lambda: _distribute.OneDeviceStrategy("/gpu:0"), 1)
one_device_strategy_on_worker_1 = _on_cluster("OneDeviceOnWorker1CPU", 2)
one_device_strategy_gpu_on_worker_1 = _on_cluster("OneDeviceOnWorker1GPU", 2, 1)
tpu_strategy = _on_tpu("TPU")
tpu_strategy_packed_var = _on_tpu("TPUPackedVar")
tpu_strategy_spmd = _on_tpu("TPUUseSPMD")
tpu_strategy_one_step = _on_tpu("TPUOneStep")
tpu_strategy_one_core = _on_tpu("TPUOneCore")
tpu_strategy_one_step_one_core = _on_tpu("TPUOneStepOneCore")
cloud_tpu_strategy = _on_tpu("CloudTPU", use_cloud_tpu=True)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution("MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1)
mirrored_strategy_with_two_cpus = NamedDistribution("Mirrored2CPUs", _mirrored("/cpu:0", "/cpu:1"))
mirrored_strategy_with_two_gpus = NamedDistribution("Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2)
mirrored_strategy_with_two_gpus_no_merge_call = NamedDistribution(
    "Mirrored2GPUsNoMergeCall", _mirrored("/gpu:0", "/gpu:1"), 2
)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution("Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2"))
central_storage_strategy_with_two_gpus = NamedDistribution("CentralStorage2GPUs", _central("/gpu:0", "/gpu:1"), 2)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", _central("/gpu:0", "/cpu:0"), 1
)
multi_worker_mirrored_2x1_cpu = _on_cluster("MultiWorkerMirrored2x1CPU", 1)
multi_worker_mirrored_2x1_gpu = _on_cluster("MultiWorkerMirrored2x1GPU", 1, 1)
multi_worker_mirrored_2x1_gpu_noshare = _on_cluster("MultiWorkerMirrored2x1GPUNoShare", 1, 1)
multi_worker_mirrored_2x2_gpu = _on_cluster("MultiWorkerMirrored2x2GPU", 1, 2)
multi_worker_mirrored_2x2_gpu_no_merge_call = _on_cluster("MultiWorkerMirrored2x2GPUNoMergeCall", 1, 2)
multi_worker_mirrored_4x1_cpu = _on_cluster("MultiWorkerMirrored4x1CPU", 3)
parameter_server_strategy_3worker_2ps_cpu = _on_cluster("ParameterServer3Worker2PSCPU", 3, servers=2)
parameter_server_strategy_1worker_2ps_cpu = _on_cluster("ParameterServer1Worker2PSCPU", 1, servers=2)
parameter_server_strategy_3worker_2ps_1gpu = _on_cluster("ParameterServer3Worker2PS1GPU", 3, 1, servers=2)
parameter_server_strategy_1worker_2ps_1gpu = _on_cluster("ParameterServer1Worker2PS1GPU", 1, 1, servers=2)

graph_and_eager_modes = ["graph", "eager"]
strategies_minus_default_and_tpu = [
    one_device_strategy, one_device_strategy_gpu, mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus,
]  # fmt: skip
strategies_minus_tpu = [default_strategy, *strategies_minus_default_and_tpu, central_storage_strategy_with_gpu_and_cpu]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step, tpu_strategy_packed_var, cloud_tpu_strategy]
all_strategies_minus_default = [*strategies_minus_default_and_tpu, *tpu_strategies]
all_strategies = [*strategies_minus_tpu, *tpu_strategies]
two_replica_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, multi_worker_mirrored_2x1_cpu,
    multi_worker_mirrored_2x1_gpu, tpu_strategy, tpu_strategy_one_step, central_storage_strategy_with_gpu_and_cpu,
]  # fmt: skip
four_replica_strategies = [multi_worker_mirrored_2x2_gpu, multi_worker_mirrored_4x1_cpu]
multidevice_strategies = [
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus, tpu_strategy, tpu_strategy_one_step,
]  # fmt: skip
multiworker_strategies = [multi_worker_mirrored_2x1_cpu, multi_worker_mirrored_2x1_gpu, multi_worker_mirrored_2x2_gpu]


def strategy_minus_tpu_combinations() -> list[Combination]:
    """Returns the combinations of strategies without TPUs, eagerly and in graphs."""
    return combine(distribution=strategies_minus_tpu, mode=graph_and_eager_modes)


def tpu_strategy_combinations() -> list[Combination]:
    """Returns the combinations of strategies of TPUs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Combination]:
    """Returns the combinations of all strategies."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Combination]:
    """Returns the combinations of strategies but for the default one and those of TPUs."""
    return combine(distribution=strategies_minus_default_and_tpu, mode=graph_and_eager_modes)


def all_strategy_combinations_minus_default() -> list[Combination]:
    """Returns the combinations of all strategies but for the default one."""
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()
