"""Gradients that are None, explained where that is noticed: when they are asked for, or given to an optimizer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from ...core import nest
from ...engine.tape import tape as tapes
from ...engine.tape.questions import native
from ...engine.tape.tape import last_missing
from ..records.unobtrusive import unobtrusive
from .explain import explain

_FEW = 4  # names that are told of those with one reason

@contextmanager
def report_missing(stream: TextIO | None = None) -> Iterator[None]:
    """Inside the block, every gradient that is None is explained on `stream` as it happens, each reason once.

    >>> import gradtape as tf, sys
    >>> v = tf.Variable(3.0, trainable=False, name="v")
    >>> with tf.inspect.report_missing(sys.stdout), tf.GradientTape() as tape:
    ...     y = v * v
    ...     g = tape.gradient(y, v)
    gradient is None for `v`: it is not trainable, so the tape does not watch it by itself. Call tape.watch(v) first
    """
    said: set[str] = set()

    @unobtrusive()
    def missing(tape: Any, target: Any, sources: Any, gradients: list[Any]) -> None:
        # Not of the others: their values would be looked at, which a function that is being traced would depend on.
        absent = [source for source, g in zip(nest.flatten(sources), gradients, strict=True) if g is None]
        for reason in explain(tape, target, absent).reasons:
            text = f"gradient is None for {reason}"
            if text not in said:
                said.add(text)
                out = sys.stderr if stream is None else stream
                if out is not None:  # standard error may be closed
                    print(text, file=out)

    before, tapes.when_missing = tapes.when_missing, missing
    try:
        yield
    finally:
        tapes.when_missing = before


@unobtrusive()
def why_missing(sources: Sequence[Any]) -> str:
    """Why the last question of this thread that was answered with None was, for these sources; or nothing.

    >>> import gradtape as tf
    >>> v = tf.Variable(3.0, trainable=False, name="v")
    >>> with tf.GradientTape() as tape:
    ...     y = v * v
    >>> tape.gradient(y, v)
    >>> tf.inspect.why_missing([v])
    '`v`: it is not trainable, so the tape does not watch it by itself. Call tape.watch(v) first'
    """
    tape = last_missing.tape()
    targets = [target() for target in last_missing.targets]
    asked = last_missing.sources.issuperset([id(native(source)) for source in sources])
    if tape is None or not asked or any(target is None for target in targets):
        return ""
    alike: dict[str, list[str]] = {}
    for reason in explain(tape, targets, list(sources)).reasons:
        alike.setdefault(str(reason).removeprefix(f"{reason.source}: "), []).append(reason.source)
    return "\n".join(f"{_listed(names)}: {sentence}" for sentence, names in alike.items())


def _listed(names: list[str]) -> str:
    """The first few of the names, and how many more there are."""
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
