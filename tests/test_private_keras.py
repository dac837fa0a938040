"""`tensorflow.python.keras`, from the package tf-keras, and the namespaces of TensorFlow 1 that Keras 2 defines."""

import importlib.util
import os

import pytest
from test_command_line import gradtape, script  # noqa: F401  a fixture among them

if importlib.util.find_spec("tf_keras") is None:  # it cannot be imported here: only `gradtape run` serves TensorFlow
    pytest.skip("tf-keras is not installed", allow_module_level=True)
pytest.importorskip("requests")

LEGACY = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}

# A module of TensorFlow's Keras, at the paths of Keras 2.2 to 2.6, and the names that libraries import from it.
NAMES = """
activations get relu
api._v2.keras layers
applications.imagenet_utils preprocess_input
applications.resnet ResNet50
backend is_keras_tensor get_session floatx
backend_config epsilon
callbacks Callback CallbackList
constraints Constraint
datasets.mnist load_data
distribute.distributed_training_utils call_replica_local_fn
engine.base_layer Layer InputSpec TensorFlowOpLayer
engine.base_layer_utils make_variable
engine.compile_utils LossesContainer apply_mask get_mask
engine.data_adapter train_validation_split expand_1d
engine.functional Functional
engine.input_spec InputSpec
engine.keras_tensor KerasTensor
engine.network Network
engine.sequential Sequential
engine.topology Layer InputLayer get_source_inputs
engine.training Model
feature_column.dense_features DenseFeatures
initializers Zeros get
initializers.initializers_v2 Zeros
layers Dense LSTM Conv2D
layers.advanced_activations LeakyReLU
layers.convolutional Conv Conv2D UpSampling2D ZeroPadding2D
layers.core Dense Dropout Flatten Lambda Reshape
layers.embeddings Embedding
layers.merge Concatenate _Merge
layers.normalization BatchNormalization BatchNormalizationBase
layers.normalization_v2 BatchNormalization
layers.pooling MaxPooling2D Pooling2D
layers.recurrent RNN LSTMCell DropoutRNNCellMixin _standardize_args
layers.recurrent_v2 LSTM GRU
layers.wrappers Wrapper Bidirectional TimeDistributed
legacy_tf_layers.core Dense
losses LossFunctionWrapper Loss
metrics Metric MeanMetricWrapper
mixed_precision.autocast_variable AutoCastVariable
mixed_precision.loss_scale_optimizer LossScaleOptimizer
models Model Sequential clone_and_build_model
optimizer_v1 TFOptimizer
optimizer_v2.adam Adam
optimizer_v2.learning_rate_schedule LearningRateSchedule
optimizer_v2.optimizer_v2 OptimizerV2
optimizers Adam TFOptimizer
preprocessing.image ImageDataGenerator
preprocessing.sequence pad_sequences
regularizers l2
saving.hdf5_format save_weights_to_hdf5_group
saving.saved_model.json_utils Encoder
testing_utils layer_test
utils to_categorical
utils.conv_utils normalize_tuple
utils.data_utils Sequence
utils.generic_utils Progbar register_keras_serializable serialize_keras_object has_arg
utils.layer_utils count_params print_summary
utils.losses_utils ReductionV2
utils.tf_utils shape_type_conversion is_tensor_or_variable
utils.vis_utils plot_model
"""

MODEL = """
    import numpy as np
    import tensorflow as tf
    from tensorflow.python.keras import Model, backend as K
    from tensorflow.python.keras.engine.base_layer import Layer
    from tensorflow.python.keras.engine import data_adapter
    from tensorflow.python.keras.layers import Dense, Input
    from tensorflow.python.keras.losses import MeanSquaredError
    from tensorflow.python.keras.optimizer_v2 import gradient_descent
    from tensorflow.python import layers
    from tensorflow.python.layers import utils

    class Scaled(Layer):
        def build(self, shape):
            self.scale = self.add_weight("scale", shape[-1:], initializer="ones")

        def call(self, x):
            return x * self.scale

    inputs = Input([3])
    model = Model(inputs, Dense(1, kernel_initializer="ones")(Scaled()(inputs)))
    x, y = np.ones((4, 3), "float32"), np.zeros((4, 1), "float32")
    optimizer = gradient_descent.SGD(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = MeanSquaredError()(y, model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        print(round(float(loss), 5))
    print(K.int_shape(inputs), isinstance(model, Model))
    print(*(tuple(x.shape) for x in data_adapter.expand_1d([tf.ones(3), tf.ones([2, 2])])))
    print(layers.base.Layer.__name__, utils.normalize_tuple(2, 2, "strides"), utils.smart_cond.__name__)
"""


def test_the_modules_are_those_of_keras_2(script):  # noqa: F811
    done = gradtape("run", script(
        f"""
        import importlib
        for line in {NAMES!r}.split("\\n"):
            place, *names = line.split() or ["backend"]
            module = importlib.import_module("tensorflow.python.keras." + place)
            for name in names:
                assert hasattr(module, name), (place, name)
        import tf_keras.src.backend
        from tensorflow.python.keras import backend
        assert backend is tf_keras.src.backend
        try:
            import tensorflow.python.keras.no_such_module
        except ModuleNotFoundError as error:
            print(error)
        """
    ))  # fmt: skip
    assert done.stdout.startswith("tensorflow.python.keras.no_such_module, which the program asks for"), done.stderr


