"""Programs of `test_forks.py`: objects that hold state, which a parent process shares with its forked children.

A case sets up an object, uses it or not, and returns `work`, which uses it. The child of a fork runs `work`. At the
fork, another thread of the parent does nothing, or holds every lock of gradtape, or is in the middle of `work`: it
stands still before a line of gradtape's code. `FORK_STOPS` such lines (one by default) are spread over the work.

    python tests/fork_cases.py <group> [case ...]     # prints a JSON line for each child
"""

import faulthandler
import functools
import gc
import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import numpy as np

STOPS = int(os.environ.get("FORK_STOPS", "1"))
PATIENCE_SECONDS = int(os.environ.get("FORK_PATIENCE", "10"))
SOURCE = str(Path(__file__).parent.parent / "src")
LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition)

ITERATOR = "Create the iterator in this process"  # parts of errors
XLA = 'multiprocessing.get_context("spawn")'

groups = {}


def cases(group, says=None, idle=()):
    """Decorates a case of a group of cases that run in one process.

    Args:
      says: a part of the error that the child may raise instead of working.
      idle: whether it does so with an idle thread for an object that is unused (False), or used (True).
    """

    def add(case):
        case.says, case.idle = says, idle
        groups.setdefault(group, {})[case.__name__] = case
        return case

    return add


def is_expected(case, used, thread, outcome):
    """Returns whether the outcome of a child is what the table says."""
    works = outcome == "works"
    says = case.says is not None and not outcome.startswith("hangs") and case.says in outcome
    if thread == "idle":
        return says if used in case.idle else works
    return works or says


class Stopped:
    """A thread that runs `work` until a number of lines of gradtape's code has run, and stands still until the end."""

    def __init__(self, work, stop=None):
        self._work, self._stop, self.lines = work, stop, 0
        self._stands, self._may_go_on = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._stands.wait(60)
        return self

    def __exit__(self, *_):
        self._may_go_on.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _run(self):
        sys.settrace(self._frame)
        try:
            self._work()
        except Exception:
            pass
        finally:
            sys.settrace(None)
            self._stands.set()

    def _frame(self, frame, event, argument):
        ours = frame.f_code.co_filename.startswith(SOURCE) and frame.f_code.co_name != "<module>"
        return self._line if ours else None

    def _line(self, frame, event, argument):
        if event == "line":
            self.lines += 1
            if self.lines == self._stop:
                self._stands.set()
                self._may_go_on.wait()
        return self._line


class Holder(Stopped):
    """A thread that holds every lock in objects of gradtape that is free."""

    def __init__(self):
        super().__init__(None)

    def _run(self):
        held = [lock for lock in locks_of_gradtape() if lock.acquire(blocking=False)]
        self._stands.set()
        self._may_go_on.wait()
        for lock in held:
            lock.release()


def locks_of_gradtape():
    """Returns the locks to which modules of gradtape and objects refer, except for objects that are frozen."""
    from gradtape.core import locks

    owners = [module for name, module in list(sys.modules.items()) if is_of_gradtape(name)]
    owners += [x for x in gc.get_objects() if is_of_gradtape((x if isinstance(x, type) else type(x)).__module__)]
    values = [value for owner in owners for value in attributes(owner)]
    values += list(locks._locks)
    return list({id(value): value for value in values if isinstance(value, LOCKS)}.values())


def is_of_gradtape(module):
    return isinstance(module, str) and module.split(".")[0] in ("gradtape", "keras_gradtape")


def attributes(owner):
    slots = [name for kind in type(owner).__mro__ for name in getattr(kind, "__slots__", ())]
    return [*getattr(owner, "__dict__", {}).values(), *(getattr(owner, name, None) for name in slots)]


