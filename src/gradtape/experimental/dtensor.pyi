# Written by tools/write_stubs.py.
from gradtape.api.dtensor.clients import (
    barrier as barrier,
    client_id as client_id,
    create_distributed_mesh as create_distributed_mesh,
    create_mesh as create_mesh,
    create_tpu_mesh as create_tpu_mesh,
    full_job_name as full_job_name,
    heartbeat_enabled as heartbeat_enabled,
    initialize_accelerator_system as _initialize_multi_client,
    initialize_accelerator_system as _initialize_tpu_system,
    initialize_accelerator_system as initialize_accelerator_system,
    job_name as job_name,
    jobs as jobs,
    local_devices as local_devices,
    num_clients as num_clients,
    num_global_devices as num_global_devices,
    num_local_devices as num_local_devices,
    preferred_device_type as preferred_device_type,
    shutdown_accelerator_system as _shutdown_tpu_system,
    shutdown_accelerator_system as shutdown_accelerator_system,
)
from gradtape.api.dtensor.datasets import (
    DTensorDataset as DTensorDataset,
)
from gradtape.api.dtensor.layouts import (
    Layout as Layout,
    MATCH as MATCH,
    Mesh as Mesh,
    UNSHARDED as UNSHARDED,
)
from gradtape.api.dtensor.saving import (
    DTensorCheckpoint as DTensorCheckpoint,
    name_based_restore as name_based_restore,
    name_based_save as name_based_save,
    sharded_save as sharded_save,
)
from gradtape.api.dtensor.tensors import (
    call_with_layout as call_with_layout,
    check_layout as check_layout,
    copy_to_mesh as copy_to_mesh,
    default_mesh as default_mesh,
    device_name as device_name,
    fetch_layout as fetch_layout,
    get_default_mesh as get_default_mesh,
    is_dtensor as is_dtensor,
    pack as pack,
    relayout as relayout,
    relayout_like as relayout_like,
    run_on as run_on,
    unpack as unpack,
)
from gradtape.api.dtensor.variables import (
    DVariable as DVariable,
    enable_save_as_bf16 as enable_save_as_bf16,
)
initialize_multi_client = _initialize_multi_client
initialize_tpu_system = _initialize_tpu_system
shutdown_tpu_system = _shutdown_tpu_system
