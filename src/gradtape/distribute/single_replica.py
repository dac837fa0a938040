"""Variables of a mirroring strategy with one replica: plain variables with the interface of distributed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.scopes import holding
from ..core.tensor import Tensor
from ..engine.run.convert import readable, register
from ..state.storage import Storage, storage_of
from ..state.variable import Variable, convert_variable, creation, variable_creator_scope
from .values import DistributedValues
from .variables import SCATTERS, MirroredVariable, SyncOnReadVariable, check_aggregation, kind_of, plain


class OnlyCopy(DistributedValues, Variable):
    """A variable created in the scope of a mirroring strategy with one replica; reads stay on the fast path."""

    _strategy: Any  # without a default: a class that wraps a variable takes it from there

    def _store(self, value: Tensor) -> Storage:
        return storage_of(value)

    @property
    def _values(self) -> tuple[Variable, ...]:  # type: ignore[override]
        return (self,)

    @property
    def values(self) -> tuple[Variable, ...]:
        """The copy of each replica: the variable itself."""
        return (self,)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that created the variable."""
        return self._strategy

    _distribute_strategy = distribute_strategy

    @property
    def _devices(self) -> tuple[str, ...]:
        return (self.device,)

    def __reduce__(self) -> tuple[Any, ...]:
        return plain, (self.numpy(), self._trainable, self._title.removesuffix(":0"))

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        with variable_creator_scope(creator_of(self._strategy)):
            made = memo[id(self)] = Variable(
                self.numpy(), self.trainable, name=self.name.removesuffix(":0"), shape=self.shape,
                constraint=self.constraint, synchronization=self.synchronization, aggregation=self.aggregation,
            )  # fmt: skip
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}:{{\n  0: {Variable.__repr__(self)}\n}}"

    __str__ = __repr__


# The names are those of the classes for several replicas: they are shown to the user.
_CLASSES: dict[type[Variable], type[OnlyCopy]] = {
    MirroredVariable: type("MirroredVariable", (OnlyCopy,), {}),
    SyncOnReadVariable: type(
        "SyncOnReadVariable", (OnlyCopy,), dict.fromkeys(SCATTERS, SyncOnReadVariable._scatter)
    ),
}  # fmt: skip
for _class in _CLASSES.values():
    register(_class, convert_variable, 0)
    readable.add(_class)


def creator_of(strategy: Any) -> Callable[..., Any]:
    """Returns the variable creator of a strategy with one replica."""

    def create(next_creator: Callable[..., Any], **arguments: Any) -> Any:
        kind, arguments = kind_of(arguments)
        with holding(creation, variable_class=_CLASSES[kind]):
            variable = next_creator(**arguments)
        check_aggregation(variable)
        if isinstance(variable, OnlyCopy) and "_strategy" not in vars(variable):
            variable._strategy = strategy
        return variable

    return create
