"""`tf.quantization.quantize`, `dequantize` and `quantized_concat`: numbers are those of TensorFlow 2.21."""

import numpy as np
import pytest

import gradtape as tf

quantization = tf.quantization
X = tf.constant([[-1.0, -0.3, 0.0], [0.26, 0.77, 1.9]])


def integers(x):
    return x.numpy().ravel().tolist()


@pytest.mark.parametrize(
    ("dtype", "mode", "narrow", "expected", "low", "floats"),
    [
        ("quint8", "MIN_COMBINED", False,
         [0, 71, 102, 129, 181, 255], -1.0,
         [-1.0, -0.303922, 0.0, 0.264706, 0.77451, 1.5]),
        ("quint8", "MIN_FIRST", False,
         [0, 71, 102, 129, 181, 255], -1.0,
         [-1.0, -0.303922, 0.0, 0.264706, 0.77451, 1.5]),
        ("quint8", "SCALED", False,
         [0, 0, 0, 44, 131, 255], 0.0,
         [0.0, 0.0, 0.0, 0.258824, 0.770588, 1.5]),
        ("quint8", "SCALED", True,
         [1, 1, 1, 44, 131, 255], 0.005882353,
         [0.005882] * 3 + [0.258824, 0.770588, 1.5]),
        ("qint8", "MIN_COMBINED", False,
         [-128, -57, -26, 1, 53, 127], -1.0,
         [-1.0, -0.303922, 0.0, 0.264706, 0.77451, 1.5]),
        ("qint8", "SCALED", False,
         [-85, -25, 0, 22, 65, 127], -1.511811,
         [-1.003937, -0.295276, 0.0, 0.259843, 0.767717, 1.5]),
        ("qint8", "SCALED", True,
         [-85, -25, 0, 22, 65, 127], -1.5,
         [-1.003937, -0.295276, 0.0, 0.259843, 0.767717, 1.5]),
        ("qint16", "SCALED", False,
         [-21845, -6553, 0, 5680, 16820, 32767], -1.5000458,
         [-1.000015, -0.299982, 0.0, 0.260018, 0.769982, 1.5]),
        ("quint16", "MIN_FIRST", False,
         [0, 18350, 26214, 33030, 46399, 65535], -1.0,
         [-1.0, -0.299992, 0.0, 0.260014, 0.770008, 1.5]),
        ("qint32", "MIN_FIRST", False,
         [-2147483648, -944892800, -429496704, 17179872, 893353216, 2147483520], -1.0,
         [-1.0, -0.3, 0.0, 0.26, 0.77, 1.5]),
    ],
)  # fmt: skip
def test_values_and_back(dtype, mode, narrow, expected, low, floats):
    def there_and_back(x):
        found = quantization.quantize(x, -1.0, 1.5, getattr(tf, dtype), mode=mode, narrow_range=narrow)
        assert found.output.shape == x.shape
        return found, quantization.dequantize(*found, mode=mode, narrow_range=narrow)

    for call in (there_and_back, tf.function(there_and_back)):
        found, back = call(X)
        assert integers(found.output) == expected and found.output.dtype.name == dtype
        np.testing.assert_allclose([found.output_min, found.output_max], [low, 1.5], rtol=1e-6)
        np.testing.assert_allclose(back.numpy().ravel(), floats, atol=1e-6)


def test_slices_have_ranges():
    found = quantization.quantize(X, [-1.0, -0.5], [1.0, 2.0], tf.qint8, mode="SCALED", axis=0)
    assert integers(found.output) == [-127, -38, 0, 17, 49, 121]
    np.testing.assert_allclose(found.output_min, [-1.007874, -2.015748], rtol=1e-6)
    back = quantization.dequantize(*found, mode="SCALED", axis=0)
    np.testing.assert_allclose(back, [[-1.0, -0.2992126, 0.0], [0.2677165, 0.7716535, 1.9055119]], rtol=1e-6)


