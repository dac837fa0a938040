"""How each library trains: its tensors, its optimisers, its compiler."""

import importlib

# The file that knows the library.
FILES = {
    "gradtape": "tape", "tensorflow": "tape", "torch": "with_torch", "jax": "with_jax", "autograd": "with_autograd",
}  # fmt: skip


def step_of(work, library, way="", **options):
    """A function without arguments: one step of the work on its next batch, which returns the loss as a number.

    gradtape and PyTorch take `read`, which is applied to the loss instead of `float`, and PyTorch takes `device`.
    """
    return importlib.import_module(f".{FILES[library]}", __name__).step_of(work, library, way, **options)
