"""The public namespaces, such as `gradtape.math`, which import their names on first use."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType, ModuleType
from typing import Any

from ..core.extension_points import served_names
from ..core.pickling import ModuleByName
from ..core.tracebacks import at_boundary
from .catalogue.fronts import VARIADIC, published, published_variadic, takes_front
from .catalogue.row import Row
from .catalogue.v1_table import ALIASES, DIFFERENT
from .names import NAMES

V1 = "compat.v1."  # TensorFlow 1, as far as it is implemented
OWN = ("extend", "inspect")  # modules that TensorFlow does not have
# Attributes of TensorFlow's root module about its version and build, and the public names with the same values.
BUILD = {
    "__version__": "version.VERSION", "__git_version__": "version.GIT_VERSION",
    "__compiler_version__": "version.COMPILER_VERSION", "__cxx11_abi_flag__": "sysconfig.CXX11_ABI_FLAG",
    "__cxx_version__": "sysconfig.CXX_VERSION", "__monolithic_build__": "sysconfig.MONOLITHIC_BUILD",
}  # fmt: skip
# Names of `compat.v2` that TensorFlow's root does not have. Here that module is the root itself.
_V2_ONLY = {"enable_v2_behavior": "compat.v1.enable_v2_behavior"}
# Namespaces that are packages of gradtape: the folder with what implements them has their name. Its `__init__` has a
# docstring and is not run: this module makes the package before anything imports from it.
PACKAGES = ("autograph", "data", "distribute", "ragged", "saved_model", "sparse")
KERAS = ("initializers", "keras", "losses", "metrics", "optimizers")  # forwarded to Keras


@cache
def spaces() -> tuple[str, ...]:
    """Returns the existing namespaces: `math`, `nn`, `config.experimental`, ..."""
    found = {path.rpartition(".")[0] for path in (*NAMES, *(f"{V1}{old}" for old in ALIASES))} - {""}
    found |= {space.rpartition(".")[0] for space in found} - {""}
    return tuple(sorted(found))


def place_of(path: str) -> str | None:
    """Returns the location of a public name; names common to both TensorFlow versions are shared with `compat.v1`."""
    where = NAMES.get(_V2_ONLY.get(path, path))
    if where is None and path.startswith(V1):
        own = path.removeprefix(V1)
        if own in ALIASES:
            return NAMES[ALIASES[own]]
        if own in NAMES and own not in DIFFERENT:
            return NAMES[own]
    return where


def resolve(path: str) -> Any:
    """Returns the object with TensorFlow's public name `path`; raises AttributeError if gradtape does not have it."""
    where = place_of(path)
    if where is None:
        # With `name`, but without `obj`, Python adds no suggestion of its own, from this namespace alone.
        raise AttributeError(_absence(path), name=path.rpartition(".")[2])
    if where in _fronts:
        return _fronts[where]
    module, _, attribute = where.partition(":")
    value = getattr(importlib.import_module(module), attribute)
    if isinstance(value, Row):
        return _fronts.setdefault(where, published(value.names[0], value))
    if type(value) is not FunctionType:
        return value
    if module.startswith(_UNDISPATCHED):
        return _fronts.setdefault(where, _bounded(path, value))
    path = _canonical(where, module, attribute)
    publish = published_variadic if path in VARIADIC else published if takes_front(path, value) else _bounded
    return _fronts.setdefault(where, publish(path, value))


def _bounded(path: str, function: FunctionType) -> FunctionType:
    front: Any = at_boundary(function)
    if str(function.__module__).startswith(("gradtape.", "gradtape_tensorflow.")):
        front.__module__ = f"gradtape.{path.rpartition('.')[0]}".rstrip(".")  # where pickle finds it
    return front


_fronts: dict[str, FunctionType] = {}  # the functions behind fronts, by their locations
_UNDISPATCHED = ("gradtape.api.raw_ops.",)  # their functions call those of TensorFlow 2


def _canonical(where: str, module: str, attribute: str) -> str:
    """Returns the most specific of a function's public names."""
    spaces: tuple[str, ...] = sys.modules[module].NAMESPACES
    paths = [f"{space}.{attribute}".lstrip(".") for space in spaces]
    return next((path for path in paths if NAMES.get(path) == where), paths[0])


@cache
def _absence(path: str) -> str:
    """Returns the message for a name that gradtape does not have, depending on whether TensorFlow has it."""
    from .missing_names import missing_names  # here: for errors only

    missing = missing_names()
    paths = (f"{path}.", f"{path.removeprefix(V1)}.")  # TensorFlow 1 has most of TensorFlow 2's names
    instead = next((missing[name] for name in missing if f"{name}.".startswith(paths)), None)
    if instead:
        return f"tf.{path} is not in gradtape. `gradtape check` lists the missing names of a program. {instead}"
    near = nearest_name(path)
    space = path.rpartition(".")[0]
    hint = f"Did you mean tf.{near}?" if near else f"dir(tf{'.' * bool(space)}{space}) lists the names there are"
    if path.startswith(("compat.", "raw_ops.")):  # the list of TensorFlow's names does not cover these
        return f"tf.{path} is not in gradtape. {hint}"
    return f"tf.{path} is not in gradtape: there is no such name in TensorFlow either. {hint}"


