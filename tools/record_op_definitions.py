"""Writes `gradtape/api/catalogue/definitions.txt`: inputs, outputs and attributes of TensorFlow's ops.

    path/to/an/environment/with/tensorflow/bin/python tools/record_op_definitions.py [NewOp ...]

It records the ops that the file has, and the new ones that it is given. A line is `Name inputs -> outputs |
attributes`; the name of a stateful op ends with `!`. An input has the name that `tf.raw_ops` gives it, and a dtype or
the attribute that says it: `N*T` are N tensors of the dtype T, and `[T]` tensors of the dtypes T. An attribute has a
kind, after `=` its default (a Python literal without spaces, or a dtype), and after `@` the name that `tf.raw_ops`
gives it, where that is another.
"""

import inspect
import sys
from pathlib import Path

FILE = Path(__file__).parent.parent / "src/gradtape/api/catalogue/definitions.txt"


def main(new: list[str]) -> None:
    import tensorflow as tf
    from tensorflow.python.framework import dtypes, op_def_registry

    def kind(argument) -> str:
        if argument.type_list_attr:
            return f"[{argument.type_list_attr}]"
        dtype = argument.type_attr or dtypes.as_dtype(argument.type).name
        return f"{argument.number_attr}*{dtype}" if argument.number_attr else dtype

    def default(attribute, parameter) -> str:
        if not attribute.HasField("default_value"):
            return ""
        if attribute.type == "type":
            return f"={dtypes.as_dtype(attribute.default_value.type).name}"
        return "" if parameter is None else f"={parameter.default!r}".replace(" ", "")

    lines = []
    for name in sorted({line.partition(" ")[0].rstrip("!") for line in FILE.read_text().splitlines()} | set(new)):
        definition = op_def_registry.get(name)
        parameters = inspect.signature(getattr(tf.raw_ops, name)).parameters
        attributes = {a.name for a in definition.attr}
        given = [a.name for a in definition.input_arg]
        renamed = iter([p for p in parameters if p not in given and p not in attributes and p != "name"])
        inputs = [f"{a.name if a.name in parameters else next(renamed)}:{kind(a)}" for a in definition.input_arg]
        outputs = [f"{a.name}:{kind(a)}" for a in definition.output_arg]
        inferred = {part for a in definition.input_arg for part in (a.type_attr, a.number_attr, a.type_list_attr)}
        others = [a.name for a in definition.attr if a.name not in inferred and a.name not in parameters]
        names = dict(zip(others, renamed, strict=False))  # the rest of the parameters are the renamed attributes
        attrs = [
            f"{a.name}:{a.type}{default(a, parameters.get(names.get(a.name, a.name)))}"
            f"{'@' + names[a.name] if a.name in names else ''}"
            for a in definition.attr
        ]
        stateful = "!" if definition.is_stateful else ""
        lines.append(" ".join([name + stateful, *inputs, "->", *outputs, "|", *attrs]))
    FILE.write_text("\n".join(lines) + "\n")
    print(len(lines), "ops")


if __name__ == "__main__":
    main(sys.argv[1:])