@pytest.mark.parametrize(
    ("bounds", "least", "expected", "high"),
    [
        ((0.0, 0.0), 0.01, [0, 0, 0, 255, 255, 255], 0.01),
        ((0.5, 2.0), 0.01, [0, 0, 0, 33, 98, 242], 2.0),
        ((0.0, 0.0), 0.5, [0, 0, 0, 133, 255, 255], 0.5),
    ],
)
def test_the_range_has_zero_and_a_size(bounds, least, expected, high):
    output, low, top = quantization.quantize(X, *bounds, tf.quint8, ensure_minimum_range=least)
    assert integers(output) == expected and float(low) == 0.0 and float(top) == pytest.approx(high)


def test_concatenation_covers_all_ranges():
    a, b = (quantization.quantize(X, low, high, tf.quint8) for low, high in ((-1.0, 1.0), (-2.0, 3.0)))
    rows = [[51, 87, 102], [116, 142, 153]], [[51, 87, 102], [115, 141, 199]]
    for axis in (0, 1):
        found = quantization.quantized_concat(axis, [a[0], b[0]], [a[1], b[1]], [a[2], b[2]])
        assert integers(found.output) == np.concatenate(rows, axis).ravel().tolist()
        assert (float(found.output_min), float(found.output_max)) == (-2.0, 3.0)
    same = quantization.quantized_concat(0, [a[0], a[0]], [a[1]] * 2, [a[2]] * 2)
    assert integers(same.output) == [0, 89, 128, 161, 226, 255] * 2
    assert quantization.dequantize(*a, dtype=tf.bfloat16).dtype == tf.bfloat16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_range": 1.0, "max_range": 0.0}, "input_max_range must be larger than input_min_range"),
        ({"T": tf.float32}, "Value for attr 'T' of float32 is not in the list of allowed values: qint8, quint8"),
        ({"mode": "X"}, "Value for attr 'mode' of \"X\" is not in the list"),
        ({"round_mode": "HALF_TO_EVEN"}, "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'"),
    ],
)
def test_errors_are_tensorflows(arguments, message):
    given = {"min_range": 0.0, "max_range": 1.0, "T": tf.quint8, **arguments}
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        quantization.quantize(X, **given)


def test_options_of_quantizers_are_messages(tmp_path):
    experimental = quantization.experimental
    options = experimental.QuantizationOptions(freeze_all_variables=False)
    options.quantization_method.preset_method = experimental.QuantizationMethod.METHOD_STATIC_RANGE_INT8
    assert options.SerializeToString() == b"\n\x02 \x02H\x00"
    saver = experimental.TfRecordRepresentativeDatasetSaver({"f": tmp_path / "samples"}, {"f": {"x"}})
    (file,) = saver.save({"f": [{"x": tf.constant([1.0])}, {"x": np.float32(2.0)}]}).values()
    samples = [bytes(record.numpy()) for record in tf.data.TFRecordDataset([file.tfrecord_file_path])]
    assert len(samples) == 2 and b"\x00\x00\x80?" in samples[0]
    with pytest.raises(ValueError, match="does not exist in the provided path_map: g"):
        saver.save({"g": []})
    with pytest.raises(KeyError, match="Invalid input keys for representative sample"):
        saver.save({"f": [{"y": 1.0}]})
    with pytest.raises(tf.errors.UnimplementedError, match="where TensorFlow is installed"):
        experimental.quantize_saved_model("model")


def test_ops_that_move_values_take_them():
    x = quantization.quantize(X, -1.0, 1.5, tf.qint8).output
    assert x.numpy().dtype == np.int8 and tf.bitcast(x, tf.int8).numpy().tolist() == x.numpy().tolist()

    def move(x):
        y = tf.concat([tf.transpose(x)[1:], tf.gather(tf.reshape(x, [3, 2]), [2])], 0)
        return tf.cond(tf.size(y) > 3, lambda: tf.identity(y), lambda: y[::-1])

    for call in (move, tf.function(move)):
        y = call(x)
        assert y.dtype == tf.qint8 and y.numpy().tolist() == [[-57, 53], [-26, 127], [53, 127]]
    assert tf.cast(x, tf.float32).numpy().ravel().tolist() == [-128.0, -57.0, -26.0, 1.0, 53.0, 127.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'T' of qint8"):
        tf.add(x, x)
