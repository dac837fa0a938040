"""Writes the type stubs of the public namespaces: `src/gradtape-stubs/__init__.pyi`, `.../math/__init__.pyi`, ...

    python tools/write_stubs.py

The namespaces are lazy at run time, so type checkers and editors cannot see their members. A stub re-exports each
public name from the module that implements it: signatures, docstrings and "go to definition" come from the code. A
row of the catalogue, or a name that is created at run time (`tf.raw_ops`), has no source to refer to, and its stub
declares the signature.

`gradtape-stubs` is a partial stub package (PEP 561): the types of modules without a stub, which are `extend` and
all internal modules, are those of the source.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import inspect
import re
import sys
import textwrap
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gradtape
from gradtape.api.catalogue.definitions import Definition, definition_of
from gradtape.api.catalogue.documentation import documentation_of
from gradtape.api.catalogue.expressions import source_of
from gradtape.api.catalogue.row import Row
from gradtape.api.names import NAMES
from gradtape.api.namespace import BUILD, V1, place_of, resolve, spaces
from gradtape_tensorflow.v1.expressions import HELPERS, rows

SOURCE = Path(gradtape.__file__).parent
STUBS = SOURCE.with_name("gradtape-stubs")
HEADER = "# Written by tools/write_stubs.py.\n"
_SHADOWED = {"builtins": {"bool", "float", "int", "list", "str", "tuple", "type"}, "typing": {"Any"}}
_KERAS = ("initializers", "losses", "metrics", "optimizers")
_KERAS_DECLARED = (  # where the classes are from which programs derive their own
    "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "optimizers",
    "optimizers.schedules", "regularizers",
)  # fmt: skip
_IMPORTS = {  # what declarations refer to
    "collections.abc": ("Sequence",),
    "typing": ("Any",),
    "gradtape.api.linalg.decompositions": ("Qr",),
    "gradtape.core.slices": ("IndexedSlices",),
    "gradtape.core.tensor": ("Tensor",),
    "gradtape.ragged.tensor": ("RaggedTensor",),
    "gradtape.sparse.tensor": ("SparseTensor",),
    "gradtape.state.variable": ("Variable as _Variable",),
    "gradtape.core.type_hints": (
        "AxisLike", "DTypeLike", "PathLike", "ShapeLike", "SizesLike", "StringLike", "TensorLike", "ValueLike",
    ),
}


def source_path(module: str) -> Path:
    """Returns the path of the source text of a module."""
    spec = importlib.import_module(module).__spec__
    assert spec is not None and spec.origin is not None
    return Path(spec.origin)


@cache
def names_in(path: Path) -> frozenset[str]:
    """Returns the names that a module's source text binds at its top level."""
    return frozenset(bound_names(path.read_text("utf-8")))


def bound_names(text: str) -> set[str]:
    """Returns the names that a source text binds at its top level."""
    result: set[str] = set()
    for node in ast.parse(text).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                result.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                result.update(alias.asname or alias.name for alias in names)
            case ast.AnnAssign(target=ast.Name(id=name)):
                result.add(name)
            case ast.Assign(targets=targets):
                result.update(leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name))
    return result


def members(space: str) -> dict[str, str]:
    """Maps the names in a namespace to where each is implemented, `module:attribute`."""
    prefix = f"{space}." if space else ""
    paths = set(NAMES)
    if space == V1.rstrip(".") or space.startswith(V1):
        paths = {f"{space}.{name}" for name in dir(sys.modules[f"gradtape.{space}"])}
    found = {}
    for path in sorted(paths):
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and "." not in name and path not in spaces():
            where = place_of(path)
            if where is not None:
                found[name] = where
    return found


_ATTRIBUTES = {
    "type": "DTypeLike", "int": "int", "bool": "bool", "float": "float", "string": "str", "shape": "ShapeLike",
    "list(type)": "Sequence[DTypeLike]", "list(int)": "Sequence[int]", "list(float)": "Sequence[float]",
    "list(string)": "Sequence[str]", "list(shape)": "Sequence[ShapeLike]", "list(bool)": "Sequence[bool]",
}  # fmt: skip


