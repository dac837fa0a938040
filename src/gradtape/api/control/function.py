"""`tf.function`: Python functions as graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ...core.budgets import in_force, parse_budget
from ...core.scopes import holding
from ...graph.function.function import Function
from ...graph.function.implementations import API, ATTRIBUTES, Implementation
from ..runtime.operations import FUNCTION_VIEW

NAMESPACES = ("",)
__all__ = ["function", "memory_budget"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")

if TYPE_CHECKING:

    class PolymorphicFunction(Function, Generic[R, P]):
        """A `Function` with the signature of the Python function that it traces.

        The result's type comes first: jedi, which completes in IPython and many editors, skips parameter specifications
        and would take the second type for the first.
        """

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __get__(self, instance: None, owner: type | None = None) -> PolymorphicFunction[R, P]: ...
        @overload
        def __get__(
            self: PolymorphicFunction[R, Concatenate[Any, Q]], instance: object, owner: type | None = None
        ) -> PolymorphicFunction[R, Q]: ...
        def __get__(self, instance: object, owner: type | None = None) -> Any: ...


@contextmanager
def memory_budget(budget: int | float | str | None) -> Iterator[None]:
    """Context manager: functions, Keras' `fit` and tapes of this thread respect a memory budget.

    A function called inside the block is traced for the budget and respects it in every run, as with
    `function(memory_budget=...)`; a tape as with `GradientTape(memory_budget=...)`. Functions and tapes with their own
    budget keep it. None cancels the budget of an enclosing block. Results are the same as without a budget.

    Args:
      budget: bytes, a string such as "2GB", or a fraction of what a run would take.

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


@overload
def function(
    func: Callable[P, R],
    input_signature: Any = ...,
    autograph: bool = ...,
    jit_compile: bool | None = ...,
    reduce_retracing: bool = ...,
    experimental_implements: str | None = ...,
    experimental_autograph_options: Any = ...,
    experimental_attributes: Any = ...,
    experimental_relax_shapes: bool | None = ...,
    experimental_compile: bool | None = ...,
    experimental_follow_type_hints: bool | None = ...,
    *,
    memory_budget: int | float | str | None = ...,
) -> PolymorphicFunction[R, P]: ...
@overload
def function(
    func: None = None,
    input_signature: Any = ...,
    autograph: bool = ...,
    jit_compile: bool | None = ...,
    reduce_retracing: bool = ...,
    experimental_implements: str | None = ...,
    experimental_autograph_options: Any = ...,
    experimental_attributes: Any = ...,
    experimental_relax_shapes: bool | None = ...,
    experimental_compile: bool | None = ...,
    experimental_follow_type_hints: bool | None = ...,
    *,
    memory_budget: int | float | str | None = ...,
) -> Callable[[Callable[P, R]], PolymorphicFunction[R, P]]: ...
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
    """Turns a Python function into a graph: traced once per signature of its arguments, then executed as one unit.

    The Python code runs only during tracing, and so do its side effects (a Python `print`, an append to a list). Tensor
    arguments are distinguished by shape and dtype, Python arguments by value.

    Args:
      input_signature: `TensorSpec`s of the arguments; calls that do not match raise an error.
      autograph: whether Python's `if`, `while` and `for` over tensors become part of the graph.
      jit_compile: whether XLA compiles the graph, which requires JAX. None, the default: if the tensors are on a GPU,
        or if `tf.config.optimizer.set_jit` says so, and if XLA can run the graph without calling Python.
      reduce_retracing: whether a second shape of an argument generalizes the function to all sizes.
      experimental_attributes: as in TensorFlow. Of functions with the same `api_implements`, a graph runs the one whose
        `api_preferred_device` is in use; other attributes have no effect.
      memory_budget: the memory that a run may take, in addition to its arguments, the variables and the largest op:
        bytes, a string such as "2GB", or a fraction of what it would take. Values that do not fit are recomputed when
        needed; the results are the same. Not in TensorFlow.

    Returns:
      A callable of the same parameters, or a decorator if `func` is None. `get_concrete_function` returns one of its
        graphs, and `python_function` the original function.

    Raises:
      TypeError: if `input_signature` is not a tuple or a list; in a call, if the arguments do not match it.

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
        options = (
            None, input_signature, autograph, compiled, relaxed, experimental_autograph_options, budget, FUNCTION_VIEW
        )  # fmt: skip
        return Implementation(f, attributes, *options) if API in attributes else Function(f, *options)

    return decorated if func is None else decorated(func)
