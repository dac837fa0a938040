"""The device of these tests: PyTorch's CPU device under a GPU's name or, with `make test-gpu`, a GPU."""

import contextlib
import os

import gradtape as tf
from gradtape.backends.arrays import Kernels
from gradtape.engine.registry.op import registry

ON_GPU = os.environ.get("GRADTAPE_TEST_DEVICE") == "gpu"


def _module():
    if ON_GPU:
        return tf.zeros([1]).module
    import torch

    from gradtape.backends.torch.device import TorchModule
    from gradtape.state import device_storage  # noqa: F401  where variables are stored there

    return TorchModule("/job:localhost/replica:0/task:0/device:GPU:0", torch.device("cpu"))


MODULE = _module()


def replace_kernels(patch, name, kernel):
    """Makes `kernel` the only one of the op on the device."""
    patch.setitem(MODULE.kernels, registry[name], Kernels(kernel, kernel, kernel))


def on_host():
    """Context manager: new tensors stay on the host."""
    return tf.device("/CPU:0") if ON_GPU else contextlib.nullcontext()
