"""Writes `gradtape/api/raw/definitions.txt`: inputs, outputs and attributes of TensorFlow's ops, from its registry.

    path/to/an/environment/with/tensorflow/bin/python tools/record_op_definitions.py

Only the ops of the table of `tf.raw_ops`, and those that a graph is held together by, are written down. A line is
`Name inputs -> outputs | attributes`. An input has the name that `tf.raw_ops` gives it, and a dtype or the attribute
that says it: `N*T` are N tensors of the dtype T, and `[T]` tensors of the dtypes T. An attribute has a kind, after `=`
the dtype that it usually is, and after `@` the name it has in `tf.raw_ops`, where that is another.
"""

import inspect
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FURTHER = (
    "Case If Placeholder PartitionedCall RestoreV2 SaveV2 StatefulPartitionedCall StatelessCase StatelessIf "
    "StatelessWhile VarHandleOp While StringFormat Print PrintV2 SymbolicGradient FakeParam HashTableV2 "
    "LookupTableFindV2 LookupTableImportV2 LookupTableSizeV2 LookupTableExportV2 LookupTableInsertV2 "
    "MutableHashTableV2 InitializeTableFromTextFileV2 StringSplitV2 TensorListReserve TensorListFromTensor "
    "TensorListStack TensorListGetItem TensorListSetItem TensorListLength EmptyTensorList TensorListPushBack "
    "MergeV2Checkpoints ShardedFilename DestroyResourceOp RngReadAndSkip"
).split()


def main() -> None:
    import tensorflow as tf
    from tensorflow.python.framework import dtypes, op_def_registry

    sys.path.insert(0, str(ROOT / "src"))
    names = set(FURTHER)
    scope: dict = {}
    exec((ROOT / "src/gradtape/api/raw/table.py").read_text(), scope)
    source = (ROOT / "src/gradtape/api/raw/rows.py").read_text()
    source = source.replace("from .table import TABLE", "").replace("from __future__ import annotations", "")
    exec(source, scope)
    names |= set(scope["read"](scope["TABLE"]))

    def kind(argument) -> str:
        if argument.type_list_attr:
            return f"[{argument.type_list_attr}]"
        dtype = argument.type_attr or dtypes.as_dtype(argument.type).name
        return f"{argument.number_attr}*{dtype}" if argument.number_attr else dtype

    def usual(attribute) -> str:
        has = attribute.type == "type" and attribute.HasField("default_value")
        return f"={dtypes.as_dtype(attribute.default_value.type).name}" if has else ""

    lines = []
    for name in sorted(names):
        definition = op_def_registry.get(name)
        parameters = list(inspect.signature(getattr(tf.raw_ops, name)).parameters)
        attributes = {a.name for a in definition.attr}
        given = [a.name for a in definition.input_arg]
        renamed = iter([p for p in parameters if p not in given and p not in attributes and p != "name"])
        inputs = [f"{a.name if a.name in parameters else next(renamed)}:{kind(a)}" for a in definition.input_arg]
        outputs = [f"{a.name}:{kind(a)}" for a in definition.output_arg]
        told = {part for a in definition.input_arg for part in (a.type_attr, a.number_attr, a.type_list_attr)}
        others = [a.name for a in definition.attr if a.name not in told and a.name not in parameters]
        names_of = dict(zip(others, renamed, strict=False))  # what is left over is what `tf.raw_ops` calls them
        attrs = [f"{a.name}:{a.type}{usual(a)}{'@' + names_of[a.name] if a.name in names_of else ''}"
                 for a in definition.attr]  # fmt: skip
        stateful = "!" if definition.is_stateful else ""
        lines.append(" ".join([name + stateful, *inputs, "->", *outputs, "|", *attrs]))
    (ROOT / "src/gradtape/api/raw/definitions.txt").write_text("\n".join(lines) + "\n")
    print(len(lines), "ops")


if __name__ == "__main__":
    main()
