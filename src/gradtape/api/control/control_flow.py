"""Conditionals and loops as functions.

In eager execution, the branch or loop runs directly, and its ops are recorded. In a traced function, it becomes part of
the graph.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, SupportsInt

from ...core import dtypes, nest
from ...core.errors import InvalidArgumentError
from ...core.tensor import Reference, Tensor
from ...core.type_hints import Result, TensorLike
from ...engine.registry.batching import check_unbatched
from ...engine.run import dispatch
from ...engine.run.convert import to_tensor
from ...engine.run.namespace import ops
from ...graph.control_flow import structured_loops
from ...graph.control_flow.cond import branch_streams, traced_cond
from ...graph.trace.traced import TracedTensor
from ..debugging.checks import Assert
from ..math.reductions import reduce_any, reduce_sum

NAMESPACES = ("",)
__all__ = ["case", "cond", "switch_case", "while_loop"]
EXAMPLE_ITERATIONS = 2  # of a loop with a limit in a scratch graph


def cond(
    pred: TensorLike,
    true_fn: Callable[[], Result] | None = None,
    false_fn: Callable[[], Result] | None = None,
    name: str | None = None,
) -> Result:
    """Calls `true_fn` if `pred` is true, `false_fn` otherwise.

    Args:
      pred: a scalar boolean.
      true_fn: a function without parameters.
      false_fn: a function without parameters. In a `tf.function`, both return the same structure, with equal dtypes.

    Returns:
      The result of the function that was called.

    Raises:
      TypeError: if a function is missing or not callable, or if the structures or dtypes of the results differ.

    >>> x = tf.constant(3.0)
    >>> float(tf.cond(x > 2.0, lambda: x * x, lambda: -x))
    9.0
    """
    for argument, branch in (("true_fn", true_fn), ("false_fn", false_fn)):
        if branch is None:
            raise TypeError(f"cond(): '{argument}' argument required")
        if not callable(branch):
            raise TypeError(f"'{argument}' must be callable, got {branch!r}.")
    if pred is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type to a Tensor. Give a pred")
    if isinstance(pred, bool) and dispatch.thread.trace is not None:
        raise TypeError("pred must not be a Python bool", pred)
    if isinstance(pred, TracedTensor):
        branches: Any = {"false_fn": false_fn, "true_fn": true_fn}
        return traced_cond(_truth(pred), branches, _different_branches, last_first=True)
    check_unbatched("tf.cond", pred)
    with branch_streams(pred):
        return true_fn() if pred else false_fn()  # type: ignore[misc]


def _truth(pred: Tensor) -> Tensor:
    """Returns the branch index of a predicate: 0 or 1."""
    if pred.dims:
        raise InvalidArgumentError(f"the predicate of tf.cond must be a scalar, but it has shape {list(pred.dims)}")
    return ops.cast(pred if pred.dtype is dtypes.bool else pred != 0, dtype=dtypes.int32)


def _different_branches(first: Any, other: Any, details: str) -> Exception:
    first_line = details.partition("\n")[0]  # the others repeat the outputs
    return TypeError(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return "
        f"values.\n\ntrue_fn output: {first!r}\nfalse_fn output: {other!r}\n\nError details: {first_line}"
    )


def case(
    pred_fn_pairs: Sequence[tuple[TensorLike, Callable[[], Result]]] | Mapping[Any, Callable[[], Result]],
    default: Callable[[], Result] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str | None = "case",
) -> Result:
    """Calls the function of the first pair `(predicate, function)` whose predicate is true.

    Args:
      pred_fn_pairs: pairs of a scalar boolean and a function without parameters, in the order of their evaluation.
      default: the function to call if no predicate is true.
      exclusive: whether at most one predicate is true.
      strict: ignored; accepted for compatibility with TensorFlow.

    Returns:
      The result of the function that was called.

    Raises:
      tf.errors.InvalidArgumentError: if no predicate is true and there is no default.

    >>> x = tf.constant(5.0)
    >>> float(tf.case([(x < 1.0, lambda: x), (x < 9.0, lambda: 2.0 * x)], default=lambda: -x))
    10.0
    """
    pairs = _pairs(pred_fn_pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError(f"default must be callable, got {default!r}")
    for predicate, function in pairs:
        if not isinstance(predicate, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {predicate!r}")
        if not callable(function):
            raise TypeError(f"the function of each pair must be callable, got {function!r}")
    if exclusive:
        _check_exclusive([predicate for predicate, _ in (pairs[:-1] if default is None else pairs)])
    if any(isinstance(predicate, TracedTensor) for predicate, _ in pairs):
        return _case_in_graph(pairs, default)
    for predicate, function in pairs:
        check_unbatched("tf.case", predicate)
        if predicate:
            return function()
    if default is None:
        raise InvalidArgumentError(
            f"None of conditions evaluated as True: {[bool(predicate) for predicate, _ in pairs]}. Give a `default`"
        )
    return default()


def _check_exclusive(predicates: list[Tensor]) -> None:
    """Raises if two predicates hold. As in TensorFlow, that of a pair which serves as the default is not checked."""
    if len(predicates) > 1:
        holding = ops.stack(*predicates, axis=0)
        count: Any = reduce_sum(ops.cast(holding, dtype=dtypes.int32))
        Assert(count < 2, ["Input error: exclusive=True: more than 1 conditions evaluated as True:", holding])


def _case_in_graph(pairs: list[Any], default: Callable[[], Any] | None) -> Any:
    """Traces `case` as nested conditionals."""
    if default is None:
        holding = ops.stack(*[predicate for predicate, _ in pairs], axis=0)
        *pairs, (_, last) = pairs
        Assert(reduce_any(holding), ["Input error: None of conditions evaluated as True:", holding])
        default = last
    for predicate, function in reversed(pairs):
        default = functools.partial(cond, predicate, function, default)
    return default()


def _pairs(given: Any, exclusive: bool) -> list[Any]:
    if isinstance(given, dict):
        if not exclusive and not isinstance(given, OrderedDict):
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` and "
                "eager mode is enabled. Use a list of pairs"
            )
        return [(key.deref() if isinstance(key, Reference) else key, fn) for key, fn in given.items()]
    if not isinstance(given, list | tuple):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(given)}")
    for pair in given:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair!r}.")
    return list(given)


def switch_case(
    branch_index: TensorLike,
    branch_fns: Sequence[Callable[[], Result] | tuple[int, Callable[[], Result]]] | Mapping[int, Callable[[], Result]],
    default: Callable[[], Result] | None = None, name: str | None = "switch_case",
) -> Result:  # fmt: skip
    """Calls branch number `branch_index`; out of range, `default` or else the last branch.

    Args:
      branch_index: a scalar integer.
      branch_fns: functions without parameters: a list in the order of their indices, or pairs or a mapping of index and
        function.
      default: the function for an index that none of them has.

    Returns:
      The result of the function that was called.

    Raises:
      TypeError: if the index is not an integer.

    >>> tf.switch_case(tf.constant(1), [lambda: "zero", lambda: "one"])
    'one'
    """
    branches = _branches(branch_fns)
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype!r}")
    if isinstance(branch_index, TracedTensor):
        every = [*branches] if default is None else [*branches, default]
        at = ops.cast(branch_index, dtype=dtypes.int32)
        inside = ops.logical_and(at >= 0, at < len(branches))
        named = {f"branch {i}": branch for i, branch in enumerate(every)}
        return traced_cond(ops.where(inside, at, to_tensor(len(every) - 1)), named, _different_branches)
    check_unbatched("tf.switch_case", branch_index)
    index = int(branch_index)
    if 0 <= index < len(branches):
        return branches[index]()
    return default() if default is not None else branches[-1]()


def _branches(given: Any) -> list[Callable[[], Any]]:
    if not isinstance(given, list | tuple | dict):
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict, got {type(given)}")
    if not given:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    entries = list(given.items() if isinstance(given, dict) else given)
    if all(callable(entry) for entry in entries):
        return entries
    for entry in entries:
        if not isinstance(entry, tuple) or len(entry) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {entry!r}.")
        if not isinstance(entry[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(entry[0])}")
        if not callable(entry[1]):
            raise TypeError(f"fn for key {entry[0]} must be callable.")
    keys = sorted(key for key, _ in entries)
    if keys != list(range(len(keys))):
        found = ",".join(map(str, keys))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found {{{found}}}"
        )
    return [function for _, function in sorted(entries, key=lambda entry: entry[0])]


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: SupportsInt | None = None,
    name: str | None = None,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds; returns the final loop variables.

    In eager execution, every iteration is recorded as it runs, and `shape_invariants`, `parallel_iterations`,
    `back_prop` and `swap_memory` have no effect. In a function, a loop variable keeps its shape unless
    `shape_invariants` are given, and no gradient flows through a loop with `back_prop=False`.

    Args:
      cond: a function of the loop variables that returns a scalar boolean.
      body: a function of the loop variables that returns their next values, in the same structure.
      loop_vars: a list or a tuple of tensors, or nested structures of them: the initial values.
      shape_invariants: the shapes that loop variables keep, for variables whose shape changes.
      parallel_iterations: ignored; iterations run one after the other.
      back_prop: in a function, whether gradients flow through the loop.
      swap_memory: ignored; accepted for compatibility with TensorFlow.
      maximum_iterations: a limit on the number of iterations.

    Returns:
      The final loop variables, in the structure of `loop_vars`.

    Raises:
      TypeError: if `cond` or `body` is not callable.
      ValueError: if `loop_vars` is empty, or a loop variable of a function changes its shape without an invariant.

    >>> i, p = tf.while_loop(lambda i, p: i < 5, lambda i, p: (i + 1, p * 2), (tf.constant(0), tf.constant(1)))
    >>> int(p)
    32
    """
    for argument, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable, got {function!r}.")
    if not isinstance(parallel_iterations, int) or parallel_iterations < 1:
        raise TypeError(f"'parallel_iterations' must be a positive integer, got {parallel_iterations!r}.")
    if not isinstance(loop_vars, list | tuple) or not loop_vars:
        raise ValueError(f"'loop_vars' must be provided, as a list or tuple, got {loop_vars!r}.")
    structure = list(loop_vars)
    if dispatch.thread.trace is not None and structured_loops.is_stageable(loop_vars):
        try:
            found = structured_loops.while_loop(
                cond, lambda state: _next(body, state, structure), loop_vars, shape_invariants, maximum_iterations
            )  # fmt: skip
            return found if back_prop else nest.map_structure(ops.stop_gradient, found)
        except structured_loops.OneByOne:
            pass
    limit = float("inf") if maximum_iterations is None else int(maximum_iterations)
    if dispatch.thread.example is not None and EXAMPLE_ITERATIONS < limit < float("inf"):
        return _run_example_loop(cond, lambda state: _next(body, state, structure), loop_vars, int(limit))
    given = loop_vars
    if dispatch.thread.trace is not None and any(x is None for x in nest.flatten(structure)):
        raise ValueError("None values not supported. A loop variable of a function needs a value before the loop")
    count = 0
    one_round = structured_loops.rounds()
    while count < limit and _decided(cond(*loop_vars)):
        with one_round():
            loop_vars = _next(body, loop_vars, structure)
        count += 1
    last = nest.map_structure(lambda x: x if nest.is_composite(x) else to_tensor(x), loop_vars)
    return last if dispatch.thread.trace is None else nest.pack_sequence_as(given, nest.flatten(last))


