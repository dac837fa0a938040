"""Explains gradients that are None where an optimizer notices them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tape.queries import last_missing
from ...engine.tape.validation import native
from ..records.never_raises import never_raises
from .explain import explain
from .messages import join_names


@never_raises()
def why_missing(sources: Sequence[Any]) -> str:
    """Explains the last None gradients of this thread for these sources; empty if they are not the ones.

    >>> v = tf.Variable(3.0, trainable=False, name="v")
    >>> with tf.GradientTape() as tape:
    ...     y = v * v
    >>> tape.gradient(y, v)
    >>> tf.inspect.why_missing([v])
    '`v`: it is not trainable, so the tape does not watch it automatically. Call tape.watch(v) before using it'
    """
    tape = last_missing.tape()
    targets = [target() for target in last_missing.targets]
    asked = last_missing.sources.issuperset([id(native(source)) for source in sources])
    if tape is None or not asked or any(target is None for target in targets):
        return ""
    alike: dict[str, list[str]] = {}
    for reason in explain(tape, targets, list(sources)).reasons:
        alike.setdefault(str(reason).removeprefix(f"{reason.source}: "), []).append(reason.source)
    return "\n".join(f"{join_names(names)}: {sentence}" for sentence, names in alike.items())
