"""`set_loop_options`: a directive in a loop's first line for converted code; a no-op in plain Python."""

from __future__ import annotations

from typing import Any

UNSPECIFIED = object()


def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
    shape_invariants: Any = UNSPECIFIED,
) -> None:
    """Sets the `tf.while_loop` options of the loop whose first statement this is.

    `shape_invariants` is a list of pairs (variable, shape). Has no effect on loops that are not staged.

    >>> @tf.function
    ... def f():
    ...     n = 0
    ...     for i in tf.range(10):
    ...         tf.autograph.experimental.set_loop_options(maximum_iterations=3)
    ...         n += 1
    ...     return n
    >>> int(f())
    3
    """
