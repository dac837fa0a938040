"""What holds for all tests, those in docstrings included."""

import warnings

import pytest

collect_ignore = ["src/gradtape/keras.py"]  # which is another module, Keras', once it is imported


@pytest.fixture(autouse=True)
def quiet_kernels():
    """pytest turns warnings into errors; those gradtape itself silences (log of 0, overflow) stay silent."""
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradtape\.")
