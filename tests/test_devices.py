"""Devices: listing, placement of tensors, and errors.

recorded/devices contains TensorFlow 2.21's behavior without a GPU; this file covers GPUs, simulated by a probe, and
several CPUs, with TensorFlow's messages.
"""

import contextlib
import logging
import pickle
import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import devices, dlpack, modes
from gradtape.engine.registry import placement

WHOLE = "/job:localhost/replica:0/task:0/device:"
PART = tf.config.LogicalDeviceConfiguration
GPUS = [{"device_name": "One", "compute_capability": (8, 0)}, {"device_name": "Two", "compute_capability": (9, 0)}]


@pytest.fixture
def fresh(monkeypatch):
    """A process that has not used its devices; `fresh(gpus)` has a probe that finds these."""
    old = devices._machine
    before = (devices._Here.elsewhere, devices._Here.device)
    calls = []

    def begin(gpus=None):
        def probe():
            calls.append(1)
            if isinstance(gpus, Exception):
                raise gpus
            return gpus

        devices.set_probe(None if gpus is None else probe)
        return calls

    monkeypatch.setattr(devices, "_machine", devices._Machine())
    monkeypatch.delenv("GRADTAPE_DEVICE", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    devices._machine.changed = old.changed
    begin()
    yield begin
    assert not devices.here.blocks
    monkeypatch.undo()
    devices._Here.elsewhere, devices._Here.device = before
    devices._tell()
    assert not modes.is_active(placement.MODE)


@pytest.fixture
def two_cpus(fresh):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [PART(), PART()])


def at(x):
    return x.device.removeprefix(WHOLE)


# GPUs.


def test_the_probe_is_asked_once_and_only_when_devices_are(fresh):
    calls = fresh(GPUS)
    assert not calls and devices.here.elsewhere
    assert tf.config.list_physical_devices("GPU") == [
        ("/physical_device:GPU:0", "GPU"), ("/physical_device:GPU:1", "GPU")
    ]  # fmt: skip
    assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:0", "/device:GPU:1"]
    assert len(calls) == 1
    assert tf.config.experimental.get_device_details(tf.config.list_physical_devices("GPU")[1]) == GPUS[1]


def test_the_first_tensor_asks_the_probe_and_is_placed_like_the_others(fresh):
    calls = fresh(GPUS)
    seen = []
    mode = modes.Mode()
    mode.tensor_created = seen.append
    modes.enter(mode)
    try:
        made = [tf.constant(1.0), tf.constant([2.0])]
    finally:
        modes.leave(mode)
    assert len(seen) == 2 and all(a is b for a, b in zip(seen, made, strict=True)) and len(calls) == 1


def test_new_tensors_go_to_the_first_gpu(fresh):
    fresh(GPUS)
    assert devices.default_device().name == f"{WHOLE}GPU:0" and devices.here.elsewhere
    for name, expected in (
        ("/GPU:1", "GPU:1"),
        ("/CPU:0", "CPU:0"),
        (None, "GPU:0"),
        ("/GPU:7", "GPU:0"),
        ("", "CPU:0"),
    ):
        with tf.device(name):
            device = devices.default_device()
            assert (f"{device.kind}:{device.index}", devices.here.elsewhere) == (expected, expected != "CPU:0")
    with tf.device("/CPU:0"), tf.device(None):
        assert devices.default_device().kind == "GPU"


def test_another_thread_is_in_no_block(fresh):
    fresh(GPUS)
    seen = []
    with tf.device("/CPU:0"):
        other = threading.Thread(target=lambda: seen.append((devices.default_device().kind, devices.here.elsewhere)))
        other.start()
        other.join()
    assert seen == [("GPU", True)]


