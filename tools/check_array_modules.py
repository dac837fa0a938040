"""Runs every op's kernel on its samples with another array module and compares with NumPy.

    python tools/check_array_modules.py {jax.numpy,torch} [-v]

PyTorch computes on its CPU device. Prints which kernels run as they are and which need NumPy; `-v` with the reason.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradtape import ops
from gradtape.engine.registry.op import bind, registry
from gradtape.inspect.checks.opcheck import draw


class Library(NamedTuple):
    xp: Any
    array_type: type
    from_host: Callable[[Any], Any]
    to_host: Callable[[Any], Any]


def arrays_of(value):
    return value if isinstance(value, tuple) else (value,)


def library_of(name):
    """The library's namespace, its type of arrays, and its transfers from and to the host."""
    if name == "torch":
        import torch

        from gradtape.backends.torch.device import TorchModule

        module = TorchModule("/device:CPU:0", torch.device("cpu"))
        return Library(module.xp, module.array_type, module.from_host, module.to_host)
    if name != "jax.numpy":
        sys.exit(f"{name} is neither jax.numpy nor torch")
    import jax

    jax.config.update("jax_enable_x64", True)
    return Library(jax.numpy, jax.Array, jax.numpy.asarray, np.asarray)


def check(op, case, library):
    """None if the kernel gives NumPy's answer, else what happened instead."""
    inputs = draw(op, case)
    try:
        expected = arrays_of(op.numpy(*inputs, **case.attrs))
        got = arrays_of(bind(op.kernel, library.xp)(*map(library.from_host, inputs), **case.attrs))
        for a, b in zip(got, expected, strict=True):
            if not isinstance(a, library.array_type) and np.ndim(a):
                return f"gives a {type(a).__name__}"
            if not op.random:
                a = library.to_host(a) if isinstance(a, library.array_type) else a
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120] if str(error).strip() else ''}"
    return None


def main(name, verbose):
    library = library_of(name)
    ops.load_all()
    failures = {}
    for op in registry.values():
        if any(isinstance(i, np.ndarray) and i.dtype == object for case in op.samples for i in case.inputs):
            continue
        reason = next((r for r in (check(op, case, library) for case in op.samples) if r is not None), None)
        if reason is not None:
            failures[op.name] = reason
    print(f"{len(registry) - len(failures)} of {len(registry)} kernels run with {name} as they are")
    for op_name, reason in failures.items():
        print(f"  {op_name}: {reason}" if verbose else f"  {op_name}")


if __name__ == "__main__":
    main(sys.argv[1], "-v" in sys.argv)
