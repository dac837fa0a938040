# Written by tools/write_stubs.py.
from gradtape.experimental import dlpack as dlpack
from gradtape.experimental import dtensor as dtensor
from gradtape.experimental import extension_type as extension_type
from gradtape.experimental import numpy as numpy
from gradtape.experimental import tensorrt as tensorrt
from gradtape.api.config.execution import (
    async_clear_error as async_clear_error,
    async_scope as async_scope,
    enable_strict_mode as enable_strict_mode,
    function_executor_type as function_executor_type,
)
from gradtape.api.dtypes import (
    float4_e2m1fn as float4_e2m1fn,
    float8_e4m3b11fnuz as float8_e4m3b11fnuz,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    int2 as int2,
    int4 as int4,
    uint2 as uint2,
    uint4 as uint4,
)
from gradtape.api.experimental.dispatch import (
    dispatch_for_api as dispatch_for_api,
    dispatch_for_binary_elementwise_apis as dispatch_for_binary_elementwise_apis,
    dispatch_for_binary_elementwise_assert_apis as dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis as dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for as unregister_dispatch_for,
)
from gradtape.api.experimental.extension_type import (
    BatchableExtensionType as BatchableExtensionType,
    ExtensionType as ExtensionType,
    ExtensionTypeBatchEncoder as ExtensionTypeBatchEncoder,
    ExtensionTypeSpec as ExtensionTypeSpec,
)
from gradtape.api.runtime.libraries import (
    register_filesystem_plugin as register_filesystem_plugin,
)
from gradtape.data.transformations import (
    Optional as Optional,
)
from gradtape.ragged.shape import (
    DynamicRaggedShape as DynamicRaggedShape,
)
from gradtape.ragged.tensor import (
    RowPartition as RowPartition,
)
