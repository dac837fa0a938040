"""Runs Keras 3 with gradtape as its backend.

Keras selects its backend during import. The import hook below chooses gradtape by the table in docs/keras.md and adds
it to Keras' pluggable backends, whose interface is `keras_gradtape.src`; for versions without them, `keras_3_15`
substitutes another backend. No file of Keras is modified. If Keras runs on another backend, the hook does nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

NAME = "gradtape"
TESTED = ("3.15", "3.16")  # the Keras versions for which the hook is tested

_CONFIG = "keras.src.backend.config"
_INTERFACE = tuple(f"keras_gradtape.src.{name}" for name in ("interface", "layer", "trainer", "export"))
_TENSORFLOW = "keras.src.backend.tensorflow"  # imported by layers and libraries that use it besides their backend

Spec = importlib.machinery.ModuleSpec


class _Role:
    """What gradtape is in this process."""

    serves_tensorflow = False  # whether it serves as `tensorflow`, so that Keras' `tensorflow` backend is gradtape
    is_demanded = False  # whether the program has asked for `gradtape.keras`, which is Keras on gradtape


def _installed() -> list[Any]:
    """Returns the import hooks, also one of a former import: `keras.config.set_backend` forgets modules `keras...`."""
    return [finder for finder in sys.meta_path if type(finder).__module__ == __name__]


role = next((finder.role for finder in _installed()), None) or _Role()


class Finder(importlib.abc.MetaPathFinder):
    """Import hook that makes gradtape a backend of Keras where it is chosen."""

    def __init__(self) -> None:
        self.role = role
        self._adaptations: dict[str, Callable[[Any], None]] = {}  # by the module that is adapted after loading
        self._substitute: Callable[[str], Spec | None] | None = None  # finds the modules that replace some of Keras

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Spec | None:
        """Returns the spec of a module of Keras that is replaced, or followed by something."""
        if name == _CONFIG:
            return _followed(name, path, then=self._configured, within=_environment)
        if name in _INTERFACE and self._adaptations:
            return _followed(name, path, within=_reporting)
        spec = self._substitute(name) if self._substitute else None
        if spec is None and name in self._adaptations:
            spec = _followed(name, path, then=_reporting()(self._adaptations[name]))
        return spec

    def _configured(self, config: Any) -> None:
        """Called after Keras' configuration has loaded: registers the backend if it is chosen."""
        if config.backend() != NAME:
            self._adaptations, self._substitute = {}, None
            return
        from keras.src.version import __version__

        from . import adaptations

        if not __version__.startswith(tuple(f"{version}." for version in TESTED)):
            warnings.warn(
                f"gradtape was tested with Keras {' and '.join(TESTED)}, this is Keras {__version__}. If something is "
                f"odd, install one of those: pip install 'keras=={TESTED[0]}.*'",
                stacklevel=2,
            )
        self._adaptations = adaptations.of(role.serves_tensorflow)
        if hasattr(config, "PLUGGABLE_BACKENDS"):
            config.PLUGGABLE_BACKENDS |= {NAME}
            if "keras.src.utils.module_utils" in sys.modules:  # the configuration itself imports it
                sys.modules["keras.src.utils.module_utils"].PLUGGABLE_BACKENDS = config.PLUGGABLE_BACKENDS
            self._substitute = _in_place_of_tensorflow
        else:
            from . import keras_3_15

            self._substitute = keras_3_15.take_place(config, self._adaptations, _reporting)
        for name in self._adaptations.keys() & sys.modules.keys():  # modules that the configuration itself imported
            self._adaptations[name](sys.modules[name])


def _named_by_variable() -> str:
    """Returns the backend that `KERAS_BACKEND` names, or an empty string."""
    asked = os.environ.get("KERAS_BACKEND", "")
    return NAME if role.serves_tensorflow and asked == "tensorflow" else asked


