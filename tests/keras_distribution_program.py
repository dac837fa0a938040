"""Checks of keras.distribution on four virtual CPUs: a separate program, because JAX must be configured at startup.

It runs the functions named `check_*` and prints, as JSON, the exception of each. `test_keras_distribution.py` runs it.
"""

import io
import json
import os
import sys
import tempfile
import traceback
from contextlib import redirect_stdout

import numpy as np

import gradtape as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 4
)
from gradtape import keras  # noqa: E402
from gradtape.state.sharded_storage import ShardedStorage  # noqa: E402
from keras_gradtape.src.distribution import lay_out  # noqa: E402

layers, distribution = keras.layers, keras.distribution
X = np.random.default_rng(0).normal(size=(44, 6)).astype("float32")  # with batches of 16, the last one has 12 rows
Y = X[:, :4].argmax(1)


def data_parallel():
    return distribution.DataParallel()


def model_parallel(shape=(2, 2)):
    layouts = distribution.LayoutMap(distribution.DeviceMesh(shape, ["batch", "model"]))
    layouts[".*dense.*kernel"] = (None, "model")
    layouts[".*dense.*bias"] = ("model",)
    return distribution.ModelParallel(layout_map=layouts, batch_dim_name="batch")


def network(dropout=0.2):
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [keras.Input((6,)), layers.Dense(16, "tanh"), layers.Dropout(dropout), layers.Dense(4), layers.Softmax()]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def stepped(model):
    return [model.train_on_batch(X[:16], Y[:16])[0] for _ in range(3)]


def trained(model):
    losses = model.fit(X, Y, batch_size=16, epochs=3, verbose=0, shuffle=False).history["loss"]
    return losses, model.evaluate(X, Y, batch_size=16, verbose=0), model.predict(X, batch_size=16, verbose=0)


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def momentum_of(model):
    """Returns Adam's momentum of the first kernel."""
    return next(v for v in model.optimizer.variables if v.path.endswith("kernel_momentum"))


_alone = []


def alone():
    """Returns the results of the network on one device."""
    if not _alone:
        _alone.append(trained(network()))
    return _alone[0]


def check_one_device_is_as_before():
    alone()
    assert type(network().layers[0].kernel.value) is tf.Variable


def check_data_parallel():
    with data_parallel().scope():
        model = network()
        same(trained(model), alone())
    for variable in (*model.variables, *model.optimizer.variables):
        spread = variable.value._storage.buffer
        assert spread.sharding.is_fully_replicated and len(spread.addressable_shards) == 4
    batches = {v.sharding.spec[0] for v in _inputs_of(model)}
    assert batches == {"batch"}, batches


def _inputs_of(model):
    """Returns the input shardings of a training step's program, for a batch of 16."""
    cells = [cell.cell_contents for cell in model.train_function.__closure__]
    (function,) = [step._function for step in cells if hasattr(step, "_function")]
    (program,) = [
        variant._program
        for concrete in function._concretes.values()
        for variants in concrete.variants()
        for variant in variants
        if variant.graph.inputs[0].shape[0] == 16
    ]
    return [type("Input", (), {"sharding": program._placement.of_input(v.shape)}) for v in program.graph.inputs]


def check_model_parallel():
    with model_parallel().scope():
        model = network()
        same(trained(model), alone())
    kernel = model.layers[0].kernel
    for variable in (kernel, momentum_of(model)):
        parts = [part.data.shape for part in variable.value._storage.buffer.addressable_shards]
        assert parts == [(6, 8)] * 4, parts


def check_bytes_on_each_device():
    with model_parallel((1, 4)).scope():
        model = network()
        stepped(model)
    variables = [v.value for v in (*model.trainable_variables, *model.optimizer.variables) if v.shape.rank]
    whole = sum(v.numpy().nbytes for v in variables)
    for device in range(4):
        assert 4 * sum(v._storage.buffer.addressable_shards[device].data.nbytes for v in variables) == whole


def check_describe():
    with model_parallel().scope():
        said = tf.distribute.describe(network()).splitlines()
    assert "variables on a mesh of 4 CPUs (batch: 2, model: 2): " in said[0], said[0]
    row = next(line for line in said if line.startswith("sequential/dense/kernel"))
    assert row.split("  ")[-2:] == ["(None, 'model')", "(6, 8), 192 B"], row


def check_dropout_is_reproducible():
    with data_parallel().scope():
        assert stepped(network(0.5)) == stepped(network(0.5))


