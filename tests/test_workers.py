"""MultiWorkerMirroredStrategy: workers that start late or not at all, their steps, their data, and Keras."""

import re
import socket
import time

import pytest
from launching import launched, script, worker

pytestmark = pytest.mark.several


LATE = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    v = tf.Variable(float(r + 1))
print(strategy.num_replicas_in_sync, float(v), flush=True)
"""


@pytest.mark.parametrize("first", [0, 1])
def test_a_worker_that_starts_late_is_waited_for(tmp_path, first):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = script(tmp_path, LATE)
    with worker(path, first, port, 60) as early:
        time.sleep(4)
        assert early.poll() is None
        with worker(path, 1 - first, port, 60) as late:
            said = [process.communicate(timeout=100) for process in (early, late)]
    assert [output.splitlines()[-1:] for output, _ in said] == [["2 1.0"]] * 2, said  # gloo prints its own line
    assert early.returncode == late.returncode == 0


@pytest.mark.parametrize(
    ("rank", "said"),
    [(0, "rank 1 of 2 did not start within 3 s"), (1, r"rank 1 could not reach rank 0 at .* within 3 s")],
)
def test_a_worker_that_does_not_start_ends_the_other(tmp_path, rank, said):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    output, errors_of = (process := worker(script(tmp_path, LATE), rank, port, 3)).communicate(timeout=60)
    assert process.returncode == 1 and output == "", errors_of
    assert re.search(f"DeadlineExceededError: {said}", errors_of), errors_of


WORKERS = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
assert strategy.num_replicas_in_sync == 2 and strategy.extended.should_checkpoint == (r == 0)
with strategy.scope():
    w = tf.Variable(tf.random.normal([3, 1]))
    count = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, trainable=False,
                        aggregation=tf.VariableAggregation.SUM)
    mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
assert len({float(x) for x in hvd.allgather(w[0]).numpy()}) == 1  # all begin with what the first has drawn
x = np.arange(24, dtype=np.float32).reshape(8, 3) / 10
y = x.sum(1, keepdims=True)
batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(4))

def step(x, y):
    assert x.shape == (2, 3)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w - y) ** 2) / 4
    context = tf.distribute.get_replica_context()
    w.assign_sub(0.01 * context.all_reduce("sum", tape.gradient(loss, w)))
    count.assign_add(1.0)
    mean.assign(tf.cast(context.replica_id_in_sync_group, tf.float32))
    return loss

def whole(x, y):
    return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

for run in (whole, tf.function(whole)):
    w.assign(tf.fill([3, 1], 0.5))
    count.assign(0.0)
    losses = [float(run(x, y)) for x, y in batches]
    expected = np.full((3, 1), 0.5)
    for loss, at in zip(losses, (slice(0, 4), slice(4, 8))):
        np.testing.assert_allclose(loss, np.mean((x[at] @ expected - y[at]) ** 2), rtol=1e-5)
        expected -= 0.01 * 2 * x[at].T @ (x[at] @ expected - y[at]) / 4
    np.testing.assert_allclose(w, expected, rtol=1e-5)
    assert (float(count), float(mean)) == (4.0, 0.5)
assert strategy._why_in_step == ""  # the function was one program of all workers
value = strategy.experimental_distribute_values_from_function(
    lambda context: tf.fill([2], context.replica_id_in_sync_group + 1)
)
assert strategy.gather(value, axis=0).numpy().tolist() == [1, 1, 2, 2]
assert float(strategy.reduce("MEAN", tf.nest.map_structure(lambda x: x, value), axis=0)) == 1.5
gather = lambda x: tf.distribute.get_replica_context().all_gather(x, axis=0)
for run in (lambda v: strategy.run(gather, args=(v,)), tf.function(lambda v: strategy.run(gather, args=(v,)))):
    assert strategy.experimental_local_results(run(value))[0].numpy().tolist() == [1, 1, 2, 2]
made = strategy.distribute_datasets_from_function(
    lambda c: tf.data.Dataset.range(8).shard(c.num_input_pipelines, c.input_pipeline_id).batch(2)
)
assert strategy.experimental_local_results(next(iter(made)))[0].numpy().tolist() == [r, r + 2]
print("fine")
"""


