"""`Function`: a Python function that is traced once for each signature of its arguments, and then run as a graph."""

from __future__ import annotations

import functools
import inspect
import logging
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import nest
from ..engine.convert import to_tensor
from ..specs import TensorSpec
from ..tensor import Tensor
from ..variable import Variable
from .concrete import Concrete, returned_value
from .signature import key_of, relaxed, serves

logger = logging.getLogger("gradtape")

_MANY_TRACES = 5  # so many of as many calls in a row that were traced are worth a warning


class _Settings:
    """What holds for all functions."""

    run_eagerly = False


settings = _Settings()


class Function:
    """A Python function as a graph for each signature: see `tf.function`."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        autograph: bool = True,
        jit_compile: bool | None = None,
        reduce_retracing: bool = False,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._jit_compile = bool(jit_compile)
        self._reduce_retracing = reduce_retracing
        self._concrete: dict[Any, Concrete] = {}
        self._relaxed: list[tuple[Any, Concrete]] = []
        self._called = False
        self._recent: list[bool] = []
        self._methods: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if settings.run_eagerly:
            return self.python_function(*args, **kwargs)
        if self.input_signature is not None:
            args, kwargs = self._bound(args, kwargs), {}
        leaves: list[Any] = []
        key: Any = tuple([key_of(value, leaves) for value in args])
        if kwargs:
            key = (key, tuple(kwargs), tuple([key_of(value, leaves) for value in kwargs.values()]))
        concrete = self._concrete.get(key)
        if concrete is None:
            concrete = self._found(key, args, kwargs, leaves)
        elif self._recent:
            self._recent.clear()
        result = concrete([x for x in leaves if isinstance(x, Tensor)], not self._called)
        self._called = True
        return result

    def _found(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Concrete:
        """The graphs for a call with a key not seen before."""
        for known, concrete in self._relaxed:
            if serves(known, key):
                return concrete
        concrete = self._new(args, kwargs, leaves)
        if self._reduce_retracing:
            for known in (*self._concrete, *(k for k, _ in self._relaxed)):
                both = relaxed(known, key)
                if both is not None:
                    self._relaxed.append((both, concrete))
                    return concrete
        self._warn_of_retracing(key)
        self._concrete[key] = concrete
        return concrete

    def _new(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[Any]) -> Concrete:
        structure = nest.map_structure(lambda _: None, (args, kwargs), expand_composites=True)
        others = [None if isinstance(x, Tensor) else x for x in leaves]
        at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]

        def arguments(tensors: Sequence[Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            filled = list(others)
            for i, x in zip(at, tensors, strict=True):
                filled[i] = x
            return nest.pack_sequence_as(structure, filled, expand_composites=True)

        def call(tensors: Sequence[Tensor]) -> Any:
            positional, named = arguments(tensors)
            return self._converted(*positional, **named)

        def eager(tensors: Sequence[Tensor]) -> Any:
            return nest.map_structure(returned_value, call(tensors))

        return Concrete(getattr(self, "__name__", "function"), call, eager, self._jit_compile)

    @functools.cached_property
    def _converted(self) -> Callable[..., Any]:
        """The Python function with its control flow made ready for tensors."""
        return self.python_function

    def _warn_of_retracing(self, key: Any) -> None:
        self._recent = [*self._recent, True][-_MANY_TRACES:]
        if len(self._recent) < _MANY_TRACES:
            return
        logger.warning(
            "%d out of the last %d calls to %r triggered tf.function retracing. Tracing is expensive and the excessive "
            "number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors "
            "with different shapes, (3) passing Python objects instead of tensors.%s",
            _MANY_TRACES, _MANY_TRACES, self.python_function, self._difference(key),
        )  # fmt: skip

    def _difference(self, key: Any) -> str:
        """Which argument is new in this call."""
        if not self._concrete:
            return ""
        last = next(reversed(self._concrete))
        names = list(_parameters(self.python_function))
        for i, (now, before) in enumerate(zip(key, last, strict=False)):
            if now != before:
                name = names[i] if i < len(names) else f"number {i}"
                return f" This time argument {name!r} changed from {before} to {now}."
        return ""

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments as the tensors `input_signature` asks for."""
        assert self.input_signature is not None
        try:
            call = inspect.signature(self.python_function).bind(*args, **kwargs)
            call.apply_defaults()
            if len(call.args) != len(self.input_signature) or call.kwargs:
                raise TypeError(f"{len(call.args)} arguments for the {len(self.input_signature)} of the signature")
            return nest.pack_sequence_as(self.input_signature, list(_as_asked(self.input_signature, call.args)))
        except (TypeError, ValueError, KeyError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: {kwargs} "
                f"for input_signature: {self.input_signature}."
            ) from error

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            found = self._methods.get(instance)
        except TypeError:
            found = None
        if found is None:
            found = Function(
                types.MethodType(self.python_function, instance), self.input_signature, self._autograph,
                self._jit_compile, self._reduce_retracing,
            )  # fmt: skip
            self._methods[instance] = found
        return found

    def experimental_get_tracing_count(self) -> int:
        """How many signatures the function was traced for."""
        return len(self._concrete) + len(self._relaxed)


def _parameters(f: Any) -> Mapping[str, Any]:
    try:
        return inspect.signature(f).parameters
    except (TypeError, ValueError):
        return {}


def _as_asked(spec: Any, value: Any) -> Iterator[Tensor]:
    """The tensors of `value` in the order of the specs in the structure `spec`."""
    if isinstance(spec, Mapping):
        for key in sorted(spec):
            yield from _as_asked(spec[key], value[key])
    elif nest.is_nested(spec):
        for part, its_value in zip(spec, value, strict=True):
            yield from _as_asked(part, its_value)
    else:
        tensor = to_tensor(value) if isinstance(value, Tensor | Variable) else to_tensor(value, dtype=spec.dtype)
        if not spec.is_compatible_with(tensor):
            raise TypeError(f"Can not cast {TensorSpec.from_tensor(tensor)} to {spec}")
        yield tensor

