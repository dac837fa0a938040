"""How each library trains: its tensors, its optimisers, its compiler."""

import importlib

# The file that knows the library.
FILES = {
    "gradtape": "tape", "tensorflow": "tape", "torch": "with_torch", "jax": "with_jax", "autograd": "with_autograd",
}  # fmt: skip


def step_of(work, library, way=""):
    """A function without arguments: one step of the work on its next batch, which returns the loss as a number."""
    return importlib.import_module(f".{FILES[library]}", __name__).step_of(work, library, way)