def check_saving_and_loading_onto_another_layout():
    with model_parallel().scope():
        model = network()
        stepped(model)
    expected = model.predict(X, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        model.save(os.path.join(folder, "model.keras"))
        model.save_weights(os.path.join(folder, "model.weights.h5"))
        loaded = keras.models.load_model(os.path.join(folder, "model.keras"))
        assert type(loaded.layers[0].kernel.value) is tf.Variable
        same([loaded.predict(X, verbose=0)], [expected])
        with model_parallel((1, 4)).scope():
            other = network()
            other.load_weights(os.path.join(folder, "model.weights.h5"))
            same([other.predict(X, verbose=0)], [expected])
            assert other.layers[0].kernel.value._storage.buffer.addressable_shards[0].data.shape == (6, 4)
            again = keras.models.load_model(os.path.join(folder, "model.keras"))
            same([again.optimizer.variables[2].numpy()], [model.optimizer.variables[2].numpy()])
            assert again.optimizer.variables[2].value._storage.buffer.addressable_shards[0].data.shape == (6, 4)


def check_callbacks():
    with data_parallel().scope():
        model = network()
        stop = keras.callbacks.EarlyStopping("val_loss", patience=0, min_delta=100.0, restore_best_weights=True)
        seen = []
        note = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(float(logs["loss"])))
        data = X[:32], Y[:32]
        model.fit(*data, validation_data=data, batch_size=16, epochs=5, verbose=0, callbacks=[stop, note])
    assert len(seen) == 4, seen  # two epochs of two batches
    assert isinstance(model.layers[0].kernel.value._storage, ShardedStorage)


def check_train_on_batch():
    expected = network().train_on_batch(X[:10], Y[:10])
    with model_parallel().scope():
        same(network().train_on_batch(X[:10], Y[:10]), expected)


def check_a_model_made_before():
    model = network()
    model.train_on_batch(X[:16], Y[:16])
    with model_parallel().scope():
        model.train_on_batch(X[:16], Y[:16])
    other = network()
    other.train_on_batch(X[:16], Y[:16])
    other.train_on_batch(X[:16], Y[:16])
    same(model.get_weights(), other.get_weights())
    assert momentum_of(model).value._storage.buffer.addressable_shards[0].data.shape == (6, 8)


def loop(model, wrap):
    optimizer = keras.optimizers.SGD(0.1)
    loss_of = keras.losses.SparseCategoricalCrossentropy()

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    run = wrap(step)
    losses = [float(run(X[i : i + 16], Y[i : i + 16])) for i in (0, 16, 0)]
    gathered = model.layers[0].kernel.value._storage.array is not None
    return losses, model.get_weights(), gathered


def check_a_loop_in_a_function():
    expected = loop(network(0.0), tf.function)
    with model_parallel().scope():
        found = loop(network(0.0), tf.function)
    same([found[0], *found[1]], [expected[0], *expected[1]])
    assert not found[2]


def check_an_eager_loop():
    expected = loop(network(0.0), lambda step: step)
    with model_parallel().scope():
        found = loop(network(0.0), lambda step: step)
    same([found[0], *found[1]], [expected[0], *expected[1]])


def check_large_values_are_made_in_parts():
    from keras_gradtape.src import distribution as backend

    layouts = distribution.LayoutMap(distribution.DeviceMesh((1, 4), ["batch", "model"]))
    layouts[".*kernel"] = (None, "model")
    large = backend._LARGE
    backend._LARGE = 1
    for kind in (keras.initializers.GlorotUniform, keras.initializers.GlorotNormal):
        expected = keras.Variable(kind(seed=5), (64, 512), name="kernel").numpy()
        with distribution.ModelParallel(layout_map=layouts).scope():
            made = keras.Variable(kind(seed=5), (64, 512), name="kernel")
        storage = made.value._storage
        assert storage.array is None and storage.buffer.addressable_shards[3].data.shape == (64, 128)
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5, atol=1e-8)
    backend._LARGE = large


def check_outputs_of_layers():
    layouts = distribution.LayoutMap(distribution.DeviceMesh((2, 2), ["batch", "model"]))
    layouts[".*dense.*kernel"] = (None, "model")
    layouts[".*dense.*output"] = ("batch", None)
    with distribution.ModelParallel(layout_map=layouts).scope():
        model = network()
        found = stepped(model)
        names = [node.op.name for node in _graph_of(model).nodes]
    assert names.count("sharding_constraint") == 2, names
    same([found], [stepped(network())])


