"""Memory budgets as they are written, and those that are refused."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.budgets import parse_budget


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (4096, 4096), (np.int64(7000), 7000), (2e9, 2_000_000_000), (0.25, 0.25), (np.float32(0.5), 0.5),
        ("512MB", 512_000_000), ("2GiB", 2**31), ("1.5 kb", 1500), ("1000", 1000), ("6400B", 6400), ("25%", 0.25),
        ("0.1", 0.1), ("1e6", 1_000_000), (".5GB", 500_000_000),
    ],
)  # fmt: skip
def test_budgets_as_they_are_written(given, meant):
    found = parse_budget(given)
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize("given", [True, None, [1], {}, object(), np.ones(2), 1j, b"2GB"])
def test_what_is_no_budget_is_a_type_error(given):
    with pytest.raises(TypeError, match=r"memory_budget must be a number of bytes.*got"):
        parse_budget(given)


@pytest.mark.parametrize(
    "given",
    [0, -1, 1.0, 1, 1.5, 0.0, float("nan"), float("inf"), "", "GB", "2 pints", "-2GB", "0MB", "100%", "0%", "1.0"],
)
def test_budgets_that_make_no_sense_are_value_errors(given):
    with pytest.raises(ValueError, match="memory_budget"):
        parse_budget(given)


@pytest.mark.parametrize("given", [2, np.int64(7), 2.0, 999, "2", "100", "64B", "0.5KB"])
@pytest.mark.parametrize("place", ["tape", "function", "block"])
def test_budgets_that_lack_a_unit_are_refused_with_how_to_write_one(given, place):
    places = {
        "tape": lambda: tf.GradientTape(memory_budget=given),
        "function": lambda: tf.function(abs, memory_budget=given),
        "block": lambda: tf.memory_budget(given).__enter__(),
    }
    with pytest.raises(ValueError, match=r"budget=.* is \d+ bytes, and the smallest budget is 1000 bytes") as error:
        places[place]()
    assert repr(given) in str(error.value)
    if given == 2:
        assert "write '2GB'" in str(error.value)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"spill": "."}, ValueError, "needs a memory_budget"),
        ({"memory_budget": 10**6, "spill": "no such folder"}, tf.errors.NotFoundError, "not a folder"),
        ({"memory_budget": 10**6, "trace": True}, ValueError, "cannot be combined"),
        ({"memory_budget": 10**6, "check": "nan"}, ValueError, "cannot be combined"),
        ({"memory_budget": "2 pints"}, ValueError, "none of B, KB"),
        ({"memory_budget": True}, TypeError, "must be a number of bytes"),
    ],
)
def test_what_is_refused(options, error, said):
    with pytest.raises(error, match=said):
        tf.GradientTape(**options)