def outcome_in_child(work):
    """Runs `work` in a forked child; returns "works", the error, or "hangs" and where."""
    with tempfile.TemporaryFile("w+") as report:
        child = os.fork()
        if not child:
            try:
                faulthandler.dump_traceback_later(0.8 * PATIENCE_SECONDS, file=report)
                signal.alarm(PATIENCE_SECONDS)
                try:
                    work()
                    text = "works"
                except Exception as error:
                    text = f"{type(error).__name__}: {error}"
                    if os.environ.get("FORK_TRACE"):
                        traceback.print_exc()
                faulthandler.cancel_dump_traceback_later()
                report.write(text)
                report.flush()
            finally:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        report.seek(0)
        text = report.read()
    return text if code == 0 else f"hangs, or ends by {code}: {text}"


def points(case, used):
    """Returns numbers of lines of gradtape's code at which a thread may stop in the work of a case."""
    with Stopped(case(used)) as thread:
        count = thread.lines
    return sorted({int(count * (i + 0.5) / STOPS) + 1 for i in range(STOPS)}) if count else []


def run_case(name, case):
    """Prints the outcome of each child of a case."""
    for used in (False, True):
        for stop in ("idle", "holds locks", *points(case, used)):
            work = case(used)
            if stop == "idle":
                text = outcome_in_child(work)
            else:
                with Holder() if stop == "holds locks" else Stopped(work, stop):
                    text = outcome_in_child(work)
            print(json.dumps([name, used, str(stop), text]), flush=True)


# The cases. ----------------------------------------------------------------------------------------------------------


@cases("core")
def variable(used):
    v = tf.Variable([1.0, 2.0])
    if used:
        v.assign_add([1.0, 1.0])

    def work():
        before = v.numpy()
        v.assign_add([1.0, 1.0])
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
        v[:1].assign([5.0])
        assert v.numpy()[0] == 5.0 and v.numpy()[1] >= before[1] + 1.0

    return work


@cases("core")
def function(used):
    @tf.function
    def f(x):
        return tf.reduce_sum(x * x)

    if used:
        f(tf.ones([2]))

    def work():
        assert float(f(tf.ones([2]))) == 2.0 and float(f(tf.ones([3]))) == 3.0

    return work


@cases("core")
def function_with_a_variable(used):
    owned = []

    @tf.function
    def f(x):
        if not owned:
            owned.append(tf.Variable(2.0))
        owned[0].assign_add(1.0)
        return x * owned[0]

    if used:
        f(tf.constant(1.0))

    def work():
        with tf.GradientTape() as tape:
            y = f(tf.constant(1.0))
        assert float(tape.gradient(y, owned[0])) == 1.0 and 3.0 <= float(y) <= 5.0

    return work


@cases("core")
def function_of_random_numbers(used):
    @tf.function
    def f():
        return tf.random.normal([2])

    if used:
        f()

    def work():
        assert (f().numpy() != f().numpy()).all()

    return work


@cases("core")
def tape(used):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    if used:
        tape.gradient(y, x)

    def work():
        assert float(tape.gradient(y, x)) == 6.0
        with tf.GradientTape() as own:
            z = tf.reduce_sum(x * tf.ones([3]))
        assert float(own.gradient(z, x)) == 3.0

    return work


@cases("core")
def tape_with_a_budget(used):
    x = tf.ones([1000, 300])
    with tf.GradientTape(persistent=True, memory_budget=2_500_000) as tape:
        tape.watch(x)
        y = x
        for _ in range(6):
            y = tf.tanh(y)
    if used:
        tape.gradient(y, x)

    def work():
        assert tape.gradient(y, x).shape == x.shape

    return work


@cases("core")
def watched_tensor(used):
    x = tf.constant(2.0)

    def work():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert float(tape.gradient(y, x)) == 4.0

    if used:
        work()
    return work


def table_case(make):
    def case(used):
        table = make()
        if used:
            table.insert([1], [10])

        def work():
            table.insert([2, 3], [20, 30])
            assert table.lookup([2, 4]).numpy().tolist() == [20, -1]
            table.remove([3])
            assert int(table.size()) in (1 + used, 2 + used)

        return work

    return case


@cases("core")
def mutable_hash_table(used):
    return table_case(lambda: tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1))(used)


@cases("core")
def dense_hash_table(used):
    return table_case(lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -1))(used)


