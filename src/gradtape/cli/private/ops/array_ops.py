"""`tensorflow.python.ops.array_ops`: what is there beside the public names."""

from __future__ import annotations

from typing import Any

import gradtape


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """The value, of which no gradient can be taken: LookupError says why."""

    @gradtape.custom_gradient
    def prevented(x: Any) -> Any:
        def grad(_: Any) -> Any:
            raise LookupError(f"Gradient explicitly disabled. Reason: {message}")

        return gradtape.identity(x), grad

    return prevented(input)
