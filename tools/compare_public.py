"""Compares what is public before and after a change that must not change it, such as a move of modules.

    python tools/compare_public.py record FILE          # before, and again after
    python tools/compare_public.py compare BEFORE AFTER

`record` writes of every public name its kind, signature with defaults, annotations, docstring and entry in the type
stubs, of every namespace `dir` and `__all__`, of every public class its public members, and of every function, class
and method what a fixed set of wrong calls raises. `compare` prints the differences and exits with 1 if there are any.

The names are what `dir` lists. Two names of one object are recorded once. Modules that are not public are an
implementation: a class is written without its module. Wrong calls run in a forked process for each name, in an empty
folder, and nothing in it may write files, connect, wait, or start threads and processes: such calls are recorded as
skipped with the reason, and summarized at the end.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import json
import os
import re
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

LIMIT = 20  # seconds for all wrong calls of a name
REFUSED = (  # audit events, by their beginnings
    "_thread.start_new_thread", "os.exec", "os.fork", "os.kill", "os.link", "os.mkdir", "os.posix_spawn", "os.putenv",
    "os.remove", "os.rename", "os.rmdir", "os.spawn", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "pty.",
    "shutil.", "socket.bind", "socket.connect", "socket.getaddrinfo", "subprocess.", "tempfile.", "time.sleep",
    "urllib.",
)  # fmt: skip
ENVIRONMENT = {  # without which recordings differ
    "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
    "COLUMNS": "120", "GRADTAPE_HINTS": "0",
}  # fmt: skip
KERAS = ("initializers", "keras", "losses", "metrics", "optimizers")  # Keras' own
Public = dict[str, dict[str, Any]]


class Refused(BaseException):
    """A wrong call was about to do what recording must not do."""


@cache
def _folders() -> list[tuple[str, str]]:
    own = [(str(Path(sys.modules["gradtape"].__file__ or "").parents[1]), "<source>"), (os.getcwd(), "<folder>")]
    return [*own, (sys.prefix, "<prefix>"), (sys.base_prefix, "<prefix>"), (str(Path.home()), "<home>")]


def normal(text: str) -> str:
    """Returns a text without addresses, absolute paths and the modules of the implementation."""
    for folder, title in _folders():
        text = text.replace(folder, title)
    text = re.sub(r"\b(at|id) 0x[0-9a-f]+|\b0x[0-9a-f]{8,}|\bid=\d{6,}", "<address>", text)
    return re.sub(r"\b(?:gradtape|gradtape_tensorflow)((?:\.\w+)+)", _without_module, text)


def _without_module(reference: re.Match[str]) -> str:
    path = reference[1].removeprefix(".")
    is_public = path in spaces() or path in names() or path.partition(".")[0] in ("extend", "inspect", "keras")
    is_class = inspect.isclass(names().get(path))
    return reference[0] if is_public and not is_class else f"gradtape….{path.rpartition('.')[2]}"


@cache
def spaces() -> dict[str, Any]:
    """Returns the public namespaces by name; the empty name is the root's."""
    import gradtape
    from gradtape.api.namespace import spaces as named

    result: dict[str, Any] = {"": gradtape, "extend": gradtape.extend, "inspect": gradtape.inspect}
    for path in sorted({*named(), *(f"compat.v1.{path}" for path in named() if not path.startswith("compat"))}):
        value: Any = gradtape
        with contextlib.suppress(AttributeError):
            for part in path.split("."):
                value = getattr(value, part)
            result[path] = value
    return result


@cache
def names() -> dict[str, Any]:
    """Returns the public objects by name: all that the namespaces list but themselves and what is Keras'."""
    from gradtape.api.names import NAMES

    result = {}
    listed = {f"{space}.{name}".lstrip(".") for space, module in spaces().items() for name in dir(module)}
    for path in sorted(listed | NAMES.keys()):
        space, _, name = path.rpartition(".")
        if path not in spaces() and path not in KERAS and not name.startswith("_"):
            try:
                result[path] = getattr(spaces()[space], name)
            except Exception as error:
                result[path] = error
    return result


@cache
def _first() -> dict[int, str]:
    """Returns the name of each public function and class, by id, under which it is recorded."""
    return {id(value): path for path, value in sorted(names().items(), key=_rank, reverse=True) if callable(value)}


def entries() -> Public:
    """Returns the entries of all public names, without what their wrong calls raise."""
    result: Public = {}
    first, stubs = _first(), _stubs()
    for space, module in spaces().items():
        listed: dict[str, Any] = {"kind": "namespace", "dir": sorted(n for n in dir(module) if n[:1] != "_")}
        listed["all"] = sorted(getattr(module, "__all__", ()))
        result[space or "gradtape"] = listed
    for path, value in names().items():
        same = first.get(id(value), path)
        result[path] = {"kind": f"the same as {same}"} if same != path else entry(value)
        if path in stubs:
            result[path]["stub"] = normal(stubs[path])
        if same == path and inspect.isclass(value) and _is_own(value):
            for name, (member, owner) in members(value).items():
                other = first.get(id(owner))
                known = other is not None and owner is not value
                result[f"{path}.{name}"] = {"kind": f"inherited from {other}"} if known else entry(member)
    return result


