"""The op namespaces: `ops` runs ops on tensors, `raw` on bare arrays. Rules receive one of them as `m`."""

from __future__ import annotations

from typing import Any

from ...core.extension_points import load_op


class Namespace:
    """A namespace of ops, as rules call them: `m.exp(x)`, `m.sum(x, axis=(0,))`.

    The lookup of a missing name imports modules that define ops until one of them has defined it.
    """

    is_bare = False  # whether ops run on bare arrays, so that nothing records them

    def __getattr__(self, name: str) -> Any:
        load_op(name)
        if name in vars(self):
            return vars(self)[name]
        raise AttributeError(f"no op is named {name!r}; the ops are {', '.join(sorted(vars(self)))}")

    def __dir__(self) -> list[str]:
        load_op("")  # no op has this name: all modules are imported
        return sorted(vars(self))


class ArrayNamespace(Namespace):
    """The namespace of ops on NumPy arrays."""

    is_bare = True


ops = Namespace()
raw = ArrayNamespace()
