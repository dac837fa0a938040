"""Writes the tables in `src/gradtape/core/protos` from TensorFlow's descriptors, or compares: run under TensorFlow.

    python tools/record_protos.py          # writes
    python tools/record_protos.py --check  # prints each file whose table describes other messages

The comparison needs gradtape on `PYTHONPATH`. It covers names, numbers, types, labels, oneofs, maps and enums.
"""

import difflib
import importlib
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
from google.protobuf import any_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FieldDescriptorProto
from google.protobuf.descriptor_pb2 import FileDescriptorProto as File

TABLES = Path(__file__).parent.parent / "src/gradtape/core/protos"
TENSORFLOW = Path(tf.__file__).parent
# A table for every start of a path, the first that fits.
TABLE_OF = {
    "tensorflow/core/framework/": "framework",
    "tensorflow/core/example/": "example",
    "tensorflow/core/protobuf/": "protobuf",
    "google/": "others",
    "xla/tsl/": "others",
    "tsl/": "others",
    "tensorflow/core/": "tools",
    "tensorflow/python/framework/": "others",
    "tensorflow/python/training/": "others",
}
# Messages of servers, TPUs, queues, TensorFlow's debugger, its former profiler and its memory, which nothing here uses.
LEFT_OUT = re.compile(
    r"tpu/|serialization_test|data_service|service_config|debug_service|debugger_event|tfprof_|profiler/(profile|protobuf/"
    r"profile)\.proto|core_platform_payloads|remote_tensor_handle|transport_options|distributed_runtime_payloads|"
    r"graph_transfer_info|op_performance_data|device_properties|queue_runner|bfc_memory_map|log_memory|memmapped|test_log|"
    r"framework/(dataset_options|model|kernel_def|reader_base|optimized_function_graph)|uniform_quant"
)
SCALARS = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in FieldDescriptorProto.Type.items()
    if name not in ("TYPE_MESSAGE", "TYPE_ENUM", "TYPE_GROUP")
}


def described() -> dict[str, File]:
    """Returns TensorFlow's files, those on which others depend first."""
    found: dict[str, File] = {}

    def add(descriptor) -> None:
        for needed in descriptor.dependencies:
            add(needed)
        proto = File()
        descriptor.CopyToProto(proto)
        found.setdefault(proto.name, proto)

    add(any_pb2.DESCRIPTOR)
    add(wrappers_pb2.DESCRIPTOR)
    places = ("tensorflow/" + path.relative_to(TENSORFLOW).as_posix() for path in TENSORFLOW.glob("**/*_pb2.py"))
    for place in sorted(places):
        if place.startswith(("tensorflow/compiler/xla/tsl/", "tensorflow/tsl/", *TABLE_OF)):
            add(importlib.import_module(place.removesuffix(".py").replace("/", ".")).DESCRIPTOR)
    return {name: file for name, file in found.items() if _table(name) and not LEFT_OUT.search(name)}


def _table(path: str) -> str | None:
    return next((table for start, table in TABLE_OF.items() if path.startswith(start)), None)


def lines(file: File) -> Iterator[str]:
    """Yields the rows of a file."""
    head = f"file {file.name}"
    if file.package != "tensorflow":
        head += f" package={file.package}"
    if file.syntax != "proto3":
        head += " proto2"
    yield head + "".join(f" public={file.dependency[i]}" for i in file.public_dependency)
    yield from _types(file.enum_type, file.message_type, file.package, "", file.syntax == "proto3")


def _types(enums, messages, package: str, outer: str, proto3: bool) -> Iterator[str]:
    for enum in enums:
        yield from _wrapped(f"enum {outer}{enum.name}:", [f"{v.number} {v.name}" for v in enum.value])
    for message in messages:
        if message.options.map_entry:
            continue
        name = f"{outer}{message.name}"
        yield from _wrapped(f"{name}:", _fields(message, f".{package}.{name}", proto3))
        yield from _types(message.enum_type, message.nested_type, package, f"{name}.", proto3)


