"""Per-replica values, and nests of them.

While an SPMD program is traced, one traced value represents each replica's value: a `PerReplica` then holds it once per
replica, so that code that unpacks it finds the expected number of components.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core import nest
from ..core.composites import CompositeTensor
from ..engine.run.convert import register, to_tensor
from ..engine.run.distribution_context import place
from ..state.type_spec import TypeSpec, spec_of

NAMESPACES = ("types.experimental.distributed",)
__all__ = ["Mirrored", "PerReplica"]


class DistributedValues:
    """Values with one component per replica; `Strategy.experimental_local_results` returns them as a tuple.

    >>> issubclass(tf.distribute.DistributedValues, object)
    True
    """

    __module__ = "gradtape.distribute"

    _values: tuple[Any, ...]

    @property
    def values(self) -> tuple[Any, ...]:
        """The component of each replica."""
        return self._values if place.spmd is None else place.spmd.of_all(self._primary)

    @property
    def _primary(self) -> Any:
        """The first replica's component; while an SPMD program is traced, the value that represents every replica's."""
        first = self._values[0]
        if place.spmd is None or all([x is first for x in self._values]):
            return first
        return place.spmd.chosen(self._values)

    def _shown(self, how: Callable[[Any], str]) -> str:
        if place.spmd is not None:
            return f"{type(self).__name__}:{{ {how(self._values[0])} on each }}"
        rows = ",\n".join(f"  {i}: {how(value)}" for i, value in enumerate(self._values))
        return f"{type(self).__name__}:{{\n{rows}\n}}"

    def __str__(self) -> str:
        return self._shown(str)

    def __repr__(self) -> str:
        return self._shown(repr)


class PerReplica(DistributedValues, CompositeTensor):  # type: ignore[misc]
    """One value per replica; functions, loops and nests accept it like a tensor."""

    __module__ = "gradtape.types.experimental.distributed"

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def _type_spec(self) -> PerReplicaSpec:
        return PerReplicaSpec(*map(_spec, self._values))

    def __reduce__(self) -> Any:
        return type(self), (self._values,)


class Mirrored(PerReplica):
    """A value that is identical on all replicas and can be used like a tensor."""

    __module__ = "gradtape.types.experimental.distributed"

    @property
    def _primary(self) -> Any:
        return self._values[0]

    def _get(self) -> Any:
        context = place.context
        return self._values[0 if context is None else context.local_id]


class Uneven(PerReplica):
    """Per-replica values whose shapes differ between workers, as for a short last batch.

    All workers receive it in the same step, so all of them know that they cannot use an SPMD program.
    """

    @property
    def _type_spec(self) -> UnevenSpec:
        return UnevenSpec(*map(_spec, self._values))


class PerReplicaSpec(TypeSpec):
    """The specs of the components of a `PerReplica`."""

    value_type = PerReplica  # type: ignore[assignment]

    def __init__(self, *specs: Any) -> None:
        self._value_specs = specs

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> tuple[Any, ...]:
        return self._value_specs

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Returns whether a value or spec is compatible; `Uneven` values count as `PerReplica`."""
        uneven = isinstance(spec_or_value, Uneven)
        return bool(super().is_compatible_with(PerReplica(spec_or_value._values) if uneven else spec_or_value))

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return tuple(value._values)

    def _from_components(self, components: Any) -> PerReplica:
        return self.value_type(components)


class UnevenSpec(PerReplicaSpec):
    """The specs of values whose shapes differ between workers."""

    value_type = Uneven


def _spec(value: Any) -> Any:
    return value if isinstance(value, TypeSpec) else spec_of(value)


def regroup(values: Sequence[Any], always_wrap: bool = False, kind: type[PerReplica] = PerReplica) -> Any:
    """Transposes one nest per replica into a nest of `PerReplica` values, or of another `kind`.

    Leaves that are the same object on all replicas stay unwrapped, unless `always_wrap` is set.
    """
    first = values[0]
    if isinstance(first, list | tuple) and not isinstance(first, str):
        for other in values[1:]:
            if type(other) is not type(first) or len(other) != len(first):
                raise AssertionError(
                    f"Values to regroup had different lengths or types: the first replica has {first!r}, another one "
                    f"{other!r}. All replicas must return the same structure"
                )
        parts = [regroup(row, always_wrap, kind) for row in zip(*values, strict=True)]
        return first._make(parts) if hasattr(first, "_make") else type(first)(parts)
    if isinstance(first, Mapping):
        for other in values[1:]:
            if not isinstance(other, Mapping) or set(other) != set(first):
                raise AssertionError(
                    f"Values to regroup had different keys: the first replica has {list(first)}, another one {other!r}"
                )
        of_keys = {key: regroup([v[key] for v in values], always_wrap, kind) for key in first}
        return type(first)(of_keys)  # type: ignore[call-arg]
    if all([v is first for v in values]) and not (always_wrap and not getattr(first, "is_distributed", False)):
        return first
    return kind(values)


def select_replica(replica: int, structure: Any) -> Any:
    """Replaces the `PerReplica` values of a nest by the component of one replica."""

    def one(value: Any) -> Any:
        if not isinstance(value, PerReplica):
            return value
        return value._values[replica] if place.spmd is None else value._primary

    return nest.map_structure(one, structure)


def is_mirrored(value: Any) -> bool:
    """Returns whether a value is known to be identical on all replicas."""
    return isinstance(value, Mirrored) or bool(getattr(value, "is_mirrored", False))


def _mirrored_tensor(value: Mirrored, dtype: Any) -> Any:
    return to_tensor(value._get(), dtype)


def _own_tensor(value: PerReplica, dtype: Any) -> Any:
    context = place.context
    if context is None:
        raise ValueError(
            "It looks like you are using a PerReplica object while not inside a replica context, which is not "
            "supported. Try running your op or function inside a replica context by using `strategy.run`; "
            "`strategy.experimental_local_results` and `strategy.reduce` give tensors of it"
        )
    return to_tensor(value._values[context.local_id] if place.spmd is None else value._primary, dtype)


register(Mirrored, _mirrored_tensor, 0)
register(PerReplica, _own_tensor, 1)