@cases("core")
def static_tables(used):
    rows = tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64))
    table = tf.lookup.StaticHashTable(rows, -1)
    words = tf.lookup.StaticVocabularyTable(rows, 2)

    def work():
        assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [2, -1]
        assert int(words.lookup(tf.constant("a"))) == 1

    if used:
        work()
    return work


@cases("core")
def saved_table(used):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    table.insert([1], [10])
    folder = tempfile.mkdtemp()
    checkpoint = tf.train.Checkpoint(table=table)
    if used:
        checkpoint.save(folder + "/a")

    def work():
        path = checkpoint.save(folder + f"/{os.getpid()}")
        table.insert([1], [11])
        checkpoint.restore(path)
        assert int(table.lookup(1)) in (10, 11)

    return work


def executing(section, used):
    total = tf.Variable(0.0)

    def work():
        assert float(section.execute(lambda: total.assign_add(1.0))) >= 1.0

    if used:
        work()
    return work


@cases("core")
def critical_section(used):
    return executing(tf.CriticalSection(), used)


@cases("core")
def shared_critical_section(used):
    return executing(tf.CriticalSection(shared_name="shared"), used)


@cases("core")
def batch_function(used):
    @tf.nondifferentiable_batch_function(1, 4, 1000)
    def double(x):
        return x * 2.0

    def work():
        assert double(tf.constant([1.0])).numpy().tolist() == [2.0]

    if used:
        work()
    return work


def iterator_case(make, parts=False):
    def case(used):
        iterator = iter(make())
        if used:
            next(iterator)

        def work():
            first = int(next(iterator))
            assert int(next(iterator)) != first

        return work

    return case


def numbers(count=100):
    return tf.data.Dataset.range(count)


@cases("core", says=ITERATOR)
def plain_iterator(used):
    return iterator_case(lambda: numbers().map(lambda x: x + 1))(used)


@cases("core", says=ITERATOR)
def numpy_iterator(used):
    return iterator_case(lambda: numbers().map(lambda x: x + 1).as_numpy_iterator())(used)


@cases("core", says=ITERATOR)
def generator_iterator(used):
    spec = tf.TensorSpec([], tf.int64)
    return iterator_case(lambda: tf.data.Dataset.from_generator(lambda: iter(range(9)), output_signature=spec))(used)


@cases("core", says=ITERATOR)
def shuffling_iterator(used):
    return iterator_case(lambda: numbers().shuffle(10))(used)


@cases("core", says=ITERATOR)
def interleaving_iterator(used):
    def make():
        return numbers(3).interleave(lambda x: numbers(9).map(lambda y: x * 10 + y), num_parallel_calls=2)

    return iterator_case(make)(used)


@cases("core", says=ITERATOR)
def parallel_iterator(used):
    return iterator_case(lambda: numbers().map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE))(used)


@cases("core", says=ITERATOR)
def caching_iterator(used):
    return iterator_case(lambda: numbers().cache())(used)


@cases("core", says=ITERATOR)
def file_caching_iterator(used):
    return iterator_case(lambda: numbers().cache(tempfile.mkdtemp() + "/cache"))(used)


@cases("core", says=ITERATOR)
def batching_iterator(used):
    iterator = iter(numbers().batch(2).repeat())
    if used:
        next(iterator)

    def work():
        assert next(iterator).shape == [2]

    return work


@cases("core", says=ITERATOR, idle=[True])
def prefetching_iterator(used):
    return iterator_case(lambda: numbers().prefetch(3))(used)


@cases("core", says=ITERATOR, idle=[True])
def prefetching_iterator_before_a_map(used):
    return iterator_case(lambda: numbers().prefetch(3).map(lambda x: x + 1).ignore_errors())(used)


@cases("core")
def data_sets(used):
    folder = tempfile.mkdtemp()
    sets = [
        numbers(6).shuffle(6).prefetch(2),
        numbers(6).cache().prefetch(1),
        numbers(6).cache(folder + "/cache"),
        numbers(6).map(lambda x: tf.py_function(lambda y: y, [x], tf.int64), num_parallel_calls=2),
        numbers(6).interleave(lambda x: numbers(1).map(lambda y: x), num_parallel_calls=2),
    ]

    def work():
        for one in sets:
            assert sorted(int(x) for x in one) == [0, 1, 2, 3, 4, 5]

    if used:
        work()
    return work


