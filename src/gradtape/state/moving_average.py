"""`ExponentialMovingAverage`: shadow variables that track exponential moving averages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsFloat

from ..core.tensor import wrap
from ..engine.run import dispatch
from .variable import Variable


class ExponentialMovingAverage:
    """Moving averages of variables: `average -= (1 - decay) * (average - variable)` at each `apply`.

    Args:
      decay: the weight of the old average.
      num_updates: the number of updates so far: the decay is at most `(1 + num_updates) / (10 + num_updates)`.
      zero_debias: ignored; in TensorFlow 1 it applies to tensors. An average starts at its variable's value.

    >>> v = tf.Variable(1.0)
    >>> average = tf.train.ExponentialMovingAverage(0.9)
    >>> average.apply([v])
    >>> _ = v.assign(2.0)
    >>> average.apply([v])
    >>> print(f"{average.average(v).numpy():.2f}")
    1.10
    """

    __module__ = "gradtape.train"

    def __init__(
        self, decay: float, num_updates: SupportsFloat | None = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:  # fmt: skip
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._averages: dict[int, tuple[Any, Variable]] = {}  # keeps the variables alive, so that their ids stay unique

    @property
    def name(self) -> str:
        """The suffix of the averages' names."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> None:
        """Update the averages of these variables; a new average starts at the variable's value."""
        variables = [getattr(variable, "_gradtape_variable", variable) for variable in var_list or ()]
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager execution is "
                    f"enabled, got {variable!r}."
                )
            if not variable.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
        decay = self._decay
        if self._num_updates is not None:
            count = float(self._num_updates)
            decay = min(decay, (1.0 + count) / (10.0 + count))
        for variable in variables:
            if id(variable) not in self._averages:
                self._averages[id(variable)] = (variable, self._begin(variable))
            average = self._averages[id(variable)][1]
            average.assign_sub((average - variable) * (1.0 - decay))

    def _begin(self, variable: Variable) -> Variable:
        with dispatch.traced_by(None):
            return Variable(wrap(variable.numpy(), variable.dtype), False, name=self.average_name(variable))

    def average(self, var: Variable) -> Variable | None:
        """The average of a variable, or None if there is none."""
        found = self._averages.get(id(getattr(var, "_gradtape_variable", var)))
        return None if found is None else found[1]

    def average_name(self, var: Variable) -> str:
        """The name of a variable's average."""
        return f"{getattr(var, '_gradtape_variable', var).name.removesuffix(':0')}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Map the names of averages to the averaged variables."""
        given = [held for held, _ in self._averages.values()] if moving_avg_variables is None else moving_avg_variables
        return {self.average_name(variable): variable for variable in given}
