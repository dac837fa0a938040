# Written by tools/write_stubs.py.
from gradtape.api.data_service.reading import (
    CrossTrainerCache as CrossTrainerCache,
    ShardingPolicy as ShardingPolicy,
    distribute as distribute,
    from_dataset_id as from_dataset_id,
    register_dataset as register_dataset,
)
from gradtape.api.data_service.servers import (
    DispatchServer as DispatchServer,
    DispatcherConfig as DispatcherConfig,
    WorkerConfig as WorkerConfig,
    WorkerServer as WorkerServer,
)
