"""Type-based dispatch: API functions call the user's implementation for the user's types.

The registrations are kept with the fronts of the public functions (`catalogue.fronts`), which test for them.
"""

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

from ...core.extension_points import operator_fallback
from ...core.operators import ARITHMETIC
from ...core.scopes import name_scope
from ...core.tensor import Tensor
from ...engine.run.signatures import signature_of
from ..catalogue.elementwise import ASSERTING, elementwise_functions
from ..catalogue.fronts import Check, Publication, Target, publications, triggers_dispatch
from ..namespace import resolve
from .fields import is_union

NAMESPACES = ("experimental",)
__all__ = [
    "dispatch_for_api", "dispatch_for_binary_elementwise_apis", "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis", "unregister_dispatch_for",
]  # fmt: skip

Signature = dict[Any, Any]  # from parameters, by name or position, to types
F = TypeVar("F", bound=Callable[..., Any])
_handlers: dict[tuple[str, tuple[object, ...]], Callable[..., Any]] = {}  # of all elementwise functions, by types


def _check_for(annotation: object) -> Check:
    """Compiles an annotation to a check: a type, a union, or a list of another annotation."""
    if annotation is None:
        annotation = type(None)
    if is_union(annotation):
        options = [_check_for(option) for option in typing.get_args(annotation)]

        def one_of(value: object) -> tuple[bool, bool]:
            return next((found for check in options if (found := check(value))[0]), (False, False))

        return one_of
    if typing.get_origin(annotation) is list:
        each = _check_for(*typing.get_args(annotation))

        def all_of(value: object) -> tuple[bool, bool]:
            if not isinstance(value, list | tuple):
                return False, False
            found = [each(x) for x in value]
            return all(fits for fits, _ in found), any(own for _, own in found)

        return all_of
    if not isinstance(annotation, type):
        raise ValueError(
            f"Type annotation {annotation} is not currently supported by dispatch. Supported annotations: type "
            "objects, List[...], and Union[...]"
        )
    return lambda value: (isinstance(value, annotation), triggers_dispatch(value))


def _publication_of(api: Callable[..., Any]) -> Publication:
    publication = publications.get(api) if isinstance(api, types.FunctionType) else None
    if publication is None:
        raise ValueError(f"{api} does not support dispatch: it is no public function with a parameter `name`.")
    return publication


def _register(
    api: Callable[..., Any], function: Callable[..., Any], signatures: Sequence[Signature], owner: object
) -> None:
    publication = _publication_of(api)
    parameters = inspect.signature(api).parameters
    names = list(parameters)
    checks = []
    for signature in signatures:
        if not (isinstance(signature, dict) and all(isinstance(key, str | int) for key in signature)):
            raise TypeError("signatures must be dictionaries mapping parameter names to type annotations.")
        row = []
        for key, annotation in signature.items():
            name = names[key] if isinstance(key, int) and key < len(names) else key
            if name not in parameters:
                raise ValueError(f"signature includes annotation for unknown parameter {name!r}.")
            row.append((name, _check_for(annotation)))
        checks.append(row)
    publication.targets.append(Target(function, checks, owner))
    operator_fallback.install(_operator)


def dispatch_for_api(api: Callable[..., Any], *signatures: Signature) -> Callable[[F], F]:
    """Decorator: `api` calls the function for arguments of the types in a signature.

    A signature is a dict from parameters of `api` to types, `Union`s or `List`s of types; without one, the function's
    annotations are used.

    >>> class Mirrored(tf.experimental.ExtensionType):
    ...     half: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.size, {"input": Mirrored})
    ... def mirrored_size(input, out_type=tf.int32, name=None):
    ...     return 2 * tf.size(input.half, out_type)
    >>> int(tf.size(Mirrored([1.0, 2.0])))
    4
    >>> tf.experimental.unregister_dispatch_for(mirrored_size)
    """
    parameters = inspect.signature(_publication_of(api).front).parameters

    def decorator(function: F) -> F:
        named = "name" in parameters and "name" not in signature_of(function).parameters
        _check_parameters(parameters, function, named)
        _register(api, _scoped(function, list(parameters)) if named else function,
                  signatures or [_annotated(function)], function)  # fmt: skip
        return function

    return decorator


def _annotated(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function)
    except (AttributeError, NameError):
        hints = {}
    found = {
        name: hints.get(name, p.annotation)
        for name, p in signature_of(function).parameters.items()
        if p.annotation is not p.empty
    }
    if not found:
        raise ValueError(
            "The dispatch_for_api decorator must be called with at least one signature, or applied to a function that "
            "has type annotations on its parameters."
        )
    return found


def _check_parameters(parameters: Mapping[str, inspect.Parameter], function: Callable[..., Any], named: bool) -> None:
    """Raises if a function does not have the parameters of the API; it may omit `name` if `named`."""
    signature = signature_of(function)
    kinds = {p.kind for p in signature.parameters.values()}
    if kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return
    expected = [(p.name, p.kind) for p in parameters.values() if not (named and p.name == "name")]
    if [(p.name, p.kind) for p in signature.parameters.values()] != expected:
        raise ValueError(
            f"Dispatch function's signature {signature} does not match API's signature "
            f"({', '.join(map(str, parameters.values()))})."
        )


