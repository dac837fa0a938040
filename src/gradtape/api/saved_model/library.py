"""The functions of a SavedModel in the making: programs become `FunctionDef`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.dtypes import resource
from ...graph.ir.effects import assertion, guard, never, output, shape_guard
from ...graph.ir.graph import unique
from . import control_flow as _control_flow  # noqa: F401  says how branches and loops are written
from . import images as _images  # noqa: F401  and convolutions
from .constants_of_sizes import constant
from .generalisation import Place, Program
from .structures import shape_proto
from .translation import translated
from .writer import Ref, Unsaved, Writer

_LEFT_OUT = (assertion, output, shape_guard)  # checks, and what is printed


class FunctionWriter(Writer):
    """A writer that knows the functions there are."""

    def __init__(self, library: FunctionLibrary) -> None:
        super().__init__()
        self.library = library
        self.is_stateful = False

    def add(self, op: str, inputs: Sequence[Any], attrs: dict[str, Any], before: Sequence[str] = ()) -> Any:
        """Adds a node."""
        self.is_stateful |= op in ("Case", "While", "StatefulPartitionedCall", "AssignVariableOp", "RandomUniformInt")
        return super().add(op, inputs, attrs, before)


class FunctionLibrary:
    """The functions that were written so far."""

    def __init__(self) -> None:
        self.functions: dict[str, dict[str, Any]] = {}

    def writer(self) -> FunctionWriter:
        """A function to be written."""
        return FunctionWriter(self)

    def is_stateful(self, name: str) -> bool:
        """Whether a function does more than to compute its outputs."""
        return bool(self.functions[name]["signature"].get("is_stateful"))

    def inner(self, program: Program, name: str) -> str:
        """Writes a part of another function; gives its name."""
        writer = self.writer()
        refs = []
        for i, place in enumerate(program.inputs):
            refs.append(writer.argument(f"arg_{i}", place.dtype))
            writer.knows(refs[-1], place)
        return self.finish(writer, name, self.written(writer, program, refs))

    def written(self, writer: FunctionWriter, program: Program, inputs: Sequence[Ref]) -> list[Ref]:
        """Writes the steps of a program, which is given these inputs; gives its outputs."""
        made: dict[Place, Ref] = dict(zip(program.inputs, inputs, strict=True))

        def ref(place: Place) -> Ref:
            if place not in made:
                made[place] = constant(writer, place)
            return made[place]

        for place, its in zip(program.inputs, inputs, strict=True):
            writer.knows(its, place)
        for variable, place in program.variables:
            made[place] = writer.read(variable)  # type: ignore[attr-defined]
            writer.knows(made[place], place)
        for step in program.steps:
            if step.op in _LEFT_OUT or (step.op is guard and step.inputs[0].constants is not None):
                continue
            if step.op is guard or step.op is never:
                raise Unsaved(
                    "what it does depends on the value of a tensor (an axis, a size or a Python `if`), so that there is "
                    "no one graph for it. Use tf.cond, tf.while_loop or AutoGraph for that, or give a Python value"
                )
            for place, its in zip(step.outputs, translated(writer, step, [ref(p) for p in step.inputs]), strict=True):
                made[place] = its
                writer.knows(its, place)
        writer.finals = {place: ref(place) for _, place in program.updates}  # type: ignore[attr-defined]
        return [ref(place) for place in program.outputs]

    def finish(
        self, writer: FunctionWriter, name: str, outputs: Sequence[Ref], effects: Sequence[str] = ()
    ) -> str:
        """The function with these outputs, and with nodes that are to be run besides; gives its name."""
        name = unique(name, self.functions)
        results, returned = [], {}
        for i, ref in enumerate(outputs):
            returned[f"output_{i}"] = writer.add("Identity", [ref], {}, effects).text
            results.append({"name": f"output_{i}", "type": ref.dtype.as_datatype_enum})
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
        return name

    def function(self, program: Program, name: str, names: Sequence[str]) -> tuple[str, list[Any]]:
        """Writes a whole function, whose tensors have these names; its name, and the variables that it captures."""
        writer = self.writer()
        inputs = [writer.argument(title, place.dtype) for title, place in zip(names, program.inputs, strict=True)]
        handles: dict[int, tuple[Any, Ref]] = {}
        for variable, _ in (*program.variables, *program.updates):
            if id(variable) not in handles:
                details = {"dtype": variable.dtype.as_datatype_enum, "shape": shape_proto(variable.shape)}
                title = f"{variable.name.partition(':')[0]}_resource"
                handles[id(variable)] = (variable, writer.argument(title, resource, handle_data=[details]))
        reads: list[str] = []

        def read(variable: Any) -> Ref:
            found = writer.ReadVariableOp(handles[id(variable)][1], dtype=variable.dtype)
            reads.append(found.node)
            return found

        writer.read = read  # type: ignore[attr-defined]
        outputs = self.written(writer, program, inputs)
        effects = [
            writer.add(
                "AssignVariableOp",
                [handles[id(variable)][1], writer.finals[place]],  # type: ignore[attr-defined]
                {"dtype": variable.dtype},
                reads,
            )
            for variable, place in program.updates
        ]
        return self.finish(writer, name, outputs, effects), [variable for variable, _ in handles.values()]
