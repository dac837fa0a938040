"""The ops under their names: `ops` runs them on tensors, `raw` on bare arrays. Rules are given one of them as `m`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Namespace:
    """The ops under their names, as rules call them: `m.exp(x)`, `m.sum(x, axis=(0,))`.

    The modules that define ops are imported when a name is first missed: `load_all` does it.
    """

    load_all: Callable[[], None]

    def __getattr__(self, name: str) -> Any:
        type(self).load_all()
        if name in vars(self):
            return vars(self)[name]
        raise AttributeError(f"no op is named {name!r}; the ops are {', '.join(sorted(vars(self)))}")


ops = Namespace()
raw = Namespace()
