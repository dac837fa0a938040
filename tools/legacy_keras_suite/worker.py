"""Runs one file of tf-keras' tests, on TensorFlow or on gradtape.

    python worker.py PLATFORM SOURCES TEST_FILE NAMES OUTCOMES CPUS

The tests are those of the sources, and what they test is the installed package. Its wheel has the modules of the
sources below `tf_keras.src`, so the imports of a test file are read as the wheel's build reads those of other files:
`from tf_keras.engine import training` imports from `tf_keras.src.engine`. Modules that tests share and the wheel does
not have are taken from the sources.

On gradtape, `gradtape run` serves TensorFlow. On both, what makes tests (`combinations`, decorators of `test_util`) is
the machinery of `tools/tensorflow_tests`. A private name of TensorFlow's that gradtape does not have, and a test file
imports, is a `Private`: it fails the test that uses it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[1] / "tensorflow_tests"
sys.path[:1] = [str(SHARED)]  # in the place of this folder, whose `worker` is another

from absl import flags  # noqa: E402
from machinery import MACHINERY, NamedDistribution, Private  # noqa: E402
from rule import PYTHON, imported  # noqa: E402
from worker import Overlay, configure_cpus, put, recorded_names, run_tests  # noqa: E402

PACKAGE = "tf_keras"
INSTALLED = f"{PACKAGE}.src"
AS_THEY_ARE = (f"{PACKAGE}.protobuf", f"{PACKAGE}.api", INSTALLED)  # modules that the build of the wheel does not move
REPLACED = ("framework.test_util", "framework.test_combinations", "framework.combinations", "distribute.combinations")
STRATEGIES = {
    "default_strategy": "Default", "one_device_strategy": "OneDeviceCPU", "one_device_strategy_gpu": "OneDeviceGPU",
    "mirrored_strategy_with_one_cpu": "Mirrored1CPU", "mirrored_strategy_with_one_gpu": "Mirrored1GPU",
    "mirrored_strategy_with_two_cpus": "Mirrored2CPU", "mirrored_strategy_with_two_gpus": "Mirrored2GPUs",
    "mirrored_strategy_with_gpu_and_cpu": "MirroredCPUAndGPU",
}  # of `combinations`; others are not run  # fmt: skip


class TestCombination:
    """The base of what tf-keras adds to combinations: contexts in which they run."""

    def should_execute_combination(self, chosen: dict[str, Any]) -> tuple[bool, None]:
        """All are run."""
        return True, None

    def parameter_modifiers(self) -> list[Any]:
        """A test gets those parameters that it takes."""
        return []

    def context_managers(self, chosen: dict[str, Any]) -> list[Any]:
        """None, unless a subclass has them."""
        return []


class MovedImports(ast.NodeTransformer):
    """Reads `tf_keras` in imports as `tf_keras.src`."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        """`import tf_keras as keras`."""
        for alias in node.names:
            if alias.name == PACKAGE:
                alias.name, alias.asname = INSTALLED, alias.asname or PACKAGE
            elif alias.name.startswith(f"{PACKAGE}.") and not alias.name.startswith(AS_THEY_ARE):
                alias.name = INSTALLED + alias.name.removeprefix(PACKAGE)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        """`from tf_keras.engine import training`."""
        name = node.module or ""
        if name == PACKAGE or (name.startswith(f"{PACKAGE}.") and not name.startswith(AS_THEY_ARE)):
            node.module = INSTALLED + name.removeprefix(PACKAGE)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """The name of a module in a string, which `mock.patch` imports."""
        if isinstance(node.value, str) and node.value.startswith(f"{PACKAGE}.") and " " not in node.value:
            node.value = INSTALLED + node.value.removeprefix(PACKAGE)
        return node


class SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads a file of the sources with its imports moved."""

    def get_code(self, fullname: str) -> types.CodeType:
        """Compiles the file anew: its byte code is not cached."""
        tree = MovedImports().visit(ast.parse(Path(self.path).read_text()))
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


