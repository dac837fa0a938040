"""Device names, `tf.device` blocks, and device settings, on a machine without a GPU."""


def _under(name, make, soft=True):
    """A program: the device of a tensor created in a block, or the error."""

    def program(tf):
        x = tf.constant([1.0, 2.0])
        v = tf.Variable([1.0, 2.0])
        tf.config.set_soft_device_placement(soft)
        try:
            with tf.device(name(tf) if callable(name) else name):
                return eval(make, {"tf": tf, "x": x, "v": v}).device
        finally:
            tf.config.set_soft_device_placement(True)

    return program


_MADE = {
    "constant": "tf.constant([1.5, 2.5])", "integers": "tf.constant([7, 8])", "text": "tf.constant(['a', 'b'])",
    "sum": "x + x", "negative": "-x", "reflected": "2.0 - x", "power": "x ** 2",
    "slice": "x[0]", "identity": "tf.identity(x)",
    "product": "tf.linalg.matvec([[1.0, 2.0]], x)", "zeros": "tf.zeros(2)",
    "range": "tf.range(3)", "shape": "tf.shape(x)",
    "random": "tf.random.normal([2])", "variable": "tf.Variable([1.0])", "variable_of_tensor": "tf.Variable(x)",
    "read": "v + 1.0", "assign": "v.assign(x)", "assign_add": "v.assign_add(x)",
    "function": "tf.function(lambda a: a * 2)(x)",
    "same": "tf.convert_to_tensor(x)",
}  # fmt: skip
_NAMES = [
    "/GPU:0", "gpu:1", "/device:GPU:0", "/CPU:0", "CPU", "cpu:0", "/CPU:1", "", "/job:localhost", "/task:0",
    "GPU:*", "/gpu",
    "/job:localhost/replica:0/task:0/device:CPU:0", "/device:FOO:0", "/TPU:0",
    "CPU:01", "/job:worker/task:3/device:CPU:0",
    "banana", "/banana:0", "GPU:x", "CPU:0:1", "/cpu:0/gpu:0", "/XPU:3", "/device:CPU:-1", " /CPU:0", "XLA_CPU:0",
    "FOO:0", "/device:GPU", "/device:GPU:*",
]  # fmt: skip
_OTHERS = {
    "none": None, "number": 5, "list": ["a"], "spec": lambda tf: tf.DeviceSpec(device_type="GPU", device_index=2),
    "logical": lambda tf: tf.config.list_logical_devices()[0],
    "physical": lambda tf: tf.config.list_physical_devices()[0],
    "function": lambda tf: lambda op: "/CPU:0",
}  # fmt: skip


def _nested(*names):
    def program(tf):
        def enter(rest):
            if not rest:
                return tf.constant([1.0, 2.0]).device
            with tf.device(rest[0]):
                return enter(rest[1:])

        tf.config.set_soft_device_placement(False)
        try:
            return enter(names)
        finally:
            tf.config.set_soft_device_placement(True)

    return program


def _in_a_function(name, soft):
    def program(tf):
        @tf.function
        def f(a):
            with tf.device(name):
                return a * 2

        tf.config.set_soft_device_placement(soft)
        try:
            return f(tf.constant([1.0])).device
        finally:
            tf.config.set_soft_device_placement(True)

    return program


def _left_in_the_wrong_order(tf):
    outer, inner = tf.device("/CPU:0"), tf.device("/GPU:0")
    outer.__enter__()
    inner.__enter__()
    try:
        outer.__exit__(None, None, None)
    finally:
        inner.__exit__(None, None, None)
        outer.__exit__(None, None, None)


def _one_block_twice(tf):
    block = tf.device("/CPU:0")
    with block, block:
        return tf.constant([1.0, 2.0]).device


