# Written by tools/write_stubs.py.
from gradtape.test import experimental as experimental
from gradtape.api.config.execution import (
    disable_with_predicate as disable_with_predicate,
    with_eager_op_as_function as with_eager_op_as_function,
)
from gradtape.api.sysconfig import (
    is_built_with_rocm as is_built_with_rocm,
    is_built_with_xla as is_built_with_xla,
    is_cpu_target_available as is_cpu_target_available,
)
from gradtape_tensorflow.graph_defs.files import (
    assert_equal_graph_def as assert_equal_graph_def,
)
from gradtape_tensorflow.test.benchmarks import (
    Benchmark as Benchmark,
)
from gradtape_tensorflow.test.cases import (
    TestCase as TestCase,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_gpu_available as is_gpu_available,
    main as main,
)
from gradtape_tensorflow.test.compared_gradients import (
    compute_gradient as compute_gradient,
)
