"""`gradtape.distribute.describe`: a table of how variables are sharded over devices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..core import nest
from ..core.budgets import readable_bytes
from ..state.variable import Variable

NAMESPACES = ("distribute",)
__all__ = ["describe"]


def describe(values: Any) -> str:
    """Returns a text table of how a model, or some variables, are distributed over devices.

    >>> print(tf.distribute.describe([tf.Variable([1.0, 2.0], name="w")]))
    1 variable on one device: 8 B, of which a device has 8 B (100%).
    variable  shape  dtype    layout         on each device
    w:0       (2,)   float32  on one device  8 B

    Args:
      values: a Keras model (including the optimizer's state), a module, or a nested structure of variables.
    """
    if hasattr(values, "variables"):
        state = getattr(getattr(values, "optimizer", None), "variables", ())
        values = [*values.variables, *state]
    named = []
    for value in nest.flatten(values):
        held = getattr(value, "_gradtape_variable", value)
        if not isinstance(held, Variable):
            raise TypeError(f"describe takes a model, a module or variables, and was given {value!r}")
        named.append((getattr(value, "path", held.name), held))
    return describe_variables(named)


def describe_variables(variables: Iterable[tuple[str, Variable]]) -> str:
    """Formats a table of named variables: shape, sharding and memory per device."""
    rows = [("variable", "shape", "dtype", "layout", "on each device")]
    whole = most = 0
    meshes: dict[str, None] = {}
    for name, variable in variables:
        size = math.prod(variable.dims) * variable.dtype.size
        whole += size
        if variable._storage.layout is not None:
            sharding = variable._storage.layout.sharding
            meshes[_mesh(sharding.mesh)] = None
            part = tuple(sharding.shard_shape(variable.dims))
            layout = "copied" if sharding.is_fully_replicated else str(tuple(sharding.spec))
            held = math.prod(part) * variable.dtype.size
        else:
            part, layout, held = variable.dims, "on one device", size
        most += held
        place = "" if part == variable.dims else f"{part}, "
        rows.append((name, str(variable.dims), variable.dtype.name, layout, f"{place}{readable_bytes(held)}"))
    where = "; ".join(meshes) or "one device"
    share = f"{readable_bytes(most)} ({most / max(whole, 1):.0%})"
    count = _count_phrase(len(rows) - 1, "variable")
    title = f"{count} on {where}: {readable_bytes(whole)}, of which a device has {share}."
    return "\n".join([title, *_align_columns(rows)])


def _mesh(mesh: Any) -> str:
    kinds = sorted({device.platform.upper() for device in mesh.devices.flat})
    axes = ", ".join(f"{axis}: {size}" for axis, size in mesh.shape.items())
    return f"a mesh of {_count_phrase(mesh.devices.size, '/'.join(kinds))} ({axes})"


def _count_phrase(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