def test_a_model_of_private_modules_trains(script):  # noqa: F811
    done = gradtape("run", script(MODEL))
    expected = ["9.0", "0.0144", "0.00528", "(None, 3) True", "(3, 1) (2, 2)", "Layer (2, 2) smart_cond"]
    assert done.stdout.split("\n")[:6] == expected, done.stderr


def test_a_missing_package_is_named(script):  # noqa: F811
    done = gradtape("run", script(
        """
        import sys
        sys.modules["tf_keras"] = None
        from tensorflow.python.keras.layers import Dense
        """
    ))  # fmt: skip
    assert "ImportError: Keras 2, which the program asks for, needs the module tf_keras" in done.stderr
    assert "pip install --no-deps tf-keras" in done.stderr


def test_the_namespaces_of_tensorflow_1_that_keras_defines(script):  # noqa: F811
    program = script(
        """
        import sys
        sys.modules["jax"] = sys.modules["matplotlib"] = None  # Keras 3 would import them
        import tensorflow as tf
        from tensorflow.compat.v1 import keras
        print(tf.compat.v1.keras.layers.Dense.__module__.split(".")[0], keras.__name__ != "")
        try:
            print(tf.compat.v1.layers.Dense.__name__, tf.compat.v1.nn.rnn_cell.LSTMCell.__name__)
        except AttributeError as error:
            print(error)
        """
    )
    done = gradtape("run", program, env=LEGACY)
    assert done.stdout == "tf_keras True\nDense LSTMCell\n", done.stderr
    done = gradtape("run", program)
    assert done.stdout.startswith("keras True\n`tf.compat.v1.layers` is not available with Keras 3"), done.stderr


# The losses and sums of gradients are TensorFlow's.
CELLS = """
    import numpy as np
    import tensorflow as tf

    v1, cells, ones = tf.compat.v1, tf.compat.v1.nn.rnn_cell, tf.ones_initializer()
    x = tf.constant(np.arange(24).reshape(2, 4, 3).astype("float32") / 24)
    print(issubclass(tf.Module, tf.__internal__.tracking.Trackable), isinstance(x, tf.__internal__.tracking.Trackable))
    for cell in (
        cells.LSTMCell(3, initializer=ones, num_proj=2, use_peepholes=True, name="lstm"),
        cells.MultiRNNCell([cells.LSTMCell(3, initializer=ones), cells.GRUCell(2, kernel_initializer=ones)]),
    ):
        wrapped = cells.DropoutWrapper(cell, output_keep_prob=1.0)
        with tf.GradientTape() as tape:
            outputs, state = v1.nn.dynamic_rnn(wrapped, x, sequence_length=[4, 2], dtype=tf.float32)
            loss = tf.reduce_sum(outputs**2)
        variables = cell.trainable_variables
        print(*(round(float(tf.reduce_sum(y)), 3) for y in [loss, *tape.gradient(loss, variables)]), variables[0].name)
    forward, backward = (cells.GRUCell(2, kernel_initializer=ones, name=name) for name in "ab")
    steps, first, last = v1.nn.static_bidirectional_rnn(forward, backward, tf.unstack(x, axis=1), dtype=tf.float32)
    print(len(steps), *(round(float(y), 4) for y in steps[0][0]), forward.weights[0].name, backward.weights[0].name)
    layer = v1.make_template("t", lambda x: v1.layers.dense(x, 2, kernel_initializer=ones, name="d"))
    print(layer(x).numpy().sum(), layer(x).shape, [v.name for v in layer.variables])
    print(v1.layers.conv2d(tf.ones([1, 4, 4, 2]), 3, 2, kernel_initializer=ones).numpy().sum())
    calls = []
    two_layers = lambda x: v1.layers.dense(v1.layers.dense(x, 2), calls.append(x) or 3)
    two = v1.wrap_function(two_layers, [tf.TensorSpec([1, 2])])
    print(two(tf.ones([1, 2])).shape, len(calls), *sorted(v.name for v in two.variables))
"""


def test_the_cells_and_layers_of_tensorflow_1(script):  # noqa: F811
    done = gradtape("run", script(CELLS), env=LEGACY)
    assert done.stdout.split("\n")[:-1] == [
        "True False",
        "55.935 23.953 53.91 0.034 0.292 2.096 116.182 rnn/lstm/kernel:0",
        "0.145 -0.058 0.167 -0.278 -0.231 0.149 0.481 rnn/multi_rnn_cell/cell_0/lstm_cell/kernel:0",
        "4 0.0305 0.0305 0.269 0.269 bidirectional_rnn/fw/a/gates/kernel:0 bidirectional_rnn/bw/b/gates/kernel:0",
        "23.0 (2, 4, 2) ['t/d/bias:0', 't/d/kernel:0']",
        "216.0",
        "(1, 3) 1 dense/bias:0 dense/kernel:0 dense_1/bias:0 dense_1/kernel:0",
    ], done.stderr


def test_a_check_finds_the_names_of_keras_2(script):  # noqa: F811
    program = script(
        """
        import tensorflow as tf
        from tensorflow.python.ops import math_ops
        tf.keras.layers.Dense, tf.keras.optimizers.legacy.Adam, tf.keras.layers.Nothing, math_ops.floor_mod
        """
    )
    done = gradtape("check", program, env=LEGACY)
    assert done.stdout.split("\n")[0].endswith("missing tf.keras.layers.Nothing"), done.stdout + done.stderr
    assert done.stdout.split("\n")[1].endswith("1 missing")
