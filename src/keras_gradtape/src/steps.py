"""A step of training, evaluation or prediction as it is run: planned on NumPy, or compiled by XLA.

The plan on NumPy is ready at once. XLA takes seconds to compile, and is faster then: it is worth it for batches of a
shape that keeps coming. Its programs run on while Python goes on, so what a step logs is fetched when somebody asks.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from keras.src import tree

import gradtape as tf
from gradtape.core.budgets import in_force
from gradtape.engine.run import dispatch

from .ops.core import convert_to_tensor

Step = Callable[[Any], Any]

logger = logging.getLogger("gradtape")

_OFTEN = 32  # batches of one shape, after which XLA compiles the step for it


def planned(step: Step) -> Step:
    """The step as a graph that NumPy runs."""
    return _function(step, jit_compile=False)


def around(step: Step, run: Step) -> Step:
    """`run`, which runs the step on all replicas, as a function under the step's name."""
    return _function(step, jit_compile=False, run=run)


def _function(step: Step, jit_compile: bool, run: Step | None = None) -> Step:
    """`run`, or the step itself, as a function under the step's name, which warnings of retracing tell."""
    # The parameter must not be bound to the model: what the function was traced for goes with it.
    call = run or (lambda data: step(data))
    name = getattr(step, "__qualname__", call.__qualname__)
    call.__name__ = getattr(step, "__name__", call.__name__)
    call.__qualname__, call.__code__ = name, call.__code__.replace(co_name=name)  # calls are counted by code
    return tf.function(call, autograph=False, jit_compile=jit_compile)


def compiled(step: Step, logs_late: bool) -> Step:
    """The step compiled by XLA; if `logs_late`, it returns scalars in a dictionary, which are fetched when needed."""
    if logs_late:
        return _Running(step)
    return _function(step, jit_compile=True)


def best(step: Step, logs_late: bool, has_convolutions: bool) -> Step:
    """The step planned on NumPy, and compiled by XLA for what comes often, if there is XLA and it is the faster one."""
    if has_convolutions or importlib.util.find_spec("jax") is None:
        return planned(step)
    return _First(getattr(step, "__qualname__", "the step"), planned(step), compiled(step, logs_late))


class _First:
    """The one function for batches whose shape is rare, the other for those that come often."""

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
        if count > _OFTEN + 2:  # the first call has traced it, the second has compiled it
            return self._often(data)
        if count == _OFTEN + 1:
            logger.info(
                "after %d batches of one shape, XLA compiles %s for it; this and the next batch take longer. "
                "compile(jit_compile=False) leaves the step on NumPy",
                _OFTEN, self._name,
            )  # fmt: skip
        try:
            return self._often(data)
        except Exception as error:  # nobody has asked for XLA: what it does not know is left to NumPy
            self._works = False
            logger.info("the step stays on NumPy, for XLA has failed: %s", error)
            return self._rare(data)

    def _stays_on_numpy(self) -> bool:
        """Whether there is a memory budget: XLA would have to compile the step several times to keep to it."""
        return in_force.budget is not None


def _shapes(data: Any) -> Any:
    """The shapes in a batch, which is mostly a tuple of tensors."""
    if type(data) is tuple:
        return tuple([x.dims if isinstance(x, tf.Tensor) else _shapes(x) for x in data])
    return tuple([x.dims for x in tree.flatten(data) if isinstance(x, tf.Tensor)])


class _Running:
    """A step compiled by XLA, whose logs are left on the device, in variables that are only written to."""

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
        return {name: Late(variable._latest()) for name, variable in self._logs.items()}


class Late:
    """A number that a device may still be computing: whoever needs it waits for it."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __float__(self) -> float:
        return float(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._array, dtype)

    def __repr__(self) -> str:
        return f"Late({float(self)})"
