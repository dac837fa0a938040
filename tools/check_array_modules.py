"""Runs every op's kernel on its samples with another array module and compares with NumPy.

    python tools/check_array_modules.py {jax.numpy,cupy} [-v]

Prints which kernels run as they are and which need NumPy; `-v` with the reason.
"""

import importlib
import sys

import numpy as np

from gradtape import ops
from gradtape.engine.registry.op import bind, registry
from gradtape.inspect.checks.opcheck import draw


def arrays_of(value):
    return value if isinstance(value, tuple) else (value,)


def to_numpy(array):
    return array.get() if hasattr(array, "get") else np.asarray(array)


def check(op, case, xp):
    """None if the kernel gives NumPy's answer, else what happened instead."""
    inputs = draw(op, case)
    try:
        expected = arrays_of(op.numpy(*inputs, **case.attrs))
        got = arrays_of(bind(op.kernel, xp)(*[xp.asarray(a) for a in inputs], **case.attrs))
        for a, b in zip(got, expected, strict=True):
            if not isinstance(a, xp.ndarray) and np.ndim(a):
                return f"gives a {type(a).__name__}"
            if not op.random:
                np.testing.assert_allclose(to_numpy(a), b, rtol=1e-6, atol=1e-8)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120] if str(error).strip() else ''}"
    return None


def main(module, verbose):
    if module.startswith("jax"):
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    xp = importlib.import_module(module)
    ops.load_all()
    failures = {}
    for op in registry.values():
        if any(isinstance(i, np.ndarray) and i.dtype == object for case in op.samples for i in case.inputs):
            continue
        reason = next((r for r in (check(op, case, xp) for case in op.samples) if r is not None), None)
        if reason is not None:
            failures[op.name] = reason
    print(f"{len(registry) - len(failures)} of {len(registry)} kernels run with {module} as they are")
    for name, reason in failures.items():
        print(f"  {name}: {reason}" if verbose else f"  {name}")


if __name__ == "__main__":
    main(sys.argv[1], "-v" in sys.argv)
