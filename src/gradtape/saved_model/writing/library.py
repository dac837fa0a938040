"""The function library of a SavedModel being written: programs become `FunctionDef`s."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...api.catalogue.definitions import definition_of
from ...api.lookup.static_tables import StaticHashTable
from ...core.dtypes import resource, string
from ...core.protocols import Line
from ...core.shapes import TensorShape
from ...graph.ir.effects import assertion, guard, never, output, shape_guard
from ...graph.ir.graph import unique
from ..format.options import Asset
from ..format.structures import shape_proto
from . import (  # noqa: F401  say how ops are written
    arrays,
    control_flow,
    custom_gradients,
    elementwise,
    images,
    products,
    reductions,
)
from .constants_of_sizes import constant
from .custom_gradients import WrittenGradient
from .generalisation import Place, Program, Size
from .translation import translated
from .writer import Ref, Unsaved, Writer

_LEFT_OUT = (assertion, output, shape_guard)  # checks and prints


class FunctionWriter(Writer):
    """A writer with access to the function library."""

    def __init__(self, library: FunctionLibrary, scope: str) -> None:
        super().__init__(scope)
        self.library = library
        self.is_stateful = False
        self.captured: dict[int, Ref] = {}  # variables by id, and paths by the ids of their arrays
        self.reads: list[str] = []  # the nodes that read variables: assignments come after them
        self.updates: list[Ref] = []  # the new values of variables
        self.gradients: list[WrittenGradient] = []  # of its nodes

    def captured_resource(self, value: Any) -> Ref:
        """Returns a table that the function captures."""
        if id(value) not in self.captured:
            raise Unsaved("it looks something up in a table inside of a branch or a loop: do that outside")
        return self.captured[id(value)]

    def add(
        self, op: str, inputs: Sequence[Any], attrs: dict[str, Any], before: Sequence[str] = (), name: str = ""
    ) -> Any:
        """Adds a node."""
        definition = definition_of(op)
        self.is_stateful |= definition is not None and definition.is_stateful
        return super().add(op, inputs, attrs, before, name)


class FunctionLibrary:
    """The functions written so far."""

    def __init__(
        self, assets: dict[int, Any] | None = None, saves_gradients: bool = True, freezes: bool = False
    ) -> None:
        self.functions: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, list[Line | None]] = {}  # of the user's code, by the names of functions: for each node
        self.undecided = 0  # how many consecutive sizes decide between relations that fit: see `Relation`
        self.gradients: list[tuple[WrittenGradient, str]] = []  # custom gradients, and their functions
        self.saves_gradients = saves_gradients
        self.freezes = freezes  # whether the values of variables become constants
        self.shapes: dict[str, dict[str, TensorShape]] = {}  # of the tensors of complete functions
        self._gradient_types = 0
        self._scopes: set[str] = set()  # names of nested functions
        self._assets = assets or {}  # by the array of its path

    def writer(self, name: str = "") -> FunctionWriter:
        """Returns a writer for a new function; that of a nested one has a name, which begins those of its nodes."""
        if name:
            name = unique(name, self._scopes)
            self._scopes.add(name)
        return FunctionWriter(self, name)

    def new_gradient_type(self) -> str:
        """Returns an op type that no other node uses."""
        self._gradient_types += 1
        return f"CustomGradient-{self._gradient_types}"

    def is_stateful(self, name: str) -> bool:
        """Returns whether a function has side effects."""
        return bool(self.functions[name]["signature"].get("is_stateful"))

    def inner(self, program: Program, name: str, order: Sequence[int]) -> str:
        """Writes a part of another function, whose inputs are its arguments in this order; returns its name."""
        writer = self.writer(name)
        kinds = {at: place.dtype for at, place in zip(order, program.inputs, strict=True)}
        refs = [writer.argument(f"{writer.scope}_arg_{at}", kinds[at]) for at in range(len(kinds))]
        return self.finish(writer, name, self.written(writer, program, [refs[at] for at in order]))

    def written(self, writer: FunctionWriter, program: Program, inputs: Sequence[Ref]) -> list[Ref]:
        """Writes the steps of a program with these inputs; returns its outputs."""
        made: dict[Place, Ref] = dict(zip(program.inputs, inputs, strict=True))

        def ref(place: Place) -> Ref:
            if place not in made:
                path = None if place.constants is None else writer.captured.get(id(place.constants[0]))
                made[place] = constant(writer, place) if path is None else path
            return made[place]

        for place, its in zip(program.inputs, inputs, strict=True):
            writer.knows(its, place)
        for variable, place in program.variables:
            if self.freezes:
                made[place] = _frozen(writer, variable)
            else:
                made[place] = writer.ReadVariableOp(writer.captured[id(variable)], dtype=variable.dtype)
                writer.reads.append(made[place].node)
            writer.knows(made[place], place)
        for step in program.steps:
            if step.op in _LEFT_OUT or (step.op is guard and step.inputs[0].constants is not None):
                continue
            if step.op is guard and writer.knows_values(ref(step.inputs[0]), step.attrs["values"]):
                continue
            if step.op is guard or step.op is never:
                raise Unsaved(
                    "what it does depends on the value of a tensor that is no size. Use tf.cond, tf.while_loop or "
                    "AutoGraph for that, or give a Python value"
                ).at(step.line)
            writer.line = step.line
            try:
                outputs = translated(writer, step, [ref(p) for p in step.inputs])
            except Unsaved as error:
                raise error.at(step.line) from error.__cause__
            for place, its in zip(step.outputs, outputs, strict=True):
                made[place] = its
                writer.knows(its, place)
        writer.updates += [ref(place) for _, place in program.updates]
        return [ref(place) for place in program.outputs]

    def capture(self, writer: FunctionWriter, value: Any) -> Ref:
        """Adds a variable, or the path of an asset, as an input of a function."""
        if isinstance(value, Asset):
            return writer.argument("asset_path", string)
        if isinstance(value, StaticHashTable):
            return writer.argument("table_handle", resource)
        details = {"dtype": value.dtype.as_datatype_enum, "shape": shape_proto(value.shape)}
        return writer.argument(f"{value.name.partition(':')[0]}_resource", resource, handle_data=[details])

    def finish(
        self, writer: FunctionWriter, name: str, outputs: Sequence[Ref], names: Sequence[str] = (),
        effects: Sequence[str] = (),
    ) -> str:  # fmt: skip
        """Completes the function with these outputs and control outputs; returns its name."""
        name = unique(writer.scope or name, self.functions)
        results: list[dict[str, Any]] = []
        returned: dict[str, str] = {}
        for i, ref in enumerate(outputs):
            title = unique(_argument_name(names[i]) if names else f"output_{i}", returned)
            returned[title] = writer.add("Identity", [ref], {}, effects).text
            results.append({"name": title, "type": ref.dtype.as_datatype_enum})
        signature = {
            "name": name,
            "input_arg": writer.arguments,
            "output_arg": results,
            "control_output": list(effects),
            "is_stateful": writer.is_stateful or any(a["type"] == resource.as_datatype_enum for a in writer.arguments),
        }
        self.functions[name] = {
            "signature": signature,
            "node_def": writer.nodes,
            "ret": returned,
            "control_ret": {effect: effect for effect in effects},
        }
        self.lines[name] = writer.lines
        self.undecided = max(self.undecided, writer.undecided)
        self.gradients += [(gradient, name) for gradient in writer.gradients]
        return name

    def function(
        self, program: Program, name: str, names: Sequence[str], specs: Sequence[Any]
    ) -> tuple[str, list[Any]]:
        """Writes a complete function with these tensor names; returns its name and captured variables."""
        writer = self.writer()
        inputs = [writer.argument(title, place.dtype) for title, place in zip(names, program.inputs, strict=True)]
        captured: dict[int, tuple[Any, Ref]] = {}
        if self.freezes and program.updates:
            raise Unsaved("it assigns to variables, which are constants in a frozen graph")
        for variable, _ in () if self.freezes else (*program.variables, *program.updates):
            if id(variable) not in captured:
                captured[id(variable)] = (variable, self.capture(writer, variable))
        for at, value in (*self._used_assets(program), *_used_tables(program)):
            captured.setdefault(at, (value, self.capture(writer, value)))
        writer.captured = {at: ref for at, (_, ref) in captured.items()}
        checked = [_check_input(writer, *one) for one in zip(inputs, program.inputs, specs, strict=True)]
        outputs = self.written(writer, program, checked)
        effects = [ref.node for ref, given in zip(checked, inputs, strict=True) if ref is not given]
        effects += [
            writer.add("AssignVariableOp", [captured[id(variable)][1], ref], {"dtype": variable.dtype}, writer.reads)
            for (variable, _), ref in zip(program.updates, writer.updates, strict=True)
        ]
        name = self.finish(writer, name, outputs, effects=effects)
        self.shapes[name] = writer.shapes
        return name, [value for value, _ in captured.values()]

    def _used_assets(self, program: Program) -> list[tuple[int, Any]]:
        """Returns the assets whose paths are constants of a program, by the arrays of the paths."""
        places = [place for step in program.steps for place in step.inputs] + list(program.outputs)
        known = {id(place.constants[0]) for place in places if place.constants is not None}
        return [(at, asset) for at, asset in self._assets.items() if at in known]


def _check_input(writer: FunctionWriter, ref: Ref, place: Place, spec: Any) -> Ref:
    """Returns an input after checking the sizes that its signature leaves open but the program requires."""
    if not place.ranked or spec.shape.rank is None:
        return ref
    sizes = [None if isinstance(n, Size) else n for n in place.dims]
    is_open = any(n is None and size is not None for n, size in zip(spec.shape, sizes, strict=True))
    return writer.EnsureShape(ref, shape=TensorShape(sizes)) if is_open else ref


def _frozen(writer: FunctionWriter, variable: Any) -> Ref:
    """Writes the value of a variable as a constant with its name."""
    value: Ref = writer.add(
        "Const", (), {"value": variable.read_value(), "dtype": variable.dtype}, name=variable.name.partition(":")[0]
    )
    return value


def _used_tables(program: Program) -> list[tuple[int, Any]]:
    tables = [getattr(step.attrs.get("function"), "table", None) for step in program.steps]
    return list({id(table): table for table in tables if table is not None}.items())


def _argument_name(name: str) -> str:
    return re.sub(r"\W", "_", name).lower().lstrip("_0123456789") or "output"