def raw_op(name: str, function: Callable[..., Any]) -> str:
    """Returns the stub of a function of `tf.raw_ops`, whose types TensorFlow's op registry defines."""
    definition = definition_of(name)
    kinds: dict[str, str] = {"name": "str | None"}
    result = "Any"
    if definition is not None:
        kinds |= {definition.names[key]: _ATTRIBUTES.get(kind, "Any") for key, kind in definition.attributes.items()}
        for argument in definition.inputs:
            many = argument.number or argument.several
            one = "StringLike" if argument.dtype not in _NUMERIC else "TensorLike"
            kinds[argument.name] = f"Sequence[{one}]" if many else "Any" if argument.dtype == "resource" else one
        result = outputs_of(definition)
    return signature(name, function, kinds, "Any", result)


_NUMERIC = frozenset("bool int32 int64 uint8 float32 float64 float16 complex64 complex128".split())


def outputs_of(definition: Definition) -> str:
    """Returns the type of the result of an op."""
    each = ["list[Tensor]" if output.number or output.several else "Tensor" for output in definition.outputs]
    return each[0] if len(each) == 1 else f"tuple[{', '.join(each)}]" if each else "None"


def signature(name: str, function: Callable[..., Any], kinds: dict[str, str], usual: str, result: str) -> str:
    """Returns the stub of a function with the types of its parameters, `usual` where `kinds` has none."""
    shown = []
    for parameter in inspect.signature(function).parameters.values():
        kind = kinds.get(parameter.name, usual)
        if parameter.default is None and "None" not in kind and kind != "Any":
            kind += " | None"
        shown.append(f"{parameter.name}: {kind}{'' if parameter.default is parameter.empty else ' = ...'}")
    return f"def {name}({', '.join(shown)}) -> {result}: ..."


def version_1(path: str, function: Callable[..., Any]) -> str:
    """Returns the stub of a function of `tf.compat.v1`: the types are those of the functions that its row calls."""
    where = place_of(path)
    row = rows().get(where.partition(":")[2], rows().get(path.removeprefix(V1))) if where else None
    kinds, result = {"name": "str | None"}, "Any"
    if row is not None:
        expression = ast.parse(source_of(row.parameters, row.text, HELPERS), mode="eval").body
        result = result_of(expression)
        for call in ast.walk(expression):
            if isinstance(call, ast.Call):
                kinds |= argument_types(call)
    return signature(path.rpartition(".")[2], function, kinds, "Any", result)


def called(call: ast.Call) -> Callable[..., Any] | None:
    """Returns the function that a call in a row calls: one of TensorFlow 2, or a helper."""
    path = ast.unparse(call.func)
    where = place_of(path.removeprefix("tf."))
    found = HELPERS.get(path)
    if found is None and where is not None:
        module, _, attribute = where.partition(":")
        found = getattr(importlib.import_module(module), attribute)
    if isinstance(found, Row):
        return resolve(found.names[0])
    return found if inspect.isfunction(found) else None


