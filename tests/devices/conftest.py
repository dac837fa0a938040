"""Fixtures of the device tests."""

import pytest
from stand_in import MODULE, ON_GPU

import gradtape as tf
from gradtape.engine.registry.devices import use


@pytest.fixture(autouse=True)
def exact_products():
    """Makes products comparable with those of the host."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.fixture
def gpu():
    """Places new tensors on the device."""
    if ON_GPU:
        yield
        return
    use(lambda: [{"device_name": "a strict stand-in"}], lambda device: MODULE)
    yield
    use(None, lambda device: MODULE)
