"""TensorFlow's names that gradtape lacks, and those that only raise an error, with what to use instead.

The one source of docs/missing-names.md, of the `AttributeError` of a missing name and of `gradtape check`'s notes.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ..core import text_beside


class Group(NamedTuple):
    """Names that are missing for the same reason; `missing_names.txt` has them, with their signatures."""

    subject: str
    instead: str  # sentences: the reason, and what to use instead

    @property
    def signatures(self) -> list[str]:
        """The signatures, without `tf.`."""
        return _signatures()[self.subject]

    @property
    def names(self) -> list[str]:
        """The names, without `tf.`."""
        return [signature.partition("(")[0] for signature in self.signatures]


MISSING = (
    Group(
        "DTensor",
        "Layouts of tensors on meshes of devices belong to TensorFlow's runtime. `tf.distribute.MirroredStrategy()` "
        "splits batches over devices, `tf.distribute.MultiWorkerMirroredStrategy()` over processes, and "
        "`keras.distribution` shards the variables of a model.",
    ),
    Group(
        "The data service",
        "gradtape has no servers that compute datasets for other processes. Each process of `gradtape launch` reads "
        "its part, `dataset.shard(number_of_workers, index)`; `dataset.save` writes one that has been computed.",
    ),
    Group(
        "Queues",
        "Python's `queue.Queue` connects threads, and `multiprocessing.Queue` processes. "
        "`tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int32).prefetch(1)` reads in the background.",
    ),
    Group(
        "Quantized values",
        "gradtape has no kernels for quantized integers. `tf.quantization.quantize_and_dequantize_v2(x, 0.0, 1.0)` "
        "rounds values as quantization does, with a gradient, and `tf.quantization.fake_quant_with_min_max_args(x)` "
        "likewise.",
    ),
    Group(
        "Wrappers of RNN cells",
        "A cell is a Keras layer: its own class calls another cell and changes inputs or outputs. "
        "`tf.keras.layers.LSTMCell(8, dropout=0.1, recurrent_dropout=0.1)` has dropout.",
    ),
    Group(
        "Partitioners",
        "Variables are not divided among parameter servers, which gradtape lacks. `tf.distribute.MirroredStrategy()` "
        "keeps a copy on each device.",
    ),
    Group(
        "MLIR",
        "gradtape has no MLIR. `tf.function(jit_compile=True)` compiles with XLA, and `experimental_get_compiler_ir` "
        "shows the program.",
    ),
    Group(
        "Distributions of TensorFlow 1",
        "TensorFlow Probability has replaced them: `tensorflow_probability.distributions` runs on "
        "gradtape. `tf.random.normal([2])` and others draw samples.",
    ),
    Group(
        "Structured tensors",
        "`tf.experimental.StructuredTensor` is experimental in TensorFlow and rarely used. Use `tf.RaggedTensor`, or "
        "an extension type with one field for each of them.",
    ),
    Group("Protocol messages as tensors", "`tf.py_function` can parse messages with the `protobuf` package."),
    Group(
        "Internals of input pipelines",
        "`tf.train.Checkpoint` saves an iterator without a saveable object; pipelines have no performance model.",
    ),
    Group("Remote procedure calls", "`gradtape launch` starts processes, and collectives connect them."),
    Group(
        "Addresses of workers",
        "gradtape asks no cloud for its machines, and no process runs ops of another. `gradtape launch` starts "
        "workers, on several hosts too, and `tf.distribute.cluster_resolver.TFConfigClusterResolver()` and "
        '`tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({"worker": ["a:1", "b:1"]}))` '
        "take their addresses.",
    ),
    Group(
        "Systems of TPUs",
        "gradtape knows of no TPUs. `tf.config.list_physical_devices()` lists the devices, and "
        "`tf.distribute.experimental.PreemptionCheckpointHandler` saves when a program is preempted.",
    ),
    Group(
        "Tools of TensorFlow Lite",
        "gradtape runs models by LiteRT, but converts none: save the model with `tf.saved_model.save`, and convert it "
        "where TensorFlow is installed. The package `ai-edge-litert` loads delegates.",
    ),
    Group(
        "Settings of sessions and collectives",
        "`tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0)` has the options of collectives, and "
        "`tf.test.Benchmark` measures without a session.",
    ),
    Group(
        "Profiling another process",
        "A profiler's server writes files for every local user. Profile in the program itself, with "
        "`tf.profiler.experimental.start` and `stop`, or the context manager `Profile`.",
    ),
    Group(
        "TensorFlow's debugger",
        "`tape.explain`, `tf.debugging.enable_check_numerics` and `gradtape run --trace` find NaNs and lost "
        "gradients.",
    ),
    Group("JPEG XL", "Decode it in `tf.py_function` with a plugin of Pillow."),
    Group("Box proposals of object detectors", "`tf.image.combined_non_max_suppression` selects boxes."),
)

RAISING = (
    Group(
        "TPUs",
        "gradtape knows of no TPUs. Use `tf.distribute.MirroredStrategy` or `tf.distribute.get_strategy()`.",
    ),
    Group(
        "TensorFlow Lite's converter",
        "Save the model with `tf.saved_model.save`, and convert it where TensorFlow is installed.",
    ),
    Group(
        "TensorRT",
        "`tf.function(jit_compile=True)` compiles with XLA, and `experimental_get_compiler_ir` shows the program.",
    ),
    Group(
        "Servers and parameter servers",
        "`gradtape launch` starts processes, and `tf.distribute.MultiWorkerMirroredStrategy` trains in them.",
    ),
    Group(
        "Compiled ops, and TensorFlow's headers and libraries",
        "gradtape loads no kernels that were compiled for TensorFlow. Define ops in Python with `gradtape.extend`.",
    ),
    Group(
        "Classes of DTensor",
        "Libraries import them. `tf.distribute.MirroredStrategy()` splits batches over devices.",
    ),
)


@cache
def _signatures() -> dict[str, list[str]]:
    """Returns the signatures of each subject."""
    sections = text_beside(__spec__, "missing_names.txt").split("\n# ")[1:]
    return {subject: lines for subject, *lines in (section.strip().split("\n") for section in sections)}


@cache
def missing_names() -> dict[str, str]:
    """Returns the names that gradtape lacks, each with the reason and what to use instead."""
    return {name: group.instead for group in MISSING for name in group.names}


@cache
def raising_names() -> dict[str, str]:
    """Returns the names that exist but raise an error when used, each with what to use instead."""
    return {name: group.instead for group in RAISING for name in group.names}
