"""A pytest plugin for Keras' own tests: what their `conftest.py` sets up, and outcomes for `keras_suite.py`."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

# What single tests import. `make keras-suite` installs it; where it is missing, those tests are skipped.
_NOT_INSTALLED = re.compile(
    r"No module named .(torch|grain|sklearn|pandas|orbax|tensorboard|onnxruntime)", re.IGNORECASE
)


if os.environ["KERAS_BACKEND"] == "gradtape":  # before a test is imported
    from gradtape_tensorflow import stand_in

    stand_in.serve()  # what the tests import as TensorFlow is gradtape too, whether TensorFlow is installed or not
    sys.modules["tf_keras"] = None  # type: ignore[assignment]  # Keras 2, which some compare with, is not installed
    if importlib.util.find_spec("tensorboardX") is not None:  # they read the files for TensorBoard with a class of it
        folder: Any = types.ModuleType("tensorflow.core.util")
        folder.event_pb2 = importlib.import_module("tensorboardX.proto.event_pb2")
        sys.modules |= {"tensorflow.core": types.ModuleType("tensorflow.core"), "tensorflow.core.util": folder}


class _Absent(types.ModuleType):
    """A module that is not installed, for a file of tests of which only some use it: those are skipped."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ModuleNotFoundError(f"No module named {self.__name__!r}")


def pytest_configure(config: Any) -> None:
    """What Keras' own conftest sets up."""
    if importlib.util.find_spec("grain") is None:
        sys.modules["grain"] = _Absent("grain")
    config.addinivalue_line("markers", "requires_trainable_backend: mark test for trainable backend only")
    config.addinivalue_line("markers", "multi_device: mark test for several devices")
    conftest: Any = types.ModuleType("conftest")
    conftest.skip_if_backend = _skip_if_backend
    sys.modules.setdefault("conftest", conftest)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes())


def _skip_if_backend(backend: str, reason: str) -> Any:
    """The one name that Keras' tests import from their conftest."""
    return pytest.mark.skipif(os.environ["KERAS_BACKEND"] == backend, reason=reason)