@cases("core", says=ITERATOR)
def function_that_takes_elements(used):
    iterator = iter(numbers())

    @tf.function
    def f(elements):
        return next(elements) + next(elements)

    if used:
        f(iterator)

    def work():
        assert int(f(iterator)) > 0

    return work


@cases("core")
def random_streams(used):
    tf.random.set_seed(1)

    def work():
        assert tf.random.normal([2]).shape == [2]
        assert int(tf.random.uniform([], 0, 3, tf.int32, seed=1)) < 3

    if used:
        work()
    return work


@cases("core")
def generator(used):
    generator = tf.random.Generator.from_seed(1)

    def work():
        assert generator.normal([2]).shape == [2]
        assert generator.split(2)[1].uniform([3]).shape == [3]

    if used:
        work()
    return work


@cases("core")
def global_generator(used):
    tf.random.set_global_generator(None)

    def work():
        assert tf.random.get_global_generator().normal([2]).shape == [2]

    if used:
        work()
    return work


@cases("core")
def checkpoints(used):
    v, folder = tf.Variable(1.0), tempfile.mkdtemp()
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    if used:
        manager.save()

    def work():
        checkpoint.restore(manager.save()).assert_consumed()
        assert float(v) == 1.0

    return work


@cases("core", says="Create a writer of another file", idle=[False, True])
def records(used):
    path = tempfile.mkdtemp() + "/a"
    writer = tf.io.TFRecordWriter(path)
    if used:
        writer.write(b"1")

    def work():
        with tf.io.TFRecordWriter(f"{path}{os.getpid()}") as own:
            own.write(b"3")
        assert [x.numpy() for x in tf.data.TFRecordDataset(f"{path}{os.getpid()}")] == [b"3"]
        writer.write(b"2")

    return work


@cases("core")
def summaries(used):
    folder = tempfile.mkdtemp()
    writer = tf.summary.create_file_writer(folder)
    if used:
        with writer.as_default():
            tf.summary.scalar("a", 1.0, step=1)

    def work():
        with writer.as_default():
            for step in range(30):
                tf.summary.scalar("a", 1.0, step=step)
        writer.flush()
        writer.close()

    return work


@cases("core")
def v1_summaries(used):
    v1 = tf.compat.v1
    writer = v1.summary.FileWriterCache.get(tempfile.mkdtemp())
    summary = v1.Summary(value=[v1.Summary.Value(tag="a", simple_value=1.0)])
    if used:
        writer.add_summary(summary, 0)

    def work():
        for step in range(30):
            writer.add_summary(summary, step)
        writer.flush()
        v1.summary.FileWriterCache.clear()

    return work


@cases("core")
def new_summaries(used):
    def work():
        with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
            assert bool(tf.summary.scalar("a", 1.0, step=1))

    if used:
        work()
    return work


@cases("core")
def traces_of_graphs(used):
    f = tf.function(lambda x: x * 2.0)

    def work():
        tf.summary.trace_on()
        f(tf.constant(1.0))
        tf.summary.trace_off()

    tf.summary.trace_off()
    if used:
        tf.summary.trace_on()
    return work


@cases("core")
def profiler(used):
    folder = tempfile.mkdtemp()

    def work():
        try:
            tf.profiler.experimental.start(folder)
        except tf.errors.AlreadyExistsError:
            pass
        tf.ones([2]) + 1.0
        try:
            tf.profiler.experimental.stop()
        except tf.errors.UnavailableError:  # the other thread has stopped it
            pass

    if used:
        work()
    return work


@cases("core")
def saved_model(used):
    module = tf.Module()
    module.v = tf.Variable(2.0)
    module.f = tf.function(lambda x: x * module.v, input_signature=[tf.TensorSpec([None])])
    folder = tempfile.mkdtemp()
    tf.saved_model.save(module, folder)
    loaded = tf.saved_model.load(folder)
    if used:
        loaded.f(tf.ones([2]))

    def work():
        assert loaded.f(tf.ones([3])).numpy().tolist() == [2.0] * 3
        assert float(loaded.v.assign(2.0)) == 2.0

    return work