def _rank(item: tuple[str, Any]) -> tuple[bool, bool, str]:
    return item[0].startswith("compat.v1"), item[0].startswith("raw_ops"), item[0]


def _is_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("gradtape", "gradtape_tensorflow") and "_pb2" not in kind.__module__


def members(kind: type) -> dict[str, tuple[Any, type]]:
    """Returns the public members of a class, as they are in the class that defines them, and that class."""
    result = {}
    for name in dir(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), kind)
        if not name.startswith("_") and _is_own(owner):
            result[name] = vars(owner).get(name), owner
    return result


def entry(value: Any) -> dict[str, Any]:
    """Returns what is public of an object."""
    value = getattr(value, "__func__", value) if isinstance(value, staticmethod | classmethod) else value
    result: dict[str, Any] = {"kind": _kind(value)}
    if isinstance(value, property):
        result["annotations"] = _annotations(value.fget)
    elif callable(value):
        result["annotations"] = _annotations(value)
        with contextlib.suppress(ValueError, TypeError):
            result["signature"] = normal(str(_bare(inspect.signature(value))))
    elif not isinstance(value, ModuleType):
        result["value"] = normal(repr(value))
    if inspect.isclass(value):
        result["dir"] = sorted(name for name in dir(value) if not name.startswith("_"))
        result["bases"] = [_first()[id(x)] for x in value.__mro__[1:] if id(x) in _first()]
    if callable(value) or isinstance(value, property):
        result["doc"] = normal(inspect.getdoc(value) or "")
    return result


def _kind(value: Any) -> str:
    if isinstance(value, Exception):
        return f"raises {type(value).__name__}: {normal(str(value))}"
    return "function" if inspect.isroutine(value) else "class" if inspect.isclass(value) else type(value).__name__


def _annotations(value: Any) -> dict[str, str]:
    owned = vars(value) if inspect.isclass(value) else {"__annotations__": getattr(value, "__annotations__", {})}
    hints = {name: hint for name, hint in owned.get("__annotations__", {}).items() if name[:1] != "_"}
    return {name: normal(x if isinstance(x, str) else inspect.formatannotation(x)) for name, x in hints.items()}


