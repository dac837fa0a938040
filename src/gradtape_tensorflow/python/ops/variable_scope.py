"""`tensorflow.python.ops.variable_scope`."""

from __future__ import annotations

from typing import Any

import gradtape


def variable(initial_value: Any = None, trainable: bool | None = None, collections: Any = None, **kwargs: Any) -> Any:
    """Returns a new variable, and adds it to collections."""
    made = gradtape.compat.v1.Variable(initial_value, trainable=trainable, **kwargs)
    for name in collections or ():
        gradtape.compat.v1.add_to_collection(name, made)
    return made