def _run_example_loop(cond: Callable[..., Any], body: Callable[[Any], Any], loop_vars: Any, limit: int) -> Any:
    """Runs a loop of a scratch graph, where only shapes matter: the first iterations show what they are.

    Single integers, such as counters, may be sizes: they continue as they changed in the last of these iterations.
    """
    before, count = loop_vars, 0
    while count < EXAMPLE_ITERATIONS and cond(*loop_vars):
        before, loop_vars = loop_vars, body(loop_vars)
        count += 1
    more = limit - count if count == EXAMPLE_ITERATIONS else 0
    return nest.map_structure(lambda x, y: _continued(x, y, more), list(before), list(loop_vars))


def _continued(before: Any, after: Any, count: int) -> Any:
    """Returns a loop variable after `count` more iterations, if it is a single integer."""
    if nest.is_composite(after):
        return after
    last = to_tensor(after)
    if last.dims or not last.dtype.is_integer:
        return last
    found = int(last) + count * (int(last) - int(before))
    return to_tensor(found, last.dtype) if last.dtype.min <= found <= last.dtype.max else last


def _decided(more: Any) -> Any:
    """Returns whether a loop goes on."""
    check_unbatched("tf.while_loop", more)
    return more


def _next(body: Callable[..., Any], loop_vars: Any, structure: list[Any]) -> Any:
    """Returns the loop variables after one iteration."""
    found = body(*loop_vars)
    if not isinstance(found, list | tuple):
        if len(structure) > 1:
            raise TypeError(
                f"`body` must return a list or tuple with a value for each of the {len(structure)} loop variables, got "
                f"{type(found).__name__}"
            )
        found = [found]
    nest.assert_same_structure(structure, list(found))
    if dispatch.thread.trace is not None:
        structured_loops.check_dtypes(nest.flatten(structure), nest.flatten(list(found)))
    return found
