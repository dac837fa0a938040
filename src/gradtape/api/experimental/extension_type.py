"""`ExtensionType`: user-defined classes with annotated fields that can be used like tensors."""

import abc
import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...core import nest
from ...core.composites import CompositeTensor
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...engine.run.namespace import ops
from ...engine.run.signatures import annotations_of
from ...state.specs import TypeSpec, spec_of
from ...state.type_spec import BatchableTypeSpec, TypeSpecBatchEncoder, decoded, encoded, encoded_specs
from ..math.reductions import reduce_all
from .fields import NO_DEFAULT, Field, ImmutableDict, Role, convert_fields, field, is_reserved

NAMESPACES = ("experimental",)
__all__ = ["BatchableExtensionType", "ExtensionType", "ExtensionTypeBatchEncoder", "ExtensionTypeSpec"]

_BEING_MADE = "_tf_extension_type_in_constructor"
_SPEC = "_tf_extension_type_cached_type_spec"
_CHANGEABLE = ("_keras_mask",)  # Keras sets it


class _Fields:
    """Common base of values and specs of an extension type: fields that only the constructor sets."""

    _role = Role.VALUE

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[Field, ...]:
        raise NotImplementedError

    @classmethod
    def _tf_extension_type_has_field(cls, name: str) -> bool:
        return any(name == field.name for field in cls._tf_extension_type_fields())

    def _tf_extension_type_convert_fields(self) -> None:
        convert_fields(self._tf_extension_type_fields(), self.__dict__, self._role)

    def __validate__(self) -> None:
        """Validates the fields beyond their annotations; subclasses override it."""

    def _check_changeable(self, name: str) -> None:
        made = _BEING_MADE in self.__dict__ and self._tf_extension_type_has_field(name)
        if not made and name not in _CHANGEABLE:
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of {self._what()}. Make another "
                "value instead"
            )

    def _what(self) -> str:
        return "ExtensionType" if self._role is Role.VALUE else "ExtensionTypeSpec"

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_changeable(name)
        self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        self._check_changeable(name)
        del self.__dict__[name]


def _made(cls: Any, fields: Any) -> Any:
    """Creates an object with these fields without calling its constructor."""
    value = object.__new__(cls)
    value.__dict__.update(fields)
    return value