@pytest.mark.parametrize(
    ("name", "value"), [("GRADTAPE_DEVICE", "cpu"), ("GRADTAPE_DEVICE", " CPU"), ("CUDA_VISIBLE_DEVICES", ""),
                        ("CUDA_VISIBLE_DEVICES", "-1")]
)  # fmt: skip
def test_gpus_are_turned_off(fresh, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    calls = fresh(GPUS)
    assert tf.config.list_physical_devices("GPU") == [] and not calls
    assert devices.default_device() is devices.HOST and not devices.here.elsewhere
    assert devices.no_gpu_because().startswith(name)


def test_a_setting_that_is_none_is_named(fresh, monkeypatch, caplog):
    monkeypatch.setenv("GRADTAPE_DEVICE", "tpu")
    fresh(GPUS)
    with caplog.at_level(logging.WARNING, "gradtape"):
        assert len(tf.config.list_physical_devices("GPU")) == 2
    assert "GRADTAPE_DEVICE is 'tpu'" in caplog.text


def test_a_probe_that_fails_leaves_the_cpu_and_says_why(fresh):
    fresh(RuntimeError("CUDA driver version is insufficient"))
    assert float(tf.constant(2.0) * 3.0) == 6.0 and not devices.here.elsewhere
    assert devices.no_gpu_because() == "CUDA driver version is insufficient"
    fresh([])
    assert tf.config.list_physical_devices("GPU") == [] and "none" in devices.no_gpu_because()


def test_visible_gpus_are_counted_from_zero(fresh):
    fresh(GPUS)
    second = tf.config.list_physical_devices("GPU")[1]
    tf.config.set_visible_devices(second, "GPU")
    assert tf.config.get_visible_devices("GPU") == [second]
    (gpu,) = devices.logical_devices("GPU")
    assert (gpu.index, gpu.physical) == (0, 1)
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(9, 0))
    assert not tf.test.is_gpu_available(min_cuda_compute_capability=(9, 1))
    assert tf.test.gpu_device_name() == "/device:GPU:0" and tf.test.is_built_with_cuda()
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified after being initialized"):
        tf.config.set_visible_devices([], "GPU")
    assert devices.logical_devices("GPU") == [gpu]


def test_no_visible_gpu_is_the_cpu(fresh):
    fresh(GPUS)
    tf.config.set_visible_devices([], "GPU")
    assert devices.default_device() is devices.HOST and not devices.here.elsewhere
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""


def test_a_gpu_in_parts(fresh):
    fresh(GPUS)
    first, second = tf.config.list_physical_devices("GPU")
    with pytest.raises(ValueError, match="Setting memory limit is required for GPU virtual devices"):
        tf.config.set_logical_device_configuration(first, [PART()])
    tf.config.set_logical_device_configuration(first, [PART(memory_limit=10), PART(memory_limit=20)])
    assert [part.memory_limit for part in tf.config.get_logical_device_configuration(first)] == [10, 20]
    with pytest.raises(ValueError, match="Cannot set memory growth on device when virtual devices configured"):
        tf.config.experimental.set_memory_growth(first, True)
    assert [(d.index, d.physical) for d in devices.logical_devices("GPU")] == [(0, 0), (1, 0), (2, 1)]
    assert tf.config.get_logical_device_configuration(second) is None


def test_memory_growth(fresh):
    fresh(GPUS)
    gpu = tf.config.list_physical_devices("GPU")[0]
    assert tf.config.experimental.get_memory_growth(gpu) is None
    tf.config.experimental.set_memory_growth(gpu, True)
    assert tf.config.experimental.get_memory_growth(gpu) is True
    tf.config.list_logical_devices()
    tf.config.experimental.set_memory_growth(gpu, True)  # nothing is modified
    with pytest.raises(RuntimeError, match="Physical devices cannot be modified after being initialized"):
        tf.config.experimental.set_memory_growth(gpu, False)
    assert tf.config.experimental.get_memory_growth(gpu) is True


def test_memory_is_asked_of_the_backend(fresh):
    fresh(GPUS)
    reset = []
    devices.set_memory_probe(lambda n: {"current": 10 + n, "peak": 20 + n}, reset.append)
    assert tf.config.experimental.get_memory_info("GPU:1") == {"current": 11, "peak": 21}
    assert tf.config.experimental.get_memory_usage("/device:GPU:0") == 10
    tf.config.experimental.reset_memory_stats("GPU:1")
    assert reset == [1]
    assert tf.config.experimental.get_memory_info("CPU:0") == {"current": 0, "peak": 0}
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:2'"):
        tf.config.experimental.get_memory_info("GPU:2")


# Several CPUs, as in TensorFlow 2.21.


def test_two_cpus_are_seen(two_cpus):
    assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:CPU:1"]
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [PART(), PART()])  # nothing is modified
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after being initialized"):
        tf.config.set_logical_device_configuration(cpu, [PART()] * 3)


