"""Variables of a mirroring strategy with one replica: plain variables with the interface of distributed ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.run.convert import readable, register
from ..state.variable import Variable, _converted
from ..state.variable_creators import variable_creator_scope
from .values import DistributedValues
from .variables import SCATTERS, SyncOnReadVariable, check_aggregation, kind_of, plain


class OnlyCopy(DistributedValues):
    """Mixin for variables created in the scope of a mirroring strategy with one replica."""

    _strategy: Any = None

    @property
    def _values(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self,)

    @property
    def values(self) -> tuple[Any, ...]:
        """The copy of each replica: the variable itself."""
        return (self,)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that created the variable."""
        return self._strategy

    def __reduce__(self) -> Any:
        variable: Any = self
        return plain, (variable.numpy(), variable._trainable, variable._title.removesuffix(":0"))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        variable: Any = self
        with variable_creator_scope(creator_of(self._strategy)):
            made = memo[id(self)] = Variable(
                variable.numpy(), variable.trainable, name=variable.name.removesuffix(":0"), shape=variable.shape,
                constraint=variable.constraint, synchronization=variable.synchronization,
                aggregation=variable.aggregation,
            )  # fmt: skip
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}:{{\n  0: {Variable.__repr__(self)}\n}}"  # type: ignore[arg-type]

    __str__ = __repr__


@functools.cache
def _only_copy(kind: type[Variable], name: str) -> Any:
    """Returns a subclass of a variable class with `OnlyCopy` mixed in; reads stay on the fast path."""
    refused = dict.fromkeys(SCATTERS, SyncOnReadVariable._scatter) if name == SyncOnReadVariable.__name__ else {}
    made = type(name, (OnlyCopy, kind), {"__module__": __name__, **refused})
    register(made, _converted, 0)
    readable.add(made)
    return made


def creator_of(strategy: Any) -> Callable[..., Any]:
    """Returns the variable creator of a strategy with one replica."""

    def create(next_creator: Callable[..., Any], **arguments: Any) -> Any:
        kind, arguments = kind_of(arguments)
        variable = next_creator(**arguments)
        check_aggregation(variable)
        if isinstance(variable, Variable) and not isinstance(variable, DistributedValues):
            variable.__class__ = _only_copy(type(variable), kind.__name__)
            variable._strategy = strategy  # type: ignore[attr-defined]
        return variable

    return create
