"""Runs one file of TensorFlow's tests, on TensorFlow or on gradtape.

    python worker.py PLATFORM SOURCES TEST_FILE NAMES OUTCOMES CPUS

What makes tests of the file, `combinations` and the decorators of `test_util`, is replaced on both in the same way
(`MACHINERY`): tests are run eagerly, without those of TensorFlow 1 and of GPUs, and combinations that come out the
same are run once. Files that tests share (`SUPPORT`) are TensorFlow's own, as they are. CPUS is the number of logical
devices.

What came of each test is written into OUTCOMES. On TensorFlow, NAMES is written too: which public name each thing has
that the file imports. On gradtape those names are all there is: a thing without one is a `Private`, which can be
mentioned, and fails the test that uses it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import json
import os
import sys
import threading
import traceback
import types
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from absl import flags
from machinery import COUNTERPARTS, MACHINERY, Private
from rule import LIKE, PYTHON, SUPPORT, file_of, imported, support_files

SECONDS = 60  # that a test may take
NO_TEST = "test_session"  # a method of TensorFlow's `TestCase` that is only called like a test
UNFINISHED = 3  # the exit code of a process that was ended in a test


class Overlay(types.ModuleType):
    """A module whose names are `names` and then those of another."""

    def __init__(self, name: str, names: dict[str, Any], other: Callable[[str], Any]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._names, self._other = names, other

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._names[name] if name in self._names else self._other(name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds TensorFlow's machinery here, its own files of it in the sources, and for gradtape every private module."""

    def __init__(self, sources: Path, served: Callable[[str, str], Any] | None) -> None:
        self.sources, self.served = sources, served

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Where a module is that others are not to find."""
        place = name.removeprefix(PYTHON)
        if place in SUPPORT:
            return importlib.util.spec_from_file_location(name, file_of(self.sources, name))
        if self.served and name.startswith(("tensorflow.python", "tensorflow.core", "tensorflow.dtensor")):
            return importlib.util.spec_from_loader(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """A module of names that are served."""
        name = spec.name
        assert self.served is not None
        return Overlay(name, MACHINERY.get(name.removeprefix(PYTHON), {}), functools.partial(self.served, name))

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


class PackageFinder(importlib.abc.MetaPathFinder):
    """Finds the folders of support files that TensorFlow's wheel does not have; asked after all other finders."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """An empty package."""
        if any((PYTHON + own).startswith(f"{name}.") for own in SUPPORT):
            return importlib.machinery.ModuleSpec(name, None, is_package=True)
        return None


def public_names() -> dict[int, str]:
    """The public name of each thing in `tf`, by its identity: that of TensorFlow 2 rather than that of `compat.v1`."""
    import tensorflow as tf

    found: dict[int, str] = {}
    seen = {id(tf.compat)}
    waiting: list[tuple[str, Any]] = [("compat.v1.", tf.compat.v1), ("", tf)]
    while waiting:
        prefix, space = waiting.pop()
        for name in sorted(set(dir(space)) - {"keras", "raw_ops", "estimator"}):
            with contextlib.suppress(Exception):  # of modules that are imported when they are asked for
                value = getattr(space, name)
                if name.startswith("_") or id(value) in seen or isinstance(value, int | float | str | None):
                    continue
                if not isinstance(value, types.ModuleType):
                    found.setdefault(id(value), prefix + name)
                elif "_api" in value.__name__:
                    seen.add(id(value))
                    waiting.append((f"{prefix}{name}.", value))
    return found


def recorded_names(files: list[Path]) -> dict[str, str | None]:
    """For each name that files use of TensorFlow's modules: its public name, "module", or None if it is private.

    What is called like a public function of the root is an older or inner form of it.
    """
    import tensorflow as tf

    public = public_names()
    raw = {name.lower(): f"{LIKE}raw_ops.{name}" for name in dir(tf.raw_ops) if not name.startswith("_")}
    spaces = {"": tf, "compat.v1.": tf.compat.v1}
    found: dict[str, str | None] = {}
    for module, name in itertools.chain(*map(imported, files)):
        try:
            value = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            try:
                value = importlib.import_module(f"{module}.{name}")
            except ImportError:
                value = object()
        same = next(
            (path for path, space in spaces.items() if callable(value) and callable(getattr(space, name, None))), None
        )
        generated = raw.get(name.replace("_", "").lower()) if module.startswith(f"{PYTHON}ops.gen_") else None
        known = public.get(id(value)) or generated or (None if same is None else f"{LIKE}{same}{name}")
        found[f"{module}.{name}"] = "module" if isinstance(value, types.ModuleType) else known
    return found


def on_tensorflow(sources: Path, path: Path, names: Path) -> None:
    """Puts the machinery into TensorFlow, and writes the public names."""
    support = support_files(path, sources)
    names.write_text(json.dumps(recorded_names([path, *support.values()]), indent=0))
    for place, own in MACHINERY.items():
        try:
            other = functools.partial(getattr, importlib.import_module(PYTHON + place))
        except ImportError:
            other = lambda name: Private(name)  # noqa: E731
        put(PYTHON + place, Overlay(PYTHON + place, own, other))
    sys.meta_path.insert(0, Finder(sources, None))
    sys.meta_path.append(PackageFinder())
    for name in support:
        sys.modules.pop(name, None)
    for name in support:
        put(name, importlib.import_module(name))