def _without_name(
    names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], str | None]:
    """Splits `name` off the arguments of a call."""
    at = names.index("name") if "name" in names else len(args)
    if at < len(args):
        return (*args[:at], *args[at + 1 :]), kwargs, args[at]
    return args, {key: value for key, value in kwargs.items() if key != "name"}, kwargs.get("name")


def _scoped(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """Adds a parameter `name` to a function, which opens a name scope around the call."""

    def scoped(*given: object, **keywords: object) -> Any:
        args, kwargs, name = _without_name(names, given, keywords)
        with nullcontext() if name is None else name_scope(name):
            return function(*args, **kwargs)

    return scoped


def _for_elementwise(apis: list[str], kinds: tuple[object, ...], tag: str) -> Callable[[F], F]:
    def decorator(handler: F) -> F:
        key = (tag, kinds)
        if key in _handlers:
            shown = kinds[0] if len(kinds) == 1 else kinds
            raise ValueError(
                f"A {tag} dispatch handler ({_handlers[key]}) has already been registered for {shown}."
            )
        for annotation in kinds:
            _check_for(annotation)
        _handlers[key] = handler
        for name in apis:
            _register_handler(resolve(name), kinds, handler)
        return handler

    return decorator


def _register_handler(api: Callable[..., Any], kinds: tuple[object, ...], handler: Callable[..., Any]) -> None:
    names = list(inspect.signature(api).parameters)
    count = len(kinds)
    bare = len(names) == count + ("name" in names)  # no arguments besides the operands

    def target(*given: object, **keywords: object) -> Any:
        args, kwargs, name = _without_name(names, given, keywords)
        operands = list(args[:count]) + [kwargs.pop(key) for key in names[len(args) : count]]
        rest = args[count:]
        function = api if bare else lambda *xs: api(*xs, *rest, **kwargs)
        with nullcontext() if name is None else name_scope(name):
            return handler(function, *operands)

    _register(api, target, [dict(zip(names, kinds, strict=False))], handler)


def dispatch_for_unary_elementwise_apis(x_type: object) -> Callable[[F], F]:
    """Decorator: all unary elementwise functions call `handler(function, x)` for an `x` of type `x_type`.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Masked)
    ... def unary(function, x):
    ...     return Masked(function(x.values), x.mask)
    >>> tf.abs(Masked([1, -2], [True, False])).values.numpy().tolist()
    [1, 2]
    >>> tf.experimental.unregister_dispatch_for(unary)
    """
    return _for_elementwise(elementwise_functions("unary"), (x_type,), "unary elementwise")


def dispatch_for_binary_elementwise_apis(x_type: object, y_type: object) -> Callable[[F], F]:
    """Decorator: all binary elementwise functions call `handler(function, x, y)` for arguments of these types.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked)
    ... def binary(function, x, y):
    ...     return Masked(function(x.values, y.values), x.mask & y.mask)
    >>> tf.add(Masked([1, -2], [True, False]), Masked([3, 4], [True, True])).values.numpy().tolist()
    [4, 2]
    >>> tf.experimental.unregister_dispatch_for(binary)
    """
    return _for_elementwise(elementwise_functions("binary"), (x_type, y_type), "binary elementwise")


def dispatch_for_binary_elementwise_assert_apis(x_type: object, y_type: object) -> Callable[[F], F]:
    """Decorator: `tf.debugging.assert_equal` and similar functions call `handler(assertion, x, y)` for these types.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked)
    ... def asserted(assertion, x, y):
    ...     mask = x.mask & y.mask
    ...     assertion(tf.boolean_mask(x.values, mask), tf.boolean_mask(y.values, mask))
    >>> tf.debugging.assert_equal(Masked([1, 2], [True, False]), Masked([1, 3], [True, True]))
    >>> tf.experimental.unregister_dispatch_for(asserted)
    """
    return _for_elementwise(ASSERTING, (x_type, y_type), "binary elementwise assert")


def unregister_dispatch_for(dispatch_target: object) -> None:
    """Removes what one of the decorators registered.

    >>> class Celsius(tf.experimental.ExtensionType):
    ...     degrees: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.rank)
    ... def rank(input: Celsius):
    ...     return tf.rank(input.degrees)
    >>> int(tf.rank(Celsius([20.0])))
    1
    >>> tf.experimental.unregister_dispatch_for(rank)
    """
    found = False
    dispatched = [publication for publication in publications.values() if publication.targets]
    for publication in dispatched:
        rest = [target for target in publication.targets if target.owner is not dispatch_target]
        found = found or len(rest) < len(publication.targets)
        publication.targets[:] = rest
    for key in [key for key, handler in _handlers.items() if handler is dispatch_target]:
        del _handlers[key]
    if not any(publication.targets for publication in dispatched):
        operator_fallback.install(None)
    if not found:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


_FUNCTIONS = "add subtract multiply truediv floordiv floormod pow".split()
_OPERATORS = dict(zip(
    (row.reflected for row in ARITHMETIC), [*(f"math.{name}" for name in _FUNCTIONS), "linalg.matmul"], strict=True
))  # fmt: skip


def _operator(reflected: str, x: Tensor, y: object) -> Any:
    """Evaluates `x + y` and other operators for a `y` of a user's type, by the function of the operator."""
    if reflected not in _OPERATORS:
        return NotImplemented
    publication = publications[resolve(_OPERATORS[reflected])]
    return publication.dispatch((x, y)) if publication.targets else NotImplemented
