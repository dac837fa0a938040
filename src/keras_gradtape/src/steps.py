"""Execution of a training, evaluation or prediction step: by the NumPy executor, or compiled by XLA.

The NumPy plan is ready immediately. XLA takes seconds to compile and is faster afterwards, which pays off for batches
of a recurring shape. Its programs run asynchronously, so the logs of a step are fetched on demand.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from keras.src import tree

import gradtape as tf
from gradtape.core.budgets import in_force
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


def best(step: Step, logs_late: bool, has_convolutions: bool) -> Step:
    """Chooses NumPy, then XLA for recurring shapes, if JAX is installed and the model has no convolutions."""
    if has_convolutions or importlib.util.find_spec("jax") is None:
        return planned(step)
    return _First(getattr(step, "__qualname__", "the step"), planned(step), compiled(step, logs_late))


class _First:
    """Tiered execution: one function for rare batch shapes, another for frequent ones."""

    def __init__(self, name: str, rare: Step, often: Step) -> None:
        self._name = name
        self._rare = rare
        self._often = often
        self._seen: dict[Any, int] = {}
        self._works = True

    def __call__(self, data: Any) -> Any:
        shapes = _shapes(data)
        count = self._seen[shapes] = self._seen.get(shapes, 0) + 1
        if count <= _OFTEN or not self._works or self._stays_on_numpy():
            return self._rare(data)
        if count > _OFTEN + 2:  # the first call traces it, the second compiles it
            return self._often(data)
        if count == _OFTEN + 1:
            logger.info(
                "after %d batches of one shape, XLA compiles %s for it; this and the next batch take longer. "
                "compile(jit_compile=False) leaves the step on NumPy",
                _OFTEN, self._name,
            )  # fmt: skip
        try:
            return self._often(data)
        except Exception as error:  # the user did not request XLA: fall back to NumPy
            self._works = False
            logger.info("the step stays on NumPy, for XLA has failed: %s", error)
            return self._rare(data)

    def _stays_on_numpy(self) -> bool:
        """Returns whether XLA cannot run the step here, or a memory budget is in force.

        XLA would have to compile the step several times to meet the budget.
        """
        return in_force.budget is not None or is_of_another_process()


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
