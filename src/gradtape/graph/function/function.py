"""`Function`: a Python function that is traced once per input signature and then runs as a graph."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from ...core import errors, logger, modes, nest
from ...core.budgets import in_force, parse_budget
from ...core.dtypes import DType
from ...core.errors import NeedsExamples
from ...core.extension_points import convert_function
from ...core.locks import CopyableLock, cached_property
from ...core.scopes import holding
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.tracebacks import hide_frames
from ...engine.run.dispatch import thread
from ...state.specs import TensorSpec, TypeSpec
from ...state.variable import Variable
from ..trace.closures import tensors_around
from ..trace.conversion_status import do_not_convert
from ..trace.results import emptied, returned_value
from .concrete_function import ConcreteFunction, GraphView, PlainView
from .elements import FunctionOfElements
from .jit_policy import JitPolicy
from .open_sizes import open_arguments, representative
from .parameters import Parameters
from .signature import (
    TakesElements,
    is_given_tensor,
    is_open,
    is_tensor_like_leaf,
    key_of,
    keys_of,
    relaxed,
    serves,
    without_tensors,
)
from .specialization import Specialization
from .trace_cache import FirstCall, TraceCache

_MANY_TRACES = 5  # traces within the last `_LAST_CALLS` calls that trigger a retracing warning
_LAST_CALLS = 10
_MOST_WARNINGS = 2


class _Calls:
    """Call and trace counts of one Python function, shared by all of its `Function`s: they may be created in a loop."""

    def __init__(self) -> None:
        self.count = 0
        self.traces: list[int] = []  # call numbers of the recent calls that were traced
        self.warnings = 0
        self.not_compiled: set[str] = set()  # the reasons, one of which is logged


_calls: weakref.WeakKeyDictionary[Any, _Calls] = weakref.WeakKeyDictionary()  # by code object


_PLAIN = PlainView()
settings = types.SimpleNamespace(run_eagerly=False)  # global, for all functions


# What the arguments of a function in a SavedModel can be.
_SERIALIZABLE = (
    TypeSpec, Tensor, Variable, DType, TensorShape, np.ndarray, np.generic, bool, int, float, complex, str, bytes,
    type(None),
)  # fmt: skip


def _without_variable(x: Any) -> Any:
    return TensorSpec(x.shape, x.dtype) if isinstance(x, Variable) else x


class Function:
    """A Python function compiled to one graph per input signature: see `tf.function`."""

    def __init__(
        self, python_function: Callable[..., Any], name: str | None = None,
        input_signature: Sequence[Any] | None = None, autograph: bool = True, jit_compile: bool | None = None,
        reduce_retracing: bool = False, autograph_options: Any = None, memory_budget: int | float | str | None = None,
        graph_view: GraphView = _PLAIN, cache: type[TraceCache] = TraceCache,
        instance: weakref.ref[Any] | None = None,
    ) -> None:  # fmt: skip
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        if input_signature is not None and not isinstance(input_signature, list | tuple):
            raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
        functools.update_wrapper(self, python_function, updated=())
        self.name = name or getattr(python_function, "__name__", None) or _name_of(python_function)
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self._function, self._instance = python_function, instance
        budget = None if memory_budget is None else parse_budget(memory_budget)
        self._options = (autograph, jit_compile, reduce_retracing, autograph_options, budget, graph_view, cache)
        self._concretes: dict[Any, TraceCache] = {}  # by key, in which sizes may be None; these count as traces
        self._open: list[tuple[Any, TraceCache]] = []  # the entries of `_concretes` that have a None in their key
        self._found: dict[Any, tuple[TraceCache, list[Specialization]]] = {}  # by the exact key of a call
        self._methods: dict[int, tuple[weakref.ref[Any], Function]] = {}
        self._elsewhere: dict[Any, Function] = {}  # by `thread.replica_context` and the memory budget in force
        self._first_call = FirstCall()
        self._lock = CopyableLock()  # for what calls share
        self._of_elements: FunctionOfElements | None = None  # for calls with iterators of datasets
        code = getattr(inspect.unwrap(python_function), "__code__", None)
        self._calls = _Calls() if code is None else _calls.setdefault(code, _Calls())
        self._jit = JitPolicy(self.name, jit_compile, self._calls.not_compiled)
        if input_signature is not None and instance is None and _takes_self(python_function, tuple(input_signature)):
            self._count = -1  # an unbound method: only the bound one knows its parameters
        else:
            self._count = self._parameters.count
            self.__signature__ = self._parameters.signature  # of a method, without `self`
        for name, value in getattr(python_function, "__dict__", {}).items():
            if not hasattr(self, name):  # attributes of a function or of a callable object
                setattr(self, name, value)

    @cached_property
    def _parameters(self) -> Parameters:
        return Parameters(self._function, self.input_signature, 0 if self._instance is None else 1)

    @property
    def python_function(self) -> Callable[..., Any]:
        """The wrapped Python function."""
        if self._instance is None:
            return self._function
        return types.MethodType(self._function, self._instance())

    _python_function = python_function  # the name by which libraries read it

    @cached_property
    def _converted(self) -> Callable[..., Any]:
        """The Python function with AutoGraph's conversion of control flow applied."""
        autograph, _, _, features, *_ = self._options
        return convert_function(self._function, features) if autograph else do_not_convert(self._function)

    @property
    def converted(self) -> Callable[..., Any]:
        """The converted Python function, bound to its instance if any; other functions inline it."""
        return self._converted if self._instance is None else types.MethodType(self._converted, self._instance())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if settings.run_eagerly:
            return self.python_function(*args, **kwargs)
        try:
            if thread.replica_context is not None or in_force.budget is not None:
                self = self._here()
            self._calls.count += 1
            if kwargs or len(args) != self._count:
                args, kwargs = self._parameters.arranged(args, kwargs)
            tensors: list[Tensor] = []
            variables: list[Variable] = []
            parts: list[Any] = []
            for value in args:
                if type(value) is Tensor:  # fast path of `key_of` for the most common argument
                    tensors.append(value)
                    parts.append((value.array.shape, value.dtype))
                else:
                    parts.append(key_of(value, tensors, variables))
            key: Any = tuple(parts)
            if kwargs:
                key = (key, tuple(kwargs), keys_of(kwargs.values(), tensors, variables))
            found = self._found.get(key)
            if found is None:
                with self._lock:
                    concrete = self._served(key) or self._new(key, args, kwargs, warn=True)
                    found = self._found[key] = (concrete, concrete.variants_for(tensors, ()))
            concrete, variants = found
            if variables:
                variants = concrete.variants_for(tensors, variables)
            result = concrete.run(variants, tensors, variables, not self._first_call.is_over)
            if modes.active:
                concrete.report_call(variants, tensors, result)
                modes.function_called(self, args, kwargs, result)
            return result
        except (NeedsExamples, TakesElements) as reason:
            try:
                return self._without_one_graph(reason, args, kwargs)
            except Exception as error:
                hide_frames(error)
                raise
        except Exception as error:
            hide_frames(error)
            raise

    def _without_one_graph(self, reason: NeedsExamples | TakesElements, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call the function on every example by itself, or on the elements that it takes from iterators."""
        if isinstance(reason, NeedsExamples):
            trace: Any = thread.trace
            in_scratch = trace is not None and trace.is_scratch
            run = trace.call_for_examples if in_scratch else reason.for_examples  # the graph drops what is assigned
            return run(self.python_function, args, kwargs)
        if self._of_elements is None:
            with self._lock:
                self._of_elements = self._of_elements or FunctionOfElements(self, self._with_same_options)
        return self._of_elements(args, kwargs)

    def _with_same_options(self, python_function: Callable[..., Any], cache: type[TraceCache]) -> Function:
        return Function(python_function, None, None, False, *self._options[1:6], cache)

    def _here(self) -> Function:
        """Returns the copy of this function for the active replica, whose captured values may differ between replicas.

        Likewise for the memory budget in force, unless the function has its own budget or is inlined into another
        trace.
        """
        replica_context = thread.replica_context
        budget = in_force.budget if self._options[4] is None and thread.trace is None else None
        if replica_context is None and budget is None:
            return self
        found = self._elsewhere.get((replica_context, budget))
        if found is None:
            options = self._options if budget is None else (*self._options[:4], budget, *self._options[5:])
            with self._lock:
                found = self._elsewhere.setdefault(
                    (replica_context, budget),
                    Function(self._function, self.name, self.input_signature, *options, self._instance),
                )
        return found

    def _served(self, key: tuple[Any, ...]) -> TraceCache | None:
        if key in self._concretes:
            return self._concretes[key]
        return next((concrete for known, concrete in self._open if serves(known, key)), None)

    def _new(
        self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any], warn: bool = False
    ) -> TraceCache:
        specs = self._parameters.specs
        given, named = args, kwargs
        if specs is not None:
            given = (*specs, *args[len(specs) :])
            key = _key(given, kwargs)
        elif representative.size is not None:
            given, named = open_arguments((args, kwargs))
            key = _key(given, named)
        elif self._options[2]:
            for known in self._concretes:
                both = relaxed(known, key)
                if both is not None:
                    key = both
                    break
        if warn:
            self._warn_of_retracing(self._named(key, kwargs))
        concrete = self._concretes[key] = self._made(args, kwargs)
        if not kwargs and all([type(x) is Tensor for x in given]):
            shapes = [(x.dims, x.dtype) for x in given]
            concrete.arguments = lambda: (tuple([TensorSpec(*x) for x in shapes]), {})
        else:
            arguments = nest.map_structure(without_tensors, (given, named))
            concrete.arguments = lambda: arguments
        if is_open(key):
            self._open.append((key, concrete))
        return concrete

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TraceCache:
        # The closures hold parts of this function, not the function itself: a cycle would delay its deallocation.
        converted, instance = self._converted, self._instance
        if not kwargs and all([type(x) is Tensor for x in args]):
            names = self._parameters.names(len(args))

            def call(tensors: Sequence[Tensor], variables: Sequence[Variable]) -> Any:
                return converted(*(() if instance is None else (instance(),)), *tensors)

        else:
            rows = self._parameters.described(args, dict(sorted(kwargs.items())))
            names = [row[0] for row in rows for x in nest.flatten(row[2], True) if is_given_tensor(x)]
            call = self._call_with_structures(args, kwargs)

        steps: dict[Any, Any] = {}

        def eager(tensors: Sequence[Tensor], variables: Sequence[Variable]) -> Any:
            try:
                with holding(thread, eager_steps=steps):
                    return nest.map_structure(returned_value, call(tensors, variables))
            except StopIteration as end:  # from a dataset
                raise errors.OutOfRangeError("End of sequence") from end

        around = functools.partial(_tensors_around, self._function, instance)
        return self._options[6](self.name, names, around, call, eager, self._jit, self._options[4], self._first_call)

    def _call_with_structures(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """Returns a callable that packs tensors and variables back into the structure of the arguments and calls."""
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        structure = nest.map_structure(emptied, (args, kwargs))
        others = [None if is_tensor_like_leaf(x) else x for x in leaves]
        at = [i for i, x in enumerate(leaves) if is_given_tensor(x)]
        variables_at = [i for i, x in enumerate(leaves) if isinstance(x, Variable)]
        converted, instance, name, signature = self._converted, self._instance, self.name, self._parameters.signature

        def call(tensors: Sequence[Tensor], variables: Sequence[Variable]) -> Any:
            filled = list(others)
            for i, x in zip(at, tensors, strict=True):
                filled[i] = x
            for i, variable in zip(variables_at, variables, strict=True):
                filled[i] = variable
            positional, named = nest.pack_sequence_as(structure, filled, expand_composites=True)
            given = nest.map_structure(lambda x: x, (positional, named))
            result = converted(*(() if instance is None else (instance(),)), *positional, **named)
            if not _are_same(given, (positional, named)):
                raise ValueError(
                    f"{name}{signature} should not modify its Python input arguments. Check if it modifies any lists "
                    "or dicts passed as arguments. Modifying a copy is allowed."
                )
            return result

        return call

    def _named(self, key: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the parts of a key by the names of the arguments."""
        positional, names, keywords = key if kwargs else (key, (), ())
        return {
            **dict(zip(self._parameters.names(len(positional)), positional, strict=False)),
            **dict(zip(names, keywords, strict=True)),
        }

    def _warn_of_retracing(self, parts: dict[str, Any]) -> None:
        if thread.trace is not None:
            return
        calls = self._calls
        calls.traces = [*(n for n in calls.traces if n > calls.count - _LAST_CALLS), calls.count]
        if len(calls.traces) < _MANY_TRACES or calls.warnings >= _MOST_WARNINGS:
            return
        calls.warnings += 1
        logger.warning(
            "%d out of the last %d calls to %r triggered tf.function retracing. Tracing is expensive and the excessive "
            "number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors "
            "with different shapes, (3) passing Python objects instead of tensors. For (1), please define your "
            "@tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid "
            "unnecessary retracing. For (3), use tf.constant.%s",
            len(calls.traces), min(calls.count, _LAST_CALLS), self._function, self._difference(parts),
        )  # fmt: skip

    def _difference(self, parts: dict[str, Any]) -> str:
        """Say which argument changed since the last trace."""
        if not self._concretes:
            return ""
        key, concrete = next(reversed(self._concretes.items()))
        last = self._named(key, concrete.arguments()[1])
        for name, now in parts.items():
            if name in last and now != last[name]:
                return f" This time argument {name!r} changed from {_shown(last[name])} to {_shown(now)}."
        return ""

    def _decorate(self, decorator: Callable[[Any], Any]) -> None:
        """Wrap the Python function in a decorator; libraries that decorate methods use this hook for `Function`s."""
        if self._concretes:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._function = decorator(self._function)
        self.__dict__.pop("_converted", None)
        self.__dict__.pop("_parameters", None)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the function for one signature, given by these arguments; a `TensorSpec` may stand for a tensor.

        If XLA is to run it, it is compiled now, so that its first call does not wait, unless a size is open.

        >>> f = tf.function(lambda x: x + 1.0)
        >>> f.get_concrete_function(tf.TensorSpec([None], tf.float32))(tf.constant([1.0, 2.0])).numpy().tolist()
        [2.0, 3.0]
        """
        concrete = self._concrete_function(args, kwargs)
        try:
            concrete.compile()
        except Exception as error:  # as in TensorFlow, the graph can be read although it cannot be compiled
            logger.info("function %s was not compiled in advance, the first call will fail: %s", self.name, error)
        return concrete

    def _concrete_function(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ConcreteFunction:
        """Returns the function for one signature, traced but not compiled."""
        self = self._here()
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        args, kwargs = open_arguments(self._parameters.arranged(args, kwargs))
        try:
            key = _key(args, kwargs)
        except TakesElements:
            raise NotImplementedError(
                f"get_concrete_function of {self.name}: an argument is an iterator of a dataset, and the elements that "
                "the graph takes are known at each call only. Call the function itself with the iterator"
            ) from None
        with self._first_call.lock:
            with self._lock:
                concrete = self._concretes.get(key) or (None if is_open(key) else self._served(key))
                if concrete is None:
                    concrete = self._new(key, args, kwargs)
            if concrete.public is None or not concrete.public.is_named_as(args, kwargs):
                concrete.public = ConcreteFunction(
                    concrete, self._parameters, args, kwargs, not self._first_call.is_over, self._options[5]
                )
                self._first_call.is_over = True
            return concrete.public

    @property
    def _concrete_variable_creation_fn(self) -> ConcreteFunction | None:
        """The last trace; TensorBoard's callback of Keras 2 writes its graph."""
        function = self if self._of_elements is None else self._of_elements.function
        return next(reversed(function._list_all_concrete_functions()), None)

    @property
    def function_spec(self) -> Parameters:
        """The parameters, with the specs of the input signature."""
        return self._parameters

    function_type = function_spec

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Describe every traced signature."""
        return "\n\n".join(f.pretty_printed_signature(verbose) for f in self._list_all_concrete_functions())

    def __repr__(self) -> str:
        count = self.experimental_get_tracing_count()
        compiled = "compiled by XLA" if self._jit.is_compiled else "not compiled"
        return f"<tf.function {self.name}: {count} trace{'s' * (count != 1)}, {compiled}>"

    def _repr_html_(self) -> str:
        """Returns what notebooks show: the signatures that the function was traced for, and the ops of each graph."""
        from html import escape

        found = [concrete for concrete in self._here()._concretes.values() if concrete.is_traced]
        name = escape(getattr(self._function, "__name__", "function"))
        count = f"{len(found)} trace{'s' * (len(found) != 1)}"
        parts = [escape(self._public(concrete).pretty_printed_signature(False)) for concrete in found]
        return f"<p><b>tf.function {name}</b>: {count}</p>" + "".join(f"<pre>{part}</pre>" for part in parts)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        known = [concrete for concrete in self._concretes.values() if concrete.is_traced or concrete.public is not None]
        return [self._public(concrete) for concrete in known]

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """The traces that a SavedModel can hold; for a variable among the arguments it holds one for a tensor."""
        found = []
        for concrete in self._list_all_concrete_functions():
            signature = concrete.structured_input_signature
            if not all(isinstance(x, _SERIALIZABLE) for x in nest.flatten(signature)):
                continue
            if concrete._bound:
                args, kwargs = nest.map_structure(_without_variable, signature)
                concrete = self._concrete_function(args, kwargs)
            if concrete not in found:
                found.append(concrete)
        return found

    def _public(self, concrete: TraceCache) -> ConcreteFunction:
        if concrete.public is None:
            args, kwargs = concrete.arguments()
            concrete.public = ConcreteFunction(concrete, self._parameters, args, kwargs, False, self._options[5])
        return concrete.public

    def experimental_get_tracing_count(self) -> int:
        """The number of signatures the function was traced for."""
        return sum(concrete.is_traced for concrete in self._here()._concretes.values())

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a function from a stage of the compilation to the program that XLA runs for these arguments.

        Stages are "hlo", "hlo_serialized", "optimized_hlo", "optimized_hlo_serialized",
        "optimized_hlo_proto_serialized", "optimized_hlo_dot", "stablehlo" and "stablehlo_serialized".

        >>> f = tf.function(lambda x: x + 1.0, jit_compile=True)
        >>> f.experimental_get_compiler_ir(tf.constant(1.0))(stage="hlo").startswith("HloModule")
        True
        """
        if not self._options[1]:
            raise ValueError("Compiler IR can only be returned for functions marked with 'jit_compile=True'")
        concrete = self._concrete_function(args, kwargs)
        if not all(spec.shape.is_fully_defined() for spec in concrete.inputs):
            raise ValueError(f"Only support static input shape but got inputs = {concrete.inputs}")

        def compiler_ir(stage: str = "hlo", device_name: str | None = None, platform_name: str | None = None) -> Any:
            from ..executors.xla import compiler_ir as xla

            if device_name is not None and platform_name is not None:
                raise ValueError("device_name and platform_name cannot be provided at the same time.")
            xla.check_stage(stage)
            platform = platform_name
            if device_name is not None:
                platform = xla.platform_of(device_name)
            elif platform_name is not None:
                xla.check_platform(platform_name)
            return xla.compiler_ir(concrete._traced().graph, stage, platform)

        return compiler_ir

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        found = self._methods.get(id(instance))
        if found is None:
            with self._lock:
                found = self._methods.get(id(instance)) or self._method(instance)
        return Bound(found[1], instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by reference if a module has the function under its name; else the Python function and the options."""
        if self._is_global():
            return self._qualified_name
        return _recreated, (self._function, self.name, self.input_signature, self._options)

    @property
    def _qualified_name(self) -> str:
        return str(getattr(self, "__qualname__", self.name))  # a partial function has none

    def _is_global(self) -> bool:
        """Whether its module, which another process can import, has this function under its name."""
        value: Any = sys.modules.get(self.__module__) if self.__module__ != "__main__" else None
        for name in self._qualified_name.split("."):
            value = getattr(value, name, None)
        return value is self

    def _method(self, instance: object) -> tuple[weakref.ref[Any], Function]:
        number, methods = id(instance), self._methods
        alive = weakref.ref(instance, lambda _: methods.pop(number, None))
        method = Function(self._function, self.name, self.input_signature, *self._options, alive)
        methods[number] = alive, method
        return alive, method


class Bound(Function):
    """A bound method: a function and its instance, which this object keeps alive.

    The traces are stored with the class and live as long as the instance.
    """

    __slots__ = ("_core", "_held")

    def __init__(self, function: Function, instance: object) -> None:
        self.__dict__ = function.__dict__
        self._core, self._held = function, instance

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TraceCache:
        return self._core._made(args, kwargs)  # `_core` holds the instance by a weak reference only

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        name = getattr(self._function, "__name__", "")
        method = getattr(type(self._held), name, None)
        if isinstance(method, Function) and method._function is self._function:
            return getattr, (self._held, name)
        return _bound_again, (self._held, self._function, self.name, self.input_signature, self._options)


def _recreated(python_function: Callable[..., Any], name: str, input_signature: Any, options: Any) -> Function:
    return Function(python_function, name, input_signature, *options)


def _bound_again(
    instance: object, python_function: Callable[..., Any], name: str, input_signature: Any, options: Any
) -> Any:
    return Function(python_function, name, input_signature, *options).__get__(instance)


def _are_same(a: object, b: object) -> bool:
    """Whether two structures match and hold identical leaves."""
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError):
        return False
    return all(map(is_, nest.flatten(a), nest.flatten(b)))


def _tensors_around(f: Callable[..., Any], instance: Callable[[], object] | None) -> list[Tensor]:
    return tensors_around(f if instance is None else types.MethodType(f, instance()))


def _takes_self(f: Callable[..., Any], specs: tuple[Any, ...]) -> bool:
    """Whether `f`, defined in a class body, has one more parameter than there are specs."""
    names = [p.name for p in Parameters(f, None).signature.parameters.values()]
    return bool(names) and names[0] in ("self", "cls") and len(specs) < len(names)


def _name_of(f: Callable[..., Any]) -> str:
    return f.func.__name__ if isinstance(f, functools.partial) else type(f).__name__


def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors: list[Tensor] = []
    variables: list[Variable] = []
    key = keys_of(args, tensors, variables)
    return (key, tuple(kwargs), keys_of(kwargs.values(), tensors, variables)) if kwargs else key


def _shown(key: tuple[Any, ...]) -> str:
    """Format a key for a message."""
    if type(key) is tuple and len(key) == 2:
        return repr(key[1]) if isinstance(key[0], type) else f"a {key[1]!r} of shape {key[0]}"
    return repr(key)