class SourceFinder(importlib.abc.MetaPathFinder):
    """Finds the modules of the sources that the wheel does not have; asked after all other finders."""

    def __init__(self, sources: Path) -> None:
        self.sources = sources

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """A file of the sources."""
        if not name.startswith(f"{INSTALLED}."):
            return None
        place = self.sources / PACKAGE / name.removeprefix(f"{INSTALLED}.").replace(".", "/")
        if place.is_dir():
            return importlib.machinery.ModuleSpec(name, None, is_package=True)
        return spec_of(name, place.with_suffix(".py")) if place.with_suffix(".py").exists() else None


def spec_of(name: str, path: Path) -> Any:
    """The spec of a module in the sources."""
    return importlib.util.spec_from_file_location(name, path, loader=SourceLoader(name, str(path)))


def replace_machinery() -> None:
    """Puts what makes tests into TensorFlow's modules, on either platform."""
    import tensorflow as tf

    for place in REPLACED:
        put(PYTHON + place, Overlay(PYTHON + place, MACHINERY[place], functools.partial(_original, PYTHON + place)))
    own = dict(MACHINERY["framework.test_combinations"])
    own["generate"] = functools.partial(own["generate"], test_combinations=())  # tf-keras adds to the keyword
    own |= {"TestCombination": TestCombination, "OptionalParameter": str}
    for root in (tf, tf.compat.v2):
        for place in ("test", "distribute"):
            _internal(root.__internal__, place).combinations = Overlay(
                f"tensorflow.__internal__.{place}.combinations", own, _strategy
            )
    sys.modules["tensorflow.compat.v2.__internal__"] = tf.compat.v2.__internal__
    sys.modules["tensorflow.compat.v2.__internal__.distribute"] = tf.compat.v2.__internal__.distribute


def _internal(root: Any, place: str) -> Any:
    try:
        return getattr(root, place)
    except AttributeError:
        module = types.ModuleType(f"{root.__name__}.{place}")
        sys.modules[module.__name__] = module
        setattr(root, place, module)
        return module


def _strategy(name: str) -> NamedDistribution:
    """A strategy of `combinations`."""
    return NamedDistribution(STRATEGIES.get(name, "MirroredNoMergeCall"))


ORIGINALS: dict[str, Any] = {}


def _original(module: str, name: str) -> Any:
    """What TensorFlow, or gradtape, has in the place of the machinery."""
    original = ORIGINALS.get(module)
    return getattr(original, name, None) or Private(f"{module}.{name}")


def note_originals() -> None:
    """Keeps the modules that the machinery replaces."""
    for place in REPLACED:
        try:
            ORIGINALS[PYTHON + place] = importlib.import_module(PYTHON + place)
        except ImportError:
            ORIGINALS[PYTHON + place] = None


def provide_private_names(path: Path) -> None:
    """Adds the names that a test file imports from private modules and gradtape does not have."""
    for module, name in imported(path):
        if not module.startswith(PYTHON.rstrip(".")) and not module.startswith(("tensorflow.core", "tensorflow.tools")):
            continue
        parts = module.split(".")
        for count in range(2, len(parts) + 1):
            whole = ".".join(parts[:count])
            try:
                importlib.import_module(whole)
            except ImportError:
                put(whole, Overlay(whole, {}, lambda name, whole=whole: Private(f"{whole}.{name}")))
        holder = sys.modules[module]
        try:
            getattr(holder, name)
        except (AttributeError, ImportError):
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                setattr(holder, name, Private(f"{module}.{name}"))


def main() -> None:
    """Runs the tests of a file."""
    platform, sources, path, names, outcomes = sys.argv[1], *map(Path, sys.argv[2:6])
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    if platform == "gradtape":
        from gradtape_tensorflow import stand_in

        stand_in.serve()
    configure_cpus(int(sys.argv[6]))
    import tensorflow as tf

    if platform == "tensorflow":
        names.write_text(json.dumps(recorded_names([path]), indent=0))
    note_originals()
    replace_machinery()
    importlib.import_module(PACKAGE)
    if platform == "gradtape":
        provide_private_names(path)
    sys.meta_path.append(SourceFinder(sources))
    flags.FLAGS(sys.argv[:1])
    tf.compat.v1.enable_v2_behavior()  # what the `tf.test.main()` of a file follows
    spec = spec_of(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run_tests(module, outcomes)


if __name__ == "__main__":
    main()
