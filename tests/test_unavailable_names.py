"""Names that are there, and raise errors that say what to use: those of compilers, servers and compiled libraries."""

import pytest

import gradtape as tf

UNIMPLEMENTED = tf.errors.UnimplementedError
lite, dtensor, resolvers = tf.lite, tf.experimental.dtensor, tf.distribute.cluster_resolver


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lite.TFLiteConverter([]), UNIMPLEMENTED, r"Save the model by tf.saved_model.save\(model, folder\)"),
        (lambda: lite.TFLiteConverter.from_keras_model(None), UNIMPLEMENTED, "where TensorFlow is installed"),
        (lambda: lite.experimental.QuantizationDebugger(), UNIMPLEMENTED, "where TensorFlow is installed"),
        (lambda: lite.experimental.Analyzer, AttributeError, "where TensorFlow is installed"),
        (lambda: tf.mlir.experimental.convert_function(None), AttributeError, "experimental_get_compiler_ir"),
        (lambda: tf.compat.v1.queue.FIFOQueue(1, tf.int32), AttributeError, "Python's `queue.Queue` connects threads"),
        (lambda: dtensor.Mesh(["x"], [0], [0], ["CPU:0"]), UNIMPLEMENTED, "gradtape has no DTensors"),
        (lambda: dtensor.Layout.replicated(None, 2), UNIMPLEMENTED, "gradtape has no DTensors"),
        (lambda: dtensor.DVariable([1.0]), UNIMPLEMENTED, "gradtape has no DTensors"),
        (lambda: dtensor.DTensorCheckpoint(None), UNIMPLEMENTED, "gradtape has no DTensors"),
        (lambda: tf.experimental.tensorrt.Converter(), UNIMPLEMENTED, "jit_compile=True"),
        (lambda: tf.sysconfig.get_include(), NotImplementedError, "gradtape.extend"),
        (lambda: tf.load_library("/nowhere.so"), OSError, "kernel libraries from does not exist"),
        (lambda: tf.load_library(__file__), UNIMPLEMENTED, "gradtape.extend"),
        (lambda: tf.load_op_library("/nowhere.so"), tf.errors.NotFoundError, "cannot open shared object file"),
        (lambda: tf.load_op_library(__file__), UNIMPLEMENTED, "gradtape.extend"),
        (lambda: tf.experimental.register_filesystem_plugin(__file__), UNIMPLEMENTED, "from_generator"),
        (lambda: tf.distribute.Server({"worker": ["a:1"]}), UNIMPLEMENTED, "gradtape launch"),
        (lambda: tf.test.create_local_cluster(1, 1), AttributeError, "gradtape launch"),
        (lambda: tf.config.experimental_connect_to_cluster(3), ValueError, "must be a `ClusterSpec` or a `ClusterRes"),
        (
            lambda: tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a:1"]})),
            UNIMPLEMENTED,
            "gradtape launch",
        ),
        (lambda: tf.distribute.experimental.TPUStrategy(), ValueError, "gradtape knows of no TPUs"),
        (lambda: resolvers.KubernetesClusterResolver(), AttributeError, "SimpleClusterResolver"),
    ],
)
def test_errors_say_what_to_use(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_interpreter_needs_litert(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ai_edge_litert", None)
    monkeypatch.setitem(__import__("sys").modules, "tflite_runtime", None)
    with pytest.raises(ImportError, match="pip install ai-edge-litert"):
        lite.Interpreter("model")


def test_settings_are_tensorflows():
    assert str(lite.OpsSet.SELECT_TF_OPS) == "SELECT_TF_OPS" and str(lite.Optimize.DEFAULT) == "DEFAULT"
    assert (tf.sysconfig.CXX11_ABI_FLAG, tf.sysconfig.CXX_VERSION, tf.sysconfig.MONOLITHIC_BUILD) == (1, 201703, 0)
    function_type = tf.types.experimental.FunctionType.from_callable(lambda x, *, y=2: x)
    assert list(function_type.parameters) == ["x", "y"]


def test_raw_summaries_are_written(tmp_path):
    pytest.importorskip("tensorboardX")
    summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)])
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert bool(tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=3))
    writer.close()
    (file,) = tmp_path.iterdir()
    events = [tf.compat.v1.Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset([str(file)])]
    assert [(e.step, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in events if e.summary.value] == [
        (3, "loss", 0.5)
    ]
