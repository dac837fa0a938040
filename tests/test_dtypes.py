"""Dtypes are singletons; the recorded comparison covers their members."""

import copy
import pickle

import numpy as np
import pytest

import gradtape as tf
from gradtape.core import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_there_is_one_object_for_each(dtype):
    assert tf.as_dtype(dtype.name) is dtype
    assert tf.DType(dtype.as_datatype_enum) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    if dtype.is_numpy_compatible:
        assert tf.as_dtype(dtype.as_numpy_dtype) is dtype
        assert tf.as_dtype(np.dtype(dtype.as_numpy_dtype)) is dtype


def test_the_differentiable_ones():
    found = {dtype.name for dtype in dtypes.ALL if dtype.differentiable}
    assert found == {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind], ids=lambda dtype: dtype.name)
def test_values_of_every_dtype_go_in_and_out(dtype):
    value = "1" if dtype is tf.string else 1
    t = tf.constant([value], dtype) if dtype not in (tf.bool,) else tf.constant([True])
    assert t.dtype is dtype
    assert t.numpy().dtype == (dtype.numpy[dtype.name] if dtype.is_quantized else dtype.numpy)
    v = tf.Variable(t)
    assert v.dtype is dtype
    assert repr(v.value()) == repr(t)


def test_other_byte_orders_are_converted():
    t = tf.constant(np.array([1.0, 2.0], ">f4"))
    assert t.dtype is tf.float32
    assert (t + 1.0).numpy().tolist() == [2.0, 3.0]


def test_the_quantized_ones_are_named():
    assert tf.dtypes.QUANTIZED_DTYPES == {tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32}


@pytest.mark.parametrize("value", [0.5, [0.5], True, [True]])
def test_quantized_ones_hold_integers(value):
    assert tf.constant(5, tf.qint8).numpy() == tf.constant([5], tf.qint8).numpy()[0] == 5
    with pytest.raises(TypeError, match=r"to EagerTensor of dtype qint8\. Give integers"):
        tf.constant(value, tf.qint8)


OUT_OF_RANGE = [300.0, -5.0, np.nan, np.inf, -np.inf, 1e5, -1e5, -200.7, 127.9, 3e9, -3e9, 255.5, 1.5, -1.5]
LEAST, LEAST_64 = -(2**31), -(2**63)
# TensorFlow 2.21's results for arrays of 64 or more elements of float32 and float64, on x86.
AS_INTEGERS = {
    "uint8": [255, 0, 0, 0, 0, 255, 0, 0, 127, 0, 0, 255, 1, 0],
    "int8": [127, -5, -128, -128, -128, 127, -128, -128, 127, -128, -128, 127, 1, -1],
    "uint16": [300, 0, 0, 0, 0, 65535, 0, 0, 127, 0, 0, 255, 1, 0],
    "int16": [300, -5, -32768, -32768, -32768, 32767, -32768, -200, 127, -32768, -32768, 255, 1, -1],
    "int32": [300, -5, LEAST, LEAST, LEAST, 100000, -100000, -200, 127, LEAST, LEAST, 255, 1, -1],
    "int64": [
        300, -5, LEAST_64, LEAST_64, LEAST_64, 100000, -100000, -200, 127, 3000000000, -3000000000, 255, 1, -1,
    ],
}  # fmt: skip


@pytest.mark.parametrize("jit_compile", [None, False, True], ids=["eager", "function", "xla"])
@pytest.mark.parametrize("target", AS_INTEGERS)
@pytest.mark.parametrize("given", ["float32", "float64"])
def test_floats_out_of_range_become_integers_as_in_tensorflow(given, target, jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    x = tf.constant(OUT_OF_RANGE * 8, given)

    def cast(x):
        return tf.cast(x, target)

    convert = cast if jit_compile is None else tf.function(cast, jit_compile=jit_compile)
    for _ in range(2):  # the first call of a function traces it
        assert convert(x).numpy().tolist() == AS_INTEGERS[target] * 8
    if jit_compile is None:
        assert [int(cast(one)) for one in x[: len(OUT_OF_RANGE)]] == AS_INTEGERS[target]


@pytest.mark.parametrize("jit_compile", [None, False, True], ids=["eager", "function", "xla"])
def test_bfloat16_and_float16_out_of_range(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    for given in ("bfloat16", "float16"):
        x = tf.cast(tf.constant([300.0, -5.0, np.nan, np.inf, -np.inf, 1.5] * 16), given)

        def cast(x):
            return [tf.cast(x, target) for target in ("uint8", "int8", "int16", "int32")]

        convert = cast if jit_compile is None else tf.function(cast, jit_compile=jit_compile)
        for _ in range(2):
            assert [y.numpy()[:6].tolist() for y in convert(x)] == [
                [255, 0, 0, 0, 0, 1], [127, -5, -128, -128, -128, 1], [300, -5, -32768, -32768, -32768, 1],
                [300, -5, LEAST, LEAST, LEAST, 1],
            ]  # fmt: skip


def test_pictures_that_are_too_bright_stay_bright():
    x = tf.constant([-0.1, 0.0, 0.5, 1.0, 1.2, np.nan, 300.0] * 10)
    assert tf.image.convert_image_dtype(x, tf.uint8).numpy()[:7].tolist() == [0, 0, 127, 255, 255, 0, 255]
    assert tf.image.convert_image_dtype(x, tf.int16).numpy()[:5].tolist() == [-3276, 0, 16383, 32767, 32767]


def test_a_variable_cast_to_its_own_dtype_is_the_variable():
    v = tf.Variable([1.0, 2.0])
    same = tf.cast(v, "float32")
    assert same is v
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(same * same)
    assert tape.gradient(y, v).numpy().tolist() == [2.0, 4.0]
    for copy_of in (tf.identity, tf.convert_to_tensor, tf.Variable.value, tf.Variable.read_value):
        assert isinstance(copy_of(v), tf.Tensor)
    assert isinstance(tf.saturate_cast(v, tf.float32), tf.Tensor)

    @tf.function
    def before_and_after():
        read = tf.cast(v, v.dtype)
        v.assign_add([1.0, 1.0])
        return read + 0.0

    assert before_and_after().numpy().tolist() == [2.0, 3.0]