class _ExtensionTypeMeta(abc.ABCMeta):
    """Adds a constructor and a nested `Spec` to a class with annotated fields."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        if not namespace.get("_tf_extension_type_do_not_transform_this_class", False):
            _check_class(cls)
            _add_constructor(cls, cls._parameters())  # type: ignore[attr-defined]
            _add_spec(cls)
        super().__init__(name, bases, namespace)


class ExtensionType(_Fields, CompositeTensor, metaclass=_ExtensionTypeMeta):
    """Base class of types with annotated fields that are used like tensors: in functions, loops, branches, datasets.

    Fields are annotated as tensors, composites of tensors and other extension types, numbers, bools, strings, bytes,
    None, `tf.DType` and `tf.TensorShape`, and tuples, `Mapping`s, `Union`s and `Optional`s of these. Values are
    checked, converted and then immutable. A class without a constructor gets one; `__validate__` is called after the
    constructor. The nested class `Spec` is a `tf.TypeSpec` with the same fields, with specs in place of tensors.

    >>> class MaskedTensor(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> x = MaskedTensor([1.0, 2.0], [True, False])
    >>> tf.function(lambda x: tf.reduce_sum(tf.where(x.mask, x.values, 0.0)))(x).numpy().item()
    1.0
    >>> tf.type_spec_from_value(x).values
    TensorSpec(shape=(2,), dtype=tf.float32, name=None)
    """

    __module__ = "gradtape.experimental"

    _tf_extension_type_do_not_transform_this_class = True
    Spec: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if type(self) is ExtensionType:
            raise AssertionError(
                "Cannot create an instance of ExtensionType because ExtensionType is an abstract base class."
            )

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[Field, ...]:
        """Returns the fields, those of base classes first; not cached while an annotation is unresolved."""
        if "_tf_extension_type_cached_fields" in cls.__dict__:
            return cls.__dict__["_tf_extension_type_cached_fields"]  # type: ignore[no-any-return]
        own = [base for base in reversed(cls.__mro__) if isinstance(base, _ExtensionTypeMeta)]
        own = [base for base in own if "_tf_extension_type_do_not_transform_this_class" not in base.__dict__]
        try:
            hints = typing.get_type_hints(cls)
            final = True
        except (AttributeError, NameError):
            hints = {name: hint for base in own for name, hint in annotations_of(base).items()}
            final = False
        names = [name for base in own for name in annotations_of(base)]
        found = tuple(field(name, hints[name], getattr(cls, name, NO_DEFAULT)) for name in dict.fromkeys(names))
        if final:
            type.__setattr__(cls, "_tf_extension_type_cached_fields", found)
        return found

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        """Returns the constructor's parameters; after a field with a default, fields without one are keyword-only."""
        parameters = []
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        optional = False
        for each in cls._tf_extension_type_fields():
            optional = optional or each.default is not NO_DEFAULT
            if optional and each.default is NO_DEFAULT:
                kind = inspect.Parameter.KEYWORD_ONLY
            default = inspect.Parameter.empty if each.default is NO_DEFAULT else each.default
            parameters.append(inspect.Parameter(each.name, kind, default=default, annotation=each.value_type))
        return parameters

    @property
    def _type_spec(self) -> Any:
        spec = self.__dict__.get(_SPEC)
        if spec is None:
            spec = self.__dict__[_SPEC] = self.Spec.from_value(self)
        return spec

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        fields = (f"{each.name}={getattr(self, each.name)!r}" for each in self._tf_extension_type_fields())
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other: Any) -> Any:
        if type(self) is not type(other) or self._type_spec != other._type_spec:
            return False
        pairs = zip(nest.flatten(self, True), nest.flatten(other, True), strict=True)
        same = [reduce_all(ops.equal(a, b)) for a, b in pairs]
        return functools.reduce(ops.logical_and, same) if same else True

    def __ne__(self, other: Any) -> Any:
        equal = self.__eq__(other)
        return ops.logical_not(equal) if isinstance(equal, Tensor) else not equal

    __hash__ = None  # type: ignore[assignment]


class ExtensionTypeSpec(_Fields, TypeSpec):
    """Base class of the specs of extension types: `MyType.Spec`.

    >>> class Pair(tf.experimental.ExtensionType):
    ...     left: tf.Tensor
    ...     right: tf.Tensor
    >>> spec = Pair.Spec(tf.TensorSpec([2]), tf.TensorSpec([None]))
    >>> isinstance(spec, tf.experimental.ExtensionTypeSpec), spec.is_compatible_with(Pair([1.0, 2.0], [3.0]))
    (True, True)
    """

    __module__ = "gradtape.experimental"

    _role = Role.SPEC

    @classmethod
    def _tf_extension_type_fields(cls) -> tuple[Field, ...]:
        return cls.value_type._tf_extension_type_fields()  # type: ignore[attr-defined, no-any-return]

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        names = [each.name for each in cls._tf_extension_type_fields()]
        return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """Returns the spec of a value."""
        own = {each.name: getattr(value, each.name) for each in value._tf_extension_type_fields()}
        return _made(cls, nest.map_structure(_with_specs, own))

    def _values(self) -> tuple[Any, ...]:
        return tuple(self.__dict__[each.name] for each in self._tf_extension_type_fields())

    def _serialize(self) -> tuple[Any, ...]:
        return tuple((each.name, _plain(self.__dict__[each.name])) for each in self._tf_extension_type_fields())

    @classmethod
    def _deserialize(cls, serialization: Any) -> Any:
        return _made(cls, [(name, _immutable(value)) for name, value in serialization])

    @property
    def _component_specs(self) -> Any:
        return tuple(x for x in nest.flatten(self._values()) if isinstance(x, TypeSpec))

    def _to_components(self, value: Any) -> Any:
        fields = tuple(getattr(value, each.name) for each in self._tf_extension_type_fields())
        pairs = zip(nest.flatten(self._values()), nest.flatten(fields), strict=True)
        return tuple(x for spec, x in pairs if isinstance(spec, TypeSpec))

    def _from_components(self, components: Any) -> Any:
        values, parts = self._values(), iter(components)
        flat = [next(parts) if isinstance(x, TypeSpec) else x for x in nest.flatten(values)]
        if any(True for _ in parts):
            raise ValueError(
                "Cannot build an ExtensionType instance from components because more components are provided than the "
                "number expected by the type spec."
            )
        names = [each.name for each in self._tf_extension_type_fields()]
        return _made(self.value_type, zip(names, nest.pack_sequence_as(values, flat), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.value_type, self._serialize())

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in self._serialize())})"