def argument_types(call: ast.Call) -> dict[str, str]:
    """Maps the parameters of a row that a call passes on, maybe as one of two names, to the types of the arguments."""
    function = called(call)
    if function is None:
        return {}
    parameters = inspect.signature(function).parameters
    given = [*zip(parameters, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
    found = {}
    for parameter, value in given:
        kind = parameters[parameter].annotation if parameter in parameters else ""
        if isinstance(kind, str) and _KNOWN.fullmatch(kind):
            either = isinstance(value, ast.Call) and ast.unparse(value.func) == "either"
            for name in value.args[:2] if either else [value]:
                if isinstance(name, ast.Name):
                    found[name.id] = f"{kind} | None" if either and "None" not in kind else kind
    return found


def result_of(node: ast.expr) -> str:
    """Returns the type of an expression of a row."""
    match node:
        case ast.Constant(value=value):
            return type(value).__name__
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return "Tensor"
        case ast.IfExp(body=value) | ast.Subscript(value=value, slice=ast.Slice()):
            return result_of(value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="ref"))):  # a method of a variable
            return "_Variable"
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="raw_ops"), attr=name)):
            definition = definition_of(name)
            return "Any" if definition is None else outputs_of(definition)
        case ast.Call():
            function = called(node)
            if function is None:
                return "Any"
            versions = typing.get_overloads(function) or [function]
            results = [version.__annotations__.get("return", "Any") for version in versions]
            if results[0] in _COMPOSITES:  # the overload for composites; the last one is for tensors
                results = results[-1:]
            result = " | ".join(results).replace("Variable", "_Variable")
            return result if _RESULT.fullmatch(result) else "Any"
    return "Any"


_ALIASES = "|".join(_IMPORTS["gradtape.core.type_hints"])
_KNOWN = re.compile(rf"(?:(?:None|str|int|bool|float|Sequence\[(?:{_ALIASES})\]|{_ALIASES})(?: \| |$))+")
_COMPOSITES = ("Composite", "IndexedSlices", "SparseTensor")
_WORDS = "None|bool|int|str|list|tuple|Tensor|IndexedSlices|Qr|RaggedTensor|SparseTensor|_Variable"
_RESULT = re.compile(rf"(?:\b(?:{_WORDS})\b|[][,|. ])+")


def catalogued(name: str, row: Row) -> str:
    """Returns the stub of a row of the catalogue, with its documentation."""
    stub = signature(name, resolve(row.names[0]), row.types, "TensorLike", row.result)
    return f'{stub.removesuffix(" ...")}\n    r"""{documentation_of(row)}"""'


def declaration(path: str, value: Any) -> str:
    """Returns the stub of a public name that no source text defines."""
    space, _, name = path.rpartition(".")
    if isinstance(value, type) or not callable(value):
        return f"{name}: {'type[Any]' if isinstance(value, type) else type(value).__name__}"
    kinds = dict(getattr(value, "__annotations__", {}))
    if "return" in kinds:  # created from a table, with types
        return signature(name, value, kinds, "Any", kinds.pop("return"))
    return raw_op(name, value) if space == "raw_ops" else version_1(path, value)


def stub(space: str, children: list[str]) -> str:
    """Returns the text of the stub of one namespace."""
    imports: dict[str, list[str]] = defaultdict(list)
    declared: list[str] = []
    for name, where in members(space).items():
        module, _, attribute = where.partition(":")
        full = module
        row = getattr(importlib.import_module(full), attribute)
        if isinstance(row, Row):
            canonical, _, attribute = row.names[0].rpartition(".")
            full = f"gradtape.{canonical}".rstrip(".")
        if isinstance(row, Row) and canonical == space:
            declared.append(catalogued(name, row))
        elif isinstance(row, Row) or attribute in names_in(source_path(full)):
            # A stub re-exports `X as X`; under another name it is private, and an assignment makes it public.
            imports[full].append(f"{attribute} as {name if attribute == name else f'_{name}'}")
            if attribute != name:
                declared.append(f"{name} = _{name}")
        else:
            declared.append(declaration(f"{space}.{name}".lstrip("."), resolve(f"{space}.{name}".lstrip("."))))
    lines = [HEADER]
    text = "\n".join(declared)
    for module, names in _SHADOWED.items():  # names that mean something else in this namespace
        for name in names & members(space).keys():
            text = re.sub(rf"(: |-> |, |\| |\[){name}\b(?!: [^.])", rf"\1{module}.{name}", text)
        if f"{module}." in text:
            lines.append(f"import {module}\n")
    exported = {line.partition(" as ")[2] for names in imports.values() for line in names}  # imported below
    for module, names in _IMPORTS.items():
        used = [name for name in names if re.search(rf"(: |-> |, |\| |\[){name.split()[-1]}\b", text)]
        used = [name for name in used if name not in exported]
        if used:
            lines.append(f"from {module} import {', '.join(used)}\n")
    for child in children:
        leaf = child.rpartition(".")[2]
        lines.append(f"from gradtape{'.' * bool(space)}{space} import {leaf} as {leaf}\n")
    if not space:  # shorthands for parts of Keras
        lines.append(f"from gradtape.keras import {', '.join(f'{name} as {name}' for name in _KERAS)}\n")
    for module, names in sorted(imports.items()):
        lines.append(f"from {module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")\n")
    return "".join(lines) + text + "\n" * bool(text)


