"""TensorFlow's definitions of ops as `OpDef` messages."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

from gradtape.api.catalogue.definitions import Argument, Definition, definition_of
from gradtape.core.dtypes import as_dtype
from gradtape.core.protos.records import encoded
from gradtape.saved_model.writing.writer import attribute

from ..protos.generated import message_class


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


@cache
def _defaults(name: str) -> dict[str, Any]:
    """Returns the default values of an op's attributes, as `AttrValue`s."""
    definition = definition_of(name)
    kind = message_class("AttrValue")
    found: dict[str, Any] = {}
    if definition is None:
        return found
    for title, text in definition.defaults.items():
        value = text if definition.attributes[title] == "type" else ast.literal_eval(text)
        found[title] = kind.FromString(encoded("AttrValue", attribute(definition.attributes[title], value)))
    return found


def add_defaults(node_def: Any) -> None:
    """Adds the attributes that a node leaves at their default values, as TensorFlow does when it reads a node."""
    for title, value in _defaults(node_def.op).items():
        if title not in node_def.attr:
            node_def.attr[title].CopyFrom(value)


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