class ExtensionTypeBatchEncoder(TypeSpecBatchEncoder):
    """Stacks and unstacks values of a `BatchableExtensionType`, by default by stacking all of their tensors.

    A type that batches differently sets `__batch_encoder__` to an encoder with its own `batch`, `unbatch`, `encode`,
    `decode` and `encoding_specs`.

    >>> class Point(tf.experimental.BatchableExtensionType):
    ...     x: tf.Tensor
    >>> tf.experimental.ExtensionTypeBatchEncoder().batch(Point.Spec(tf.TensorSpec([])), 3)
    Point.Spec(x=TensorSpec(shape=(3,), dtype=tf.float32, name=None))
    """

    __module__ = "gradtape.experimental"

    def batch(self, spec: Any, batch_size: int | None) -> Any:
        """Returns the spec with a leading axis added to all of its shapes."""

        def one(x: Any) -> Any:
            if isinstance(x, BatchableTypeSpec):
                return x.__batch_encoder__.batch(x, batch_size)
            return TensorShape([batch_size]).concatenate(x) if isinstance(x, TensorShape) else x

        return _made(type(spec), nest.map_structure(one, spec.__dict__))

    def unbatch(self, spec: Any) -> Any:
        """Returns the spec without the first axis of all of its shapes."""

        def one(x: Any) -> Any:
            if isinstance(x, BatchableTypeSpec):
                return x.__batch_encoder__.unbatch(x)
            return x[1:] if isinstance(x, TensorShape) else x

        return _made(type(spec), nest.map_structure(one, spec.__dict__))

    def encode(self, spec: Any, value: Any, minimum_rank: int = 0) -> Any:
        """Returns the components."""
        return spec._to_components(value)

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """Returns the value with these components."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec: Any) -> Any:
        """Returns the specs of the components."""
        return spec._component_specs


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """Base class of the specs of batchable extension types."""

    __batch_encoder__ = ExtensionTypeBatchEncoder()

    def _batch(self, batch_size: int | None) -> Any:
        return self.__batch_encoder__.batch(self, batch_size)

    def _unbatch(self) -> Any:
        return self.__batch_encoder__.unbatch(self)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return encoded(self, value)

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        return encoded(self, value, 1)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Any]) -> Any:
        return decoded(self, iter(tensor_list))

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return encoded_specs(self)


class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be batched and unbatched: by `tf.data`, `tf.map_fn`, Keras.

    >>> class Vehicle(tf.experimental.BatchableExtensionType):
    ...     top_speed: tf.Tensor
    ...     mpg: tf.Tensor
    >>> batch = Vehicle([120, 150, 80], [30, 40, 12])
    >>> tf.map_fn(lambda x: x.top_speed * x.mpg, batch, fn_output_signature=tf.int32).numpy().tolist()
    [3600, 6000, 960]
    """

    __module__ = "gradtape.experimental"

    _tf_extension_type_do_not_transform_this_class = True


