"""Callable functions of a SavedModel: one per signature, and dispatchers among several."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..api.runtime.operations import FUNCTION_VIEW
from ..core import nest
from ..core.dtypes import DType, resource
from ..core.locks import cached_property
from ..core.tensor import Tensor
from ..engine.run.convert import to_tensor
from ..graph.function.concrete_function import ConcreteFunction
from ..graph.function.function import Function
from ..graph.function.parameters import Parameters
from ..state.specs import TensorSpec, TypeSpec
from ..state.variable import Variable
from .interpretation import CapturedTensor, GraphFunction, UnknownResource
from .validation import check_dtypes

_CONVERTED = (bool, int, float, complex, str, bytes, np.ndarray, np.generic, list, tuple)  # types that become tensors


_NOT_PICKLED = (
    "cannot pickle a function of a SavedModel: it is a graph. Pass on the folder, and call tf.saved_model.load(folder) "
    "where the function is used"
)


class LoadedConcreteFunction(ConcreteFunction):
    """A function of a SavedModel for one signature, traced in its first call or when its graph is requested."""

    def __init__(
        self, graph_function: GraphFunction, captured: Sequence[Any], signature: tuple[Any, Any], outputs: Any
    ) -> None:
        self.name = graph_function.name.encode()
        self.structured_input_signature = signature
        self._outputs = outputs
        self.base_name = re.sub(r"^__inference_(.*?)_?\d*$", r"\1", graph_function.name)
        self.captured = list(captured)
        self._graph_function = graph_function
        leaves = nest.flatten(signature, expand_composites=True)
        self._given = [x for x in leaves if isinstance(x, TensorSpec)]
        self._names = graph_function.inputs[: len(self._given)]
        self._own_names = [spec.name for spec in self._given]
        self._bound = []
        self._graph_view = FUNCTION_VIEW
        args, kwargs = signature
        self._rows = [(spec.name or f"args_{i}", "POSITIONAL_ONLY", spec) for i, spec in enumerate(map(_named, args))]
        self._rows += [(name, "KEYWORD_ONLY", value) for name, value in kwargs.items()]
        self._variant = None
        self._parameters = Parameters(self._flat_call, None)
        self.positional = len(self._given)
        self.by_names = False  # whether it is a signature, which takes arguments by name and returns a dict

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(_NOT_PICKLED)

    def check(self) -> None:
        """Raises an error unless the signature and the captures match the function's inputs and outputs."""
        function = self._graph_function
        who = f"the function {function.name}"
        takes = [spec.dtype for spec in self._given]
        for value in self.captured:  # a tensor of another function is checked where that function runs
            declared = function.dtypes[len(takes)] if len(takes) < len(function.dtypes) else resource
            takes.append(declared if isinstance(value, CapturedTensor | UnknownResource) else _captured_dtype(value))
        check_dtypes(f"the signature of {who}", "takes", takes, function.dtypes)
        leaves = nest.flatten(self._outputs, expand_composites=True)
        gives = [spec.dtype for spec in leaves if isinstance(spec, TensorSpec)]
        check_dtypes(f"the signature of {who}", "gives", gives, function.output_dtypes)

    def set_names(self, names: Sequence[str], positional: int) -> None:
        """Sets the names of the tensors, and how many of them may be passed by position."""
        if len(names) == len(self._given):
            self._names = list(names)
        self.positional = positional

    @cached_property
    def _function(self) -> Function:
        specs = [TensorSpec(spec.shape, spec.dtype) for spec in self._given]
        function = Function(self._flat_call, input_signature=specs, autograph=False, graph_view=FUNCTION_VIEW)
        return _copy_with_own_traces(function)

    def _flat_call(self, *tensors: Any) -> list[Any]:
        return self._graph_function(*tensors, *self.captured)

    def run(self, tensors: Sequence[Any]) -> Any:
        """Runs the function on tensors, in the active trace if there is one."""
        return self._packed(self._flat_call(*tensors))

    def run_with(self, tensors: Sequence[Any], captured: Sequence[Any]) -> Any:
        """Runs the function with these captured values."""
        return self._packed(self._graph_function(*tensors, *captured))

    def _packed(self, flat: Sequence[Any]) -> Any:
        leaves = nest.flatten(self._outputs, expand_composites=True)
        found = iter(flat)
        values = [next(found) if isinstance(leaf, TensorSpec) else leaf for leaf in leaves]
        return nest.pack_sequence_as(self._outputs, values, expand_composites=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with the tensors of its signature, by position or by name."""
        if len(args) + len(kwargs) == len(self._given) and not self._is_structured(args):
            tensors = self._by_names(args, kwargs)
        elif self.by_names:
            raise self._misfit(args, kwargs)
        else:
            tensors = flat_tensors((args, kwargs), self.structured_input_signature)
        return self._packed(self._function(*tensors))

    def _is_structured(self, args: Sequence[Any]) -> bool:
        known = zip(args, self.structured_input_signature[0], strict=False)
        return any(nest.is_nested(x) and isinstance(s, list | tuple | dict) for x, s in known)

    def _by_names(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        rest = self._names[len(args) :]
        shown = [spec.name or name for spec, name in zip(self._given, self._names, strict=True)][len(args) :]
        if len(args) > self.positional or {*kwargs} not in ({*rest}, {*shown}):
            raise self._misfit(args, kwargs)
        order = rest if {*kwargs} == {*rest} else shown
        given = [*args, *(kwargs[name] for name in order)]
        return [to_tensor(x, hint=spec.dtype) for x, spec in zip(given, self._given, strict=True)]

    def _misfit(self, args: Sequence[Any], kwargs: dict[str, Any]) -> TypeError:
        names = [spec.name or name for spec, name in zip(self._given, self._names, strict=True)]
        extra = sorted({*kwargs} - {*names})
        missing = [name for name in names[min(len(args), self.positional) :] if name not in kwargs]
        shown = f"{self.name.decode()}({', '.join(names)})"
        if len(args) > self.positional:
            return TypeError(
                f"{shown} takes {self.positional} positional arguments, got {len(args)}: give the others by name"
            )
        if extra:
            return TypeError(f"{shown} got unexpected keyword arguments: {', '.join(extra)}.")
        return TypeError(f"{shown} missing required arguments: {', '.join(missing)}.")

    @property
    def structured_outputs(self) -> Any:
        """The return value, with specs in place of tensors."""
        return self._outputs

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function reads or writes."""
        return tuple({id(v): v for v in self.captured if isinstance(v, Variable)}.values())

    captured_inputs = property(lambda self: list(self.captured), doc="The variables and tensors that it captures.")

    def traced(self) -> ConcreteFunction:
        """Returns the function as traced by gradtape."""
        return self._function.get_concrete_function()

    @property
    def graph(self) -> Any:
        """The graph, for which the function is traced."""
        return self.traced().graph

    def _result_text(self) -> str:
        return repr(self._outputs)


def _captured_dtype(value: Any) -> DType:
    """Returns the dtype of a captured value: resource for variables and tables."""
    return value.dtype if isinstance(value, Tensor) else resource


def _named(value: Any) -> Any:
    return value if isinstance(value, TensorSpec) else TensorSpec(None) if value is None else _Literal(value)


class _Literal:
    """An argument that is not a tensor."""

    name = None

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def flat_tensors(given: Any, known: Any, convert: bool = True) -> list[Any]:
    """Returns the tensors in `given`, which must match the specs and literals of `known`, or raises TypeError."""
    found: list[Any] = []
    for spec, value in zip(nest.flatten(known), _flat_like(known, given), strict=True):
        found += _tensors(spec, value, convert)
    return found


def _flat_like(known: Any, given: Any) -> list[Any]:
    """Returns what is given for each leaf of `known`: for a tensor it may be a list, which is converted."""
    if isinstance(known, Mapping) and isinstance(given, Mapping) and known.keys() == given.keys():
        pairs: Any = [(known[key], given[key]) for key in sorted(known)]
    elif isinstance(known, list | tuple) and isinstance(given, list | tuple) and len(known) == len(given):
        pairs = zip(known, given, strict=True)
    elif isinstance(known, TensorSpec) and isinstance(given, list | tuple):
        return [given]
    else:
        nest.assert_same_structure(known, given, check_types=False)
        return nest.flatten(given)
    return [value for pair in pairs for value in _flat_like(*pair)]


def _tensors(spec: Any, value: Any, convert: bool) -> list[Any]:
    """Returns the tensors of one argument."""
    if isinstance(spec, TensorSpec):
        if not isinstance(value, Tensor | Variable):
            if not convert or value is None or (isinstance(value, str) and spec.dtype.name != "string"):
                raise TypeError(f"a tensor was expected, got {value!r}")
            if not isinstance(value, _CONVERTED):
                raise TypeError(f"a tensor was expected, got {value!r}")
            value = to_tensor(value, hint=spec.dtype)
        if value.dtype is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
            raise TypeError(f"{spec} was expected, got {value!r}")
        return [value]
    if isinstance(spec, TypeSpec):
        if not spec.is_compatible_with(value):
            raise TypeError(f"{spec} was expected, got {value!r}")
        return nest.flatten(value, expand_composites=True)
    if isinstance(value, Tensor | Variable) or type(value) is not type(spec) or value != spec:
        raise TypeError(f"{spec!r} was expected, got {value!r}")
    return []


def chosen(concretes: Sequence[LoadedConcreteFunction], args: Any, kwargs: Any) -> tuple[LoadedConcreteFunction, Any]:
    """Returns the function that matches the arguments, and their tensors."""
    if not concretes:
        raise ValueError("Found zero restored functions for caller function.")
    for convert in (False, True):
        for concrete in concretes:
            try:
                return concrete, flat_tensors((tuple(args), dict(kwargs)), concrete.structured_input_signature, convert)
            except (TypeError, ValueError):
                continue
    options = "\n\n".join(
        f"Option {i}:\n{_format_arguments(*concrete.structured_input_signature)}"
        for i, concrete in enumerate(concretes, 1)
    )
    raise ValueError(
        "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
        f"{_format_arguments(args, kwargs)}\n\n Expected these arguments to match one of the following "
        f"{len(concretes)} option(s):\n\n{options}"
    )


def _format_arguments(args: Any, kwargs: Any) -> str:
    positional = "\n    * ".join(repr(x) for x in args)
    return f"  Positional arguments ({len(args)} total):\n    * {positional}\n  Keyword arguments: {kwargs}"


class LoadedFunction(Function):
    """A function of a SavedModel, which accepts the arguments for which it was traced."""

    def __init__(
        self, name: str, signature: inspect.Signature, concretes: Sequence[LoadedConcreteFunction], specs: Any
    ) -> None:
        choose = _chooser(name, signature, concretes)
        super().__init__(choose, input_signature=specs, autograph=False, graph_view=FUNCTION_VIEW)
        self.concrete_functions = list(concretes)
        _copy_with_own_traces(self)

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(_NOT_PICKLED)


def _copy_with_own_traces(function: Function) -> Function:
    """Returns a copy of the function whose traces are counted separately from those with the same Python code."""
    function._calls = type(function._calls)()
    return function


def _chooser(
    name: str, signature: inspect.Signature, concretes: Sequence[LoadedConcreteFunction]
) -> Callable[..., Any]:
    """Creates a Python function with these parameters that calls the function matching the arguments."""
    parameters = list(signature.parameters.values())
    named = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        # Arguments are passed by position where possible; keyword-only arguments stay keywords.
        concrete, tensors = chosen(concretes, bound.args, {**{n: bound.arguments[n] for n in named}, **bound.kwargs})
        return concrete.run(tensors)

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    return call