MADE = {
    "tf.constant([1.0, 2.0])": "CPU:1", "x + x": "CPU:1", "2.0 - x": "CPU:1", "x ** 2.0": "CPU:1", "x > 1.0": "CPU:1",
    "tf.random.normal([2])": "CPU:1", "tf.zeros(2)": "CPU:1", "tf.constant(3)": "CPU:1", "tf.identity(x)": "CPU:1",
    "tf.constant(x)": "CPU:0", "tf.convert_to_tensor(x)": "CPU:0", "tf.reshape(x, [2, 1])": "CPU:1",
    "tf.constant('a')": "CPU:1", "x.cpu()": "CPU:0", "tf.shape(x)": "CPU:1", "tf.unstack(x)[1]": "CPU:1",
    "tf.cast(x, tf.float32)": "CPU:0", "x[0]": "CPU:1", "tf.where(x > 1, x, x)": "CPU:1", "tf.range(3)": "CPU:1",
    "tf.Variable([1.0])": "CPU:1", "tf.Variable(x)": "CPU:1", "v": "CPU:0", "v + 1.0": "CPU:1", "tf.eye(2)": "CPU:1",
    "tf.function(lambda a: a * 2)(x)": "CPU:1", "tf.sparse.from_dense([[1.0, 0.0]]).values": "CPU:1",
    "tf.split(x, 2)[0]": "CPU:1", "tf.matmul([[1.0]], [[2.0]])": "CPU:1", "gradient()": "CPU:1",
}  # fmt: skip


@pytest.mark.parametrize("source", MADE)
def test_where_a_second_cpu_has_what_is_made_there(two_cpus, source):
    x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])

    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        return tape.gradient(loss, v)

    with tf.device("/CPU:1"):
        made = eval(source, {"tf": tf, "x": x, "v": v, "gradient": gradient})
    assert at(made) == MADE[source]
    assert at(x) == at(v) == "CPU:0"
    if isinstance(made, tf.Tensor):  # the block of the op decides, not the device of its arguments
        assert at(tf.identity(made)) == "CPU:0"


def test_the_memory_of_integers_and_text_is_that_of_the_first_cpu(two_cpus):
    with tf.device("/CPU:1"):
        made = [tf.constant(1.0), tf.constant(1), tf.constant("a")]
    assert [x.backing_device.removeprefix(WHOLE) for x in made] == ["CPU:1", "CPU:0", "CPU:0"]


def test_blocks_inside_blocks(two_cpus):
    with tf.device("/CPU:1"):
        for name, expected in ((None, "CPU:0"), ("", "CPU:1"), ("/CPU:0", "CPU:0"), ("CPU", "CPU:1"), ("GPU", "CPU:0")):
            with tf.device(name):
                assert at(tf.constant(1.0)) == expected
        assert at(tf.constant(1.0)) == "CPU:1"
    assert at(tf.constant(1.0)) == "CPU:0"


def test_a_variable_stays_where_it_was_made(two_cpus):
    with tf.device("/CPU:1"):
        v = tf.Variable([1.0, 2.0])
    v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    assert at(v) == "CPU:1" and at(v + 1.0) == "CPU:0"
    assert pickle.loads(pickle.dumps(v)).numpy().tolist() == [4.0, 5.0]


def test_gradients_are_what_they_are_elsewhere(two_cpus):
    def both():
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.sin(x) * x**3.0)
            g = inner.gradient(y, x)
        return g, outer.jacobian(g, x)

    here = both()
    with tf.device("/CPU:1"):
        there = both()
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert at(b) == "CPU:1"


def test_no_mode_stays_active_after_the_block(two_cpus):
    x = tf.constant(1.0)
    assert not modes.is_active(placement.MODE)
    with tf.device("/CPU:1"):
        assert modes.is_active(placement.MODE)
    assert not modes.is_active(placement.MODE) and at(x * 2.0) == "CPU:0"
    with pytest.raises(ZeroDivisionError), tf.device("/CPU:1"):
        1 / 0  # noqa: B018
    assert not modes.is_active(placement.MODE)


def test_a_thread_in_a_block_does_not_place_what_another_makes(two_cpus):
    inside, done = threading.Event(), threading.Event()

    def stay():
        with tf.device("/CPU:1"):
            inside.set()
            done.wait(30)

    other = threading.Thread(target=stay)
    other.start()
    inside.wait(30)
    try:
        assert at(tf.constant(1.0)) == at(tf.constant(1.0) + 1.0) == "CPU:0"
    finally:
        done.set()
        other.join()


def test_an_interrupt_on_the_way_in_leaves_no_block(two_cpus, monkeypatch):
    settle, times = devices._settle, []

    def interrupted(asked):
        settle(asked)
        times.append(1)
        if len(times) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(devices, "_settle", interrupted)
    block = tf.device("/CPU:1")
    with pytest.raises(KeyboardInterrupt), block:
        pass
    assert not devices.here.blocks and at(tf.constant(1.0)) == "CPU:0"
    with block:
        assert at(tf.constant(1.0)) == "CPU:1"