def own_stub(space: str) -> str:
    """Returns the text of the stub of a package that is not TensorFlow's and lists its names in `__all__`."""
    module = importlib.import_module(f"gradtape.{space}")
    homes = {
        alias.name: f"gradtape.{space}.{node.module}"
        for node in ast.parse(source_path(module.__name__).read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    imports: dict[str, list[str]] = defaultdict(list)
    for name in module.__all__:
        imports[homes.get(name) or getattr(module, name).__module__].append(name)
    return HEADER + "".join(_import(home, names) for home, names in sorted(imports.items()))


def hiding(space: str, text: str) -> str:
    """Returns the text of a namespace's stub with a deletion of what its source has beside the names in the stub.

    jedi completes these too: the internal modules in the namespace's folder, and helpers and imports of its own module.
    It leaves out what the stub deletes on any platform, while type checkers, which read the stub only, skip the other
    platforms' code.
    """
    folder = SOURCE / space.replace(".", "/")
    names = {path.stem for path in folder.glob("*") if path.suffix == ".py" or has_files(path)}
    for path in (folder / "__init__.py", folder.with_suffix(".py")):
        if path.is_file():
            names |= names_in(path)
    if not space:
        names.add("shipped")  # a folder that only the wheel has
    public = bound_names(text) | {"__init__", "__pycache__"}
    hidden = sorted(name for name in names - public if name == "__main__" or not name.startswith("_"))
    if not hidden:
        return text
    lines = "".join(f"        {name},\n" for name in hidden)
    return f'{text}import sys\nif sys.platform == "jedi":\n    del (\n{lines}    )\n'


def has_files(folder: Path) -> bool:
    """Returns whether a folder has more in it than what Python compiled."""
    return any(path.is_file() and path.suffix != ".pyc" for path in folder.rglob("*"))


def keras_stubs() -> Iterator[tuple[Path, str]]:
    """Yields the stubs of `tf.keras`, which is Keras itself with the names that TensorFlow gives it.

    Keras has no `py.typed`, so that mypy takes all of it as Any, and its strict mode rejects classes derived from Any.
    For mypy, the stubs therefore declare the classes with their constructors; what else they have remains Any. Pyright
    and jedi read Keras' source and ignore the declarations.
    """
    homes: dict[type, str] = {}  # of the declared classes
    for space in _KERAS_DECLARED:
        module = importlib.import_module(f"keras._tf_keras.keras.{space}")
        names = {name: value for name, value in sorted(vars(module).items()) if not name.startswith("_")}
        children = [child for child in names if f"{space}.{child}" in _KERAS_DECLARED]
        classes = {name: value for name, value in names.items() if isinstance(value, type)}
        for value in classes.values():
            homes.setdefault(value, space)
        others = [name for name in names if name not in children]
        yield stub_path(f"keras.{space}"), keras_stub(module.__name__, space, others, children, classes)
    keras = importlib.import_module("gradtape.keras")
    names = {name: value for name, value in sorted(vars(keras).items()) if not name.startswith("_")}
    lines = [_keras_header()]
    for space in (space for space in _KERAS_DECLARED if "." not in space):
        lines.append(f"from gradtape.keras import {space} as {space}\n")
        exported = [n for n, value in names.items() if isinstance(value, type) and homes.get(value) == space]
        if exported:
            lines.append(_import(f"gradtape.keras.{space}", exported))
    rest = [n for n, value in names.items() if n not in _KERAS_DECLARED and not _is_declared(value, homes)]
    yield stub_path("keras"), hiding("keras", "".join(lines) + _import("keras._tf_keras.keras", rest))


def _is_declared(value: Any, homes: dict[type, str]) -> bool:
    return isinstance(value, type) and value in homes


def keras_stub(module: str, space: str, names: list[str], children: list[str], classes: dict[str, type]) -> str:
    """Returns the stub of one of Keras' namespaces."""
    canonical: dict[type, str] = {}  # a class may have several names
    for name, value in classes.items():
        if name == value.__name__ or value not in canonical:
            canonical[value] = name
    bases, declared = [], []
    for name, value in classes.items():
        base = next((canonical[kind] for kind in value.__mro__[1:] if kind in canonical), None)
        if canonical[value] != name:
            declared.append(f"{name} = {canonical[value]}\n")
            continue
        if base is None:
            bases.append(f"from {module} import {name} as _{name}\n")
        declared.append(f"class {name}({base or f'_{name}'}):\n    def __init__({_constructor(value)}) -> None: ...\n")
    functions = [name for name in names if name not in classes]
    for_mypy = [*bases, *([_import(module, functions)] if functions else []), *declared]
    return (
        f"{_keras_header()}from typing import Any\nfrom gradtape.core.type_hints import MYPY\n"
        + "".join(f"from gradtape.keras.{space} import {child} as {child}\n" for child in children)
        + f"if MYPY:\n{textwrap.indent(''.join(for_mypy), '    ')}else:\n    from {module} import *\n"
    )


def _keras_header() -> str:
    return f"# Written by tools/write_stubs.py for Keras {importlib.metadata.version('keras')}.\n"


def _constructor(kind: type) -> str:
    """Returns the parameters of the constructor of one of Keras' classes, without types."""
    parts, star = ["self"], False
    for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:  # type: ignore[misc]
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                parts.append(f"*{parameter.name}: Any")
                star = True
                continue
            case parameter.VAR_KEYWORD:
                parts.append(f"**{parameter.name}: Any")
                continue
            case parameter.KEYWORD_ONLY if not star:
                parts.append("*")
                star = True
        parts.append(f"{parameter.name}: Any" + " = ..." * (parameter.default is not parameter.empty))
    return ", ".join(parts)


def _import(module: str, names: Iterable[str]) -> str:
    return f"from {module} import (\n" + "".join(f"    {name} as {name},\n" for name in names) + ")\n"


# Attributes of the root module that are no public names.
BUILD_STUB = "__gradtape_version__: str\n" + "".join(
    f"{name}: {type(resolve(path)).__name__}\n" for name, path in BUILD.items()
)


def stub_path(space: str) -> Path:
    """Returns the path of the stub of a namespace.

    Each is a package, because pyright warns about the import of a module, unlike a package, with a stub and no source.
    """
    return STUBS / space.replace(".", "/") / "__init__.pyi"


def stubs() -> Iterator[tuple[Path, str]]:
    """Yields the path and the text of every stub."""
    known = spaces()
    for space in known:
        children = [child for child in known if child.rpartition(".")[0] == space]
        yield stub_path(space), hiding(space, stub(space, children))
    top = [space for space in known if "." not in space]
    yield stub_path(""), hiding("", stub("", [*top, "extend", "inspect", "keras"]) + BUILD_STUB)
    yield stub_path("inspect"), hiding("inspect", own_stub("inspect"))
    yield from keras_stubs()


def main() -> None:
    """Writes the stubs of all namespaces, and removes those of namespaces that are gone."""
    texts = dict(stubs())
    for path in set(STUBS.rglob("*.pyi")) - texts.keys():
        path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
