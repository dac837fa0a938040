"""Composite tensors: values that are made of tensors, and what a tape asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from . import nest
from .nest import Composite


class CompositeTensor(Composite):
    """Base class of values made of tensors, which functions, loops, datasets and nests take like a tensor.

    A subclass has a property `_type_spec`, a `TypeSpec` that knows the rest: how a value is taken apart
    (`_to_components`), what the components are (`_component_specs`), how a value is made of components
    (`_from_components`), and by what two specs are told apart (`_serialize`). That is all there is to write:

    >>> import gradtape as tf
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

    A tape takes one for a source or a target if it has `__composite_gradient__`, a `CompositeTensorGradient`.
    """

    __slots__ = ()
    _is_native = False  # whether `tf.is_tensor` says that it is one, as of TensorFlow's own composites

    @property
    def _type_spec(self) -> Any:
        """The `TypeSpec` of this value."""
        raise NotImplementedError(f"{type(self).__name__} must have a property `_type_spec`, its TypeSpec")

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """The spec that a loop variable keeps for which this shape invariant was given."""
        raise NotImplementedError(
            f"{type(self).__name__} has no shape that could be an invariant: give a TypeSpec for the loop variable"
        )

    def _consumers(self) -> list[Any]:
        """Nothing is known of the consumers of an eager value."""
        return []

    def _parts(self) -> list[Any]:
        return [self._type_spec._to_components(self)]

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        return self._type_spec._from_components(parts[0])


class CompositeTensorGradient:
    """Which tensors of a composite a gradient is taken of, and how its gradient is made of theirs."""

    def get_gradient_components(self, value: Any) -> Any:
        """A nest of the tensors in `value` that have gradients."""
        raise NotImplementedError(f"{type(self).__name__}.get_gradient_components()")

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """A composite like `value` with gradients, in the same nest, in place of its tensors."""
        raise NotImplementedError(f"{type(self).__name__}.replace_gradient_components()")


@runtime_checkable
class CompositeTensorGradientProtocol(Protocol):
    """A composite that a tape takes as a source or a target."""

    __composite_gradient__: CompositeTensorGradient


class WithValuesCompositeTensorGradient(CompositeTensorGradient):
    """That of a composite with `values` and `with_values`."""

    def get_gradient_components(self, value: Any) -> Any:
        """The values."""
        return value.values

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """The same with other values."""
        return value.with_values(component_grads)


def tensors_for_gradients(leaves: list[Any]) -> list[Any]:
    """The leaves of a question to a tape, with the tensors of composites that have gradients in their place.

    Where there are none, it is the very same list.
    """
    for leaf in leaves:
        if isinstance(leaf, CompositeTensor):
            break
    else:
        return leaves
    return [tensor for leaf in leaves for tensor in nest.flatten(_tensors_in(leaf))]


def composites_of_gradients(leaves: Sequence[Any], grads: Iterable[Any]) -> list[Any]:
    """The opposite: a gradient for each leaf, a composite for a composite."""
    rest = iter(grads)
    return [_replaced(leaf, rest) for leaf in leaves]


def _has_own_gradient(x: Any) -> bool:
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
