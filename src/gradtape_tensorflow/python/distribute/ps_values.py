"""`tensorflow.python.distribute.ps_values`: variables of parameter servers that several devices aggregate or cache.

gradtape gives each variable of a parameter server one device, so no variable is an instance of these classes.
"""

from __future__ import annotations

from gradtape.state.variable import Variable


class AggregatingVariable(Variable):
    """A variable whose updates several replicas aggregate."""