# Tests that leave themselves out on every backend they do not know, saying that it lacks what gradtape has, and that
# need to know no name: they are run, under gradtape's own.
_RUN_ALL_THE_SAME = ("ops/core_test.py::CoreOpsCorrectnessTest::test_custom_gradient",)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Skips what needs several devices, unless there are, and nothing for a reason that is none."""
    there_are = "JAX_NUM_CPU_DEVICES" in os.environ
    for item in items:
        if "multi_device" in item.keywords and not there_are:
            item.add_marker(pytest.mark.skip(reason="needs several devices"))
        if item.nodeid.startswith(_RUN_ALL_THE_SAME):
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "skipif"]


# Keras' tests know only the names of Keras' own backends. Helpers that make or recognise a sparse tensor, or look up a
# class, by the backend's name are told one under which they find gradtape's. A test that asks itself is told too, where
# it would fail on another name: it is shown apart, and not counted as passed.
_MADE_FOR_TENSORFLOW = (
    "assertSparse", "create_eager_tensors", "create_indexed_slices", "create_sparse_tensor", "test_bincount",
    "test_concatenate_sparse", "test_convert_to_tensor_sparse", "test_correctness_sparse", "test_dense_sparse",
    "test_flatten", "test_matmul_sparse", "test_permute", "test_quantize_float8", "test_shape_sparse", "test_sparse",
    "test_sparse_correctness", "test_sparse_gradients", "test_take_sparse",
)  # fmt: skip
_NAMES = {
    ("quantizers_test.py", "QuantizersTest"): "tensorflow",  # both compute a gradient as each backend does it
    ("quantizers_test.py", "test_fake_quant_with_min_max_vars"): "tensorflow",
    ("model_test.py", "test_export_error"): "tensorflow",  # knows by name which backends write SavedModels
    ("trainer_test.py", "<module>"): "numpy",  # looks up its trainer
    ("distribution_lib_test.py", "<module>"): "jax",  # meshes and layouts are JAX's here too
    ("trainer_test.py", "__getitem__"): "jax",  # looks up its device
    ("generator_data_adapter_test.py", "test_sparse_tensors"): "jax",  # both test an adapter, not a backend
    ("tf_dataset_adapter_test.py", "test_tf_sparse_tensors"): "numpy",
}
# Files that skip themselves on every backend whose name they do not know: all of their tests are shown apart.
_SKIPPED_BY_NAME = ("saved_model_test.py",)
_told_in: set[str] = set()


def _told(asked_by: Any) -> str | None:
    """The name of another backend for the code that asks, if it is one of those."""
    file = Path(asked_by.co_filename).name
    if asked_by.co_name in _MADE_FOR_TENSORFLOW and (file.endswith("_test.py") or file == "test_case.py"):
        return "tensorflow"
    if file in _SKIPPED_BY_NAME and not asked_by.co_name.startswith("test"):
        return "tensorflow"
    return _NAMES.get((file, asked_by.co_name))


def pytest_sessionstart() -> None:
    """Answers those questions."""
    if os.environ["KERAS_BACKEND"] != "gradtape":
        return
    import keras
    from keras.src import backend

    if hasattr(backend.config, "PLUGGABLE_BACKENDS"):  # there NumPy's trainer is not gradtape's
        _NAMES.pop(("trainer_test.py", "<module>"), None)
    known = backend.backend

    def name() -> str:
        asked_by = sys._getframe(1).f_code
        told = _told(asked_by)
        if told is not None and asked_by.co_name.startswith("test"):
            _told_in.add(os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0])
        return told or known()

    backend.backend = name
    keras.backend.backend = keras.config.backend = name  # under `gradtape run` these answer "tensorflow"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Any:
    """Notes in the test's report whether it was told something; where it clears the environment, that is mended."""
    environment = dict(os.environ)
    try:
        return (yield)
    finally:
        os.environ.update(environment)
        by_name = os.environ["KERAS_BACKEND"] == "gradtape" and item.path.name in _SKIPPED_BY_NAME
        if item.nodeid in _told_in or by_name:
            item.user_properties.append(("told", True))


class Outcomes:
    """Notes what became of each test, and says how far it is."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self.expected = self.failed = 0
        self.what = os.environ["KERAS_SUITE_PROGRESS"]

    def pytest_sessionstart(self) -> None:
        """Says that it has begun: importing the tests takes a while."""
        if self.what:
            print(f"  {self.what}: looking for tests", file=sys.stderr, flush=True)

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported is one failure; a file may also skip itself."""
        if report.outcome != "passed":
            self._note(report)

    def pytest_collection_finish(self, session: Any) -> None:
        """The number of tests."""
        self.expected = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """The number of tests, where several processes run them."""
        self.expected = len(ids)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test counts as passed if nothing went wrong before, in and after it."""
        if report.when == "call" or report.outcome != "passed":
            self._note(report)

    def _note(self, report: Any) -> None:
        outcome, reason = report.outcome, _reason(report)
        if outcome == "passed" and ("told", True) in report.user_properties:
            outcome = "told"
        if outcome == "failed" and _NOT_INSTALLED.search(reason):
            outcome = "skipped"
        self.found[report.nodeid] = [outcome, reason]
        self.failed += outcome == "failed"
        every = 10 if sys.stderr.isatty() else max(25, self.expected // 10)
        if self.what and len(self.found) % every == 0:
            end = "\r" if sys.stderr.isatty() else "\n"
            done = f"  {self.what}: {len(self.found)} of {self.expected} tests, {self.failed} failed"
            print(f"{done:70}", end=end, file=sys.stderr, flush=True)

    def pytest_sessionfinish(self) -> None:
        """Leaves the outcomes to the caller."""
        Path(os.environ["KERAS_SUITE_OUTCOMES"]).write_text(json.dumps(self.found))


def _reason(report: Any) -> str:
    """One line: why a test was skipped, or the error."""
    if report.outcome == "passed":
        return ""
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (crash.message if crash is not None else str(report.longrepr)).strip().splitlines()
    return lines[0] if crash is not None else lines[-1]