def _graph_of(model):
    function = tf.function(lambda x: model(x), jit_compile=True)
    return function.get_concrete_function(tf.TensorSpec((16, 6)))._traced().graph


def check_a_layout_that_does_not_fit():
    layouts = distribution.LayoutMap(distribution.DeviceMesh((1, 4), ["batch", "model"]))
    layouts[".*kernel"] = (None, "model")
    with distribution.ModelParallel(layout_map=layouts).scope():
        try:
            layers.Dense(6).build((None, 3))
        except ValueError as error:
            assert "cannot be split along axis 1, of 6, into the 4 parts" in str(error), error
        else:
            raise AssertionError("it was built")


def check_a_function_compiled_before():
    variable = keras.Variable(np.arange(4, dtype="float32"), name="kernel")
    double = tf.function(lambda: variable.assign(variable * 2.0), jit_compile=True)
    double()
    double()
    with model_parallel().scope():
        variable._layout = distribution.TensorLayout(("model",), distribution.distribution().device_mesh)
        lay_out(variable)
    double()
    np.testing.assert_array_equal(variable.numpy(), 8 * np.arange(4))
    assert variable.value._storage.buffer.addressable_shards[0].data.shape == (2,)


def check_two_meshes():
    with distribution.DataParallel(devices=["cpu:0", "cpu:1"]).scope():
        first = keras.Variable(np.ones(4, "float32"))
    with distribution.DataParallel(devices=["cpu:2", "cpu:3"]).scope():
        second = keras.Variable(np.ones(4, "float32"))
    try:
        tf.function(lambda: first + second)()
    except tf.errors.InvalidArgumentError as error:
        assert "on two meshes of devices" in str(error), error
    else:
        raise AssertionError("it was compiled")


def check_what_is_computed_on_the_host_in_the_middle():
    with data_parallel().scope():
        variable = keras.Variable(np.diag([4.0, 9.0]).astype("float32"))

    @tf.function
    def root(x):
        tf.print("called back", output_stream="file:///dev/null")
        return tf.linalg.sqrtm(variable) + tf.debugging.check_numerics(x, "x")

    for _ in range(2):
        same([root(tf.ones((4, 2, 2)))[3]], [np.diag([2.0, 3.0]) + 1])


def check_variables_outside_of_keras():
    """Eager code on a sharded variable works, and preserves its layout."""
    with model_parallel().scope():
        layer = layers.Dense(4)
        layer.build((None, 6))
    kernel = layer.kernel.value
    before = kernel.numpy()
    kernel.assign_add(np.ones((6, 4), "float32"))
    np.testing.assert_array_equal(kernel.numpy(), before + 1)
    kernel[1].assign(np.zeros(4, "float32"))
    kernel.scatter_add(tf.IndexedSlices(tf.ones((1, 4)), tf.constant([0])))
    np.testing.assert_allclose(kernel.numpy()[:2], [before[0] + 2, np.zeros(4)], rtol=1e-6)
    assert kernel._storage.buffer.addressable_shards[0].data.shape == (6, 2)
    assert kernel.device and repr(kernel) and kernel.sharding.spec[1] == "model"
    checkpoint = tf.train.Checkpoint(kernel=layer.kernel)
    with tempfile.TemporaryDirectory() as folder:
        path = checkpoint.save(os.path.join(folder, "c"))
        kernel.assign(before)
        checkpoint.restore(path)
    np.testing.assert_allclose(kernel.numpy()[1], np.zeros(4))
    assert kernel._storage.buffer.addressable_shards[0].data.shape == (6, 2)


def check_a_value_whose_memory_was_lost():
    with model_parallel().scope():
        kernel = network().layers[0].kernel.value
    value, storage = kernel.numpy(), kernel._storage
    storage.buffer.delete()  # as by a program that fails after it has taken over the memory
    np.testing.assert_array_equal(storage.xla(), value)  # there was a copy on the host
    kernel.assign(value)
    storage.buffer.delete()
    try:
        kernel.numpy()
    except tf.errors.FailedPreconditionError as error:
        assert "was lost" in str(error)
    else:
        raise AssertionError("a lost value was read")
    kernel.assign(value)
    np.testing.assert_array_equal(kernel.numpy(), value)


def main():
    found = {}
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            keras.utils.clear_session()
            try:
                with redirect_stdout(io.StringIO()):
                    check()
                found[name] = ""
            except Exception:
                found[name] = traceback.format_exc()
            finally:
                distribution.set_distribution(None)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
