"""`tf_keras` (Keras 2) for libraries that import it: Keras 3 with the Keras 2 names that they use.

Layers, models, optimizers and the rest are those of Keras 3. A user-defined optimizer takes its name first, as in Keras
2. Names that only Keras 2 has raise an error.
"""

from __future__ import annotations

import importlib
import inspect
import types
from functools import cache
from typing import Any

NAME = "tf_keras"
VERSION = "2.21.0"

# Keras 2 modules whose names are those of another module.
_ELSEWHERE = {
    "api._v1.keras": "",
    "api._v2.keras": "",
    "optimizers.experimental": "optimizers",
    "layers.experimental.preprocessing": "layers",
    "optimizers.schedules.experimental": "optimizers.schedules",
}
_LEGACY_LAYERS = "__internal__.legacy.layers"
_PACKAGES = ("api", "api._v1", "api._v2", "layers.experimental", "__internal__", "__internal__.legacy", _LEGACY_LAYERS)


class LegacyModule(types.ModuleType):
    """A Keras 2 module with the names of Keras 3."""

    def __init__(self, place: str) -> None:
        super().__init__(f"{NAME}.{place}".rstrip("."), "Keras 3, by a name of Keras 2's.")
        self.__path__: list[str] = []
        self._place = place
        source = keras_module(_ELSEWHERE.get(place, place))
        public = {} if source is None else {name: x for name, x in vars(source).items() if not name.startswith("_")}
        inside = {name: x for name, x in public.items() if not isinstance(x, types.ModuleType)}
        vars(self).update(inside | _keras_2_names().get(_ELSEWHERE.get(place, place), {}))
        self.__all__ = [name for name in {*public, *vars(self)} if not name.startswith("_")]
        if not place:
            self.__version__ = VERSION

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__internal__":
            raise AttributeError(name)
        try:
            return importlib.import_module(f"{self.__name__}.{name}")
        except ModuleNotFoundError:
            raise AttributeError(_missing(f"{self.__name__}.{name}"), name=name, obj=self) from None


def module(name: str) -> types.ModuleType:
    """Returns the counterpart of `tf_keras` or of one of its submodules."""
    place = name.removeprefix(NAME).lstrip(".")
    for version in ("api._v1.keras", "api._v2.keras"):
        if place.startswith(f"{version}."):
            return importlib.import_module(f"{NAME}.{place.removeprefix(version + '.')}")
    if place.partition(".")[0] == "src":
        return importlib.import_module(f"keras.{place}")
    known = place in _ELSEWHERE or place in _PACKAGES or place in _keras_2_names()
    if not known and keras_module(place) is None:
        raise ModuleNotFoundError(_missing(name))
    return LegacyModule(place)


def keras_module(place: str) -> types.ModuleType | None:
    """Returns the Keras 3 module at `place`, with the names of `tf.keras`, or None."""
    found: Any = importlib.import_module("gradtape.keras")
    for name in filter(None, place.split(".")):
        found = getattr(found, name, None)
    return found if isinstance(found, types.ModuleType) else None


def _missing(name: str) -> str:
    return f"{name} is not there: gradtape serves Keras 3 for tf_keras, which is Keras 2, and Keras 3 has no such name"


@cache
def _keras_2_names() -> dict[str, dict[str, Any]]:
    """Returns the names that Keras 3 lacks or defines differently, by module."""
    keras: Any = importlib.import_module("gradtape.keras")
    layers, optimizers = keras.layers, vars(keras.optimizers)
    kinds = {name: x for name, x in optimizers.items() if isinstance(x, type) and name != "Optimizer"}
    functions = {name: _no_layer_function(name) for name in ("dense", "conv1d", "conv2d", "flatten", "dropout")}
    classes = {name: getattr(layers, name) for name in ("Dense", "Dropout", "Flatten", "Conv1D", "Conv2D", "Layer")}
    return {
        "initializers": _initializers(keras.initializers),
        "optimizers": {"Optimizer": _optimizer(keras.optimizers.Optimizer)},
        "optimizers.legacy": {**kinds, "Optimizer": LegacyOptimizer},
        "__internal__.utils": {"register_symbolic_tensor_type": lambda cls: None},  # not needed in Keras 3
        _LEGACY_LAYERS: {**functions, **classes, "BatchNormalization": layers.BatchNormalization},
    }


def _initializers(module: Any) -> dict[str, type]:
    """Returns the random initializers under all their names, wrapped by `_late`."""
    made: dict[type, type] = {}
    found: dict[str, type] = {}
    for name, kind in vars(module).items():
        if isinstance(kind, type) and "seed" in inspect.signature(kind).parameters:
            found[name] = made[kind] = made.get(kind) or _late(kind)
    return found


def _late(base: Any) -> type:
    """Wraps a random initializer to draw its seed at first use, as in Keras 2.

    Keras 3 draws it from Python's `random` in the constructor: a library that creates one at import time, as a default
    argument, would change the initial weights of the program that imports it.
    """
    from keras.src import api_export
    from keras.src.random.seed_generator import make_default_seed

    class Kind(type(base)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, base) if cls is Late else super().__instancecheck__(instance)

    class Late(base, metaclass=Kind):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            given = inspect.signature(base).bind(*args, **options).arguments
            self._draws = given.get("seed") is None
            super().__init__(**given | ({"seed": 0} if self._draws else {}))
            if self._draws:
                self._init_seed = None  # the seed in `get_config`

        @property
        def seed(self) -> Any:
            """The seed; drawn at first access if none was given."""
            if self._draws:
                self._seed, self._draws = make_default_seed(), False
            return self._seed

        @seed.setter
        def seed(self, value: Any) -> None:
            self._seed = value

    Late.__name__, Late.__qualname__, Late.__module__, Late.__doc__ = (
        base.__name__, base.__qualname__, base.__module__, base.__doc__,
    )  # fmt: skip
    # Models are saved with the name of Keras 3's class, and loaded with it.
    if (public := api_export.get_name_from_symbol(base)) is not None:
        api_export.REGISTERED_OBJS_TO_NAMES[Late] = public
    return Late


def _optimizer(base: Any) -> type:
    """Returns the base class of optimizers that takes the name first; Keras 3's optimizers are instances of it."""

    class Kind(type(base)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, base) if cls is Optimizer else super().__instancecheck__(instance)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            return issubclass(subclass, base) if cls is Optimizer else super().__subclasscheck__(subclass)

    class Optimizer(base, metaclass=Kind):  # type: ignore[misc]
        """The base class of optimizers."""

        def __init__(self, name: str, *args: Any, learning_rate: Any = 0.001, **options: Any) -> None:
            options.pop("jit_compile", None)
            super().__init__(learning_rate, *args, name=name, **options)

    return Optimizer


class LegacyOptimizer:
    """The base class of optimizers before TensorFlow 2.11: it can be subclassed but not instantiated."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} is one of Keras 2's legacy optimizers, which gradtape does not have. Use one of "
            "tf.keras.optimizers"
        )


def _no_layer_function(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"tf.layers.{name} creates its variables in a TensorFlow 1 graph, which gradtape does not have. Use a "
            "layer of tf.keras.layers"
        )

    function.__name__ = name
    return function