def _named_by_file() -> str:
    """Returns the backend that `keras.json` names; an empty string for TensorFlow, which Keras itself writes there."""
    home = os.path.expanduser("~")
    folder = os.environ.get("KERAS_HOME") or os.path.join(home if os.access(home, os.W_OK) else "/tmp", ".keras")
    try:
        with open(os.path.expanduser(os.path.join(folder, "keras.json"))) as file:
            named = json.load(file).get("backend", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return "" if named == "tensorflow" else named


def chosen_backend() -> str:
    """Returns the backend of the Keras that is about to be imported, or an empty string if Keras chooses itself.

    The table in docs/keras.md has every case.
    """
    asked = _named_by_variable()
    if asked or role.is_demanded:
        return asked or NAME
    is_used = role.serves_tensorflow or NAME in sys.modules
    return _named_by_file() or (NAME if is_used else "")


def _is_single_file(spec: importlib.machinery.ModuleSpec) -> bool:
    """Whether a module is no package, such as a program `keras.py` or `tensorflow.py` beside the one that runs."""
    return spec.submodule_search_locations is None


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Context manager: sets `KERAS_BACKEND` while Keras reads it."""
    before = os.environ.get("KERAS_BACKEND")
    backend = chosen_backend()
    is_named = role.serves_tensorflow or role.is_demanded or _named_by_variable() or _named_by_file()
    tensorflow = importlib.util.find_spec("tensorflow")
    if backend == NAME and not is_named and tensorflow and not _is_single_file(tensorflow):
        logging.getLogger("gradtape").warning(
            "Keras runs on gradtape, which this program imports; KERAS_BACKEND=tensorflow runs it on TensorFlow"
        )
    os.environ["KERAS_BACKEND"] = backend
    try:
        yield
    finally:
        del os.environ["KERAS_BACKEND"]
        if before is not None:
            os.environ["KERAS_BACKEND"] = before


class BackendError(RuntimeError):
    """Raised when gradtape's backend cannot be imported. Keras replaces an ImportError or AttributeError by its own."""


@contextlib.contextmanager
def _reporting() -> Iterator[None]:
    """Context manager: turns errors of an import into one that reaches the user."""
    try:
        yield
    except (ImportError, AttributeError) as error:
        from keras.src.version import __version__

        raise BackendError(
            f"Keras {__version__} cannot run on gradtape, which was tested with Keras {' and '.join(TESTED)}: "
            f"{type(error).__name__}: {error}. Install one of those: pip install 'keras=={TESTED[0]}.*'"
        ) from error


def _in_place_of_tensorflow(name: str) -> Spec | None:
    """Returns the spec of a module of Keras' `tensorflow` backend; what gradtape does not have is Keras' own."""
    if not f"{name}.".startswith(f"{_TENSORFLOW}."):
        return None
    own = importlib.util.find_spec("keras_gradtape.src" + name.removeprefix(_TENSORFLOW))
    if own is None:
        return None
    is_package = own.submodule_search_locations is not None
    spec = importlib.util.spec_from_loader(name, _Copy(own.name), is_package=is_package)
    if spec is not None and is_package:
        backends: Any = sys.modules["keras.src.backend"]
        spec.submodule_search_locations = [os.path.join(backends.__path__[0], *name.split(".")[3:])]
    return spec


class _Copy(importlib.abc.Loader):
    """Gives a module the public names of another; Keras looks at the name of the module itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def exec_module(self, module: types.ModuleType) -> None:
        """Fills the module."""
        own = importlib.import_module(self._name)
        names = getattr(own, "__all__", None) or [name for name in vars(own) if not name.startswith("_")]
        vars(module).update({name: getattr(own, name) for name in names})


class _Followed:
    """A module's loader, `within` a context, and what is done with the module then.

    Not attributes of the loader itself: that of a zip archive is the loader of all its modules.
    """

    def __init__(self, loader: Any, then: Callable[[types.ModuleType], None], within: Callable[[], Any]) -> None:
        self._loader, self._then, self._within = loader, then, within

    def exec_module(self, module: types.ModuleType) -> None:
        """Loads the module within the context, then passes it on."""
        with self._within():
            self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _followed(
    name: str,
    path: Any,
    then: Callable[[types.ModuleType], None] = lambda module: None,
    within: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
) -> Spec | None:
    """Returns the spec of a module that is loaded normally, `within` a context, then passed to `then`."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        spec.loader = _Followed(spec.loader, then, within)  # type: ignore[assignment]  # has what the loader has
    return spec


def install() -> None:
    """Installs the import hook, unless Keras is imported already."""
    if _CONFIG not in sys.modules:
        former = _installed()
        sys.meta_path[:] = [Finder(), *(finder for finder in sys.meta_path if finder not in former)]


def load() -> types.ModuleType:
    """Returns Keras on gradtape; imports it if necessary."""
    if _CONFIG not in sys.modules:
        asked = _named_by_variable()
        if asked not in ("", NAME):
            raise ImportError(
                f"gradtape.keras is Keras on gradtape, but the environment asks for KERAS_BACKEND={asked}. Unset it, "
                "or set it to gradtape"
            )
        spec = importlib.util.find_spec("keras")
        if spec and _is_single_file(spec):
            raise ImportError(f"`import keras` imports {spec.origin} instead of Keras: rename that file")
        role.is_demanded = True
        install()
        if not role.serves_tensorflow:
            os.environ["KERAS_BACKEND"] = NAME  # for processes that this one starts
    from gradtape.core.extras import install_command, is_installed

    if not is_installed("keras"):
        how = install_command("keras")
        raise ImportError(f"gradtape.keras needs Keras, which is not installed: {how}")
    import keras

    backend = sys.modules[_CONFIG].backend()
    if backend != NAME:
        raise ImportError(
            f"Keras was imported before with the backend {backend!r}, and a process has one: set KERAS_BACKEND={NAME}, "
            "or import gradtape before keras"
        )
    return keras


install()
