"""TensorFlow's definitions of ops as `OpDef` messages."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import as_dtype
from ...core.protos.generated import message_class
from ..catalogue.definitions import Argument, Definition, definition_of


def op_def(name: str) -> Any:
    """Returns the `OpDef` of an op, without documentation; raises ValueError for an unknown one."""
    definition = definition_of(name)
    if definition is None:
        raise ValueError(f"Op type not registered {name!r}: gradtape has no definition of it")
    found = message_class("OpDef")(name=name, is_stateful=definition.is_stateful)
    for arguments, given in ((found.input_arg, definition.inputs), (found.output_arg, definition.outputs)):
        for argument in given:
            _describe(arguments.add(name=argument.name), argument, definition)
    for title, kind in definition.attributes.items():
        found.attr.add(name=title, type=kind)
    return found


def _describe(found: Any, argument: Argument, definition: Definition) -> None:
    if argument.several:
        found.type_list_attr = argument.several
        return
    if argument.number:
        found.number_attr = argument.number
    if argument.dtype in definition.attributes:
        found.type_attr = argument.dtype
    else:
        found.type = as_dtype(argument.dtype).as_datatype_enum