_SPECS = [
    "from_string('/job:a/replica:1/task:2/device:GPU:3')", "from_string('/gpu:1')", "from_string('CPU')",
    "from_string(None)", "from_string('')", "from_string('/job:1:2')", "from_string('job:a')", "from_string('/task:x')",
    "from_string('/replica:*')", "from_string('/device:gpu:0')", "from_string('/gpu:*')", "from_string('CUSTOM:1')",
    "from_string('/GPU:0/CPU:0')", "from_string('nothing')", "from_string(5)",
]  # fmt: skip
_SPEC_EXPRESSIONS = {
    "made": "repr(tf.DeviceSpec(job='a', replica='1', task=2, device_type='gpu', device_index='3'))",
    "bad_index": "tf.DeviceSpec(device_index='x')",
    "parts": "[getattr(tf.DeviceSpec.from_string('/job:a/task:2/GPU:1'), n) for n in "
    "('job', 'replica', 'task', 'device_type', 'device_index')]",
    "parse": "tf.DeviceSpec(job='a').parse_from_string('/GPU:1').to_string()",
    "merged": "tf.DeviceSpec.from_string('/job:a/GPU:1')"
    ".make_merged_spec(tf.DeviceSpec(device_type='CPU')).to_string()",
    "merged_none": "tf.DeviceSpec.from_string('/job:a/GPU:1').make_merged_spec(tf.DeviceSpec()).to_string()",
    "merged_text": "tf.DeviceSpec().make_merged_spec('/GPU:0')",
    "replaced": "tf.DeviceSpec.from_string('/job:a/GPU:1').replace(job=None, device_index=4).to_string()",
    "replaced_unknown": "tf.DeviceSpec().replace(foo=1)",
    "equal": "tf.DeviceSpec.from_string('/GPU:0') == tf.DeviceSpec(device_type='GPU', device_index=0)",
    "different": "tf.DeviceSpec.from_string('/GPU:0') == tf.DeviceSpec(device_type='GPU')",
    "not_text": "tf.DeviceSpec() == ''",
    "hash": "len({tf.DeviceSpec(job='a'), tf.DeviceSpec(job='a'), tf.DeviceSpec()})",
    "fixed": "setattr(tf.DeviceSpec(), 'job', 'a')",
}
_CPU = "tf.config.list_physical_devices('CPU')[0]"
_PART = "tf.config.LogicalDeviceConfiguration"
_CONFIG = {
    "physical": "[tuple(d) for d in tf.config.list_physical_devices()]",
    "physical_lower": "tf.config.list_physical_devices('cpu')",
    "physical_text": f"str({_CPU})",
    "logical": "[tuple(d) for d in tf.config.list_logical_devices('CPU')]",
    "logical_text": "str(tf.config.list_logical_devices('CPU')[0])",
    "visible_text": "tf.config.set_visible_devices('x')",
    "visible_of_another_kind": f"tf.config.set_visible_devices([{_CPU}], 'GPU')",
    "visible_tuple": f"tf.config.set_visible_devices(({_CPU},))",
    "visible_same": f"tf.config.set_visible_devices({_CPU}, 'CPU')",
    "visible_late": "tf.zeros(2) is None or tf.config.set_visible_devices([], 'CPU')",
    "growth_of_cpu": f"tf.config.experimental.set_memory_growth({_CPU}, True)",
    "growth_asked_of_cpu": f"tf.config.experimental.get_memory_growth({_CPU})",
    "growth_unknown": "tf.config.experimental.set_memory_growth('x', True)",
    "growth_asked_unknown": "tf.config.experimental.get_memory_growth('x')",
    "divided": f"tf.config.get_logical_device_configuration({_CPU})",
    "divided_unknown": "tf.config.get_logical_device_configuration('x')",
    "divide_with_limit": f"tf.config.set_logical_device_configuration({_CPU}, [{_PART}(memory_limit=3)])",
    "divide_with_priority": f"tf.config.set_logical_device_configuration({_CPU}, [{_PART}(experimental_priority=1)])",
    "divide_with_ordinal": f"tf.config.set_logical_device_configuration({_CPU},"
    f" [{_PART}(experimental_device_ordinal=1)])",
    "divide_unknown": f"tf.config.set_logical_device_configuration('x', [{_PART}()])",
    "divide_late": f"tf.zeros(2) is None or tf.config.set_logical_device_configuration({_CPU}, [{_PART}()] * 2)",
    "virtual_late": "tf.zeros(2) is None or"
    f" tf.config.experimental.set_virtual_device_configuration({_CPU}, [{_PART}()] * 2)",
    "part": f"[{_PART}(5).memory_limit, tuple({_PART}()), str({_PART}())]",
    "virtual_part": f"tf.config.experimental.VirtualDeviceConfiguration is {_PART}",
    "details": f"tf.config.experimental.get_device_details({_CPU})",
    "details_text": "tf.config.experimental.get_device_details('CPU')",
    "details_unknown": "tf.config.experimental.get_device_details(tf.config.PhysicalDevice('a', 'GPU'))",
    "soft": "[tf.config.set_soft_device_placement(5), tf.config.get_soft_device_placement()]",
    "tf32": "[tf.config.experimental.tensor_float_32_execution_enabled(),"
    " tf.config.experimental.enable_tensor_float_32_execution(False),"
    " tf.config.experimental.tensor_float_32_execution_enabled(),"
    " tf.config.experimental.enable_tensor_float_32_execution(True)]",
    "gpu_available": "tf.test.is_gpu_available()",
    "gpu_name": "tf.test.gpu_device_name()",
    "to_gpu": "tf.constant(1.0).gpu()",
    "to_cpu": "tf.constant(1.0).cpu().device",
    "log": "[tf.debugging.set_log_device_placement(True), tf.debugging.get_log_device_placement(),"
    " tf.debugging.set_log_device_placement(False), tf.debugging.get_log_device_placement()]",
}
_MEMORY = [
    "CPU:0", "GPU:0", "CPU", "/device:CPU:0", "/physical_device:CPU:0", "bad", "GPU:", 5, "CPU:7", "FOO:0", "GPU:0:1",
    "/job:localhost/replica:0/task:0/device:CPU:0", "/GPU:0",
]  # fmt: skip
_FROM, _TO = "tf.experimental.dlpack.from_dlpack", "tf.experimental.dlpack.to_dlpack"
_DLPACK = {
    "there_and_back": f"{_FROM}({_TO}(tf.constant([[1.0, 2.0]])))",
    "scalar": f"{_FROM}({_TO}(tf.constant(3)))",
    "bool": f"{_FROM}({_TO}(tf.constant([True, False])))",
    "bfloat16": f"{_FROM}({_TO}(tf.constant([1.5], tf.bfloat16)))",
    "complex": f"{_FROM}({_TO}(tf.constant([1.0 + 2.0j])))",
    "of_numpy": f"{_FROM}(np.arange(3, dtype=np.int64).__dlpack__())",
    "to_numpy": "np.from_dlpack(tf.constant([1.0, 2.0]))",
    "device": "tf.constant([1.0]).__dlpack_device__()",
    "variable": f"{_TO}(tf.Variable(1.0))",
    "array": f"{_TO}(np.ones(2))",
    "list": f"{_TO}([1.0])",
    "quantized": f"{_TO}(tf.constant([1, 2], tf.qint8))",
    "no_capsule": f"{_FROM}(np.ones(2))",
    "nothing": f"{_FROM}(None)",
    "twice": f"(lambda c: [{_FROM}(c), {_FROM}(c)])({_TO}(tf.constant([1.0])))",
}

