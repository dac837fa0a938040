"""A kernel that fails on a GPU: every later call of the process fails, and the error says what to do."""

import subprocess
import sys

import pytest
from stand_in import MODULE, ON_GPU, replace_kernels

import gradtape as tf
from gradtape.graph.function import jit_policy

SAID = "CUDA error: misaligned address\nCUDA kernel errors might be asynchronously reported at some other API call"


def failing(*arrays, **attrs):
    raise RuntimeError(SAID)


def raises(what):
    """Expects the error with the reason, and what to do."""
    return pytest.raises(
        tf.errors.InternalError,
        match=rf"restart the process.*\(CUDA error: misaligned address\); {what} has met.*CUDA_LAUNCH_BLOCKING=1",
    )


def test_what_meets_the_error_is_named(gpu, monkeypatch, caplog):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.exp(x)
    with monkeypatch.context() as patched:
        for name, f in (("exp", tf.exp), ("concat", lambda x: tf.concat([x, x], 0)), ("add", lambda x: x + x)):
            f(x)  # loads the op
            replace_kernels(patched, name, failing)
            with raises(f"op {name}"):
                f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.matmul(x, x)
        replace_kernels(patched, "matmul", failing)
        with raises("op matmul"):
            tape.gradient(z, x)
        patched.setattr(MODULE, "from_host", failing)
        with raises("a copy to the device"):
            tf.constant([1.0, 2.0])
        patched.setattr(MODULE, "to_host", failing)
        with raises("a copy to the host"):
            y.numpy()
        jit_policy._check_device.cache_clear()
        with raises("the start of XLA"):  # which would abort the process
            tf.function(tf.exp, jit_compile=True)(x)
    assert not caplog.records  # no op is computed on the host


OUT_OF_RANGE = """
import torch
import gradtape as tf

x = tf.ones([3])
torch.ones(3, device="cuda")[torch.tensor([7], device="cuda")]
function = tf.function(lambda x: tf.exp(x) * x + x * 2.0 - 1.0)
for f in (lambda x: tf.exp(x).numpy(), lambda x: tf.constant([1.0, 2.0]), function):
    try:
        f(x)
    except tf.errors.InternalError as error:
        assert "restart the process" in str(error) and "CUDA_LAUNCH_BLOCKING=1" in str(error)
    else:
        raise SystemExit("no error")
"""


@pytest.mark.skipif(not ON_GPU, reason="it ends the use of a GPU")
def test_a_failed_assertion_of_a_kernel():
    found = subprocess.run([sys.executable, "-c", OUT_OF_RANGE], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr[-3000:]