FIRST = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
first = {"aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA}
with strategy.scope():
    flag, zero = tf.Variable(False, **first), tf.Variable(1.0, **first)
    own = tf.Variable(False, synchronization=tf.VariableSynchronization.ON_READ, trainable=False, **first)

def step():
    for variable in (flag, own):
        variable.assign(r == 0)
    zero.assign(-0.0 if r == 0 else 1.0)

strategy.run(step)
assert bool(flag) and bool(own) and np.signbit(zero.numpy())
print("fine")
"""


SHARES = """
strategy = tf.distribute.MultiWorkerMirroredStrategy()
folder, Policy = sys.argv[1], tf.data.experimental.AutoShardPolicy
names = [f"{folder}/{i}.txt" for i in range(3)]
if r == 0:
    for i, name in enumerate(names):
        open(name, "w").write("\\n".join(str(4 * i + j) for j in range(4)))
hvd.barrier()

def rows(dataset):
    local = [strategy.experimental_local_results(x)[0] for x in dataset]
    return [x.numpy().tolist() for x in local]

numbers = tf.data.TextLineDataset(names).map(lambda x: tf.strings.to_number(x)).batch(4)
expected = {
    "FILE": [[0, 1], [2, 3], [8, 9], [10, 11]] if r == 0 else [[4, 5], [6, 7], [], []],
    "DATA": [[4 * i + 2 * r, 4 * i + 2 * r + 1] for i in range(3)],
    "OFF": [[i, i + 1] for i in range(0, 12, 2)],
}
expected["AUTO"] = expected["FILE"]
for name, parts in expected.items():
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = Policy[name]
    found = strategy.experimental_distribute_dataset(numbers.with_options(options))
    assert rows(found) == parts, (name, rows(found))
    total = 0.0  # with batches that are empty at a worker, and as one program where they are not
    for x in found:
        step = tf.function(lambda x: strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None))
        total += float(step(x))
    assert total == 66.0 * (2 if name == "OFF" else 1), (name, total)

# A last batch that is short at one worker, where others have as many rows as ever, in one function.
def total(x):
    return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(x,)), axis=None)

parts = strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
files = strategy.experimental_distribute_dataset(numbers)
for batches, step, expected in (
    (parts, tf.function(total), [6, 15]),
    (parts, tf.function(total, input_signature=[parts.element_spec]), [6, 15]),
    (files, tf.function(total), [10, 18, 17, 21]),
):
    for _ in range(2):
        sums = [float(step(x)) for x in batches]
        assert sums == expected, sums
    assert strategy._why_in_step == ""

# Workers that make different numbers of batches: of known sizes, of unknown ones, and none at all.
for make in (lambda n: tf.data.Dataset.range(n), lambda n: tf.data.Dataset.range(5).filter(lambda i: i < n)):
    for count in (1, 0):
        own = strategy.distribute_datasets_from_function(lambda c: make(3 if c.input_pipeline_id else count).batch(1))
        assert rows(own) == ([[0], [1], [2]] if r else [[0], [], []][: 3] if count else [[], [], []]), rows(own)
print("fine")
"""


KERAS = """
import contextlib, keras
assert keras.src.backend.backend() == "gradtape"
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rng = np.random.default_rng(0)
x = rng.normal(size=(48, 6, 6, 1)).astype(np.float32)
y = (x.mean((1, 2, 3)) > 0).astype(np.int64)

def trained(scope):
    keras.utils.set_random_seed(3)
    with scope:
        model = keras.Sequential([
            keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, use_bias=False),
            keras.layers.BatchNormalization(synchronized=True), keras.layers.Flatten(), keras.layers.Dense(2),
        ])
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    history = model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=2, verbose=0).history
    # Last batches that are short: at both workers, and at one of them.
    evaluated = [model.evaluate(x[:n], y[:n], batch_size=b, verbose=0) for n, b in ((11, 8), (7, 4))]
    return [history["loss"], history["accuracy"], evaluated, *[v.numpy() for v in model.variables]]

for found, expected in zip(trained(strategy.scope()), trained(contextlib.nullcontext()), strict=True):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
print("fine")
"""


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        pytest.param(WORKERS, {}, id="a strategy of several workers"),
        pytest.param(FIRST, {}, id="a value of any dtype is that of the first worker"),
        pytest.param(SHARES, {}, id="workers share a dataset as its policy says"),
        pytest.param(KERAS, {"KERAS_BACKEND": "gradtape"}, id="Keras with workers is as on one device"),
    ],
)
def test_two_workers(tmp_path, text, environment):
    done = launched("-n", 2, script(tmp_path, text), tmp_path, **environment)
    assert sorted(done.stdout.splitlines()) == ["[0] fine", "[1] fine"], done.stdout + done.stderr
