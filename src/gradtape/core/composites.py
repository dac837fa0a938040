"""Composite tensors: values that consist of several tensors, and the protocol for their gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import nest
from .nest import Composite


class CompositeTensor(Composite):
    """Base class of values that consist of tensors; functions, loops, datasets and nests accept them like tensors.

    A subclass has a property `_type_spec`, a `TypeSpec` that defines the rest: how a value is decomposed
    (`_to_components`), what the components are (`_component_specs`), how a value is rebuilt from components
    (`_from_components`), and what distinguishes two specs (`_serialize`). A complete example:

    >>> from gradtape.core.composites import CompositeTensor
    >>> class Interval(CompositeTensor):
    ...     def __init__(self, low, high):
    ...         self.low, self.high = tf.convert_to_tensor(low), tf.convert_to_tensor(high)
    ...     @property
    ...     def _type_spec(self):
    ...         return IntervalSpec(self.low.shape, self.low.dtype)
    >>> class IntervalSpec(tf.TypeSpec):
    ...     value_type = Interval
    ...     def __init__(self, shape, dtype):
    ...         self._shape, self._dtype = shape, dtype
    ...     def _serialize(self):
    ...         return self._shape, self._dtype
    ...     @property
    ...     def _component_specs(self):
    ...         return tf.TensorSpec(self._shape, self._dtype), tf.TensorSpec(self._shape, self._dtype)
    ...     def _to_components(self, value):
    ...         return value.low, value.high
    ...     def _from_components(self, components):
    ...         return Interval(*components)
    >>> double = tf.function(lambda x: Interval(2.0 * x.low, 2.0 * x.high))
    >>> float(double(Interval(1.0, 3.0)).high)
    6.0

    A tape accepts a composite as a source or target if it has `__composite_gradient__`, a `CompositeTensorGradient`.
    """

    __slots__ = ()
    _is_native = False  # whether `tf.is_tensor` returns True, as for TensorFlow's own composites

    @property
    def _type_spec(self) -> Any:
        """The `TypeSpec` of this value."""
        raise NotImplementedError(f"{type(self).__name__} must have a property `_type_spec`, its TypeSpec")

    def _shape_invariant_to_type_spec(self, shape: object) -> Any:
        """Returns the spec of a loop variable that was given this shape invariant."""
        raise NotImplementedError(
            f"{type(self).__name__} has no shape that could be an invariant: give a TypeSpec for the loop variable"
        )

    def _consumers(self) -> list[Any]:
        """Eager values do not track their consumers."""
        return []

    def _parts(self) -> list[Any]:
        return [self._type_spec._to_components(self)]

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        return self._type_spec._from_components(parts[0])


class EagerComposite(CompositeTensor):
    """A composite of TensorFlow's with `values`, whose graph and op are those of the values: in eager mode, none."""

    __slots__ = ()
    _is_native = True
    values: Any

    @property
    def graph(self) -> Any:
        """Not available: eager values belong to no graph."""
        return self.values.graph

    @property
    def op(self) -> Any:
        """Not available: eager values are not outputs of graph nodes."""
        return self.values.op

    def consumers(self) -> list[Any]:
        """Empty: consumers of eager values are not tracked."""
        return []


class CompositeTensorGradient:
    """Says which tensors of a composite have gradients, and builds the composite's gradient from theirs."""

    def get_gradient_components(self, value: object) -> Any:
        """Returns a nest of the tensors in `value` that have gradients."""
        raise NotImplementedError(f"{type(self).__name__}.get_gradient_components()")

    def replace_gradient_components(self, value: object, component_grads: object) -> Any:
        """Returns a composite like `value` whose tensors are replaced by gradients, in the same nest."""
        raise NotImplementedError(f"{type(self).__name__}.replace_gradient_components()")


class WithValuesCompositeTensorGradient(CompositeTensorGradient):
    """The `CompositeTensorGradient` of a composite with `values` and `with_values`."""

    def get_gradient_components(self, value: Any) -> Any:
        """Returns the values."""
        return value.values

    def replace_gradient_components(self, value: Any, component_grads: object) -> Any:
        """Returns the composite with the gradients as its values."""
        return value.with_values(component_grads)


def tensors_for_gradients(leaves: list[Any]) -> list[Any]:
    """Replaces composites among the sources or targets of a tape by their tensors that have gradients.

    Without composites, returns the same list object.
    """
    for leaf in leaves:
        if isinstance(leaf, CompositeTensor):
            break
    else:
        return leaves
    return [tensor for leaf in leaves for tensor in nest.flatten(_tensors_in(leaf))]


def composites_of_gradients(leaves: Sequence[Any], grads: Iterable[Any]) -> list[Any]:
    """Inverse of `tensors_for_gradients`: returns a gradient for each leaf, a composite for a composite."""
    rest = iter(grads)
    return [_replaced(leaf, rest) for leaf in leaves]


def _has_own_gradient(x: object) -> bool:
    return isinstance(x, CompositeTensor) and hasattr(x, "__composite_gradient__")


def _tensors_in(x: Any) -> Any:
    if not _has_own_gradient(x):
        return x
    return nest.map_structure(_tensors_in, x.__composite_gradient__.get_gradient_components(x))


def _replaced(x: Any, grads: Iterator[Any]) -> Any:
    if not _has_own_gradient(x):
        return next(grads)
    rule = x.__composite_gradient__
    found = nest.map_structure(lambda part: _replaced(part, grads), rule.get_gradient_components(x))
    return None if found is None else rule.replace_gradient_components(x, found)
