"""`tensorflow.python.eager.monitoring`: counters of a running program, which count nothing."""

from __future__ import annotations

from typing import Any


class _Metric:
    """A metric with cells; values set in them are kept."""

    def __init__(self, name: str, *args: Any) -> None:
        self.name = name
        self._cells: dict[tuple[Any, ...], _Cell] = {}

    def get_cell(self, *labels: Any) -> _Cell:
        """Returns the cell with these labels."""
        return self._cells.setdefault(labels, _Cell())


class _Cell:
    """A value of a metric."""

    def __init__(self) -> None:
        self._value: Any = 0

    def set(self, value: Any) -> None:
        """Sets the value."""
        self._value = value

    def add(self, value: Any) -> None:
        """Adds to the value."""
        self._value += value

    def increase_by(self, value: int) -> None:
        """Adds to the value."""
        self._value += value

    def value(self) -> Any:
        """Returns the value."""
        return self._value


BoolGauge = StringGauge = IntGauge = Counter = Sampler = _Metric