def _with_specs(value: Any) -> Any:
    return spec_of(value) if isinstance(value, Tensor | CompositeTensor) else value


def _plain(value: Any) -> Any:
    """Returns a field with dicts for its mappings."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _immutable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return ImmutableDict({key: _immutable(part) for key, part in value.items()})
    return tuple(map(_immutable, value)) if isinstance(value, tuple) else value


def _unpickled(kind: Any, serialization: Any) -> Any:
    return kind.Spec._deserialize(serialization)


def _check_class(cls: Any) -> None:
    annotations = annotations_of(cls)
    for name in (*cls.__dict__, *annotations):
        if name != "Spec" and is_reserved(name):
            raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field '{name}' is reserved.")
    for name, value in cls.__dict__.items():
        methods = callable(value) or isinstance(value, property | classmethod | staticmethod)
        if name == "Spec":
            if not isinstance(value, type):
                raise ValueError(f"{cls.__qualname__}.Spec must be a nested class; got {value}.")
            if value.__bases__ not in ((TypeSpec,), (object,)):
                raise ValueError(f"{cls.__qualname__}.Spec must be directly subclassed from tf.TypeSpec.")
        elif not (methods or name in annotations or (name.startswith("__") and name.endswith("__"))):
            if not name.startswith("_abc_"):
                raise ValueError(
                    f"The field annotations for {cls.__name__} are invalid. Field {name} is missing a type annotation."
                )


def _add_constructor(cls: Any, parameters: list[inspect.Parameter]) -> None:
    """Adds a constructor that takes the fields, or wraps the user's, so that the fields are checked afterwards."""
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if "__init__" in cls.__dict__:
        cls.__init__ = _checked(cls.__init__)
        return
    signature = inspect.Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.__dict__.update(bound.arguments)

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    cls.__init__ = _checked(__init__)
    cls.__init__.__signature__ = inspect.Signature([this, *parameters], return_annotation=cls)


def _checked(constructor: Callable[..., None]) -> Any:
    @functools.wraps(constructor)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if _BEING_MADE in self.__dict__:  # called by a subclass's constructor, which checks everything at its end
            constructor(self, *args, **kwargs)
            return
        self.__dict__[_BEING_MADE] = True
        try:
            constructor(self, *args, **kwargs)
        finally:
            del self.__dict__[_BEING_MADE]
        self._tf_extension_type_convert_fields()
        self.__validate__()

    return init


def _add_spec(cls: Any) -> None:
    """Adds the nested class `Spec`, with the members of the user's own."""
    name = f"{cls.__qualname__}.Spec"
    members: dict[str, Any] = {"value_type": cls, "__module__": cls.__module__}
    for key, value in vars(cls.__dict__.get("Spec", object())).items() if "Spec" in cls.__dict__ else ():
        if is_reserved(key):
            raise ValueError(f"TypeSpec {name} uses reserved name '{key}'.")
        if cls._tf_extension_type_has_field(key):
            raise ValueError(
                f"TypeSpec {name} defines a variable '{key}' which shadows a field in {cls.__qualname__}"
            )
        if key not in ("__module__", "__dict__", "__weakref__"):
            members[key] = value
    base: type = ExtensionTypeSpec
    encoder = getattr(cls, "__batch_encoder__", None)
    if issubclass(cls, BatchableExtensionType):
        base = BatchableExtensionTypeSpec
        if encoder is not None:
            members.setdefault("__batch_encoder__", encoder)
    elif encoder is not None or "__batch_encoder__" in members:
        raise ValueError("__batch_encoder__ should only be defined for BatchableExtensionType classes.")
    spec: Any = type(f"{cls.__name__}.Spec", (base,), members)
    spec.__qualname__ = name
    _add_constructor(spec, spec._parameters())
    cls.Spec = spec
