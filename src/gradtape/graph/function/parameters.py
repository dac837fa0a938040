"""The parameters of a Python function: canonicalize calls, so that equivalent spellings share a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...core import nest
from ...core.tensor import Tensor
from ...engine.run.convert import to_tensor
from ...engine.run.signatures import signature_of
from ...state.specs import TensorSpec, TypeSpec
from ...state.variable import Variable

_EMPTY = inspect.Parameter.empty


class Parameters:
    """The parameters of `f`; the specs of `input_signature` apply to the first of them."""

    def __init__(self, f: Callable[..., Any], input_signature: tuple[Any, ...] | None, bound: int = 0) -> None:
        self.signature = _without_first(signature_of(f), bound)
        parameters = list(self.signature.parameters.values())
        self._positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self._named = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        self._names = [p.name for p in self._positional]
        self._starred = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        self._open_ended = self._starred is not None
        self._takes_names = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.specs = input_signature
        # A call with this many positional arguments, and no others, is canonical already.
        self.count = -1 if self._named or input_signature is not None else len(self._positional)
        if input_signature is not None:
            self._check_signature(input_signature)

    @property
    def arg_names(self) -> list[str]:
        """The names of the parameters that may be positional."""
        return list(self._names)

    def _check_signature(self, specs: tuple[Any, ...]) -> None:
        wrong = [s for s in nest.flatten(specs) if not isinstance(s, TypeSpec)]
        if wrong:
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
                f"{wrong} with types {[type(s) for s in wrong]}."
            )
        if len(specs) > len(self._positional) and not self._open_ended:
            raise TypeError(
                f"input_signature contains {len(specs) - len(self._positional)} extra type constraints."
            )
        for p in [*self._positional[len(specs) :], *self._named]:
            if p.default is _EMPTY:
                raise TypeError(f"input_signature missing type constraint for {p.name}")

    def names(self, count: int) -> list[str]:
        """The names of the first `count` positional arguments."""
        named = self._names[:count]
        return [*named, *[f"{self._starred or 'args'}_{i}" for i in range(count - len(named))]]

    def arranged(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Canonicalize a call: arguments by position where possible, else by name, and all defaults filled in."""
        plain = not kwargs and not self._named and self.specs is None
        if plain and self._open_ended and len(args) >= len(self._positional):
            return tuple(args), {}
        positional, named, rest = list(args), {}, dict(kwargs)
        for p in self._positional[len(args) :]:
            value = rest.pop(p.name, p.default) if p.kind is p.POSITIONAL_OR_KEYWORD else p.default
            if value is _EMPTY:
                raise self._misfit(args, kwargs)
            positional.append(value)
        for p in self._named:
            named[p.name] = rest.pop(p.name, p.default)
            if named[p.name] is _EMPTY:
                raise self._misfit(args, kwargs)
        too_many = len(args) > len(self._positional) and not self._open_ended
        if too_many or (rest and not self._takes_names):
            raise self._misfit(args, kwargs)
        for p in self._positional[: len(args)]:
            if p.name in rest and p.kind is p.POSITIONAL_OR_KEYWORD:
                raise self._misfit(args, kwargs)
        named.update((name, rest[name]) for name in sorted(rest))
        if self.specs is not None:
            try:
                return self._as_specified(positional, named)
            except (TypeError, ValueError, KeyError) as error:
                raise self.failure(error, args, kwargs) from error
        return tuple(positional), named

    def _as_specified(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Convert the arguments to the tensors that the input signature requires."""
        assert self.specs is not None
        count = len(self.specs)
        if len(args) < count:
            raise TypeError("missing a required argument")
        for i, p in enumerate(self._positional[count:], count):
            if args[i] is not p.default and not _same(args[i], p.default):
                raise TypeError(f"Can not cast {args[i]!r} to Literal[{p.default!r}]")
        if len(args) > max(count, len(self._positional)):
            raise TypeError("too many positional arguments")
        tensors = [as_specified(spec, value) for spec, value in zip(self.specs, args, strict=False)]
        return (*tensors, *args[count:]), kwargs

    def _misfit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TypeError:
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return self.failure(error, args, kwargs)
        return self.failure(TypeError("missing a required argument"), args, kwargs)

    def failure(self, error: Exception, args: object, kwargs: object, text: str | None = None) -> TypeError:
        """The error for a call that does not match the signature."""
        return TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: {kwargs} for "
            f"signature: {self if text is None else text}."
        )

    def __str__(self) -> str:
        shown = [p.replace(annotation=_EMPTY) for p in self.signature.parameters.values()]
        for i, spec in enumerate((self.specs or ())[: len(self._positional)]):
            shown[i] = shown[i].replace(annotation=spec)
        return str(self.signature.replace(parameters=shown, return_annotation=inspect.Signature.empty))

    def described(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, str, Any]]:
        """Name, kind and value of each argument of a canonical call."""
        kinds = [p.kind.name for p in self._positional] + ["POSITIONAL_ONLY"] * (len(args) - len(self._positional))
        rows = list(zip(self.names(len(args)), kinds, args, strict=False))
        return rows + [(name, "KEYWORD_ONLY", value) for name, value in kwargs.items()]


def _without_first(signature: inspect.Signature, count: int) -> inspect.Signature:
    parameters = list(signature.parameters.values())
    fixed = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters[:count])
    return signature.replace(parameters=parameters[fixed:])


def _same(a: object, b: object) -> bool:
    if isinstance(a, Tensor | Variable) or isinstance(b, Tensor | Variable):
        return False
    try:
        return type(a) is type(b) and bool(a == b)
    except (TypeError, ValueError):
        return False


def as_specified(spec: Any, value: Any) -> Any:
    """Convert the leaves of `value` to tensors that match the specs in the structure `spec`."""
    tensors = list(_tensors(spec, value))
    return nest.pack_sequence_as(spec, tensors) if nest.is_nested(spec) else tensors[0]


def _tensors(spec: Any, value: Any) -> Iterator[Any]:
    if nest.is_nested(spec):
        same_kind = isinstance(value, Mapping) if isinstance(spec, Mapping) else isinstance(value, type(spec))
        if not same_kind:
            raise TypeError(f"Can not cast {value!r} to {spec!r}")
        if isinstance(spec, Mapping):
            if set(spec) != set(value):
                raise TypeError(f"Can not cast {value!r} to {spec!r}: the keys differ")
            for key in sorted(spec):
                yield from _tensors(spec[key], value[key])
            return
        its = nest.parts(value)
        if len(its) != len(spec):
            raise TypeError(f"Can not cast {value!r} to {spec!r}: the numbers of elements differ")
        for part, its_value in zip(spec, its, strict=True):
            yield from _tensors(part, its_value)
    elif not isinstance(spec, TensorSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {spec}")
        yield value
    elif isinstance(value, TensorSpec):
        if not value.is_subtype_of(spec):
            raise TypeError(f"Can not cast {value} to {spec}")
        yield value
    else:
        known = isinstance(value, Tensor | Variable)
        try:
            tensor = to_tensor(value) if known else to_tensor(value, dtype=spec.dtype)
        except (TypeError, ValueError):
            raise TypeError(f"Can not cast {value!r} to {spec}") from None
        if not spec.is_compatible_with(tensor):
            raise TypeError(f"Can not cast {TensorSpec.from_tensor(tensor)} to {spec}")
        yield tensor
