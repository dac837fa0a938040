"""What holds for all tests, those in docstrings included."""

import warnings

import pytest


@pytest.fixture(autouse=True)
def quiet_kernels():
    """pytest turns warnings into errors; those gradtape itself silences (log of 0, overflow) stay silent."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")
