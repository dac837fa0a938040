"""Classes of the `protobuf` package for TensorFlow's messages, generated from the tables of `schema`.

They are in protobuf's default pool under TensorFlow's file names, so that generated modules of other packages that
import TensorFlow's files find them.
"""

from __future__ import annotations

import copyreg
import types
from collections.abc import Callable, Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from gradtape.core.protos import schema

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto

_GOOGLE = "google/"  # files of the protobuf package itself


def _installed() -> None:
    try:
        import google.protobuf  # noqa: F401  asks whether it is there
    except ImportError:
        raise ImportError(
            "TensorFlow's protocol buffer messages need the package protobuf, which is not installed: "
            "pip install protobuf"
        ) from None


def descriptor_proto(path: str) -> FileDescriptorProto:
    """Returns the description of a file as a message of protobuf."""
    _installed()
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = schema.proto_file(path)
    found = FileDescriptorProto(name=path, package=file.package or None, dependency=file.public)
    found.public_dependency.extend(range(len(file.public)))
    if file.syntax == "proto3":
        found.syntax = file.syntax
    needed: set[str] = set()
    within: dict[str, Any] = {}
    start = len(file.package) + 1 if file.package else 0
    for kind in file.types:
        outer, _, name = kind.name[start:].rpartition(".")
        parent = within.get(outer)
        if isinstance(kind, schema.ProtoEnum):
            _describe_enum((found if parent is None else parent).enum_type.add(name=name), kind)
            continue
        message = found.message_type.add(name=name) if parent is None else parent.nested_type.add(name=name)
        within[kind.name[start:]] = message
        _describe_message(message, kind, file.syntax)
        needed |= {schema.file_of(field.kind) for field in kind.fields if field.kind not in schema.SCALARS}
    found.dependency.extend(sorted(needed - {path, *file.public}))
    return found


def _describe_enum(found: EnumDescriptorProto, enum: schema.ProtoEnum) -> None:
    for name, number in enum.values.items():
        found.value.add(name=name, number=number)
    if len(set(enum.values.values())) < len(enum.values):
        found.options.allow_alias = True


def _describe_message(found: DescriptorProto, message: schema.ProtoMessage, syntax: str) -> None:
    oneofs = list(dict.fromkeys(field.oneof for field in message.fields if field.oneof))
    for name in oneofs:
        found.oneof_decl.add(name=name)
    for field in message.fields:
        made = found.field.add(name=field.name, number=field.number)
        if field.keys:
            entry = found.nested_type.add(name="".join(map(_capitalized, field.name.split("_"))) + "Entry")
            entry.options.map_entry = True
            for i, (name, kind, is_enum) in enumerate(
                (("key", field.keys, False), ("value", field.kind, field.is_enum)), 1
            ):
                part = entry.field.add(name=name, number=i, label=made.LABEL_OPTIONAL)
                _set_kind(part, kind, is_enum)
            made.label, made.type = made.LABEL_REPEATED, made.TYPE_MESSAGE
            made.type_name = f".{message.name}.{entry.name}"
            continue
        made.label = made.LABEL_REPEATED if field.repeated else made.LABEL_OPTIONAL
        _set_kind(made, field.kind, field.is_enum)
        if field.oneof:
            made.oneof_index = oneofs.index(field.oneof)
        elif field.optional:  # presence, which protobuf describes by a oneof with one field
            made.proto3_optional = True
            made.oneof_index = len(found.oneof_decl)
            found.oneof_decl.add(name=f"_{field.name}")
        if field.packed:
            made.options.packed = True


def _capitalized(word: str) -> str:
    return word[:1].upper() + word[1:]


def _set_kind(field: Any, kind: str, is_enum: bool) -> None:
    if kind in schema.SCALARS:
        field.type = getattr(field, f"TYPE_{kind.upper()}")
    else:
        field.type = field.TYPE_ENUM if is_enum else field.TYPE_MESSAGE
        field.type_name = f".{kind}"


@cache
def module(path: str) -> types.ModuleType:
    """Returns the generated module of a file, with its classes and enums."""
    proto = descriptor_proto(path)
    for needed in proto.dependency:  # first, as classes made by need would not know their module
        __import__(module_name(needed)) if needed.startswith(_GOOGLE) else module(needed)
    from google.protobuf import descriptor_pool
    from google.protobuf.internal import builder

    pool = descriptor_pool.Default()
    try:
        descriptor = pool.FindFileByName(path)  # another package may have it too
    except KeyError:
        descriptor = pool.AddSerializedFile(proto.SerializeToString())
    found = types.ModuleType(module_name(path), f"The messages of {path}, generated by gradtape.")
    names = vars(found)
    names["DESCRIPTOR"] = descriptor
    builder.BuildMessageAndEnumDescriptors(descriptor, names)
    builder.BuildTopDescriptorsAndMessages(descriptor, found.__name__, names)
    for message in descriptor.message_types_by_name.values():
        _pickle_by_name(names[message.name])
    for kind in schema.proto_file(path).types:
        title = kind.name.removeprefix(f"{proto.package}.")  # that of a nested type has a dot
        if isinstance(kind, schema.ProtoMessage) and title in names:
            names[title].__doc__ = names[title].__doc__ or _documentation(kind)
    for other in schema.proto_file(path).public:
        for title, value in vars(module(other)).items():
            if not title.startswith("_"):
                names.setdefault(title, value)
    return found


def _pickle_by_name(kind: Any) -> None:
    """Pickles messages of a class by their full name: only `gradtape run` has modules of the names of the classes."""
    copyreg.pickle(kind, _reduced)
    for nested in kind.DESCRIPTOR.nested_types:
        if not nested.GetOptions().map_entry:
            _pickle_by_name(getattr(kind, nested.name))


def _reduced(message: Any) -> tuple[Any, ...]:
    return _parsed, (message.DESCRIPTOR.full_name, message.SerializePartialToString())


def _parsed(name: str, serialized: bytes) -> Any:
    return message_class(name).FromString(serialized)


def message_class(name: str) -> Any:
    """Returns the class of a message; the package `tensorflow` may be omitted."""
    full = schema.message(name).name
    path = schema.file_of(full)
    found: Any = module(path)
    for part in full.removeprefix(f"{schema.proto_file(path).package}.").split("."):
        found = getattr(found, part)
    return found


def _documentation(message: schema.ProtoMessage) -> str:
    fields = ", ".join(field.name for field in message.fields)
    return f"The protocol buffer message `{message.name}` with {f'the fields {fields}' if fields else 'no fields'}."


def find_among(names: Collection[str]) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module that has these messages: they are generated when they are asked for."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(name)
        return message_class(name)

    return find


@cache
def paths() -> dict[str, str]:
    """Returns the file of every generated module, by the name under which TensorFlow has the module."""
    return {module_name(path): path for path in schema.files() if not path.startswith(_GOOGLE)}


def module_name(path: str) -> str:
    """Returns the name of TensorFlow's module with the messages of a file."""
    for start, root in (("xla/", "tensorflow.compiler."), ("tsl/", "tensorflow.")):
        if path.startswith(start):
            return root + path.removesuffix(".proto").replace("/", ".") + "_pb2"
    return path.removesuffix(".proto").replace("/", ".") + "_pb2"
