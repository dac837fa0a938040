"""The device of these tests: a strict fake array library or, with `make test-gpu`, a GPU with CuPy."""

import contextlib
import os

import strict_arrays

import gradtape as tf

ON_GPU = os.environ.get("GRADTAPE_TEST_DEVICE") == "gpu"
MODULE = tf.zeros([1]).module if ON_GPU else strict_arrays.MODULE


def on_host():
    """Context manager: new tensors stay on the host."""
    return tf.device("/CPU:0") if ON_GPU else contextlib.nullcontext()