def nearest_name(path: str) -> str | None:
    """Returns the public name nearest to `path`, or None; for a name of `compat.v1`, one of TensorFlow 1."""
    from .missing_names import missing_names  # here: for errors only
    from .suggestions import nearest

    if path.startswith(V1):
        near = nearest(path.removeprefix(V1), {name.removeprefix(V1) for name in _v1_paths()})
        return f"{V1}{near}" if near else None
    space = path.rpartition(".")[0]
    absent = {name for name in missing_names() if name.rpartition(".")[0] == space}  # in another one they are of no use
    return nearest(path, {*NAMES, *spaces(), *OWN, *KERAS} | absent)


def _v1_paths() -> list[str]:
    """Returns the names of `compat.v1`, with those that it shares with TensorFlow 2."""
    own = [*NAMES, *spaces()]
    shared = [f"{V1}{path}" for path in (*own, *ALIASES) if path not in DIFFERENT and not path.startswith("compat")]
    return [*(path for path in own if path.startswith(V1)), *shared]


def _served() -> Mapping[str, Callable[[], Any]]:
    """Returns the names that only `gradtape run` has."""
    return {} if served_names.installed is None else served_names()


def summary(value: object) -> str:
    """Returns the first sentence of an object's docstring; an empty string for a value without one."""
    if not (callable(value) or isinstance(value, ModuleType)):
        return ""
    text = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return " ".join(text.split())


class Namespace(ModuleByName):
    """A TensorFlow namespace, such as `gradtape.math`; the empty name is TensorFlow's root."""

    def __init__(self, space: str) -> None:
        super().__init__(f"gradtape.{space}")
        self._space = space
        if space in PACKAGES:
            self.__path__ = [os.path.join(folder, space) for folder in sys.modules["gradtape"].__path__]
            self.__spec__ = ModuleSpec(self.__name__, None, is_package=True)
            self.__spec__.submodule_search_locations = self.__path__

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What `help` and IPython's `?` show: the names of the namespace with a line about each."""
        names = dir(self)
        width = min(24, max(map(len, names), default=0))
        lines = (f"{name:<{width}}  {self._summary(name)}".rstrip() for name in names)
        return "\n".join([f"TensorFlow's `tf.{self._space}`.", "", *lines])

    def _summary(self, name: str) -> str:
        value = getattr(self, name)
        return f"The namespace `tf.{self._space}.{name}`." if isinstance(value, Namespace) else summary(value)

    @at_boundary
    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # for `from tensorflow.experimental.numpy import *`
            return dir(self)
        path = f"{self._space}.{name}".lstrip(".")
        if path in (served := _served()):
            value = served[path]()
            setattr(self, name, value)
            return value
        if name.startswith("__") or self._is_file(name):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        is_space = path in spaces() or path.removeprefix(V1) in spaces()
        value = Namespace(path) if is_space and path not in NAMES else resolve(path)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        prefix = f"{self._space}.".lstrip(".")
        paths = _v1_paths() if prefix.startswith(V1) else [*NAMES, *spaces()]
        names = {path.removeprefix(prefix) for path in (*paths, *_served()) if path.startswith(prefix)}
        names |= {name for name, value in vars(self).items() if not self._is_internal(name, value)}
        return sorted(name for name in names if "." not in name and not name.startswith("_"))

    def _is_file(self, name: str) -> bool:
        """Whether this is a package with such a module, which Python asks for before it imports the module."""
        return self._space in PACKAGES and PathFinder.find_spec(f"{self.__name__}.{name}", self.__path__) is not None

    def _is_internal(self, name: str, value: object) -> bool:
        """Whether an attribute is a module of the package that implements this namespace."""
        if not isinstance(value, ModuleType) or isinstance(value, Namespace):
            return False
        return value.__name__ == f"{self.__name__}.{name}"


root = Namespace("")


def star_names() -> list[str]:
    """Returns the names that `from gradtape import *` imports: not Keras' names, which would import Keras."""
    return sorted({*dir(root), *OWN})


def _register() -> None:
    """Makes every namespace importable: `import gradtape.math`."""
    for space in spaces():
        module = sys.modules[f"gradtape.{space}"] = Namespace(space)
        parent, _, leaf = space.rpartition(".")
        setattr(sys.modules[f"gradtape.{parent}".rstrip(".")], leaf, module)
    sys.modules["gradtape.compat"].v2 = sys.modules["gradtape.compat.v2"] = sys.modules["gradtape"]  # type: ignore[attr-defined]


_register()