def _bare(signature: inspect.Signature) -> inspect.Signature:
    parameters = [x.replace(annotation=x.empty) for x in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def _stubs() -> dict[str, str]:
    """Returns the entries of the type stubs by public name; what a stub imports is an entry if it is renamed there."""
    package = Path(sys.modules["gradtape"].__file__ or "").parent
    result: dict[str, str] = {}
    for root in (package, package.with_name("gradtape-stubs")):
        for file in sorted(root.rglob("*.pyi")):
            space = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix("__init__").rstrip(".")
            for node in ast.parse(file.read_text("utf-8")).body:
                for name, text in _declared(node):
                    path = f"{space}.{name}".lstrip(".")
                    result[path] = f"{result[path]}\n{text}" if path in result else text
    return result


def _declared(node: ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.ImportFrom(module=module, names=aliases):
            yield from ((x.asname, f"import gradtape.{module}.{x.name}") for x in aliases if x.asname)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name, ast.unparse(node)
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name, ast.unparse(node)


def instances() -> dict[str, Callable[[], Any]]:
    """Returns functions that create objects of classes whose methods are called and that need arguments, by name."""
    import gradtape as tf

    def tape() -> Any:
        with tf.GradientTape(persistent=True) as result:
            result.watch(tf.square(tf.Variable([1.0, 2.0])))
        return result

    return {
        "Tensor": lambda: tf.constant([1.0, 2.0]), "Variable": lambda: tf.Variable([1.0, 2.0]), "Module": tf.Module,
        "GradientTape": tape, "TensorShape": lambda: tf.TensorShape([2, None]),
        "RaggedTensor": lambda: tf.ragged.constant([[1.0], [2.0, 3.0]]), "TensorSpec": lambda: tf.TensorSpec([2]),
        "SparseTensor": lambda: tf.sparse.from_dense([1.0, 0.0]), "IndexedSlices": lambda: tf.IndexedSlices([1.0], [0]),
        "TensorArray": lambda: tf.TensorArray(tf.float32, 2), "DType": lambda: tf.float32,
        "random.Generator": lambda: tf.random.Generator.from_seed(1), "data.Dataset": lambda: tf.data.Dataset.range(3),
        "linalg.LinearOperator": lambda: tf.linalg.LinearOperatorIdentity(2),
    }  # fmt: skip


def wrong_calls(call: Callable[..., Any]) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Yields titles and arguments of calls that are wrong for nearly all functions."""
    import gradtape as tf

    yield "no arguments", (), {}
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (ValueError, TypeError):
        parameters = []
    named = [x for x in parameters if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)]
    required = [x for x in named if x.default is x.empty] or named[:2]
    if len(named) == len(parameters):
        yield "too many arguments", (None,) * (len(named) + 1), {}
        yield "an unknown keyword", (), {x.name: None for x in required if x.kind != x.POSITIONAL_ONLY} | {"unknown": 1}
    bad = {"an object": object(), "a word": "word", "complex": tf.constant([1j]), "integers": tf.constant([[1, 2]])}
    for title, value in bad.items():
        for wrong in [None, *required] if len(required) > 1 else [None]:
            values = {x.name: value if wrong in (x, None) else [1.0, 2.0] for x in required}
            args = tuple(values.pop(x.name) for x in required if x.kind != x.KEYWORD_ONLY)
            yield f"{title} for {wrong.name if wrong else 'all'}", args, values


def results(call: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Yields the titles of the wrong calls and what each raises."""
    for title, args, kwargs in wrong_calls(call):
        yield title, "did not end"  # unless the next line comes
        try:
            text = f"no error: {type(call(*args, **kwargs)).__name__}"
        except Refused as reason:
            text = f"skipped: {reason}"
        except BaseException as error:
            text = f"{type(error).__name__}: {normal(str(error))}"
        yield title, text


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event == "open":
        path, mode, flags = args
        is_read = not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and not set(mode or "") & set("wax+")
        if not is_read and path != os.devnull:
            raise Refused("it would write a file")
    elif event.startswith(REFUSED):
        raise Refused(f"it would call {event}")


def raised(call: Callable[..., Any], method: str = "") -> dict[str, str]:
    """Returns what wrong calls raise, in a process of their own: of `call`, or of a method of the object it creates."""
    read, write = os.pipe()
    process = os.fork()
    if not process:
        os.setpgid(0, 0)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        sys.addaudithook(_refuse)
        with contextlib.suppress(BaseException):
            for line in results(getattr(call(), method) if method else call):
                os.write(write, json.dumps(line).encode() + b"\n")
        os._exit(0)
    os.close(write)
    text, end = b"", time.monotonic() + LIMIT
    while select.select([read], [], [], max(0, end - time.monotonic()))[0] and (part := os.read(read, 1 << 16)):
        text += part
    os.close(read)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return dict(map(json.loads, text.decode().splitlines()))


def record(file: str, only: Iterable[str] = ()) -> None:
    """Writes the recording, or with `only` that of some names."""
    result, objects = entries(), instances()
    for path in sorted(result.keys() & set(only)) if only else sorted(result):
        value, (owner, _, name) = names().get(path), path.rpartition(".")
        if result[path]["kind"] not in ("function", "class"):
            continue
        if value is None:  # a method
            result[path]["raises"] = raised(objects.get(owner, names()[owner]), name)
        elif not inspect.isclass(value) or _is_own(value):
            result[path]["raises"] = raised(value)
    skipped = Counter(x for info in result.values() for x in info.get("raises", {}).values() if x.startswith("skipped"))
    print(f"{len(result)} names;", ", ".join(f"{n} calls {why}" for why, n in sorted(skipped.items())))
    kept = {path: result[path] for path in only if path in result} or result
    Path(file).write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def differences(before: Public, after: Public) -> Iterator[str]:
    """Yields the lines of a report: by name and field, what went and what came."""
    for path in sorted(before.keys() | after.keys()):
        old, new = (_lines(public.get(path, {})) for public in (before, after))
        if old != new:
            yield f"{path}: {'added' if path not in before else 'removed' if path not in after else 'changed'}"
            for line in difflib.unified_diff(old, new, n=0, lineterm="") if path in before and path in after else ():
                if not line.startswith(("---", "+++", "@@")):
                    yield f"  {line}"


def _lines(info: dict[str, Any]) -> list[str]:
    result = []
    for field, value in sorted(info.items()):
        items = value if isinstance(value, list) else [value]
        parts = value.items() if isinstance(value, dict) else (("", x) for x in items)
        for key, text in parts:
            result += [f"{field} {key}".rstrip() + f": {line}" for line in str(text).split("\n")]
    return result


def main() -> None:
    match sys.argv[1:]:
        case ["record", file, *only]:
            if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
                os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ENVIRONMENT})
            file = os.path.abspath(file)
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                record(file, only)
        case ["compare", before, after]:
            lines = list(differences(*(json.loads(Path(file).read_text("utf-8")) for file in (before, after))))
            print(*lines, sep="\n")
            sys.exit(bool(lines))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
