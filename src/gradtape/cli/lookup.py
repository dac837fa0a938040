"""Looks up the TensorFlow names of a program in gradtape and Keras, for `gradtape check`.

A path is a public name such as `tf.math.sin`; `tf.Variable().assign` is a member of an instance of `tf.Variable`.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import re
import types
import typing
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from gradtape.api.missing_names import missing_names, raising_names
from gradtape.api.names import NAMES
from gradtape.api.namespace import nearest_name
from gradtape.core.extension_points import tensorflow_hook
from gradtape.core.tensor import ARRAY_METHODS
from keras_gradtape.loader import load

from .differences import DIFFERENCES

# Classes by their names in annotations of results.
_CLASSES = {
    "Dataset": "tf.data.Dataset",
    "RaggedTensor": "tf.RaggedTensor",
    "SparseTensor": "tf.sparse.SparseTensor",
    "Tensor": "tf.Tensor",
    "Variable": "tf.Variable",
}
# Functions of tensors return ragged and sparse tensors for such arguments.
_TENSORS = ("tf.Tensor", "tf.RaggedTensor", "tf.sparse.SparseTensor")
# Names of TensorFlow 1 whose calls raise an error: all of them, or those in programs that do not read a graph.
_SWITCHES = frozenset(
    f"tf.compat.v1.disable_{name}"
    for name in (
        "control_flow_v2", "eager_execution", "resource_variables", "tensor_equality", "v2_behavior", "v2_tensorshape"
    )
)  # fmt: skip
_OF_GRAPHS = frozenset(
    f"tf.compat.v1.{name}"
    for name in (
        "InteractiveSession", "Session", "data.make_initializable_iterator", "placeholder", "sparse.placeholder",
        "sparse_placeholder",
    )
)  # fmt: skip
_READS_GRAPHS = frozenset(
    "tf.import_graph_def tf.graph_util.import_graph_def tf.compat.v1.graph_util.import_graph_def "
    "tf.compat.v1.import_graph_def tf.compat.v1.saved_model.load tf.compat.v1.wrap_function".split()
)
_NO_GRAPHS = (
    "raises an error: gradtape has no graphs that are built op by op. Call functions of tensors, with tf.function "
    "where they are to be compiled"
)
_SETS_ATTRIBUTES = re.compile(r"\bsetattr\(self, [a-z]")  # by a name that is a variable
_UNKNOWN = object()  # a value whose members are not checked


class _Instance:
    """Any instance of `kind`, which has the path `path`."""

    def __init__(self, kind: type, path: str) -> None:
        self.kind, self.path = kind, path


class _Missing(Exception):
    """A name does not exist; the message says what to use instead."""


@functools.cache
def judge(path: str) -> tuple[str, str]:
    """Returns the status of a name such as `tf.math.sin`, and a note; the status is `module` for namespaces."""
    if path.endswith(".*"):
        return "different", "names imported by * are not checked"
    try:
        value = _find(path)
    except _Missing as missing:
        return "missing", str(missing)
    except ImportError as error:
        return "missing", str(error)
    place = _place(path)
    note = _differences().get(place, "")
    instead = _instead_of_raising(path)
    if not note and instead:
        note = f"raises an error when used. {instead}"
    function = ARRAY_METHODS.get(path.removeprefix("tf.Tensor()."))
    if function:
        note = f"needs tf.experimental.numpy.experimental_enable_numpy_behavior(); or use tf.{function}"
    if note:
        return "different", note
    return ("module" if isinstance(value, types.ModuleType) else "supported"), ""


def why_calls_raise(path: str, used: Collection[str]) -> str:
    """Returns why a call of a name raises an error in a program that uses these names, or an empty string."""
    if path in _SWITCHES or (path in _OF_GRAPHS and _READS_GRAPHS.isdisjoint(used)):
        return _NO_GRAPHS
    instead = _instead_of_raising(path)
    return f"raises an error. {instead}" if instead else ""


def _instead_of_raising(path: str) -> str:
    """Returns what to use instead of a name, or of a member of a class, that raises an error when used."""
    today = path.replace("tf.compat.v1.", "tf.", 1)
    owners = (today, today.rpartition(".")[0])
    return next((instead for owner in owners if (instead := _raising().get(_place(owner)))), "")


@functools.cache
def instance_made_by(path: str) -> str | None:
    """Returns the path of the class whose instances a call to `path` returns, or None if it is not known."""
    try:
        value = _find(path)
    except (_Missing, ImportError):
        owner = path.rpartition(".")[0]
        return owner.removesuffix("()") if owner.endswith("()") else None  # a misspelled method, most likely fluent
    if isinstance(value, type):
        return None if path.startswith("tf.python.") else path  # private classes differ from TensorFlow's
    if not callable(value):
        return None
    try:
        signatures = [inspect.signature(form) for form in typing.get_overloads(value) or [value]]
    except (TypeError, ValueError):
        return None
    names = {_class_of_result(signature) for signature in signatures}
    name = names.pop() if len(names) == 1 else ""
    return path.rpartition(".")[0].removesuffix("()") if name == "Self" else _CLASSES.get(name)


def _class_of_result(signature: inspect.Signature) -> str:
    """Returns the name of the class of a result, without type arguments; `Self` for that of the method's instance."""
    result = signature.return_annotation
    first = next(iter(signature.parameters.values()), None)
    if first is not None and first.annotation == result is not inspect.Signature.empty:
        return "Self"
    name = result if isinstance(result, str) else getattr(result, "__name__", "")
    return name.partition("[")[0]


