# Written by tools/write_stubs.py.
from gradtape.config import experimental as experimental
from gradtape.config import optimizer as optimizer
from gradtape.config import threading as threading
from gradtape.api.config.settings import (
    LogicalDevice as LogicalDevice,
    LogicalDeviceConfiguration as LogicalDeviceConfiguration,
    PhysicalDevice as PhysicalDevice,
    enable_repeated_row_sums as enable_repeated_row_sums,
    experimental_functions_run_eagerly as experimental_functions_run_eagerly,
    experimental_run_functions_eagerly as experimental_run_functions_eagerly,
    functions_run_eagerly as functions_run_eagerly,
    get_logical_device_configuration as get_logical_device_configuration,
    get_soft_device_placement as get_soft_device_placement,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    repeated_row_sums_enabled as repeated_row_sums_enabled,
    run_functions_eagerly as run_functions_eagerly,
    set_logical_device_configuration as set_logical_device_configuration,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)
from gradtape.distribute.cluster.resolvers import (
    experimental_connect_to_cluster as experimental_connect_to_cluster,
)
