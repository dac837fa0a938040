"""`gradtape doctor`: what it finds on a machine, and what it says about GPUs and their libraries."""

import json
import os
import sys

import pytest
from test_command_line import ENVIRONMENT, gradtape

from gradtape.cli import gpus
from gradtape.cli.doctor import doctor


def test_doctor_finds_this_machine_in_good_health():
    done = gradtape("doctor", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and {test["status"] for test in report["tests"]} <= {"passed", "skipped"}
    assert report["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"processor", "BLAS", "devices"} <= set(report["machine"])
    assert {"CPU:0", "NVIDIA driver", "PyTorch", "JAX"} <= set(report["devices"])
    on_cpu, on_gpus = (t for t in report["tests"] if t["name"].startswith("a product and a gradient"))
    assert on_cpu["status"] == "passed"
    assert on_gpus["status"] == ("skipped" if "GPU" in report["devices"] else "passed"), on_gpus["note"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ImportError('libcublas.so.11: cannot open shared object file')", "libcublas.so.11"),
        ("import os; os.abort()", "the process ended with"),
        ("import sys; sys.exit(3)", "the process ended with 3"),
    ],
)
def test_doctor_survives_a_broken_library(tmp_path, source, said):
    (tmp_path / "torch.py").write_text(source)
    (tmp_path / "jax.py").write_text("raise ImportError")  # the doctor asks it, too, which would take longer
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = gradtape("doctor", "--json", "--no-test", env={**ENVIRONMENT, "PYTHONPATH": paths, "GRADTAPE_DEVICE": "cpu"})
    found = json.loads(done.stdout)["devices"]
    assert done.returncode == 0 and "does not work" in found["PyTorch"] and said in found["PyTorch"]
    assert found["GPU"] == "none is used: GRADTAPE_DEVICE=cpu turns GPUs off"


def test_doctor_shows_brackets(monkeypatch, capsys):
    monkeypatch.setattr(gpus, "_query_subprocess", lambda *_: {"missing": True})
    doctor(test=False)
    assert "'gradtape'" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("driver", "torch", "said"),
    [
        (None, {"missing": True}, "no NVIDIA driver"),
        ({"version": "12.8", "count": 0}, {"missing": True}, "for CUDA 12.8, sees no GPU"),
        ({"version": "12.8", "count": 1}, {"missing": True}, "PyTorch is missing: pip install 'torch>=2.6'"),
        ({"version": "11.4", "count": 1}, {"error": "no libcublas"}, "(no libcublas). The driver is for CUDA 11.4"),
        (
            {"version": "11.4", "count": 1},
            {"cuda": "12.8", "sees": [], "because": "The driver is too old"},
            "PyTorch, built for CUDA 12.8, sees no GPU (The driver is too old). The driver is for CUDA 11.4: update it",
        ),
        ({"version": "12.8", "count": 1}, {"cuda": "12.8", "sees": ["H200"]}, "because"),
        (None, {"cuda": None, "hip": "6.4", "sees": ["MI300X"]}, "because"),
    ],
)
def test_doctor_says_why_there_is_no_gpu(monkeypatch, driver, torch, said):
    monkeypatch.setattr(gpus.devices, "logical_devices", lambda kind=None: [])
    monkeypatch.setattr(gpus.devices, "physical_devices", lambda kind=None: [])
    monkeypatch.setattr(gpus.devices, "turned_off", lambda: "")
    monkeypatch.setattr(gpus.devices, "no_gpu_because", lambda: "because")
    monkeypatch.setattr(gpus.gpu, "why_unusable", lambda: "")
    monkeypatch.setattr(gpus.gpu, "IS_APPLE", False)
    monkeypatch.setattr(gpus, "_cuda", lambda: driver)
    assert said in gpus.why_no_gpu(torch)


@pytest.mark.parametrize("reason", [gpus.gpu.NO_CUDA, gpus.gpu.NO_STANDARD])
def test_doctor_says_what_pytorch_lacks(monkeypatch, reason):
    monkeypatch.setattr(gpus.devices, "logical_devices", lambda kind=None: [])
    monkeypatch.setattr(gpus.devices, "physical_devices", lambda kind=None: [])
    monkeypatch.setattr(gpus.devices, "turned_off", lambda: "")
    monkeypatch.setattr(gpus.gpu, "why_unusable", lambda: reason)
    monkeypatch.setattr(gpus, "_cuda", lambda: {"version": "12.8", "count": 1})
    assert gpus.why_no_gpu({"cuda": None, "sees": []}) == reason


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ({"cuda": "12.8", "hip": None, "sees": ["H200"]}, " for CUDA 12.8, sees H200"),
        ({"cuda": None, "hip": "6.4", "sees": ["MI300X"]}, " for ROCm 6.4, sees MI300X"),
        ({"cuda": None, "hip": None, "sees": []}, " without CUDA, sees no GPU"),
        ({"cuda": "12.8", "hip": None, "sees": [], "because": "too old"}, " for CUDA 12.8, sees no GPU (too old)"),
        ({"missing": True}, "missing: pip install 'torch>=2.6' 'array-api-compat>=1.11'"),
    ],
)
def test_doctor_describes_pytorch(monkeypatch, said, line):
    monkeypatch.setattr(gpus.gpu, "IS_APPLE", False)
    assert gpus.describe_torch(said).endswith(line)


def test_doctor_says_that_jax_lacks_cuda():
    remedy = "pip install 'jax[cuda12]'"
    assert gpus.describe_jax({"sees": ["cpu:0 cpu"]}, uses_gpu=True).endswith(remedy)
    for said in ({"sees": ["gpu:0 H200"]}, {"missing": True}, {"error": "no libcublas"}):
        assert remedy not in gpus.describe_jax(said, uses_gpu=True)
    assert remedy not in gpus.describe_jax({"sees": ["cpu:0 cpu"]}, uses_gpu=False)
