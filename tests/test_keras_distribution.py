"""`keras.distribution` on four virtual CPUs, and on two processes: the numbers are those of one device."""

import json
import os
import socket
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from gradtape.core.extras import is_installed

if not (find_spec("jax") and is_installed("keras")):
    pytest.skip("needs JAX and Keras", allow_module_level=True)

pytestmark = pytest.mark.several
HERE = Path(__file__).parent
PROGRAM = HERE / "keras_distribution_program.py"
CHECKS = [line.split("(")[0].removeprefix("def ") for line in PROGRAM.read_text().splitlines() if "def check_" in line]


def _environment() -> dict[str, str]:
    return {**os.environ, "KERAS_BACKEND": "gradtape", "PYTHONPATH": str(HERE.parent / "src")}


@cache
def outcomes() -> dict[str, str]:
    """Returns the exception of each check of the program, or nothing."""
    ran = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=600, env=_environment(), check=False
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, str] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.xdist_group("keras_distribution")
def test_on_four_devices(check):
    assert not outcomes()[check], outcomes()[check]


WORKER = """
import sys
import numpy as np
import gradtape as tf
from gradtape import keras

count, rank, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * (2 // count))
if count > 1:
    keras.distribution.initialize(address, count, rank)
x = np.random.default_rng(0).normal(size=(16, 4)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(8)
for shape in ((2, 1), (1, 2)):  # the batch is split, or the model
    keras.utils.set_random_seed(1)
    layouts = keras.distribution.LayoutMap(keras.distribution.DeviceMesh(shape, ["batch", "model"]))
    layouts[".*kernel"] = (None, "model")
    with keras.distribution.ModelParallel(layout_map=layouts).scope():
        layers = [keras.layers.Dense(6, "tanh"), keras.layers.Dropout(0.1), keras.layers.Dense(2)]
        model = keras.Sequential([keras.Input((4,)), *layers])
        model.compile("sgd", "mse")
        losses = model.fit(data, epochs=2, verbose=0).history["loss"]
        numbers = [*losses, *model.predict(data, verbose=0).sum(0), *layers[0].kernel.numpy().ravel()]
    print("found", " ".join(f"{number:.4g}" for number in numbers))
"""


def run_workers(program, places):
    """Returns what workers with these world sizes and ranks printed, and their exit codes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(count), str(rank), address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment(),
        )
        for count, rank in places
    ]  # fmt: skip
    said = [worker.communicate(timeout=600) for worker in workers]
    return said, [worker.returncode for worker in workers]


def test_two_processes():
    """Each has one of two devices."""
    said, codes = run_workers(WORKER, [(1, 0), (2, 0), (2, 1)])
    assert codes == [0, 0, 0], [error for _, error in said]
    alone, first, second = [[line for line in text.splitlines() if line.startswith("found")] for text, _ in said]
    assert alone == first == second and len(alone) == 2


def test_a_process_that_dies():
    """The other process ends with a message that names it."""
    dying = "os.kill(os.getpid(), signal.SIGKILL) if rank == 1 and batch == 1 else None"
    stop = f"[keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: {dying})]"
    program = "import os, signal\n" + WORKER.replace("epochs=2,", f"epochs=500, callbacks={stop},")
    said, codes = run_workers(program, [(2, 0), (2, 1)])
    assert codes[0] == 1 and codes[1] == -9
    assert "UnavailableError: rank 1 " in said[0][1] and "died without reporting an error" in said[0][1], said[0][1]