def _find(path: str) -> Any:
    """Returns the object with a path; an `_Instance` or `_UNKNOWN` for a value that only running would give."""
    package, *parts = path.split(".")
    value: Any = _root(package)
    seen = package
    for part in parts:
        name = part.removesuffix("()")
        seen = f"{seen}.{name}"
        if isinstance(value, _Instance):
            value = _member_of_instance(value, name)
        elif isinstance(value, types.ModuleType | type):
            value = _member(value, name, seen)
        else:
            return _UNKNOWN
        if part != name:
            value = _Instance(value, seen) if isinstance(value, type) else _UNKNOWN
    return value


@functools.cache
def _root(package: str) -> types.ModuleType:
    """Returns the module that `gradtape run` serves as TensorFlow or Keras."""
    if package == "keras":
        return load()
    if tensorflow_hook().serves_keras2():
        tensorflow_hook().serve()  # tf-keras imports TensorFlow
    root = types.ModuleType("tensorflow")
    tensorflow_hook().become_tensorflow(root)
    return root


def _member(value: Any, name: str, path: str) -> Any:
    try:
        return tensorflow_hook().find_member(value, name, path)
    except AttributeError:
        pass
    except ImportError as error:
        if not path.startswith("tf.") or path.startswith("tf.keras"):
            raise
        if error.name in ("tensorflow", "tf_keras") or not isinstance(error, ModuleNotFoundError):
            return _UNKNOWN  # Keras 2, which imports only under `gradtape run`
        raise _Missing("private to TensorFlow, and gradtape has no counterpart for it") from None
    if isinstance(value, types.ModuleType) and value.__name__.startswith("keras"):
        try:
            return importlib.import_module(f"{value.__name__}.{name}")
        except ModuleNotFoundError:
            pass
    raise _Missing(_absence(value, path))


def _absence(value: Any, path: str) -> str:
    """Returns why gradtape does not have a name, and what to use instead."""
    own = path.removeprefix("tf.")
    if own in missing_names():
        return missing_names()[own]
    if isinstance(value, type) or path.startswith(("keras.", "tf.keras.")):
        space, _, name = path.rpartition(".")
        return _suggestion(name, dir(value), space)
    near = nearest_name(own)
    if near is None:
        return ""
    listed = not path.startswith(("tf.compat.", "tf.raw_ops."))  # the list of TensorFlow's names covers it
    return f"{'not a name of TensorFlow 2.21 either; ' if listed else ''}did you mean tf.{near}?"


def _suggestion(name: str, known: list[str], space: str) -> str:
    near = difflib.get_close_matches(name, [one for one in known if not one.startswith("_")], n=1, cutoff=0.7)
    return f"did you mean {space}.{near[0]}?" if near else ""


def _member_of_instance(instance: _Instance, name: str) -> Any:
    kinds = [instance.kind]
    if instance.path == "tf.Tensor":
        kinds = [_find(path) for path in _TENSORS]
    for kind in kinds:
        if hasattr(kind, name):
            return getattr(kind, name)
        if hasattr(kind, "__getattr__") or name.startswith("_") or name in _attributes(kind):
            return _UNKNOWN
        if "setattr" in _attributes(kind):  # it has attributes with names of arguments, as `tf.train.Checkpoint`
            return _UNKNOWN
    raise _Missing(_suggestion(name, dir(instance.kind), instance.path))


@functools.cache
def _attributes(kind: type) -> frozenset[str]:
    """Returns attributes of instances: those that are annotated, or that a method of the class uses as `self.name`.

    `setattr` is one of them if a method of the class calls it on `self`.
    """
    found: set[str] = set()
    for base in kind.__mro__:
        found |= set(inspect.get_annotations(base)) | set(getattr(base, "__slots__", ()))
        for source in _sources(base):
            found |= set(re.findall(r"\bself\.(\w+)", source))
            found |= {"setattr"} if _SETS_ATTRIBUTES.search(source) else set()
    return frozenset(found)


def _sources(kind: type) -> Iterator[str]:
    """Yields the source texts of a class' methods. That of the class cannot be found from its public `__module__`."""
    for member in vars(kind).values():
        for name in ("fget", "func", "__func__"):
            member = getattr(member, name, member)
        if inspect.isfunction(member):
            with suppress(OSError):
                yield inspect.getsource(member)


def _place(path: str) -> str:
    """Returns the canonical name, the same for all aliases."""
    name = path.replace("()", "").removeprefix("tf.")
    owner, _, member = name.rpartition(".")
    return NAMES.get(name) or (f"{NAMES[owner]}.{member}" if owner in NAMES else name)


@functools.cache
def _differences() -> dict[str, str]:
    return {_place(name): note for name, note in DIFFERENCES.items()}


@functools.cache
def _raising() -> dict[str, str]:
    return {_place(name): note for name, note in raising_names().items()}