@cases("core")
def large_arrays(used):
    x = tf.ones([3_000_000])

    def work():
        assert float(tf.reduce_sum(x + x)) == 6_000_000

    if used:
        work()
    return work


@cases("core")
def products(used):
    x = tf.ones([300, 300])

    def work():
        assert float((x @ x)[0, 0]) == 300.0
        assert tf.linalg.inv(x + 300.0 * tf.eye(300)).shape == [300, 300]

    if used:
        work()
    return work


@cases("core")
def checks_of_numerics(used):
    if used:
        tf.debugging.enable_check_numerics()

    def work():
        tf.debugging.enable_check_numerics()
        assert float(tf.constant(1.0) + 1.0) == 2.0
        tf.debugging.disable_check_numerics()

    return work


@cases("xla", says=XLA, idle=[False, True])
def mirrored_strategy(used):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def step():
        return strategy.run(lambda: v * 2.0)

    def work():
        assert float(strategy.reduce("SUM", step(), axis=None)) == 4.0
        assert float(strategy.reduce("SUM", strategy.run(lambda: v * 2.0), axis=None)) == 4.0

    if used:
        work()
    return work


@cases("core")
def cluster_coordinator(used):
    coordinator = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.OneDeviceStrategy("CPU:0"))
    one = tf.function(lambda: tf.constant(1.0))

    def work():
        result = coordinator.schedule(one)
        coordinator.join()
        assert float(result.fetch()) == 1.0

    if used:
        work()
    return work


@cases("core")
def thread_coordinator(used):
    coordinator = tf.train.Coordinator()
    if used:
        thread = threading.Thread(target=coordinator.wait_for_stop, daemon=True)
        thread.start()
        coordinator.register_thread(thread)

    def work():
        coordinator.request_stop()
        coordinator.join()

    return work


@cases("core")
def python_functions(used):
    def work():
        assert float(tf.py_function(lambda x: x * 2.0, [tf.constant(1.0)], tf.float32)) == 2.0
        assert float(tf.numpy_function(lambda x: x * 2, [tf.constant(1.0)], tf.float32)) == 2.0

    if used:
        work()
    return work


@cases("core")
def text(used):
    def work():
        assert tf.strings.unicode_transcode("ä", "UTF-8", "UTF-16-BE").numpy() == b"\x00\xe4"
        assert tf.strings.unicode_decode([b"a\xff"], "UTF-8", errors="ignore").to_list() == [[97]]

    if used:
        work()
    return work


@cases("broken")
def waiting(used):
    parent = os.getpid()

    def work():
        if used and os.getpid() != parent:
            threading.Event().wait()

    return work


@cases("broken")
def unsafe_lock(used):
    unsafe = type("Unsafe", (), {"__module__": "gradtape"})()
    unsafe.lock = threading.Lock()

    def work():
        with unsafe.lock:
            pass

    return work


@cases("xla", says=XLA, idle=[False, True])
def compiled_function(used):
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def f(x):
        v.assign_add(1.0)
        return x * v

    if used:
        f(tf.constant(2.0))

    def work():
        assert float(v) >= 1.0
        v.assign_add(1.0)
        with tf.GradientTape() as tape:
            y = f(tf.constant(2.0))
        tape.gradient(y, v)

    return work


@cases("xla")
def clustered_function(used):
    v = tf.Variable(1.0)
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x * v.assign_add(1.0) + 1.0) * x))
    with tf.GradientTape(persistent=True) as before:
        y = f(tf.ones([2])) if used else v * 1.0
    if used:
        before.gradient(y, v)

    def work():
        with tf.GradientTape() as tape:
            z = f(tf.ones([2]))
        f(tf.ones([2]))
        f(tf.ones([3]))
        assert float(tape.gradient(z, v)) > 0.0 and float(before.gradient(y, v)) > 0.0 and float(v) >= 4.0

    return work


