"""`ConcreteFunction`: a function for one signature, as returned by `get_concrete_function`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ...core import errors, nest
from ...core.composites import CompositeTensor
from ...core.dtypes import resource, string
from ...core.extension_points import graph_defs
from ...core.shapes import TensorShape
from ...core.tensor import Tensor, wrap
from ...core.tracebacks import hide_frames
from ...engine.run.convert import to_tensor, wrong_input
from ...state.specs import TensorSpec, TypeSpec, spec_of
from ...state.variable import Variable
from ..ir.dynamic_sizes import output_shapes
from ..ir.effects import Changed, imagining
from ..ir.graph import Graph, unique
from ..trace.traced import InlineIntoCaller, Untraceable
from .open_sizes import representative
from .parameters import Parameters
from .signature import is_given_tensor, is_tensor_like_leaf, without_tensors
from .specialization import Specialization
from .trace_cache import TraceCache

_number = itertools.count(1).__next__
_ATTEMPTS = 8  # at choosing compatible sizes


class GraphView(Protocol):
    """Presents the graph of a function, and its tensors."""

    def graph_of(self, function: ConcreteFunction, graph: Graph) -> Graph:
        """Returns the graph as it is presented."""

    def inputs_of(self, function: ConcreteFunction, specs: list[TensorSpec]) -> list[Any]:
        """Returns the input tensors with these specs: arguments, then variables."""

    def outputs_of(self, function: ConcreteFunction, specs: list[TensorSpec]) -> list[Any]:
        """Returns the output tensors with these specs."""


class PlainView:
    """Presents the traced graph itself, and the specs of its tensors."""

    def graph_of(self, function: ConcreteFunction, graph: Graph) -> Graph:
        """Returns the graph itself."""
        return graph

    def inputs_of(self, function: ConcreteFunction, specs: list[TensorSpec]) -> list[Any]:
        """Returns the specs."""
        return specs

    outputs_of = inputs_of


class ConcreteFunction:
    """A callable for the tensors of one signature."""

    __module__ = "gradtape.types.experimental"

    def __init__(
        self, concrete: TraceCache, parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any], first: bool,
        graph_view: GraphView,
    ) -> None:  # fmt: skip
        self._concrete, self._graph_view, self._parameters = concrete, graph_view, parameters
        self._rows = parameters.described(args, kwargs)
        self.name = f"__inference_{concrete.name}_{_number()}".encode()
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        self._given = [x for x in leaves if is_given_tensor(x)]
        self._bound = [x for x in leaves if isinstance(x, Variable)]
        # Flat calls use parameter names with numeric suffixes; the structured signature names the path to each tensor.
        self._names: list[str] = []
        for spec, name in [(spec, name) for name, _, value in self._rows for spec in _specs(value)]:
            self._names.append(unique(spec.name or name, self._names))
        named = {name: _named(value, name) for name, _, value in self._rows}
        self._own_names = [spec.name for value in named.values() for spec in _specs(value)]
        positional = tuple(list(named.values())[: len(args)])
        self.structured_input_signature = (positional, {name: named[name] for name in kwargs})
        self._outline: Specialization | None = None  # set if the function captures tensors of an enclosing trace
        self._variant = self._imagined(first)

    def _imagined(self, first: bool) -> Specialization | None:
        """Trace for these shapes without performing effects; return None if tracing needs real values."""
        fixed = all(_spec(x).shape.is_fully_defined() for x in self._given)
        for tensors in itertools.islice(_examples(self._given), 1 if fixed else _ATTEMPTS):
            variants = self._concrete.variants_for(tensors, self._bound)
            try:
                if not variants:
                    with imagining():
                        variant = self._concrete.traced_for_good(tensors, self._bound, first)
                    self._concrete.store(variants, variant, tensors)
                return variants[0]
            except InlineIntoCaller:
                with imagining():
                    self._outline = self._concrete.traced_here(tensors, self._bound)
                return None
            except (Untraceable, Changed):
                return None
            except errors.OpError:
                pass  # the chosen sizes may be incompatible
            except ValueError:
                if fixed:
                    raise
        return None

    def compile(self) -> None:
        """Compile the graph now, without running it, if XLA is to run it and all sizes are known.

        The derivatives that calls under a tape need are compiled at the first of these calls.
        """
        variant, specs = self._variant, map(_spec, self._given)
        if variant is not None and all(spec.shape.is_fully_defined() for spec in specs):
            variant.compile_for([to_tensor(_example(_spec(x), 1).numpy()) for x in self._given])

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(
            "cannot pickle a concrete function: it is a graph. Pickle the tf.function, and call get_concrete_function "
            "where it is loaded"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on tensors, by position or by name; Python values must equal the traced ones."""
        try:
            tensors = self._structured_or_flat(args, kwargs) if kwargs else self._flat(args, kwargs)
            if tensors is None:
                tensors = self._structured(args, kwargs)
            variables = list(self._bound)
            for i, x in enumerate(t for t in tensors if isinstance(t, Variable)):
                variables[i : i + 1] = [x]
            plain = [x for x in tensors if not isinstance(x, Variable)]
            for i, (x, spec) in enumerate(zip(plain, self._given, strict=True)):
                dtype = _spec(spec).dtype
                if x.dtype is not dtype:
                    name = self.name.decode()
                    raise errors.InvalidArgumentError(wrong_input(name, i, dtype, x.dtype))
            return self._concrete(plain, variables)
        except Exception as error:
            hide_frames(error)
            raise

    def add_to_graph(self, g: object = None, overwrite: bool = False) -> None:
        """Do nothing: a graph that calls the function contains it."""

    def add_gradient_functions_to_graph(self, g: object = None) -> None:
        """Do nothing: derivatives are built on demand."""

    def _structured_or_flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        try:
            return self._structured(args, kwargs)
        except (TypeError, ValueError):
            return self._flat(args, kwargs)

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """Returns the tensors if the call passes all of them flat, in order or by name; else None."""
        given = [*args, *kwargs.values()]
        if len(given) != len(self._given) or self._bound or not all(isinstance(x, Tensor | Variable) for x in given):
            return None
        rest = self._names[len(args) :]
        if len(set(rest)) != len(rest) or set(rest) != set(kwargs):
            return None
        return [to_tensor(x) for x in (*args, *(kwargs[name] for name in rest))]

    def _structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Returns the tensors of a call with the traced argument structure."""
        try:
            bound = dict(self._bind(args, kwargs))
            tensors: list[Any] = []
            for name, _, known in self._rows:
                tensors += _matching(bound[name], known)
            return tensors
        except (TypeError, ValueError) as error:
            raise self._parameters.failure(error, args, kwargs, self.pretty_printed_signature(False)) from error

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        positional = [row for row in self._rows if row[1] != "KEYWORD_ONLY"]
        if len(args) > len(positional):
            raise TypeError("too many positional arguments")
        yield from ((name, value) for (name, _, _), value in zip(positional, args, strict=False))
        taken = {name for name, _, _ in positional[: len(args)]}
        names = {name for name, _, _ in self._rows}
        for name in kwargs:
            if name in taken:
                raise TypeError(f"multiple values for argument {name!r}")
            if name not in names:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        for name, _, known in self._rows:
            if name in kwargs:
                yield name, kwargs[name]
            elif name not in taken:
                if any(map(is_tensor_like_leaf, nest.flatten(known, expand_composites=True))):
                    raise TypeError(f"missing a required argument: {name!r}")
                yield name, known

    def _traced(self) -> Specialization:
        if self._variant is None:
            found = (variants for variants in self._concrete.variants() if variants)
            self._variant = next(found, [None])[0]
        if self._variant is None:
            raise RuntimeError(
                f"{self._concrete.name} could not be traced without values, and has not been called yet. Call it first"
            )
        return self._variant

    def is_named_as(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether all names of specs in these arguments match the names of this function's inputs."""
        leaves = nest.flatten((args, kwargs), expand_composites=True)
        names = [x.name if isinstance(x, TensorSpec) else None for x in leaves if is_given_tensor(x)]
        return all(name is None or name == known for name, known in zip(names, self._own_names, strict=True))

    @property
    def graph(self) -> Graph:
        """The graph, which prints as a program."""
        return self._graph_view.graph_of(self, self._traced().graph)

    @property
    def function_def(self) -> Any:
        """The function as TensorFlow's message `FunctionDef`, which needs the package protobuf."""
        return graph_defs().presented(self).definition

    @property
    def structured_outputs(self) -> Any:
        """The return value with specs in place of tensors."""
        variant = self._outline or self._traced()
        shapes = output_shapes(variant.graph)
        specs = [
            TensorSpec(shape, value.dtype)
            for shape, value in zip(self._open(shapes), variant.graph.outputs, strict=True)
        ]
        for spec, tensor in zip(specs, self._graph_view.outputs_of(self, specs), strict=True):
            spec.tensor = None if tensor is spec else tensor
        return variant.specified(specs)

    def _open(self, shapes: list[Any]) -> list[Any]:
        """Replace output sizes that depend on unknown sizes of the signature by None: trace again with other sizes."""
        if all(_spec(x).shape.is_fully_defined() for x in self._given):
            return shapes
        try:
            with imagining():
                other = self._concrete.traced_for_good([_example(x, 3) for x in self._given], self._bound, False)
        except (Untraceable, Changed, ValueError, TypeError, errors.OpError):
            return [(None,) * len(shape) for shape in shapes]
        its = [value.shape for value in other.graph.outputs]
        return [
            tuple(n if n == k else None for n, k in zip(mine, its, strict=True)) if len(mine) == len(its) else None
            for mine, its in zip(shapes, its, strict=True)
        ]

    @property
    def inputs(self) -> list[Any]:
        """The tensors that are the graph's inputs: arguments, then variables."""
        specs = [TensorSpec.from_spec(_spec(x), name) for x, name in zip(self._given, self._names, strict=True)]
        return self._graph_view.inputs_of(self, specs + [TensorSpec((), resource, v.name) for v in self.variables])

    @property
    def outputs(self) -> list[Any]:
        """The tensors that are the graph's outputs."""
        specs = [x for x in nest.flatten(self.structured_outputs, expand_composites=True) if x is not None]
        placed = self._graph_view.outputs_of(self, specs)
        return [spec.tensor or tensor for spec, tensor in zip(specs, placed, strict=True)]

    @property
    def output_shapes(self) -> Any:
        """The return value with shapes in place of tensors."""
        return nest.map_structure(lambda x: getattr(x, "shape", None), self.structured_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The return value with dtypes in place of tensors."""
        return nest.map_structure(lambda x: getattr(x, "dtype", None), self.structured_outputs)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function captures: those it reads or writes that are not arguments."""
        if self._variant is None:
            return ()
        graph = self._variant.graph
        found = {id(v): v for v, _ in (*graph.variables, *graph.updates) if not any(v is b for b in self._bound)}
        return tuple(found.values())

    captured_inputs = property(lambda self: list(self.variables), doc="The variables that the function captures.")

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The captured variables that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    function_type = property(lambda self: self.pretty_printed_signature(False), doc="The signature as text.")

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Describe parameters, result type and captured variables."""
        if not verbose:
            texts, starred = [], False
            for name, kind, value in self._rows:
                if kind == "KEYWORD_ONLY" and not starred:
                    starred = True
                    texts.append("*")
                texts.append(f"{name}: {type_text(value)}")
            return f"({', '.join(texts)}) -> {self._result_text()}"
        lines = ["Input Parameters:"]
        lines += [f"  {name} ({kind}): {type_text(value)}" for name, kind, value in self._rows] or ["  None"]
        lines += ["Output Type:", f"  {self._result_text()}", "Captures:"]
        lines += [f"  {v.name}: {type_text(v)}" for v in self.variables] or ["  None"]
        return "\n".join(lines)

    def _result_text(self) -> str:
        return "?" if self._variant is None else type_text(self.structured_outputs)

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature(False)} at {id(self):#X}>"


def _spec(x: object) -> TensorSpec:
    return x if isinstance(x, TensorSpec) else TensorSpec.from_tensor(to_tensor(x))


def _specs(value: object) -> list[Any]:
    return [_spec(x) for x in nest.flatten(value, expand_composites=True) if is_given_tensor(x)]


def _named(value: Any, name: str) -> Any:
    """Replace the tensors of an argument by named specs; a spec without a name is named after its path."""
    if not nest.is_nested(value):
        if not is_given_tensor(value):
            return without_tensors(value)
        spec = _spec(value)
        return TensorSpec.from_spec(spec, spec.name or re.sub(r"\W", "_", name))
    steps = nest.sorted_keys(value) if isinstance(value, Mapping) else range(len(nest.parts(value)))
    parts = [_named(part, f"{name}_{step}") for step, part in zip(steps, nest.parts(value), strict=True)]
    leaves = [leaf for part in parts for leaf in nest.flatten(part)]
    return nest.pack_sequence_as(value, leaves)


def _examples(given: list[Any]) -> Iterator[list[Tensor]]:
    """Yields candidate tensors to trace with, one choice of the unknown sizes after another.

    All unknown sizes are the size that represents them, if there is one; then all are 2, then all 1; then all are 1
    except one, which is a product of leading sizes of another tensor.
    """
    for size in (*filter(None, [representative.size]), 2, 1):
        yield [_example(x, size) for x in given]
    shapes = [_spec(x).shape for x in given]
    ranked = [i for i, shape in enumerate(shapes) if shape.rank is not None]
    for i, other in itertools.permutations(ranked, 2):
        sizes = [n or 1 for n in shapes[other]]
        products = sorted({math.prod(sizes[:end]) for end in range(1, len(sizes) + 1)} - {1})
        for axis, size in itertools.product([axis for axis, n in enumerate(shapes[i]) if n is None], products):
            tensors = [_example(x, 1) for x in given]
            dims = list(tensors[i].dims)
            dims[axis] = size
            tensors[i] = _example(TensorSpec(dims, tensors[i].dtype), 1)
            yield tensors


def _example(x: object, size: int) -> Tensor:
    """Returns a tensor of ones to trace with, `size` along unknown axes; a concrete tensor is returned as is."""
    if not isinstance(x, TensorSpec):
        return to_tensor(x)
    shape = TensorShape([None] * (size == 3)) if x.shape.rank is None else x.shape
    array = np.full([size if n is None else n for n in shape], b"" if x.dtype is string else 1, x.dtype.numpy)
    return wrap(array if array.ndim or x.dtype is string else array[()], x.dtype)


def _matching(value: Any, known: Any) -> list[Any]:
    """Returns the tensors of `value`; everything else must equal what the function was traced with.

    Non-tensor values in place of traced tensors are converted.
    """
    if is_tensor_like_leaf(known) and not isinstance(known, Variable):
        if isinstance(value, Tensor | Variable):
            return [to_tensor(value)]
        spec = _spec(known)
        try:
            made = to_tensor(value, spec.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Can not cast {value!r} to {type_text(spec)}: {error}") from None
        if not spec.shape.is_compatible_with(made.shape):
            raise TypeError(f"Can not cast {type_text(made)} to {type_text(spec)}")
        return [made]
    if _opens_alike(known, value):
        return [x for pair in zip(nest.parts(value), nest.parts(known), strict=True) for x in _matching(*pair)]
    if nest.is_nested(known) and not nest.is_nested(value):
        kind = "a Dict" if isinstance(known, Mapping) else type(known).__name__
        raise TypeError(f"Can not cast {value!r} to {kind} type.")
    nest.assert_same_structure(known, value, expand_composites=True)
    found: list[Any] = []
    pairs = zip(nest.flatten(known, expand_composites=True), nest.flatten(value, expand_composites=True), strict=True)
    for its, x in pairs:
        if isinstance(its, Variable):
            if not isinstance(x, Variable):
                raise TypeError(f"Can not cast {x!r} to {type_text(its)}")
            found.append(x)
        elif is_tensor_like_leaf(its):
            found += _matching(x, its)
        elif its is not x and (isinstance(x, Tensor | Variable) or type(its) is not type(x) or its != x):
            raise TypeError(f"Can not cast {x!r} to {type_text(its)}")
    return found


def _opens_alike(known: Any, value: Any) -> bool:
    """Whether two nested structures have the same type and the same keys or length."""
    if not nest.is_nested(known) or type(known) is not type(value):
        return False
    if isinstance(known, Mapping):
        return known.keys() == value.keys()
    return len(nest.parts(known)) == len(nest.parts(value))


def type_text(value: Any) -> str:
    """The type of an argument or a result, as shown in signatures."""
    if isinstance(value, Variable):
        return f"VariableSpec(shape={value.shape}, dtype={value.dtype!r}, trainable={value.trainable})"
    if is_tensor_like_leaf(value):
        return repr(_spec(value))
    if isinstance(value, Mapping):
        return f"Dict[{', '.join(f'[{key!r}, {type_text(value[key])}]' for key in value)}]"
    if isinstance(value, CompositeTensor | TypeSpec):
        return repr(spec_of(value))
    if nest.is_nested(value) or nest.is_composite(value):
        kind = type(value).__name__
        return f"{kind[0].upper()}{kind[1:]}[{', '.join(map(type_text, nest.parts(value)))}]"
    return f"Literal[{value!r}]"
