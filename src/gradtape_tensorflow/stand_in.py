"""Import hook that serves gradtape as `tensorflow`, in this process and in those it spawns.

The module `tensorflow` is a thin wrapper with TensorFlow's version and gradtape's names; `tensorflow.math` and others
are gradtape's own modules, and `tensorflow.keras.layers` is the module in `gradtape.keras`. The hook precedes all other
finders, so it does not matter whether TensorFlow is installed.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import multiprocessing.spawn
import os
import sys
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import gradtape
from gradtape.api.namespace import BUILD, Namespace, resolve, star_names
from gradtape.core.extension_points import served_names
from gradtape.core.tracebacks import at_boundary
from keras_gradtape import loader

from . import python as private
from .python import compat_v1, keras2

if TYPE_CHECKING:
    from importlib.metadata import Distribution

NAME = "tensorflow"

_PLACES = ((gradtape.Tensor, "framework.ops"), (gradtape.Variable, "ops.resource_variable_ops"))


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and its submodules in gradtape."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Returns a spec if `name` belongs to TensorFlow."""
        if name.partition(".")[0] != NAME:
            return None
        return importlib.util.spec_from_file_location(
            name, gradtape.__file__, loader=self, submodule_search_locations=[]  # the folder of the file
        )

    def find_distributions(self, context: Any = None) -> Iterable[Distribution]:
        """Returns the metadata of the package `tensorflow`, by which libraries look for it."""
        from .package_metadata import distributions

        return distributions(getattr(context, "name", None))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Uses the default module creation."""

    @at_boundary
    def exec_module(self, module: types.ModuleType) -> None:
        """Fills the module `tensorflow`; replaces any other by gradtape's."""
        name = module.__name__
        if name == NAME:
            become_tensorflow(module)
            for own, space in list(sys.modules.items()):
                if isinstance(space, Namespace):
                    public = own.replace("gradtape", NAME, 1)
                    # Makes Python import a missing name as a submodule, which reports it.
                    vars(space).setdefault("__path__", [])
                    vars(space)["__spec__"] = self.find_spec(public)
                    sys.modules[public] = space
            sys.modules[f"{NAME}.compat.v2"] = module
        else:
            sys.modules[name] = _counterpart(name)


def serve() -> Finder:
    """Installs and returns the hook: this process and those it spawns import gradtape as TensorFlow and Keras."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    loader.role.serves_tensorflow = True
    loader.install()
    finder = Finder()
    sys.meta_path.insert(0, finder)
    _give_places()
    told = multiprocessing.spawn.get_preparation_data
    multiprocessing.spawn.get_preparation_data = lambda name: _Preparation(told(name))
    multiprocessing.set_forkserver_preload([])  # the server would import the program before the hook is installed
    return finder


def let_children_inherit() -> None:
    """Makes all processes that this interpreter starts from now on serve, unless `GRADTAPE_CHILDREN` is 0."""
    try:
        from _gradtape_keras import CHILDREN, interpreter
    except ImportError:
        return  # there is no startup file that would serve
    if os.environ.get(CHILDREN) != "0":
        os.environ[CHILDREN] = interpreter()


def _give_places() -> None:
    """Gives tensors and variables the `__module__` of TensorFlow's classes, by which libraries recognize them."""
    for kinds in ("engine.registry.devices", "graph.trace.traced", "graph.trace.lazy_tensors"):
        importlib.import_module(f"gradtape.{kinds}")

    for base, place in _PLACES:
        waiting: list[type] = [base]
        while waiting:
            kind = waiting.pop()
            kind.__module__ = f"{private.ROOT}.{place}"
            waiting += kind.__subclasses__()


class _Preparation(dict[str, Any]):
    """The preparation data of a spawned process; unpickling it there installs the hook before any other import."""

    def __reduce__(self) -> Any:
        return _prepare, (dict(self),)


def _prepare(data: dict[str, Any]) -> dict[str, Any]:
    serve()
    return data


def serves_keras2() -> bool:
    """Whether the environment chooses Keras 2."""
    return keras2.is_chosen()


def become_tensorflow(module: Any) -> None:
    """Makes `module` the root module of TensorFlow: gradtape's names, TensorFlow's version."""

    @at_boundary
    def find(name: str) -> Any:
        if private.is_private(f"{NAME}.{name}"):
            return importlib.import_module(f"{NAME}.{name}")
        if name == "__all__":  # for `from tensorflow import *`
            return star_names()
        if name.startswith("__"):
            raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
        value = keras2.public() if name == "keras" and keras2.is_chosen() else getattr(gradtape, name)
        setattr(module, name, value)
        return value

    module.__doc__ = "TensorFlow's names, served by gradtape."
    vars(module).update({name: resolve(path) for name, path in BUILD.items()})
    vars(gradtape.compat)["v2"] = module
    served_names.install(compat_v1.names)
    module.__getattr__, module.__dir__ = find, lambda: dir(gradtape)


def find_member(parent: object, leaf: str, path: str) -> Any:
    """Returns the member `leaf` of `parent`, with the public name `path`, or a private module, without the hook."""
    name = NAME + path.removeprefix("tf")
    if not private.is_private(name):
        return getattr(parent, leaf)
    try:
        return private.module(name)
    except ModuleNotFoundError:
        if not hasattr(parent, leaf):
            raise
        return getattr(parent, leaf)


def _counterpart(name: str) -> types.ModuleType:
    """Returns the module of gradtape or Keras for the TensorFlow module `name`."""
    if private.is_private(name):
        return private.module(name)
    space, _, leaf = name.rpartition(".")
    parent = sys.modules[space]
    public = "tf" + name.removeprefix(NAME)
    reason = f"{public} is not in gradtape. `gradtape check` lists the missing names of a program"
    try:
        if isinstance(parent, Namespace) and leaf not in dir(parent):  # an attribute may be an internal module
            raise AttributeError(reason)
        found = getattr(parent, leaf)
    except AttributeError as error:
        found = _submodule(parent, leaf)
        if str(error).startswith(public):  # says more: the name that is meant, or why Keras cannot be imported
            reason = str(error)
    if isinstance(found, types.ModuleType):
        return found
    if found is not None:
        raise ModuleNotFoundError(f"{public} is not a module: use `from {space} import {leaf}`")
    raise ModuleNotFoundError(reason)


def _submodule(parent: types.ModuleType, leaf: str) -> types.ModuleType | None:
    """Imports the submodule `leaf` of Keras' package `parent`; returns None if there is none."""
    if not parent.__name__.startswith(("keras.", "tf_keras.")):
        return None
    try:
        return importlib.import_module(f"{parent.__name__}.{leaf}")
    except ModuleNotFoundError:
        return None
