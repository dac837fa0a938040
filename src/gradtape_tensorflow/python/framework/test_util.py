"""`tensorflow.python.framework.test_util`: decorators and questions of tests.

A decorator that varies TensorFlow's runtime returns the test unchanged: there is one runtime here. Tests that need a
graph of TensorFlow 1, or a GPU where there is none, are skipped.
"""

from __future__ import annotations

import functools
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import gradtape

F = TypeVar("F", bound=Callable[..., Any])


def _unchanged(test: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Returns the test, or a decorator that does if it is called with options only."""
    return test if callable(test) else lambda test: test


run_in_graph_and_eager_modes = run_all_in_graph_and_eager_modes = run_v2_only = with_eager_op_as_function = _unchanged
disable_xla = disable_tfrt = disable_mlir_bridge = disable_cudnn_autotune = use_deterministic_cudnn = _unchanged
run_without_tensor_float_32 = run_all_without_tensor_float_32 = xla_allow_fallback = no_xla_auto_jit = _unchanged
enable_control_flow_v2 = disable_control_flow_v2 = with_control_flow_v2 = run_in_async_and_sync_mode = _unchanged
assert_no_garbage_created = assert_no_new_tensors = assert_no_new_pyobjects_executing_eagerly = _unchanged
disable_eager_op_as_function = enable_eager_op_as_function = enable_output_all_intermediates = _unchanged

# TensorFlow's tests also reach this module through here.
random_seed = SimpleNamespace(set_seed=gradtape.random.set_seed, set_random_seed=gradtape.random.set_seed)


def _skip(reason: str) -> Callable[..., Any]:
    """Returns a decorator that skips a test, or all tests of a class."""

    def decorate(test: Any = None, *args: Any, **kwargs: Any) -> Any:
        return unittest.skip(reason)(test) if callable(test) else unittest.skip(reason)

    return decorate


run_deprecated_v1 = run_v1_only = deprecated_graph_mode_only = _skip("the test needs a graph of TensorFlow 1")


def run_gpu_only(test: F) -> F:
    """Runs a test if there is a GPU."""

    @functools.wraps(test)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_gpu_available():
            self.skipTest("Test requires GPU")
        return test(self, *args, **kwargs)

    return run  # type: ignore[return-value]


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Returns whether there is a GPU."""
    return bool(gradtape.config.list_physical_devices("GPU"))


def is_xla_enabled() -> bool:
    """Returns whether XLA compiles every function: never."""
    return False


def also_run_as_tf_function(f: Callable[..., Any]) -> Callable[..., None]:
    """Runs a test eagerly, then as a function."""

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> None:
        f(*args, **kwargs)
        gradtape.function(lambda: f(*args, **kwargs))()

    return run
