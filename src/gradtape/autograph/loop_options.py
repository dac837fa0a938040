"""`set_loop_options`: a mark in a loop's first line, which converted code reads and plain Python passes over."""

from __future__ import annotations

from typing import Any

UNSPECIFIED = object()


def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
    shape_invariants: Any = UNSPECIFIED,
) -> None:
    """Says how the loop that this is the first statement of is to be staged, with the options of `tf.while_loop`.

    `shape_invariants` is a list of pairs (variable, shape). It has no effect on loops that are not staged.

    >>> import gradtape as tf
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
