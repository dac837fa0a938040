"""`tf.quantization.experimental`: typical inputs of a model as files; and the quantizer, which is TensorFlow's."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gradtape.api.io.records import TFRecordWriter
from gradtape.core import errors

from .generated import message_class
from .tensors import make_tensor_proto

NAMESPACES = ("quantization.experimental",)
__all__ = ["TfRecordRepresentativeDatasetSaver", "quantize_saved_model"]


class TfRecordRepresentativeDatasetSaver:
    """Writes typical inputs of a model's signatures to TFRecord files, for TensorFlow's quantizer.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/samples"
    >>> saver = tf.quantization.experimental.TfRecordRepresentativeDatasetSaver({"serving_default": path})
    >>> saver.save({"serving_default": [{"x": tf.constant([1.0])}]})["serving_default"].tfrecord_file_path == path
    True

    Args:
      path_map: the path of the file of each signature.
      expected_input_key_map: the names of the inputs of signatures, to check the samples.
    """

    __module__ = "gradtape.quantization.experimental"

    def __init__(
        self,
        path_map: Mapping[str, os.PathLike[str]],
        expected_input_key_map: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self.path_map, self.expected_input_key_map = path_map, expected_input_key_map or {}

    def save(self, representative_dataset: Mapping[str, Iterable[Mapping[str, Any]]]) -> Mapping[str, Any]:
        """Writes the samples of each signature; returns messages with the paths."""
        found = {}
        for signature, samples in representative_dataset.items():
            if signature not in self.path_map:
                raise ValueError(f"SignatureDef key does not exist in the provided path_map: {signature}")
            path = os.fsdecode(self.path_map[signature])
            expected = self.expected_input_key_map.get(signature)
            with TFRecordWriter(path) as writer:
                for sample in samples:
                    writer.write(_serialized(sample, expected))
            kind = message_class("tensorflow.quantization.RepresentativeDatasetFile")
            found[signature] = kind(tfrecord_file_path=path)
        return found


def _serialized(sample: Mapping[str, Any], expected: Collection[str] | None) -> bytes:
    if expected is not None and set(sample) != set(expected):
        raise KeyError(
            "Invalid input keys for representative sample. The function expects input keys of: "
            f"{set(expected)}. Got: {set(sample)}. Please provide correct input keys for representative samples."
        )
    message = message_class("tensorflow.quantization.RepresentativeDataSample")()
    for name, value in sample.items():
        array = value.numpy() if hasattr(value, "numpy") else value
        message.tensor_proto_inputs[name].CopyFrom(make_tensor_proto(array))
    return message.SerializeToString()  # type: ignore[no-any-return]


def quantize_saved_model(
    saved_model_path: str,
    output_directory: str | None = None,
    quantization_options: Any = None,
    representative_dataset: Any = None,
    *,
    overwrite_output_directory: bool = False,
) -> Any:
    """Raises an error: the quantizer is part of TensorFlow's compiler; run it where TensorFlow is installed.

    >>> tf.quantization.experimental.quantize_saved_model("model")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise errors.UnimplementedError(
        "quantize_saved_model is part of TensorFlow's compiler. Save the model by tf.saved_model.save, and quantize it "
        "where TensorFlow is installed; train with tf.quantization.fake_quant_with_min_max_args to prepare for it"
    )
