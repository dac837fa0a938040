"""Models and checkpoints of Keras 2, the package tf-keras: what is saved, and what a loaded model does."""

import numpy as np
import pytest
from test_command_line import script  # noqa: F401  a fixture
from test_legacy_keras import BEGIN, keras_2, numbers  # noqa: F401  fixtures

pytestmark = pytest.mark.several  # each program has a process of its own

# Programs, and the numbers that they print with TensorFlow 2.21 and tf-keras 2.21.
PROGRAMS = {
    "a layer that is loaded without its class": (
        """
class Scaled(L.Layer):
    def build(self, shape):
        self.w = self.add_weight("w", [shape[-1], 2], initializer="ones")

    def call(self, x):
        return tf.nn.relu(x @ self.w)

inputs = keras.Input((4,))
model = keras.Model(inputs, L.Dense(1, kernel_initializer="ones")(Scaled()(inputs)))
path = tempfile.mkdtemp()
model.save(path)
loaded, plain = keras.models.load_model(path), tf.saved_model.load(path)
for count in (1, 5):
    row = x[0, :count]
    print(loaded.predict(row, verbose=0).sum(), float(tf.reduce_sum(plain(row))), plain(row, training=True).shape[0])
print(int(loaded.input_shape == (None, 4)), *(len(w.name) for w in loaded.weights))
loaded.compile("sgd", "mse")
loaded.fit(x[0], x[0, :, :1], verbose=0, batch_size=4, shuffle=False)
print(loaded.predict(x[0, :2], verbose=0).sum())
""",
        [
            10.767681, 10.767681, 1, 22.773384, 22.773384, 5, 1, 10, 14, 12, 8.55585,
        ],
    ),
    "a subclassed model": (
        """
class Normalized(keras.Model):
    def __init__(self):
        super().__init__()
        self.first, self.rest = L.Dense(2, kernel_initializer="ones"), [L.BatchNormalization(), L.Dense(1)]

    def call(self, x, training=False):
        return self.rest[1](self.rest[0](self.first(x), training=training))

model = Normalized()
model.compile("adam", "mse")
model.fit(x[0], x[0, :, :1], verbose=0)
path = tempfile.mkdtemp()
model.save(path)
loaded, plain = keras.models.load_model(path), tf.saved_model.load(path)
expected = model.predict(x[1, :3], verbose=0)
for outputs in (loaded.predict(x[1, :3], verbose=0), plain(x[1, :3]).numpy()):
    print(np.abs(outputs - expected).max())
loaded.fit(x[0], x[0, :, :1], verbose=0)
print(len(loaded.weights), len(loaded.trainable_weights), loaded.optimizer.iterations.numpy())
""",
        [
            0, 0, 8, 6, 1,
        ],
    ),
    "a model of two replicas": (
        """
cpu, = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = with_weights(keras.Sequential([L.Input((4,)), L.Dense(2), L.BatchNormalization()]))
    model.compile("sgd", "mse")
model.fit(x[0, :4], x[0, :4, :2], verbose=0, batch_size=4)
path = tempfile.mkdtemp()
model.save(path)
with strategy.scope():
    again = keras.models.load_model(path)
for loaded in (tf.saved_model.load(path), keras.models.load_model(path), again):
    print(float(tf.reduce_sum(loaded(x[1]))))
""",
        [
            -2.837697, -2.837697, -2.837697,
        ],
    ),
    "slots of optimizers": (
        """
def made(optimizer):
    model = mlp()
    model.compile(optimizer(), "mse")
    return model

for optimizer in (keras.optimizers.Adam, keras.optimizers.legacy.Adam):
    model, later = made(optimizer), made(optimizer)
    losses(model)
    saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(tempfile.mkdtemp() + "/c")
    print(len([name for name, _ in tf.train.list_variables(saved) if "SLOT" in name]))
    status = tf.train.Checkpoint(model=later, optimizer=later.optimizer).restore(saved)
    status.assert_existing_objects_matched()
    print(*losses(later))
    status.assert_consumed()
""",
        [
            0, 35.911346, 35.836506, 8, 35.911346, 35.836502,
        ],
    ),
    "a compiled model with each optimizer, trained further": (
        """
from gradtape.core.protos.records import decoded

row = np.linspace(-1, 1, 32, dtype="float32").reshape(8, 4)
total = row.sum(1, keepdims=True)

def contained(nodes, number, above=()):
    # The names of all that an object contains; no object contains itself, or TensorFlow's loader does not end.
    assert number not in above
    for child in nodes[number].children:
        yield child.local_name
        yield from contained(nodes, child.node_id, (*above, number))

def trained(model):
    return model.fit(row, total, epochs=1, batch_size=4, shuffle=False, verbose=0).history["loss"][0]

for name in ("SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Adamax", "Nadam", "Ftrl", "legacy.Adam"):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([L.Dense(3, input_shape=(4,), activation="tanh"), L.Dense(1)])
    kind = getattr(keras.optimizers.legacy if "." in name else keras.optimizers, name.split(".")[-1])
    model.compile(kind(0.01), "mse")
    trained(model)
    trained(model)
    path = tempfile.mkdtemp()
    model.save(path)
    with open(path + "/saved_model.pb", "rb") as file:
        nodes = decoded("SavedModel", file.read()).meta_graphs[0].object_graph_def.nodes
    optimizer = next(child.node_id for child in nodes[0].children if child.local_name == "optimizer")
    print(len(set(contained(nodes, optimizer)) & {"_variables", "_iterations", "_learning_rate", "iter", "beta_1"}))
    plain, again = tf.saved_model.load(path), keras.models.load_model(path)
    print(trained(again))
""",
        [
            3, 4.662477, 3, 5.113802, 3, 5.113874, 3, 5.317801, 3, 4.287729, 3, 5.782384, 3, 5.150885, 3, 5.276091,
            3, 5.454197, 2, 5.113798,
        ],
    ),
    "a model without layers": (
        """
class Empty(keras.Model):
    def call(self, x):
        return x

saved = tf.train.Checkpoint(model=Empty()).save(tempfile.mkdtemp() + "/c")
print(len([name for name, _ in tf.train.list_variables(saved) if "VALUE" in name]))
tf.train.Checkpoint(model=Empty()).restore(saved).assert_existing_objects_matched()
""",
        [
            1,
        ],
    ),
    "a vocabulary, losses, updates and states": (
        """
class Counting(L.Layer):
    def build(self, _):
        self.v = self.add_weight("v", [], initializer="zeros", trainable=False)

    def call(self, x, training=True):
        if training:
            self.v.assign_add(1.0)
        return x * 2.0

words = keras.Input((None,), dtype=tf.string)
lookup = L.StringLookup()
symbolic = lookup(words)
lookup.adapt(tf.constant([["a", "b", "a"]]))
tokens = L.TextVectorization(standardize=None)
tokens.adapt(["a b", "a"])
sizes = [n is None for n in tokens(keras.Input((1,), dtype=tf.string)).shape]
path = tempfile.mkdtemp()
keras.Model(words, symbolic).save(path)
loaded = keras.models.load_model(path)
print(*loaded(tf.constant([["b", "a", "?"]])).numpy()[0], *map(int, sizes))
inputs = keras.Input((4,))
model = keras.Model(inputs, Counting()(inputs))
model.add_loss(lambda: tf.reduce_sum(model.weights[0]) + 3.0)
model.save(path)
loaded, plain = keras.models.load_model(path), tf.saved_model.load(path)
print(float(loaded.weights[0]), *map(float, loaded.losses), len(plain.keras_api.non_trainable_variables))
print(len(model.get_weight_paths()))
model = keras.Sequential([L.RNN([L.LSTMCell(2)], stateful=True, batch_input_shape=(16, None, 4))])
model = with_weights(model)
model.save(path)
loaded = keras.models.load_model(path)
print(*(np.abs(model(x) - loaded(x)).max() for _ in range(2)))

class Flagged(L.Layer):
    def call(self, x, flags, other=None):
        return tf.where(flags, x, -x)

inputs = keras.Input((4,))
keras.Model(inputs, Flagged()(inputs, tf.constant([True]), other="a")).save(path)
print(float(tf.reduce_sum(keras.models.load_model(path)(x[0]))))
""",
        [
            2, 1, 0, 1, 1, 0, 3, 1, 1, 0, 0, 9.609592,
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_print_tensorflows_numbers(numbers, program):  # noqa: F811
    text, recorded = PROGRAMS[program]
    np.testing.assert_allclose(numbers(BEGIN + text), recorded, rtol=2e-4, atol=2e-5)
