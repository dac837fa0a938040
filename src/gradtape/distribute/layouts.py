"""`gradtape.distribute.describe`: the layout of variables on devices."""

from __future__ import annotations

from typing import Any

from ..core import nest
from ..state.variable import Variable
from .layout_tables import describe_variables

__all__ = ["describe"]

NAMESPACES = ("distribute",)


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
