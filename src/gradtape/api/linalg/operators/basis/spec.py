"""The type specs of operators: their tensors, and the other arguments of their constructors."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from .....core import nest
from .....core.composites import CompositeTensor, CompositeTensorGradient
from .....core.tensor import Tensor, is_tensor_like
from .....engine.run.namespace import ops
from .....state.specs import TypeSpec, spec_of
from .....state.type_spec import BatchableTypeSpec

_HINTS = ("is_non_singular", "is_positive_definite", "is_self_adjoint", "is_square")


class LinearOperatorSpec(BatchableTypeSpec):
    """The type spec of an operator: the specs of its tensors, and its other constructor arguments."""

    __slots__ = ("_non_tensor_params", "_param_specs", "_prefer_static_fields")

    def __init__(self, param_specs: Any, non_tensor_params: Any, prefer_static_fields: Any) -> None:
        self._param_specs = param_specs
        self._non_tensor_params = non_tensor_params
        self._prefer_static_fields = prefer_static_fields

    @classmethod
    def from_operator(cls, operator: Any) -> Any:
        """Returns the spec of an operator."""
        specs: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, value in fields(operator, sorted({*operator._composite_tensor_fields, *_HINTS})).items():
            found = nest.map_structure(_with_specs, value)
            are_specs = [isinstance(x, TypeSpec) for x in nest.flatten(found)]
            if are_specs and all(are_specs):
                specs[name] = found
            elif any(are_specs):
                raise NotImplementedError(f"Field {name} contains a mix of `Tensor` and  non-`Tensor` values.")
            else:
                others[name] = value
        return cls(specs, others, tuple(operator._composite_tensor_prefer_static_fields))

    def _to_components(self, value: Any) -> Any:
        return fields(value, list(self._param_specs))

    def _from_components(self, components: Any) -> Any:
        return self.value_type(**self._non_tensor_params, **components)

    @property
    def _component_specs(self) -> Any:
        return self._param_specs

    def _serialize(self) -> tuple[Any, ...]:
        return self._param_specs, self._non_tensor_params, self._prefer_static_fields

    def _with_specs(self, f: Any) -> Any:
        return type(self)(
            nest.map_structure(f, self._param_specs), self._non_tensor_params, self._prefer_static_fields
        )

    def _batch(self, batch_size: int | None) -> Any:
        return self._with_specs(lambda spec: spec._batch(batch_size))

    def _unbatch(self) -> Any:
        return self._with_specs(lambda spec: spec._unbatch())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self.value_type, *self._serialize())


@functools.cache
def spec_type(operator_type: type) -> Any:
    """Returns the spec class of an operator class."""
    return type(f"{operator_type.__name__}Spec", (LinearOperatorSpec,), {"value_type": operator_type, "__slots__": ()})


def _unpickle(operator_type: type, *fields: Any) -> Any:
    return spec_type(operator_type)(*fields)


def _with_specs(value: Any) -> Any:
    return spec_of(value) if isinstance(value, Tensor | CompositeTensor) or is_tensor_like(value) else value


def fields(operator: Any, names: Iterable[str]) -> dict[str, Any]:
    """Returns constructor arguments by name: None if None was given, otherwise the operator's attributes."""
    found: dict[str, Any] = {}
    for name in names:
        parameters = operator.parameters
        if parameters.get(name, name) is None and name not in _HINTS:
            found[name] = None
            continue
        places = [getattr(operator, name, None), getattr(operator, f"_{name}", None), parameters.get(name)]
        value = next((place for place in places if place is not None), None)
        found[name] = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return found


class OperatorGradient(CompositeTensorGradient):
    """Gradients of operators: the gradient has the class of the operator and the gradients of its tensors."""

    def get_gradient_components(self, value: Any) -> Any:
        """Returns the component tensors."""
        return value._type_spec._to_components(value)

    def replace_gradient_components(self, value: Any, component_grads: Any) -> Any:
        """Returns the operator of the gradients; zeros for a tensor without one, None if no tensor has one."""
        grads = nest.flatten(component_grads)
        if all(grad is None for grad in grads):
            return None
        components = value._type_spec._to_components(value)

        def zeros(part: Any) -> Any:
            return nest.map_structure(lambda x: ops.zeros_like(_read(x)), part, expand_composites=True)

        parts = zip(grads, nest.flatten(components), strict=True)
        return value._type_spec._from_components(
            nest.pack_sequence_as(components, [zeros(part) if grad is None else grad for grad, part in parts])
        )


def _read(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else x._as_tensor()
