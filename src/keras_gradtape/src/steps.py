"""Execution of a training, evaluation or prediction step: by the NumPy executor, or compiled by XLA.

The NumPy plan is ready immediately. XLA takes seconds to compile and is faster afterwards, which pays off for batches
of a recurring shape. Its programs run asynchronously, so the logs of a step are fetched on demand.
"""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

import numpy as np
from keras.src import tree

import gradtape as tf
from gradtape.core.budgets import in_force
from gradtape.core.locks import BuildLock
from gradtape.core.scopes import holding
from gradtape.engine.run import dispatch
from gradtape.graph.executors.xla.executor import is_of_another_process

from .ops.core import convert_to_tensor

Step = Callable[[Any], Any]

logger = logging.getLogger("gradtape")

_OFTEN = 32  # batches of one shape before XLA compiles the step for it


def planned(step: Step) -> Step:
    """Traces the step for the NumPy executor."""
    return _function(step, jit_compile=False)


def around(step: Step, run: FunctionType) -> Step:
    """Traces `run`, which runs the step on all replicas, under the step's name."""
    return _function(step, jit_compile=False, run=run)


def _function(step: Step, jit_compile: bool, run: FunctionType | None = None) -> Step:
    """Traces `run`, or the step itself, under the step's name, which appears in retracing warnings."""
    # Wrap the step: `tf.function` must not get a method bound to the model, whose traces are dropped with it.
    called = run or (lambda data: step(data))
    name = getattr(step, "__qualname__", called.__qualname__)
    code = called.__code__.replace(co_name=name)  # calls are counted by code object
    call = FunctionType(code, called.__globals__, getattr(step, "__name__", name), None, called.__closure__)
    call.__qualname__ = name
    return tf.function(call, autograph=False, jit_compile=jit_compile)


def compiled(step: Step, logs_late: bool) -> Step:
    """Compiles the step by XLA; with `logs_late`, it returns a dictionary of scalars that are fetched on demand."""
    if logs_late:
        return _Running(step)
    return _function(step, jit_compile=True)


def best(step: Step, logs_late: bool, has_convolutions: bool, trains: bool) -> Step:
    """Chooses NumPy, then XLA for recurring shapes, if JAX is installed and the model has no convolutions.

    A step that `trains` counts all batches. Others count those of one call to `fit`, `evaluate` or `predict`: the many
    short calls of a service are not interrupted by a compilation.
    """
    if has_convolutions or importlib.util.find_spec("jax") is None:
        return planned(step)
    name = getattr(step, "__qualname__", "the step")
    return (_Tiered if trains else _TieredByCall)(name, planned(step), compiled(step, logs_late))


class _Tiered:
    """Tiered execution: on NumPy for rare batch shapes, on XLA for frequent ones.

    One thread at a time compiles; the others go on with NumPy.
    """

    def __init__(self, name: str, on_numpy: Step, on_xla: Step) -> None:
        self._name = name
        self._on_numpy = on_numpy
        self._on_xla = on_xla
        self._seen: dict[Any, int] = {}
        self._compiled: set[Any] = set()  # the shapes that XLA runs
        self._compiling = BuildLock()
        self._works = True

    def __call__(self, data: Any) -> Any:
        shapes = _shapes(data)
        count = self._seen[shapes] = self._seen.get(shapes, 0) + 1
        if count <= _OFTEN:
            return self._on_numpy(data)
        if shapes in self._compiled and not self._stays_on_numpy():
            return self._on_xla(data)
        return self._promote(shapes, data)

    def _promote(self, shapes: Any, data: Any) -> Any:
        """Compiles the step and runs it, or runs it on NumPy: where XLA does not work, or another thread compiles."""
        with self._compiling.unless_busy() as compiles:
            if compiles and self._works and not self._stays_on_numpy():
                logger.info(
                    "after %d batches of one shape, XLA compiles %s for it; this batch takes longer. "
                    "compile(jit_compile=False) leaves the step on NumPy",
                    _OFTEN, self._name,
                )  # fmt: skip
                try:
                    result = self._on_xla(data)
                except Exception as error:
                    self._refuse(error)
                else:
                    self._compiled.add(shapes)
                    return result
        return self._on_numpy(data)

    def _refuse(self, error: Exception) -> None:
        """Leaves the step on NumPy, as the user did not request XLA."""
        self._works = False
        logger.info("the step stays on NumPy, for XLA has failed: %s", error)

    def _stays_on_numpy(self) -> bool:
        """Returns whether XLA cannot run the step here, or a memory budget is in force.

        XLA would have to compile the step several times to meet the budget.
        """
        return in_force.budget is not None or is_of_another_process()

    def get_concrete_function(self, data: Any) -> Any:
        """Compiles the step for batches of this shape without running it."""
        if self._works and not self._stays_on_numpy():
            try:
                concrete = self._on_xla.get_concrete_function(data)
                concrete.compile()
            except Exception as error:
                self._refuse(error)
            else:
                shapes = _shapes(data)
                self._seen[shapes] = _OFTEN
                self._compiled.add(shapes)
                return concrete
        return self._on_numpy.get_concrete_function(data)


class _Call(threading.local):
    counts: Counter[Any] | None = None  # of the batches of each shape; None outside of `fit`, `evaluate`, `predict`


_call = _Call()


def counting_batches() -> AbstractContextManager[Any]:
    """Returns a context for one call to `fit`, `evaluate` or `predict`: it counts the call's batches."""
    return holding(_call, counts=Counter())


class _TieredByCall(_Tiered):
    """Tiered execution where a shape is frequent if it is frequent within one call, or was compiled in advance."""

    def __call__(self, data: Any) -> Any:
        shapes = _shapes(data)
        if shapes in self._compiled:
            return self._on_numpy(data) if self._stays_on_numpy() else self._on_xla(data)
        counts = _call.counts
        if counts is None:
            return self._on_numpy(data)
        counts[self, shapes] += 1
        return self._on_numpy(data) if counts[self, shapes] <= _OFTEN else self._promote(shapes, data)


def _shapes(data: Any) -> Any:
    """Returns the shapes of a batch; the fast path is a tuple of tensors."""
    if type(data) is tuple:
        return tuple([x.dims if isinstance(x, tf.Tensor) else _shapes(x) for x in data])
    return tuple([x.dims for x in tree.flatten(data) if isinstance(x, tf.Tensor)])


class _Running:
    """An XLA-compiled step that leaves its logs on the device, in write-only variables."""

    def __init__(self, step: Step) -> None:
        logs: dict[str, Any] = {}
        self._logs = logs

        def run(data: Any) -> None:
            for name, value in step(data).items():
                value = convert_to_tensor(value)
                if name not in logs:
                    with dispatch.traced_by(None):
                        logs[name] = tf.Variable(tf.zeros(value.dims, value.dtype), trainable=False)
                logs[name].assign(value)

        self._function = _function(step, jit_compile=True, run=run)

    def __call__(self, data: Any) -> dict[str, Late]:
        self._function(data)
        return {name: Late(variable._storage.latest()) for name, variable in self._logs.items()}

    def get_concrete_function(self, data: Any) -> Any:
        """Compiles the step for batches of this shape without running it."""
        return self._function.get_concrete_function(data)


class Late:
    """A scalar that a device may still be computing; conversion to a number waits for it."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __float__(self) -> float:
        return float(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._array, dtype)

    def __repr__(self) -> str:
        return f"Late({float(self)})"