CASES = [
    *((f"at {name!r}", _under(name, "tf.constant([1.5, 2.5])")) for name in _NAMES),
    *((f"{what} at a GPU", _under("/GPU:0", make)) for what, make in _MADE.items()),
    *((f"{what} at a GPU, refused", _under("/GPU:3", make, soft=False)) for what, make in _MADE.items()),
    *((f"at {what}", _under(name, "tf.constant([1.5, 2.5])")) for what, name in _OTHERS.items()),
    *(
        (f"inside {names}", _nested(*names))
        for names in (
            ("/GPU:0", None),
            ("/GPU:0", "CPU:0"),
            ("/CPU:0", "/job:localhost"),
            ("/GPU:1", "/job:localhost"),
            ("/GPU:0", ""),
            ("/GPU:1", "CPU"),
            ("/CPU:1", None, "/CPU:0"),
            (None, "GPU"),
        )
    ),
    *(
        (f"{name} in a function, {'softly' if soft else 'strictly'}", _in_a_function(name, soft))
        for name, soft in (("/GPU:0", True), ("/CPU:1", True), ("/CPU:0", False))
    ),
    ("wrong order", _left_in_the_wrong_order),
    ("one block twice", _one_block_twice),
    *((f"spec {call}", f"repr(tf.DeviceSpec.{call})") for call in _SPECS),
    *((f"spec {name}", source) for name, source in _SPEC_EXPRESSIONS.items()),
    *((f"config {name}", source) for name, source in _CONFIG.items()),
    *((f"memory of {name!r}", f"tf.config.experimental.get_memory_info({name!r})") for name in _MEMORY),
    *((f"usage of {name!r}", f"tf.config.experimental.get_memory_usage({name!r})") for name in _MEMORY),
    *((f"peak of {name!r}", f"tf.config.experimental.reset_memory_stats({name!r})") for name in _MEMORY),
    *((f"dlpack {name}", source) for name, source in _DLPACK.items()),
]