def put(name: str, module: types.ModuleType) -> None:
    """Puts a module into its package."""
    package, _, leaf = name.rpartition(".")
    sys.modules[name] = module
    setattr(importlib.import_module(package), leaf, module)


def on_gradtape(sources: Path, names: Path) -> None:
    """Serves TensorFlow's modules: by public names, else what `gradtape run` has for libraries, else `Private`."""
    from gradtape_tensorflow import python as private
    from gradtape_tensorflow import stand_in

    known = json.loads(names.read_text())
    modules = {name for name, public in known.items() if public == "module"}
    for name in (*list(modules), *(name.rpartition(".")[0] for name in known)):
        while "." in name:
            if known.get(name, "module") == "module":  # else what a class has is used
                modules.add(name)
            name = name.rpartition(".")[0]

    def served(module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if COUNTERPARTS.get(full.removeprefix(PYTHON)):
            return COUNTERPARTS[full.removeprefix(PYTHON)]
        if name.startswith("gen_") and known.get(full) == "module":  # as other modules call it
            return importlib.import_module(f"{PYTHON}ops.{name}")
        if full in modules or full.removeprefix(PYTHON) in SUPPORT:
            raise AttributeError(name)  # so that it is imported
        public = known.get(full) or ""
        with contextlib.suppress(AttributeError, ImportError):
            if not public.startswith(LIKE):
                return functools.reduce(getattr, public.split("."), sys.modules["tensorflow"])
        with contextlib.suppress(AttributeError, ImportError):
            return getattr(private.module(module), name)
        with contextlib.suppress(AttributeError, ImportError):
            return functools.reduce(getattr, public.removeprefix(LIKE).split("."), sys.modules["tensorflow"])
        return Private(full)

    stand_in.serve()
    sys.meta_path.insert(0, Finder(sources, served))


class Outcomes(unittest.TestResult):
    """What came of each test: passed, failed or skipped, and why; a file that is written as soon as it is known."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.found: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
        self._limit = threading.Timer(0, lambda: None)

    def startTest(self, test: Any) -> None:
        """It has failed if nothing more is heard of it: the process ends, and the next one goes on with the rest."""
        super().startTest(test)
        self._note(test, "failed", f"did not end within {SECONDS} s")
        self.path.write_text(json.dumps(self.found, indent=0))
        self._limit = threading.Timer(SECONDS, os._exit, (UNFINISHED,))
        self._limit.start()

    def stopTest(self, test: Any) -> None:
        """The limit ends."""
        self._limit.cancel()
        super().stopTest(test)

    def _note(self, test: Any, outcome: str, reason: str) -> None:
        if isinstance(test, unittest.TestCase):  # and not what stands for `setUpClass`
            self.found[name_of(test)] = [outcome, reason]

    def addSuccess(self, test: Any) -> None:
        """It passes, unless a part of it has failed."""
        self._note(test, "passed", "")

    def addFailure(self, test: Any, err: Any) -> None:
        """What was asserted is not so."""
        self._note(test, "failed", "".join(traceback.format_exception(*err))[-4000:])

    addError = addFailure

    def addSkip(self, test: Any, reason: str) -> None:
        """It leaves itself out."""
        self._note(test, "skipped", reason)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """A part of it is as the whole."""
        if err is not None:
            self.addFailure(test, err)


def name_of(test: Any) -> str:
    """What the file calls a test: `Class.method`, without the text of its parameters, which may have addresses."""
    return str(test.id().partition(".")[2].partition(" (")[0])


def tests_of(suite: Any) -> Iterator[Any]:
    """The tests in a suite of suites."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from tests_of(each)
        elif not name_of(each).endswith(f".{NO_TEST}"):
            yield each


def configure_cpus(cpus: int) -> None:
    """Makes several logical devices of the CPU."""
    import tensorflow as tf

    if cpus > 1:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * cpus)


def run_tests(module: types.ModuleType, outcomes: Path) -> None:
    """Runs the tests of a module that are not yet in OUTCOMES, and ends the process."""
    Private.loading = False
    found = Outcomes(outcomes)
    known = set(found.found)
    tests = unittest.defaultTestLoader.loadTestsFromModule(module)
    unittest.TestSuite(test for test in tests_of(tests) if name_of(test) not in known).run(found)
    outcomes.write_text(json.dumps(found.found, indent=0))
    os._exit(0)  # threads of a test that has failed are not waited for


def main() -> None:
    """Runs the tests of a file."""
    platform, sources, path, names, outcomes = sys.argv[1], *map(Path, sys.argv[2:6])
    if platform == "gradtape":
        on_gradtape(sources, names)
    configure_cpus(int(sys.argv[6]))
    if platform == "tensorflow":
        on_tensorflow(sources, path, names)
    flags.FLAGS(sys.argv[:1])
    spec: Any = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run_tests(module, outcomes)


if __name__ == "__main__":
    main()
