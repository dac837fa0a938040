"""The tracing protocol: user-defined classes declare which of their objects share a trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ...state.specs import TypeSpec


class TraceType(ABC):
    """The type of a user-defined argument for tracing: calls with equal types share a graph.

    The graph is traced with the first object. Tensors inside such objects are not lifted to inputs: objects whose type
    overrides `to_tensors` are keyed by identity, so pass their tensors as arguments instead.

    >>> class SameClass(tf.types.experimental.TraceType):
    ...     def __init__(self, value):
    ...         self.value = value
    ...     def is_subtype_of(self, other):
    ...         return self == other
    ...     def most_specific_common_supertype(self, others):
    ...         return self if all(self == other for other in others) else None
    ...     def placeholder_value(self, placeholder_context=None):
    ...         return self.value
    ...     def __eq__(self, other):
    ...         return isinstance(other, SameClass) and type(self.value) is type(other.value)
    ...     def __hash__(self):
    ...         return hash(type(self.value))
    >>> class Adult:
    ...     age = 18
    ...     def __tf_tracing_type__(self, context):
    ...         return SameClass(self)
    >>> f = tf.function(lambda person: person.age + 1)
    >>> int(f(Adult())), int(f(Adult())), f.experimental_get_tracing_count()
    (19, 19, 1)
    """

    __module__ = "gradtape.types.experimental"

    @abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a graph traced for `other` accepts this type."""

    @abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The most specific type that includes this one and the others, or None."""

    @abstractmethod
    def placeholder_value(self, placeholder_context: object) -> Any:
        """The value to trace the function with."""

    @abstractmethod
    def __hash__(self) -> int: ...

    @abstractmethod
    def __eq__(self, other: object) -> bool: ...

    def to_tensors(self, value: object) -> list[Any]:
        """The tensors of an object of this type."""
        return []

    def from_tensors(self, tensors: object) -> Any:
        """Rebuild an object of this type from its tensors."""
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        """The types of the tensors in it."""
        return []

    def cast(self, value: object, cast_context: object) -> Any:
        """Cast a value to this type."""
        return value


TraceType.register(TypeSpec)


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """An object that declares its `TraceType`."""

    def __tf_tracing_type__(self, context: object) -> TraceType:
        """The type of this object."""


SupportsTracingProtocol.__module__ = "gradtape.types.experimental"


class TypeKey:
    """The cache key of an argument with a trace type of its own."""

    __slots__ = ("type",)

    def __init__(self, type: Any) -> None:  # a TraceType or a TypeSpec
        self.type = type

    def serves(self, other: object) -> bool:
        """Whether a graph traced for this type accepts the other."""
        return isinstance(other, TypeKey) and bool(other.type.is_subtype_of(self.type))

    def relaxed(self, other: object) -> TypeKey | None:
        """The key of the most specific common supertype, or None."""
        common = self.type.most_specific_common_supertype([other.type]) if isinstance(other, TypeKey) else None
        return None if common is None else TypeKey(common)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeKey) and bool(self.type == other.type)

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return repr(self.type)


def type_key(value: Any) -> TypeKey | None:
    """The key of an object that implements the tracing protocol, else None."""
    if not hasattr(type(value), "__tf_tracing_type__"):
        return None
    found = value.__tf_tracing_type__(None)
    if not isinstance(found, TraceType):
        raise TypeError(
            f"__tf_tracing_type__ of a {type(value).__name__} must give a tf.types.experimental.TraceType, "
            f"got {found!r}"
        )
    return TypeKey(found) if type(found).to_tensors is TraceType.to_tensors else None