# Errors.


@pytest.fixture
def strictly():
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(True)


def test_a_refusal_says_what_there_is(strictly):
    with tf.device("/GPU:3"), pytest.raises(tf.errors.InvalidArgumentError) as refused:
        tf.constant([1.0])
    message = str(refused.value)
    assert f"Could not satisfy device specification '{WHOLE}GPU:3'. enable_soft_placement=0" in message
    assert f"All available devices [{WHOLE}CPU:0]" in message and "set_soft_device_placement(True)" in message


def test_a_function_is_refused_too(strictly):
    x = tf.constant([1.0])
    plain = tf.function(lambda a: a * 2.0)
    assert float(plain(x)[0]) == 2.0

    @tf.function
    def inside(a):
        with tf.device("/GPU:0"):
            return a * 2.0

    with tf.device("/GPU:0"), pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"):
        plain(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"):
        inside(x)
    assert float(plain(x)[0]) == 2.0


def test_what_is_refused_leaves_everything_as_it_was(strictly):
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(v * v)
        with tf.device("/GPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
            y * 2.0
        with tf.device("/GPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
            v.assign([5.0, 6.0])
    with tf.device("/GPU:0"), pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, v)
    assert v.numpy().tolist() == [1.0, 2.0]
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]


def test_soft_placement_can_be_changed_in_a_block():
    with tf.device("/GPU:0"):
        x = tf.constant(1.0)
        tf.config.set_soft_device_placement(False)
        try:
            with pytest.raises(tf.errors.InvalidArgumentError):
                x + 1.0
        finally:
            tf.config.set_soft_device_placement(True)
        assert at(x + 1.0) == "CPU:0"


# Logging, and exchange with other libraries.


def test_placements_are_logged(caplog):
    x = tf.constant([1.0, 2.0])
    tf.debugging.set_log_device_placement(True)
    try:
        with caplog.at_level(logging.INFO, "gradtape"):
            tf.nn.relu(x * x)
    finally:
        tf.debugging.set_log_device_placement(False)
    assert [record.getMessage() for record in caplog.records] == [
        f"Executing op Mul in device {WHOLE}CPU:0", f"Executing op Relu in device {WHOLE}CPU:0"
    ]  # fmt: skip
    caplog.clear()
    with caplog.at_level(logging.INFO, "gradtape"):
        tf.nn.relu(x)
    assert not caplog.records


def test_dlpack_shares_memory():
    array = np.ones(3, np.float32)
    y = tf.experimental.dlpack.from_dlpack(array.__dlpack__())
    array[0] = 7.0
    assert y.numpy().tolist() == [7.0, 1.0, 1.0]
    x = tf.constant([[1.5, 2.5]], tf.bfloat16)
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))
    assert back.dtype is tf.bfloat16 and back.array.ctypes.data == x.array.ctypes.data


def test_dlpack_of_values_that_are_read_only():
    for dtype in (tf.float32, tf.bfloat16):
        x = tf.broadcast_to(tf.constant(1.0, dtype), [1000])
        back = tf.experimental.dlpack.from_dlpack(x.__dlpack__())
        assert back.dtype is dtype and float(tf.reduce_sum(tf.cast(back, tf.float32))) == 1000.0


def test_dlpack_of_another_device(monkeypatch):
    monkeypatch.setattr(dlpack, "device_of", lambda capsule: dlpack.CUDA)
    capsule = np.ones(3).__dlpack__()
    with pytest.raises(tf.errors.InvalidArgumentError, match="memory of a device"):
        tf.experimental.dlpack.from_dlpack(capsule)
    monkeypatch.setitem(devices._machine.readers, dlpack.CUDA, lambda given: given)
    assert tf.experimental.dlpack.from_dlpack(capsule) is capsule


def test_a_tensor_of_a_function_has_no_capsule():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a TF tensor"):
        tf.function(lambda a: tf.experimental.dlpack.to_dlpack(a))(tf.constant(1.0))


def test_a_thread_that_ends_inside_of_a_device_scope_is_forgotten():
    def enter():
        with contextlib.suppress(RuntimeError):
            tf.device("/CPU:1").__enter__()

    placement._threads.add(-1)  # the identifier of a thread that has ended
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    with tf.device("/CPU:0"):
        pass
    assert not placement._threads


def test_array_libraries_follow_settings_from_the_time_that_they_are_loaded():
    setting, seen = devices.DeviceSetting(True), []
    setting.set(False)
    setting.add_follower(seen.append)
    setting.set(True)
    assert seen == [False, True]
    assert setting.enabled
