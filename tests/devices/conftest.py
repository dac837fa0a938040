"""Fixtures of the device tests, which need PyTorch: `make test-torch` runs them."""

import importlib.util

import pytest

import gradtape as tf
from gradtape.engine.registry.devices import use

if importlib.util.find_spec("torch") is not None:
    from stand_in import MODULE, ON_GPU


@pytest.fixture(autouse=True)
def exact_products():
    """Makes products comparable with those of the host."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.fixture(autouse=True)
def forgotten_fallbacks():
    """Makes each test see only its own ops that were computed on the host."""
    MODULE.by_way_of_host.clear()


@pytest.fixture
def gpu():
    """Places new tensors on the device."""
    if ON_GPU:
        yield
        return
    use(lambda: [{"device_name": "PyTorch's CPU"}], lambda device: MODULE)
    yield
    use(None, lambda device: MODULE)