def _fields(message: DescriptorProto, scope: str, proto3: bool) -> list[str]:
    entries = {f"{scope}.{part.name}": part for part in message.nested_type if part.options.map_entry}
    rows: list[str] = []
    groups: dict[int, list[str]] = {}
    for field in message.field:
        kind = _kind(field, scope)
        if field.type_name in entries:
            key, value = entries[field.type_name].field
            kind = f"{{{_kind(value, scope)}}}" if key.type == key.TYPE_STRING else (
                f"{{{_kind(key, scope)}: {_kind(value, scope)}}}"
            )  # fmt: skip
        elif field.label == field.LABEL_REPEATED:
            kind = f"*{kind}" + (" packed" if field.options.packed and not proto3 else "")
        elif field.proto3_optional:
            kind = f"?{kind}"
        row = f"{field.number} {field.name} {kind}"
        if field.HasField("oneof_index") and not field.proto3_optional:
            if field.oneof_index not in groups:
                rows.append(field.oneof_index)
            groups.setdefault(field.oneof_index, []).append(row)
        else:
            rows.append(row)
    for i, row in enumerate(rows):
        if isinstance(row, int):
            inner = ", ".join(groups[row])
            rows[i] = f"{message.oneof_decl[row].name}({inner})"
    return rows


def _kind(field: FieldDescriptorProto, scope: str) -> str:
    """Returns a scalar type, or the name of a message or enum without the parts it shares with the scope."""
    if field.type in SCALARS:
        return SCALARS[field.type]
    here, there = scope.split("."), field.type_name.split(".")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return ".".join(there[shared:])


def _wrapped(head: str, rows: list[str]) -> list[str]:
    """Returns a row in lines that end after a field, not within one."""
    text = f"{head} {', '.join(row.replace(' ', '~').replace(',~', ', ') for row in rows)}".strip()
    found = textwrap.wrap(text, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("~", " ") for line in found]


def write() -> None:
    tables: dict[str, list[str]] = {}
    for file in described().values():
        tables.setdefault(_table(file.name), []).extend(lines(file))
    for name, rows in tables.items():
        (TABLES / f"{name}.txt").write_text("".join(f"{row}\n" for row in rows))


def check() -> int:
    """Prints the files that differ; returns their number."""
    from gradtape.core.protos import schema
    from gradtape_tensorflow.protos.generated import descriptor_proto

    different = 0
    files = described()
    for name, file in files.items():
        if name.startswith("google/"):
            continue
        ours = descriptor_proto(name)
        pairs = [str(_plain(one)).splitlines() for one in (ours, file)]
        reached = {*file.dependency}
        for needed in file.dependency:
            reached |= {files[needed].dependency[i] for i in files[needed].public_dependency}
        if pairs[0] != pairs[1] or not {*ours.dependency} <= reached:
            different += 1
            print(f"{name} differs")
            print("\n".join(list(difflib.unified_diff(*pairs, lineterm=""))[:30]))
    extra = {name for name in schema.files() if not name.startswith("google/")} - files.keys()
    messages = sum(str(file).count("message_type {") + str(file).count("nested_type {") for file in files.values())
    print(f"{len(files)} files, {messages} messages; {different} differ, {len(extra)} are not TensorFlow's")
    return different + len(extra)


def _plain(file: File) -> File:
    """Returns a file without what does not change the wire format or the classes.

    That is options, reserved numbers, unused imports and the order of nested types.
    """
    found = File()
    found.CopyFrom(file)
    for part in ("options", "service", "source_code_info", "dependency", "public_dependency"):
        found.ClearField(part)
    if found.syntax == "proto2":
        found.ClearField("syntax")

    def clean_enum(enum: EnumDescriptorProto) -> None:
        for part in ("options", "reserved_range", "reserved_name"):
            enum.ClearField(part)

    def clean(message: DescriptorProto) -> None:
        is_entry = message.options.map_entry
        for part in ("options", "reserved_range", "reserved_name"):
            message.ClearField(part)
        if is_entry:
            message.options.map_entry = True
        for field in message.field:
            packed = field.options.packed and found.syntax != "proto3"
            field.ClearField("options")
            field.ClearField("json_name")
            if packed:
                field.options.packed = True
        for enum in message.enum_type:
            clean_enum(enum)
        for nested in message.nested_type:
            clean(nested)
        message.nested_type.sort(key=lambda nested: nested.name)

    for enum in found.enum_type:
        clean_enum(enum)
    for message in found.message_type:
        clean(message)
    return found


if __name__ == "__main__":
    sys.exit(check() if "--check" in sys.argv else write())
