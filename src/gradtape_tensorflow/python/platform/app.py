"""`tensorflow.python.platform.app`: runs a program with flags of absl."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from absl import app, flags  # type: ignore[import-not-found]


def _parse(argv: Sequence[str]) -> list[str]:
    """Parses the known flags; returns the other arguments."""
    return list(flags.FLAGS(argv, known_only=True))


def run(main: Callable[..., Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Parses the flags, calls `main` with the other arguments, and exits with its result."""
    program: Any = main or getattr(sys.modules["__main__"], "main")  # noqa: B009
    app.run(program, argv, _parse)  # type: ignore[call-overload, unused-ignore]
