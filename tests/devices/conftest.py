"""Fixtures of the tests on a device."""

import pytest
from stand_in import MODULE, ON_GPU

import gradtape as tf
from gradtape.engine.registry.devices import use


@pytest.fixture(autouse=True)
def exact_products():
    """Products are compared with those of the host."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(True)


@pytest.fixture
def gpu():
    """New tensors go to the device."""
    if ON_GPU:
        yield
        return
    use(lambda: [{"device_name": "a strict stand-in"}], lambda device: MODULE)
    yield
    use(None, lambda device: MODULE)
