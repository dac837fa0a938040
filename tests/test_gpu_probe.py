"""Whether a GPU may be used is decided without importing PyTorch."""

import logging
import subprocess
import sys

import pytest

from gradtape.core import devices
from gradtape.state import gpu

VERSION = """from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip']
__version__ = '2.13.0'
debug = False
cuda: Optional[str] = {cuda!r}
git_version = 'cf30153c'
hip: Optional[str] = {hip!r}
"""


@pytest.fixture
def torch_package(tmp_path, monkeypatch):
    """Writes a package `torch` that cannot be imported, and one of the array API's, and puts both on the path."""

    def write(version):
        for name in ("torch", "array_api_compat"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "__init__.py").write_text("raise AssertionError('imported')")
            monkeypatch.delitem(sys.modules, name, raising=False)
        if version is not None:
            (tmp_path / "torch" / "version.py").write_text(version)
        monkeypatch.syspath_prepend(tmp_path)
        return tmp_path

    monkeypatch.setattr(gpu, "IS_APPLE", False)
    return write


@pytest.mark.parametrize(
    ("version", "driver", "expected"),
    [
        (VERSION.format(cuda=None, hip=None), True, gpu.NO_CUDA),
        (VERSION.format(cuda="12.8", hip=None), False, gpu.NO_DRIVER),
        (VERSION.format(cuda="12.8", hip=None), True, ""),
        (VERSION.format(cuda=None, hip="6.4"), False, ""),
        ("cuda = None\nhip = None\n", True, gpu.NO_CUDA),
        ("raise SystemError", False, ""),  # in doubt, PyTorch itself decides
        (None, False, ""),
    ],
)
def test_the_build_and_the_driver_decide(torch_package, monkeypatch, version, driver, expected):
    torch_package(version)
    monkeypatch.setattr(gpu, "cuda_driver", lambda: object() if driver else None)
    assert gpu.why_unusable() == expected


def test_an_apple_gpu_needs_no_cuda_and_a_setting(torch_package, monkeypatch):
    torch_package(VERSION.format(cuda=None, hip=None))
    monkeypatch.setattr(gpu, "IS_APPLE", True)
    monkeypatch.delenv("GRADTAPE_DEVICE", raising=False)
    assert gpu.why_unusable() == gpu.APPLE_OFF
    monkeypatch.setenv("GRADTAPE_DEVICE", "GPU")
    assert gpu.why_unusable() == ""


def test_pytorch_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert gpu.why_unusable() == gpu.NO_TORCH


def test_without_array_api_compat_a_warning_is_logged(torch_package, monkeypatch, caplog):
    torch_package(VERSION.format(cuda="12.8", hip=None))
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    monkeypatch.setattr(gpu, "cuda_driver", object)
    monkeypatch.setattr(devices, "turned_off", lambda: "")
    probed = devices.has_probe()
    with caplog.at_level(logging.WARNING, "gradtape"):
        gpu.use_if_there()
    assert [r.getMessage() for r in caplog.records] == [f"GPUs are not used: {gpu.NO_STANDARD}"]
    assert devices.has_probe() == probed


def test_numpy_computes_if_pytorch_cannot_be_imported(torch_package, monkeypatch):
    folder = torch_package(VERSION.format(cuda=None, hip=None))
    (folder / "torch" / "__init__.py").write_text("raise ImportError('libgomp.so.1: cannot open')")
    program = f"""
import math, sys; sys.path.insert(0, {str(folder)!r})
import gradtape as tf
x = tf.Variable(tf.ones([1 << 20]))
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.nn.softmax(tf.tanh(x) * x)) + tf.reduce_sum(tf.exp(-x))
print(abs(float(y) - (1 + 2**20 / math.e)) < 1, float(tape.gradient(y, x)[0]) < 0)
"""
    monkeypatch.delenv("GRADTAPE_KERNELS", raising=False)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True", "True"], done.stderr
    assert done.stderr.count("PyTorch cannot be imported: ImportError: libgomp.so.1: cannot open") == 1


def test_creating_tensors_does_not_import_pytorch(torch_package, monkeypatch):
    folder = torch_package(VERSION.format(cuda=None, hip=None))
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import gradtape as tf; from gradtape.core import devices; "
        "v = tf.Variable(tf.constant(2.0)); print(float(v * 3.0), 'torch' in sys.modules, devices.has_probe())"
    )
    monkeypatch.delenv("GRADTAPE_DEVICE", raising=False)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["6.0", "False", "False"], done.stderr
