"""The graph around the functions, which servers run: signatures as nodes, and the restoring of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api.lookup.static_tables import StaticHashTable
from ..core import dtypes
from ..core.tensor import Tensor, wrap
from ..graph.ir.graph import unique
from ..state.specs import TensorSpec
from ..state.variable import Variable
from .format.constants import PREDICT_METHOD_NAME
from .format.options import Asset
from .format.structures import shape_proto
from .tables import shared_name
from .writing.writer import attribute

_PREFIX = "saver_filename"


class ServingGraph:
    """The nodes of a graph, and its signatures."""

    def __init__(self, variables: dict[str, Variable], assets: Sequence[Asset] = ()) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.signatures: dict[str, Any] = {}
        self._names: set[str] = set()
        self._handles: dict[int, str] = {}  # of variables and tables
        self._initial: list[str] = []
        for variable in variables.values():
            if id(variable) not in self._handles:
                name = variable.name.partition(":")[0] or "variable"
                self._handles[id(variable)] = self._add(
                    name, "VarHandleOp", [], dtype=("type", variable.dtype), shape=("shape", variable.shape),
                    shared_name=("string", unique(name, self._names)),
                )  # fmt: skip
        self._assets = [(asset, self.constant(asset.asset_path, "asset_path")) for asset in assets]
        self.asset_names = [f"{name}:0" for _, name in self._assets]
        self.saver = self._saver(variables)

    def _add(self, name: str, op: str, inputs: Sequence[str], **attrs: tuple[str, Any]) -> str:
        name = unique(name.lstrip("_") or "node", self._names)
        self._names.add(name)
        encoded = {key: attribute(kind, value) for key, (kind, value) in attrs.items()}
        self.nodes.append({"name": name, "op": op, "input": list(inputs), "attr": encoded})
        return name

    def add_signature(
        self, name: str, function: str, inputs: Sequence[tuple[str, TensorSpec]], captured: Sequence[Any],
        outputs: dict[str, TensorSpec],
    ) -> None:  # fmt: skip
        """Adds a node that calls a function with fed tensors, and the names of inputs and outputs."""
        fed = {
            title: self._add(
                f"{name}_{title}", "Placeholder", [], dtype=("type", spec.dtype), shape=("shape", spec.shape)
            )
            for title, spec in inputs
        }
        given = [*fed.values(), *(self._captured(value) for value in captured)]
        kinds = [*(spec.dtype for _, spec in inputs), *(_kind(value) for value in captured)]
        node = self._add(
            "StatefulPartitionedCall", "StatefulPartitionedCall", given, f=("func", function),
            Tin=("list(type)", kinds), Tout=("list(type)", [spec.dtype for spec in outputs.values()]),
        )  # fmt: skip
        self.signatures[name] = {
            "inputs": {title: _info(f"{fed[title]}:0", spec) for title, spec in inputs},
            "outputs": {title: _info(f"{node}:{i}", spec) for i, (title, spec) in enumerate(outputs.items())},
            "method_name": PREDICT_METHOD_NAME,
        }

    def add_table(self, table: StaticHashTable, initializer: str) -> None:
        """Adds a table, which a function fills when the model is loaded."""
        name = self._handles[id(table)] = self._add(
            "hash_table", "HashTableV2", [], key_dtype=("type", table.key_dtype),
            value_dtype=("type", table.value_dtype), shared_name=("string", shared_name(table)),
        )  # fmt: skip
        self._initial.append(
            self._add(
                "StatefulPartitionedCall", "StatefulPartitionedCall", [name], f=("func", initializer),
                Tin=("list(type)", [dtypes.resource]), Tout=("list(type)", [dtypes.int32]),
            )
        )  # fmt: skip

    def finish(self) -> None:
        """Adds the initialization node."""
        initial = self._add("NoOp", "NoOp", [f"^{node}" for node in self._initial])
        self.signatures["__saved_model_init_op"] = {
            "outputs": {"__saved_model_init_op": {"name": initial, "tensor_shape": {"unknown_rank": True}}}
        }

    def _captured(self, value: Any) -> str:
        if id(value) in self._handles:
            return self._handles[id(value)]
        return next(name for asset, name in self._assets if asset is value)

    def constant(self, value: Tensor, name: str = "Const") -> str:
        """Adds a constant to the graph."""
        return self._add(name, "Const", [], value=("tensor", value), dtype=("type", value.dtype))

    def _texts(self, texts: Sequence[str]) -> str:
        array = np.empty(len(texts), object)
        array[:] = [text.encode() for text in texts]
        return self.constant(wrap(array, dtypes.string))

    def _saver(self, variables: dict[str, Variable]) -> dict[str, Any]:
        """Adds the nodes that save variables to, and restore them from, a checkpoint."""
        prefix = self._add(_PREFIX, "Placeholder", [], dtype=("type", dtypes.string), shape=("shape", []))
        names, slices = self._texts(list(variables)), self._texts([""] * len(variables))
        kinds = [variable.dtype for variable in variables.values()]
        done = []
        saved = []
        if kinds:
            restored = self._add("RestoreV2", "RestoreV2", [prefix, names, slices], dtypes=("list(type)", kinds))
            for i, variable in enumerate(variables.values()):
                handle = self._handles[id(variable)]
                dtype = ("type", variable.dtype)
                value = f"{restored}:{i}" if i else restored
                done.append(self._add("AssignVariableOp", "AssignVariableOp", [handle, value], dtype=dtype))
                saved.append(self._add("ReadVariableOp", "ReadVariableOp", [handle], dtype=dtype))
            saving = self._add(
                "SaveV2", "SaveV2", [prefix, names, slices, *saved], dtypes=("list(type)", kinds)
            )  # fmt: skip
            saved = [f"^{saving}"]
        restore = self._add("restore_all", "NoOp", [f"^{node}" for node in done])
        kept = self._add("saved_path", "Identity", [prefix, *saved], T=("type", dtypes.string))
        return {
            "filename_tensor_name": f"{prefix}:0", "save_tensor_name": f"{kept}:0", "restore_op_name": restore,
            "version": 2,
        }  # fmt: skip


def _kind(value: Any) -> Any:
    return dtypes.string if isinstance(value, Asset) else dtypes.resource


def _info(name: str, spec: TensorSpec) -> dict[str, Any]:
    return {"name": name, "dtype": spec.dtype.as_datatype_enum, "tensor_shape": shape_proto(spec.shape)}
