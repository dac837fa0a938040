"""`tf.function`: Python functions as graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...core.budgets import in_force, parse_budget
from ...core.scopes import holding
from ...graph.function.function import Function
from ...graph.function.implementations import API, ATTRIBUTES, Implementation
from .. import op_names as _op_names  # noqa: F401  for those who list a function's graph

NAMESPACES = ("",)
__all__ = ["function", "memory_budget"]


@contextmanager
def memory_budget(budget: int | float | str | None) -> Iterator[None]:
    """Inside the block, functions, Keras' `fit` and tapes of this thread keep to a memory budget.

    A function that is called there is traced for it, and keeps to the budget in every run, as with
    `function(memory_budget=...)`; a tape as with `GradientTape(memory_budget=...)`. Those that have a budget of their
    own keep it. None ends the budget of a block around. The numbers are the same as without.

    Args:
      budget: bytes, a string such as "2GB", or a fraction of what a run would take.

    >>> import gradtape as tf
    >>> w = tf.Variable(tf.ones([8, 8]))
    >>> @tf.function
    ... def step(x):
    ...     with tf.GradientTape() as tape:
    ...         loss = tf.reduce_sum(tf.exp(x @ w))
    ...     return tape.gradient(loss, w)
    >>> with tf.memory_budget("1MB"):
    ...     step(tf.zeros([4, 8])).numpy().sum()
    np.float32(0.0)
    """
    with holding(in_force, budget=None if budget is None else parse_budget(budget, "budget")):
        yield


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    *,
    memory_budget: int | float | str | None = None,
) -> Any:
    """Makes a Python function run as a graph: traced once for each signature of its arguments, then run as one piece.

    The Python code runs while it is traced, and not again: what it does beside tensor operations (a Python `print`, an
    append to a list) happens then only. Tensors count by shape and dtype, Python values by what they are.

    Args:
      input_signature: `TensorSpec`s of the arguments; calls that do not fit are refused.
      autograph: whether Python's `if`, `while` and `for` over tensors become part of the graph.
      jit_compile: whether the graph is compiled by XLA, which needs JAX.
      reduce_retracing: whether a second shape of an argument makes a function for all sizes.
      experimental_attributes: TensorFlow's. Of functions with the same `api_implements`, the one whose
        `api_preferred_device` is in use runs in a graph; other attributes change nothing here.
      memory_budget: how much memory a run may take at a time, beside its arguments, the variables and the largest op:
        bytes, a string such as "2GB", or a fraction of what it would take. What does not fit is computed again when it
        is needed; the results are the same. Not TensorFlow's.

    >>> import gradtape as tf
    >>> @tf.function
    ... def square(x):
    ...     print("tracing")
    ...     return x * x
    >>> float(square(tf.constant(3.0)))
    tracing
    9.0
    >>> float(square(tf.constant(4.0)))
    16.0
    """
    attributes = experimental_attributes or {}
    unknown = [name for name in attributes if name not in ATTRIBUTES]
    if unknown:
        raise ValueError(f"{', '.join(unknown)} is not supported by tf.function as an attribute.")
    compiled = jit_compile if jit_compile is not None else experimental_compile
    relaxed = bool(reduce_retracing or experimental_relax_shapes)
    budget = None if memory_budget is None else parse_budget(memory_budget)

    def decorated(f: Callable[..., Any]) -> Function:
        options = (input_signature, autograph, compiled, relaxed, experimental_autograph_options, budget)
        return Implementation(f, attributes, *options) if API in attributes else Function(f, *options)

    return decorated if func is None else decorated(func)
