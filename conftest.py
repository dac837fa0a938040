"""What holds for all tests, those in docstrings included."""

import contextlib
import gc
import importlib.util
import random
import re
import signal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from _pytest.doctest import DoctestModule

with contextlib.suppress(ImportError):  # the device tests run without it
    from hypothesis import HealthCheck, settings

    # How long an example takes says something about the machine, not about the code.
    settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("steady")

from gradtape.core.extras import is_installed

SOURCES = Path(__file__).parent / "src"
TESTS = Path(__file__).parent / "tests"
HAS_TORCH = is_installed("torch")
MISSING = {  # from folders of tests to the package that they need and that is not installed
    folder: title
    for folder, package, title in ((TESTS / "devices", "torch", "PyTorch"), (TESTS / "keras", "keras", "Keras"))
    if not is_installed(package)
}

# One is another module, Keras', once it is imported; one is loaded when Python starts, from its installed copy; the hooks
# are loaded by PyInstaller.
collect_ignore = ["src/gradtape/keras.py", "src/_gradtape_keras.py", "src/gradtape_pyinstaller"]
if not HAS_TORCH:
    names = ("device", "device_kernels", "fusion", "namespace", "random")
    collect_ignore += [f"src/gradtape/backends/torch/{name}.py" for name in names]
if TESTS / "keras" in MISSING:
    collect_ignore += ["src/keras_gradtape"]


@pytest.fixture(scope="session", autouse=True)
def names_in_docstrings(doctest_namespace):
    """Examples in docstrings use `tf` and `np`, like those of TensorFlow and NumPy."""
    import gradtape

    doctest_namespace.update(tf=gradtape, np=np)


@pytest.fixture
def interruptible():
    """SIGINT raises KeyboardInterrupt, though the tests may have inherited it as ignored: from `nohup`, or a CI."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


QUICK_OPTIONS = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


def pytest_configure(config):
    """`--full-trace` shows the frames of gradtape, too, which errors leave out."""
    if config.option.fulltrace:
        from gradtape.core.tracebacks import filtering

        filtering.enabled = False


@cache
def quick_options():
    """Returns the options that the installed XLA accepts."""
    if importlib.util.find_spec("jax") is None:
        return {}
    import jax

    found = {}
    for name, value in QUICK_OPTIONS.items():
        with contextlib.suppress(jax.errors.JaxRuntimeError):
            jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={name: value})
            found[name] = value
    return found


@pytest.fixture
def quick_compilation(monkeypatch):
    """XLA compiles up to five times as fast, to slower programs: for tests of what XLA is given, not what it makes."""
    from gradtape.graph.executors.xla import executor

    options = executor.options
    monkeypatch.setattr(executor, "options", lambda *args: quick_options() | (options(*args) or {}))


@pytest.fixture
def quick_xla(quick_compilation):
    """The same for a test that always compiles, and so is skipped without JAX."""
    pytest.importorskip("jax")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """The examples of the public functions draw no number of NumPy's and Python's global generators."""
    seeds_them = item.name.endswith(".__test__.TestCase")  # as TensorFlow's does
    if not isinstance(item, pytest.DoctestItem) or seeds_them:
        return (yield)

    def state():
        _, words, position, *rest = np.random.get_state()  # noqa: NPY002
        return random.getstate(), words.tobytes(), position, rest

    before = state()
    result = yield
    assert before == state(), "the global random state has changed"
    return result


class NotRun(pytest.Module):
    """A file of tests that needs what is not installed. Pytest collects even ignored files that are named."""

    def collect(self):
        pytest.skip(f"{MISSING[self.path.parent]} is not installed", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    """Leaves out the device tests without PyTorch, and those of Keras without Keras."""
    return NotRun.from_parent(parent, path=module_path) if module_path.parent in MISSING else None


class Examples(DoctestModule):
    """The examples of a module with those of the public classes that it defines, whose `__module__` is the public one."""

    def collect(self):
        names = re.findall(r"^class (\w+)", self.path.read_text("utf-8"), re.MULTILINE)
        classes = {name: getattr(self.obj, name, None) for name in names}
        own = self.obj.__name__
        self.obj.__test__ = {x: kind for x, kind in classes.items() if getattr(kind, "__module__", own) != own}
        return super().collect()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Looks for examples in the docstrings of the sources only: the tests have none, and searching them takes time."""
    collectors = yield
    if file_path.is_relative_to(SOURCES):
        return [Examples.from_parent(parent, path=file_path) if type(x) is DoctestModule else x for x in collectors]
    return [collector for collector in collectors if type(collector) in (pytest.Module, NotRun)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Hides what collecting allocates from the garbage collector, which would look through it again and again."""
    gc.disable()
    try:
        result = yield
        gc.freeze()
    finally:
        gc.enable()
    return result


def pytest_collection_modifyitems(items):
    """Runs an example once, in the module that defines it: the package caches the public functions that were used."""
    package = {"gradtape", "gradtape.__init__"}
    items[:] = [
        item
        for item in items
        if not (
            isinstance(item, pytest.DoctestItem)
            and item.path.parent.name == "gradtape"
            and item.path.stem == "__init__"
        )
        or item.name in package
    ]
