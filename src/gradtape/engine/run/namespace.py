"""The op namespaces: `ops` runs ops on tensors, `raw` on bare arrays. Rules receive one of them as `m`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Namespace:
    """A namespace of ops, as rules call them: `m.exp(x)`, `m.sum(x, axis=(0,))`.

    The first lookup of a missing name calls `load_all`, which imports the modules that define ops.
    """

    load_all: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        type(self).load_all()
        if name in vars(self):
            return vars(self)[name]
        raise AttributeError(f"no op is named {name!r}; the ops are {', '.join(sorted(vars(self)))}")


ops = Namespace()
raw = Namespace()
