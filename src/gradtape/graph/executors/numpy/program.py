"""Generates the source of a graph's function: one line per node, which calls its kernel on NumPy arrays.

Each value is deleted after its last use, and a ufunc writes its result into a dead argument where possible.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ....backends.arrays import HALF
from ....backends.tuning import LARGE
from ....core import dtypes, modes
from ....engine.registry.op import Op
from ...ir.dynamic_sizes import dynamic_values
from ...ir.graph import Graph, GraphOp, Node, Value
from .buffers import overwritten
from .lowering import Primitive, cast, view

_INFIX = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/", np.equal: "==", np.not_equal: "!=", np.less: "<",
    np.less_equal: "<=", np.greater: ">", np.greater_equal: ">=", np.bitwise_and: "&", np.bitwise_or: "|",
    np.bitwise_xor: "^",
}  # fmt: skip


class ProgramWriter:
    """The lines of a graph's function, and the kernels and constants that they refer to."""

    def __init__(self, graph: Graph) -> None:
        self.names: dict[Value, str] = {v: f"x{i}" for i, v in enumerate(graph.all_inputs)}
        # Names of deleted values, which are used again. A variable for each value would need a frame that fills the
        # chunk of memory from which CPython takes frames: every call would get a new chunk from the system.
        self._free: list[str] = []
        self.globals: dict[str, Any] = {}
        self.lines: list[str] = []
        self.lined: list[Node] = []
        self._called: dict[Any, str] = {}
        overwrites = overwritten(graph)
        self._dynamic = dynamic_values(graph)
        for i, (node, unneeded) in enumerate(zip(graph.nodes, graph.unneeded, strict=True)):
            self._add(node, unneeded, overwrites.get(i))

    def name(self, value: Value, as_array: bool = False) -> str:
        """Returns the name of a value; `as_array` makes a scalar constant an array, which ufuncs process faster."""
        name = self.names.get(value)
        if name is None and value.constant is not None:
            constant = np.asarray(value.constant) if as_array else value.constant
            return self._global(constant, "c", (id(value), as_array))
        if name is None:
            name = self.names[value] = self._free.pop() if self._free else f"t{len(self.names)}"
        return name

    def _add(self, node: Node, dying: Sequence[Value], written: Value | None) -> None:
        out = None if written is None else self.name(written)
        made = ", ".join([self.name(v) for v in node.outputs])
        call = self._primitive(node, out) if isinstance(node.op, Primitive) else self._call(node)
        line = f"{made}{',' * node.several} = {call}" if made and made != out else call
        released = [self.name(v) for v in dying]
        dead = f"; del {', '.join(released)}" if released else ""
        self._free += released
        self.lines.append(f"{line}{dead}")
        self.lined.append(node)

    def _primitive(self, node: Node, out: str | None) -> str:
        y = node.outputs[0]
        given = [self.name(v, bool(y.shape)) for v in node.inputs]
        if node.op is view or node.op is cast:
            return f"{given[0]}.{node.op.name}({self._attribute(node.attrs['dtype'])})"
        infix = _INFIX.get(node.op.numpy)
        if out is None and infix is not None:
            return f"{given[0]} {infix} {given[1]}"
        if out is not None:
            given.append(f"out={out}")
        return f"{self._global(node.op.numpy, node.op.name)}({', '.join(given)})"

    def _call(self, node: Node) -> str:
        given = [self.name(v) for v in node.inputs]
        attrs = [f"{_parameter(node.op, k)}={self._attribute(v)}" for k, v in node.attrs.items()]
        return f"{self._global(_kernel(node, self._dynamic), node.op.name)}({', '.join([*given, *attrs])})"

    def _global(self, value: object, name: str, key: object = None) -> str:
        """Returns the name of a global that holds `value`."""
        key = id(value) if key is None else key
        found = self._called.get(key)
        if found is None:
            found = name if is_name(name) else "op"
            if found in self.globals or found == "located":
                found = f"{found}_{len(self.globals)}"
            self._called[key] = found
            self.globals[found] = value
        return found

    def _attribute(self, value: object) -> str:
        return repr(value) if _is_plain(value) else self._global(value, "attribute")


def is_name(text: str) -> bool:
    """Whether a text is usable as a name. ASCII only: Python normalizes other identifiers, which may then collide."""
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def _parameter(op: GraphOp, name: str) -> str:
    """Returns the name of an attribute, checked against the op's own because it goes into the source verbatim."""
    if name not in op.attributes or not is_name(name):
        own = ", ".join(op.attributes) or "none"
        raise ValueError(f"{op.name} has no attribute {name!r}; its attributes are: {own}. Make the node with these")
    return name


def _is_plain(value: object) -> bool:
    """Whether `repr(value)` is short and evaluates to it; exact types only, so that no foreign `__repr__` runs."""
    if type(value) is tuple:
        return len(value) <= 8 and all(map(_is_plain, value))
    if type(value) is int:
        return abs(value) < 1 << 64
    return value is None or type(value) is bool or (type(value) is str and len(value) <= 40)


def _kernel(node: Node, dynamic: set[Value]) -> Callable[..., Any]:
    """Returns the function that computes a node's outputs from arrays."""
    op, kernel = node.op, modes.kernel_of(node.op)
    if any(v.dtype is dtypes.string for v in node.outputs):
        return _of_strings(kernel)
    if kernel is not op.numpy or type(op) is not Op:
        return kernel
    if op.large is not None:
        y = node.outputs[0]
        if math.prod(y.shape) >= LARGE and y not in dynamic and y.shape == node.inputs[0].shape:
            return partial(op.large, y.dtype)
    return kernel if any(v.dtype.numpy in HALF for v in node.inputs) else op.wide


def _of_strings(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a string kernel: NumPy unboxes a single element of an object array, which must be an array again."""

    def as_array(y: object) -> Any:
        return y if isinstance(y, np.ndarray | np.generic) else np.array(y, dtype=object)

    def run(*arrays: Any, **attrs: Any) -> Any:
        y = kernel(*arrays, **attrs)
        return tuple(map(as_array, y)) if type(y) is tuple else as_array(y)

    return run