@cases("xla")
def one_device_strategy(used):
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    with strategy.scope():
        v = tf.Variable(1.0)

    def work():
        assert float(strategy.run(tf.function(lambda: v * 2.0 * v + v - v))) == 2.0

    if used:
        work()
    return work


@functools.cache
def trained_model(used):
    model = tf.keras.Sequential(
        [tf.keras.Input((2,)), tf.keras.layers.Dense(3, "tanh"), tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)]
    )
    model.compile("adam", "mse", metrics=["mae"])
    if used:  # XLA compiles the steps after 32 batches
        model.fit(EXAMPLES, EXAMPLES[:, :1], batch_size=1, verbose=0)
        model.evaluate(EXAMPLES, EXAMPLES[:, :1], batch_size=1, verbose=0)
        model.predict(EXAMPLES, batch_size=1, verbose=0)
    return model


@cases("keras")
def training(used):
    model = trained_model(used)

    def work():
        model.fit(EXAMPLES[:3], EXAMPLES[:3, :1], batch_size=1, verbose=0)
        assert "loss" in model.evaluate(EXAMPLES[:3], EXAMPLES[:3, :1], batch_size=1, verbose=0, return_dict=True)

    return work


@cases("keras")
def prediction(used):
    model = trained_model(used)

    def work():
        assert model.predict(EXAMPLES[:3], batch_size=1, verbose=0).shape == (3, 1)
        assert model(EXAMPLES[:3]).shape == (3, 1)

    return work


@cases("keras")
def training_of_data_sets(used):
    model = trained_model(used)
    data = tf.data.Dataset.from_tensor_slices((EXAMPLES[:4], EXAMPLES[:4, :1])).shuffle(4).batch(1).prefetch(2)

    def work():
        model.fit(data, verbose=0)

    if used:
        work()
    return work


@cases("keras", says=XLA, idle=[False, True])
def training_with_xla(used):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", jit_compile=True)

    def work():
        model.fit(EXAMPLES[:2], EXAMPLES[:2, :1], verbose=0)

    if used:
        work()
    return work


@cases("keras")
def training_loop(used):
    v, optimizer, metric = tf.Variable([1.0]), tf.keras.optimizers.Adam(), tf.keras.metrics.Mean()
    optimizer.build([v])  # Keras does not build an optimizer in one step

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        metric.update_state(loss)

    def work():
        step()
        assert float(metric.result()) > 0.0

    if used:
        work()
    return work


@cases("keras")
def preprocessing(used):
    lookup = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    words = tf.keras.layers.TextVectorization()
    words.adapt(tf.constant(["a b", "c"]))

    def work():
        assert lookup(tf.constant(["b", "z"])).numpy().tolist() == [2, 0]
        assert words(tf.constant(["c"])).shape == [1, 1]

    if used:
        work()
    return work


@cases("keras")
def saved_models(used):
    model, folder = trained_model(used), tempfile.mkdtemp()
    model.save(folder + "/model.keras")

    def work():
        model.save(f"{folder}/{os.getpid()}.keras")
        loaded = tf.keras.models.load_model(folder + "/model.keras")
        assert loaded(EXAMPLES[:1]).shape == (1, 1)

    if used:
        work()
    return work


@cases("keras")
def logs_of_training(used):
    folder, model = tempfile.mkdtemp(), trained_model(False)

    def work():
        model.fit(EXAMPLES[:2], EXAMPLES[:2, :1], verbose=0, callbacks=[tf.keras.callbacks.TensorBoard(folder)])

    if used:
        work()
    return work


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    group, *names = sys.argv[1:]
    import gradtape as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    if group == "xla":
        tf.config.optimizer.set_jit("autoclustering")
        tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])  # starts XLA
    if group == "keras":
        EXAMPLES = np.ones([40, 2], np.float32)
        trained_model(True)
    gc.collect()
    gc.freeze()  # forks and searches for locks skip what the imports have created
    for name, case in groups[group].items():
        if not names or name in names:
            start = time.monotonic()
            run_case(name, case)
            print(json.dumps([name, round(time.monotonic() - start, 2)]), file=sys.stderr)
