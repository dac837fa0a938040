"""Tapes with a memory budget: what rules keep is let go and computed again, and gradients are the same to the bit."""

import numpy as np
import pytest

from gradtape.core.budgets import parse_budget


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (4096, 4096), (np.int64(7), 7), (2e9, 2_000_000_000), (0.25, 0.25), (np.float32(0.5), 0.5),
        ("512MB", 512_000_000), ("2GiB", 2**31), ("1.5 kb", 1500), ("100", 100), ("64B", 64), ("25%", 0.25),
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
