"""TensorFlow's recorded results, compared: see tools/record_tensorflow.py, which records them."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from case_groups import check_cases

import gradtape

FOLDER = Path(__file__).parent / "recorded"
_spec = importlib.util.spec_from_file_location("recorder", FOLDER.parent.parent / "tools" / "record_tensorflow.py")
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)

TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5}

# Cases that print arrays, and the first version of NumPy that prints what TensorFlow's recording has.
PRINTED_SINCE = {
    "tensor_str_large": "2.3.0",  # 1e+08 instead of 100000000.0
    "tensor_repr_long": "2.2.0",  # the shape of a shortened array
}

SUBJECTS = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.mark.parametrize("subject", SUBJECTS)
def test_same_as_tensorflow(subject):
    if subject == "uncommon_names":  # images among them
        pytest.importorskip("PIL")
    if subject == "file_system" and not sys.platform.startswith("linux"):
        pytest.skip("its names, messages of the system and full disk are Linux'")
    answers = json.loads((FOLDER / f"{subject}.json").read_text())["answers"]
    cases = {name: source for name, source in recorder.load(subject) if not is_printed_otherwise(name)}
    check_cases(check_case, {name: (source, answers.get(name)) for name, source in cases.items()})


def is_printed_otherwise(name):
    return np.lib.NumpyVersion(np.__version__) < PRINTED_SINCE.get(name, "0.0.0")


def check_case(source, expected):
    assert expected is not None, "no answer is recorded for this case: run tools/record_tensorflow.py"
    got = recorder.evaluate(source, gradtape)
    if "error" in expected:
        assert "error" in got, f"TensorFlow raises {expected['error']} ({expected['message']}), gradtape gives {got}"
        assert got["error"] == expected["error"], (got["message"], expected["message"])
        return
    assert "error" not in got, f"{got.get('error')}: {got.get('message')}"
    compare(got["value"], expected["value"])


def compare(got, want):
    if not isinstance(want, dict) or not isinstance(got, dict):
        assert got == want, f"gradtape gives {got}, TensorFlow {want}"
        return
    assert got.keys() == want.keys(), f"gradtape gives {got}, TensorFlow {want}"
    if "dict" in want:
        assert got["dict"].keys() == want["dict"].keys()
        for key in want["dict"]:
            compare(got["dict"][key], want["dict"][key])
    elif "list" in want or "slices" in want or "ragged" in want:
        (key,) = want
        assert len(got[key]) == len(want[key])
        for a, b in zip(got[key], want[key], strict=True):
            compare(a, b)
    elif "strings" in want:
        assert got == want
    else:
        assert got["dtype"] == want["dtype"]
        assert got["shape"] == want["shape"]
        tolerance = TOLERANCES.get(want["dtype"], 1e-9)
        a, b = (np.array(x["data"], dtype=np.float64) for x in (got, want))
        scale = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale * 0.1 + 1e-300)
