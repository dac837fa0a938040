"""Checks of the variables of staged control flow.

The messages are TensorFlow's: they name the variable, the branch or loop, and what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from malt.operators.variables import Undefined, UndefinedReturnValue

from ..api.namespace import root as tf
from ..core import nest
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from .staging import as_tensor, is_tensor

LOOP_TYPES = "Tensor, int, float, bool or a list, tuple or dict thereof"


def is_missing(value: Any) -> bool:
    """Whether a variable has no value that a graph can hold: it is None or undefined."""
    return value is None or isinstance(value, Undefined | UndefinedReturnValue)


def condition(value: Any, statement: str) -> Tensor:
    """Returns the condition of `statement` as a scalar bool tensor."""
    predicate = to_tensor(value)
    hint = "to check for None, use `is not None`"
    expected = f"condition of {statement} expected to be `tf.bool` scalar, got {predicate}"
    if predicate.dtype is not tf.bool:
        raise ValueError(f"{expected}; to use as boolean Tensor, use `tf.cast`; {hint}")
    if predicate.shape.num_elements() != 1:
        raise ValueError(f"{expected}; {hint}")
    return tf.reshape(predicate, ()) if predicate.dims else predicate


def branch(values: Sequence[Any], names: Sequence[str], which: str) -> None:
    """Checks that this branch sets every variable that the conditional sets."""
    for name, value in zip(names, values, strict=False):
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must also be initialized in the {which} branch")
        if isinstance(value, UndefinedReturnValue):
            raise ValueError(f"the {which} branch must also have a return statement.")


def branches(main: Sequence[Any], other: Sequence[Any], names: Sequence[str]) -> None:
    """Checks that every variable has the same structure and dtypes in both branches."""
    for name, a, b in zip(names, main, other, strict=False):
        try:
            nest.assert_same_structure(a, b)
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"'{name}' must have the same nested structure in the main and else branches:\n\n{error}"
            ) from error
        for x, y in zip(nest.flatten(a), nest.flatten(b), strict=True):
            check_branches(name, x, y)


def check_branches(name: str, main: Any, other: Any) -> None:
    """Checks that a value has the same dtype in both branches."""
    for value, which in ((main, "main"), (other, "else")):
        if value is None:
            raise ValueError(f"'{name}' is None at the end of the {which} branch.")
    main, other = as_tensor(main), as_tensor(other)
    if is_tensor(main) and is_tensor(other) and main.dtype != other.dtype:
        raise TypeError(
            f"'{name}' has dtype {main.dtype.name} in the main branch, but dtype {other.dtype.name} in the else branch"
        )


def check_before_loop(values: Sequence[Any], names: Sequence[str], after: Sequence[Any] | None, note: str) -> None:
    """Checks that every loop variable has a value before the loop; `after` are those after one iteration, if known."""
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        if isinstance(value, UndefinedReturnValue):
            found = None if after is None else after[i]
            if not is_missing(found):
                raise ValueError(
                    f"the return value from a TensorFlow loop may only be a {LOOP_TYPES}; got {type(found)}"
                )
            raise NotImplementedError(
                "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return "
                "statement depends on a static Python condition such as a hyperparameter"
            )
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must be defined before the loop{note}")


def iteration(
    first: Sequence[Any],
    before: Sequence[Any],
    after: Sequence[Any],
    names: Sequence[str],
    invariants: Sequence[Any] | None,
) -> None:
    """Checks that an iteration preserves structure, dtype and shape of every loop variable."""
    for i, name in enumerate(names):
        invariant = None if invariants is None else invariants[i]
        try:
            nest.assert_same_structure(before[i], after[i])
        except (ValueError, TypeError) as error:
            raise TypeError(
                f"'{name}' does not have the same nested structure after one iteration.\n\n{error}"
            ) from error
        leaves = [nest.flatten(values[i]) for values in (first, before, after)]
        allowed = [None] * len(leaves[0]) if invariant is None else nest.flatten(invariant)
        if len(allowed) != len(leaves[0]):
            raise TypeError(
                f"'{name}' does not have the same nested structure as its corresponding shape invariant.\n\n{invariant}"
            )
        for leaf in zip(*leaves, allowed, strict=True):
            _one_value(name, *leaf)


def _one_value(name: str, first: Any, before: Any, after: Any, invariant: Any) -> None:
    if after is None:
        raise ValueError(f"'{name}' is None at the end of the iteration.")
    first, before, after = as_tensor(first), as_tensor(before), as_tensor(after)
    if not (is_tensor(before) and is_tensor(after)):
        return
    if before.dtype != after.dtype:
        raise TypeError(
            f"'{name}' has dtype {before.dtype.name} before the loop, but dtype {after.dtype.name} after one iteration"
        )
    if invariant is None:
        if not _fits(after.shape, before.shape):
            raise ValueError(
                f"'{name}' has shape {before.shape} before the loop, but shape {after.shape} after one iteration. Use "
                "tf.autograph.experimental.set_loop_options to set shape invariants."
            )
        return
    invariant = TensorShape(invariant)
    for shape, when in ((first.shape, "before the loop"), (after.shape, "after one iteration")):
        if not _fits(shape, invariant):
            raise ValueError(
                f"'{name}' has shape {shape} {when}, which does not conform with the shape invariant {invariant}."
            )


def _fits(shape: TensorShape, allowed: TensorShape) -> bool:
    """Whether `shape` is compatible with `allowed`."""
    if allowed.rank is None:
        return True
    return shape.rank == allowed.rank and all(b is None or a == b for a, b in zip(shape, allowed, strict=True))
