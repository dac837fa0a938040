"""The operators that converted code calls, under the names that diastatic-malt uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from malt.operators.data_structures import (
    ListPopOpts,
    ListStackOpts,
    list_append,
    list_pop,
    list_stack,
    new_list,
)
from malt.operators.slices import GetItemOpts, get_item
from malt.operators.variables import Undefined, UndefinedReturnValue, ld, ldu

from ..api.namespace import root as tf
from .builtin_functions import replace_iterated
from .control_flow import for_stmt, if_exp, if_stmt, while_stmt
from .staging import is_tensor, staging

__all__ = [
    "GetItemOpts", "ListPopOpts", "ListStackOpts", "Undefined", "UndefinedReturnValue", "and_", "assert_stmt", "eq",
    "for_stmt", "get_item", "if_exp", "if_stmt", "ld", "ldu", "list_append", "list_pop", "list_stack", "new_list",
    "not_", "not_eq", "or_", "replace_iterated", "set_item", "while_stmt",
]  # fmt: skip


def not_(a: Any) -> Any:
    """`not a`."""
    return tf.logical_not(a) if is_tensor(a) else not a


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`."""
    value = a()
    if staging() and is_tensor(value):
        return tf.cond(value, b, lambda: value)
    return value and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`."""
    value = a()
    if staging() and is_tensor(value):
        return tf.cond(value, lambda: value, b)
    return value or b()


def eq(a: Any, b: Any) -> Any:
    """`a == b`; of tensors, elementwise."""
    return tf.equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`."""
    return not_(eq(a, b))


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> None:
    """`assert expression1, expression2()`; of a tensor, `tf.debugging.Assert`."""
    if not is_tensor(expression1):
        assert expression1, expression2()
        return
    shown = expression2()
    tf.debugging.Assert(expression1, shown if isinstance(shown, list) else [shown])


def set_item(target: Any, i: Any, x: Any) -> Any:
    """`target[i] = x`; for a tensor, returns a new one."""
    if is_tensor(target):
        return tf.tensor_scatter_nd_update(target, [[i]], [x])
    target[i] = x
    return target
