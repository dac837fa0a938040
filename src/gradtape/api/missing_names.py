"""TensorFlow's names that gradtape lacks, and those that only raise an error, with what to use instead.

The one source of docs/missing-names.md, of the `AttributeError` of a missing name and of `gradtape check`'s notes.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Group(NamedTuple):
    """Names that are missing for the same reason."""

    subject: str
    instead: str  # sentences: the reason, and what to use instead
    names: str  # separated by blanks


MISSING = (
    Group(
        "Structured tensors",
        "`tf.experimental.StructuredTensor` is experimental in TensorFlow and rarely used. Use `tf.RaggedTensor`, or "
        "an extension type with one field for each of them.",
        "experimental.StructuredTensor",
    ),
    Group(
        "Protocol messages as tensors",
        "`tf.py_function` can parse messages with the `protobuf` package.",
        "io.decode_proto io.encode_proto",
    ),
    Group(
        "Internals of input pipelines",
        "`tf.train.Checkpoint` saves an iterator without a saveable object; pipelines have no performance model.",
        "data.experimental.get_model_proto data.experimental.make_saveable_from_iterator",
    ),
    Group(
        "Remote procedure calls",
        "`gradtape launch` starts processes, and collectives connect them.",
        "distribute.experimental.rpc.Client distribute.experimental.rpc.Server",
    ),
    Group(
        "Profiling another process",
        "A profiler's server writes files for every local user. Profile in the program itself, with "
        "`tf.profiler.experimental.start` and `stop`, or the context manager `Profile`.",
        "profiler.experimental.client.monitor profiler.experimental.client.trace profiler.experimental.server.start",
    ),
    Group(
        "TensorFlow's debugger",
        "`tape.explain`, `tf.debugging.enable_check_numerics` and `gradtape run --trace` find NaNs and lost gradients.",
        "debugging.experimental.disable_dump_debug_info debugging.experimental.enable_dump_debug_info",
    ),
    Group("JPEG XL", "Decode it in `tf.py_function` with a plugin of Pillow.", "image.decode_jxl io.decode_jxl"),
    Group(
        "Box proposals of object detectors",
        "`tf.image.combined_non_max_suppression` selects boxes.",
        "image.generate_bounding_box_proposals",
    ),
)

RAISING = (
    Group(
        "TPUs",
        "gradtape knows of no TPUs. Use `tf.distribute.MirroredStrategy` or `tf.distribute.get_strategy()`.",
        "distribute.TPUStrategy distribute.experimental.TPUStrategy experimental.dtensor.create_tpu_mesh "
        "tpu.experimental.DeviceAssignment tpu.experimental.HardwareFeature tpu.experimental.Topology "
        "tpu.experimental.initialize_tpu_system tpu.experimental.shutdown_tpu_system "
        "tpu.experimental.embedding.TPUEmbedding tpu.experimental.embedding.TPUEmbeddingV0 "
        "tpu.experimental.embedding.TPUEmbeddingV2",
    ),
    Group(
        "TensorFlow Lite's converter",
        "Save the model with `tf.saved_model.save`, and convert it where TensorFlow is installed.",
        "lite.TFLiteConverter lite.experimental.Analyzer lite.experimental.QuantizationDebugger "
        "lite.experimental.authoring.compatible quantization.experimental.quantize_saved_model",
    ),
    Group(
        "TensorRT and MLIR",
        "`tf.function(jit_compile=True)` compiles with XLA, and `experimental_get_compiler_ir` shows the program.",
        "experimental.tensorrt.Converter mlir.experimental.convert_function mlir.experimental.convert_graph_def "
        "mlir.experimental.convert_saved_model mlir.experimental.convert_saved_model_v1 "
        "mlir.experimental.run_pass_pipeline mlir.experimental.tflite_to_tosa_bytecode "
        "mlir.experimental.write_bytecode",
    ),
    Group(
        "Servers and parameter servers",
        "`gradtape launch` starts processes, and `tf.distribute.MultiWorkerMirroredStrategy` trains in them.",
        "distribute.Server distribute.ParameterServerStrategy distribute.experimental.ParameterServerStrategy "
        "config.experimental_connect_to_cluster config.experimental_connect_to_host test.create_local_cluster",
    ),
    Group(
        "Compiled ops, and TensorFlow's headers and libraries",
        "gradtape loads no kernels that were compiled for TensorFlow. Define ops in Python with `gradtape.extend`.",
        "load_library load_op_library experimental.register_filesystem_plugin sysconfig.get_compile_flags "
        "sysconfig.get_include sysconfig.get_lib sysconfig.get_link_flags",
    ),
)


@cache
def missing_names() -> dict[str, str]:
    """Returns the names that gradtape lacks, each with the reason and what to use instead."""
    return {name: group.instead for group in MISSING for name in group.names.split()}


@cache
def raising_names() -> dict[str, str]:
    """Returns the names that exist but raise an error when used, each with what to use instead."""
    return {name: group.instead for group in RAISING for name in group.names.split()}
