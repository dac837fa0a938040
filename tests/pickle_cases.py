"""An object of each public class of gradtape and of Keras, and what can be observed of it, for `test_pickle_table.py`.

`CASES` has a function that creates the object by public name of the class; the object may come with a function that
uses it and returns what it observed, values that compare equal. Without one, the attributes are compared.
"""

import enum
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gradtape as tf
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

FOLDER = tempfile.TemporaryDirectory()  # removed at the end of the process
v1, embedding = tf.compat.v1, tf.tpu.experimental.embedding


def public_classes():
    """Returns the public classes by one of their names."""
    by_class = {}
    for name in NAMES:
        value = resolve(name)
        if isinstance(value, type) and value.__module__.partition(".")[0] != "numpy":
            by_class.setdefault(value, name)
    return {name: value for value, name in by_class.items()}


CLASSES = public_classes()


class Pair(tf.experimental.BatchableExtensionType):
    left: tf.Tensor
    right: tf.RaggedTensor


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)

    @tf.function
    def __call__(self, x):
        return self.factor * x


class Counter(tf.train.experimental.PythonState):
    def __init__(self):
        self.count = 3

    def serialize(self):
        return str(self.count)

    def deserialize(self, value):
        self.count = int(value)


class Table(tf.saved_model.experimental.TrackableResource):
    def __init__(self):
        super().__init__()
        self.size = 3


@tf.function
def double(x):
    return 2.0 * x


def identity(x, y=None):
    return x


def at(name):
    """Returns a path in the folder of the cases."""
    return str(Path(FOLDER.name, name))


def words():
    path = at("words.txt")
    Path(path).write_text("a\nb\n")
    return path


class Case(NamedTuple):
    """An object and what can be observed of it."""

    value: object
    use: object = None


def state(value, parents=()):
    """Returns what `value` holds, as values that compare equal if the objects behave alike."""
    if isinstance(value, (str, bytes, int, float, complex, bool, type(None), type, enum.Enum, tf.DType, np.dtype)):
        return value
    if id(value) in parents:
        return "a cycle"
    parents = (*parents, id(value))
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return type(value).__name__, value.dtype, state(value.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value), [(state(key), state(item, parents)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [state(item, parents) for item in value]
    if isinstance(value, (set, frozenset)):
        return type(value), sorted(map(repr, value))
    names = {name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()) if name[:2] != "__"}
    held = {name: getattr(value, name) for name in names - {"__weakref__"} if hasattr(value, name)}
    held |= getattr(value, "__dict__", {})
    if not held:
        return type(value), repr(value).partition(" at 0x")[0]
    return type(value), {name: state(held[name], parents) for name in sorted(held)}


def numbers(use):
    """Returns `use` with its tensors as numbers."""
    return lambda value: state(use(value))


def operator(make):
    return lambda: Case(make(), numbers(lambda x: (x.to_dense(), x.shape.as_list(), x.is_square)))


def distribution(make):
    return lambda: Case(make(), numbers(lambda x: (x.mean(), x.parameters.keys())))


def initializer(make):
    return lambda: Case(make(), numbers(lambda x: (x([2, 2], tf.float32), x.get_config())))


def v1_initializer(make):
    return lambda: Case(make(), numbers(lambda x: (x([2, 2], tf.float32))))


def v1_optimizer(make):
    def use(optimizer):
        x = tf.Variable(1.0)
        optimizer.apply_gradients([(tf.constant(0.5), x)])
        return x.numpy()

    return lambda: Case(make(), use)


def rows(make):
    return lambda: Case(make(), lambda x: (x.to_list(), x.shape.as_list(), x.ragged_rank))


def lookups(make, key="a"):
    return lambda: Case(make(), numbers(lambda table: table.lookup(tf.constant([key]))))


def resolver(make):
    return lambda: Case(make(), lambda x: x.cluster_spec().as_dict())


def trained(strategy):
    def use(strategy):
        with strategy.scope():
            x = tf.Variable(2.0)
        return strategy.run(lambda: x * 3.0), strategy.num_replicas_in_sync

    return lambda: Case(strategy(), numbers(use))


def spec(make):
    return lambda: Case(make(), repr)


def some_table():
    return embedding.TableConfig(4, 2, initializer=tf.constant_initializer(1.0), name="rows")


def cluster():
    return tf.train.ClusterSpec({"worker": ["a:1", "b:2"]})


def generator(generator):
    return generator.normal([2]).numpy().tolist(), generator.state.numpy().tolist()


def switched_off():
    with tf.numpy_on_tape() as block:
        return block


def ragged():
    return tf.ragged.constant([[1, 2], [], [3]])


def key_values():
    return tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])


def mutable():
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a"]), tf.constant([7], tf.int64))
    return table


def dense():
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "?")
    table.insert(tf.constant(["a"]), tf.constant([7], tf.int64))
    return table


def dataset():
    return tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(identity).batch(2)


def checkpoint():
    return tf.train.Checkpoint(x=tf.Variable(2.0))


def read(checkpoint):
    return float(checkpoint.x), int(checkpoint.save_counter)


def array():
    return tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, 1.0).write(1, 2.0)



replicas = tf.types.experimental.distributed
COORDINATOR = tf.distribute.coordinator.ClusterCoordinator(tf.distribute.OneDeviceStrategy("/cpu:0"))
ROOT = tf.train.Checkpoint(x=tf.Variable(2.0))
EYE = [[2.0, 1.0], [1.0, 3.0]]
diagonal = lambda: tf.linalg.LinearOperatorDiag([1.0, 2.0])  # noqa: E731

CASES = {
    "CriticalSection": lambda: Case(tf.CriticalSection(), numbers(lambda x: x.execute(lambda: tf.constant(1.0)))),
    "DType": lambda: tf.float32,
    "DeviceSpec": lambda: Case(tf.DeviceSpec(job="worker", device_type="CPU"), lambda x: x.to_string()),
    "Graph": lambda: tf.Graph(),
    "IndexedSlices": lambda: tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]), tf.constant([4])),
    "IndexedSlicesSpec": spec(lambda: tf.IndexedSlicesSpec([2])),
    "Module": lambda: Case(Scale(), numbers(lambda x: x(3.0))),
    "OptionalSpec": spec(lambda: tf.OptionalSpec(tf.TensorSpec([2]))),
    "Operation": lambda: Case(
        double.get_concrete_function(tf.TensorSpec([])).graph.get_operations()[0], lambda x: x.name
    ),
    "RaggedTensor": rows(ragged),
    "RaggedTensorSpec": spec(lambda: tf.RaggedTensorSpec([3, None])),
    "SparseTensor": lambda: Case(
        tf.SparseTensor([[0, 1]], [2.0], [2, 2]), lambda x: tf.sparse.to_dense(x).numpy().tolist()
    ),
    "SparseTensorSpec": spec(lambda: tf.SparseTensorSpec([3, None])),
    "Tensor": lambda: tf.constant([1.0, 2.0]),
    "TensorArray": lambda: Case(array(), numbers(lambda x: x.stack())),
    "TensorArraySpec": spec(lambda: tf.TensorArraySpec([3])),
    "TensorShape": lambda: Case(tf.TensorShape([2, None]), lambda x: x.as_list()),
    "TensorSpec": spec(lambda: tf.TensorSpec([2, None], name="x")),
    "Variable": lambda: tf.Variable([1.0, 2.0], name="v"),
    "autodiff.ForwardAccumulator": lambda: tf.autodiff.ForwardAccumulator(tf.constant(1.0), tf.constant(1.0)),
    "compat.v1.Dimension": lambda: Case(v1.Dimension(3), lambda x: x.value),
    "compat.v1.SparseTensorValue": lambda: v1.SparseTensorValue([[0, 1]], [2.0], [2, 2]),
    "compat.v1.Variable": lambda: v1.Variable(2.0),
    "compat.v1.VariableScope": lambda: Case(v1.VariableScope(None, "name"), lambda x: x.name),
    "compat.v1.gfile.FastGFile": lambda: Case(v1.gfile.FastGFile(words()), lambda x: x.read()),
    "compat.v1.gfile.GFile": lambda: Case(tf.io.gfile.GFile(words()), lambda x: x.read()),
    "compat.v1.io.TFRecordWriter": lambda: Case(tf.io.TFRecordWriter(at("records")), lambda x: x.write(b"x")),
    "compat.v1.name_scope": lambda: Case(v1.name_scope("a"), lambda x: x.__enter__() and x.__exit__(None, None, None)),
    "compat.v1.ragged.RaggedTensorValue": lambda: Case(
        v1.ragged.RaggedTensorValue(np.arange(3), np.array([0, 1, 3])), lambda x: x.to_list()
    ),
    "compat.v1.summary.FileWriter": lambda: v1.summary.FileWriter(at("v1")),
    "compat.v1.train.AdadeltaOptimizer": v1_optimizer(lambda: v1.train.AdadeltaOptimizer(0.1)),
    "compat.v1.train.AdagradDAOptimizer": v1_optimizer(lambda: v1.train.AdagradDAOptimizer(0.1, 0)),
    "compat.v1.train.AdagradOptimizer": v1_optimizer(lambda: v1.train.AdagradOptimizer(0.1)),
    "compat.v1.train.AdamOptimizer": v1_optimizer(lambda: v1.train.AdamOptimizer(0.1)),
    "compat.v1.train.FtrlOptimizer": v1_optimizer(lambda: v1.train.FtrlOptimizer(0.1)),
    "compat.v1.train.GradientDescentOptimizer": v1_optimizer(lambda: v1.train.GradientDescentOptimizer(0.1)),
    "compat.v1.train.MomentumOptimizer": v1_optimizer(lambda: v1.train.MomentumOptimizer(0.1, 0.9)),
    "compat.v1.train.Optimizer": lambda: v1.train.Optimizer(False, "o"),
    "compat.v1.train.ProximalAdagradOptimizer": v1_optimizer(lambda: v1.train.ProximalAdagradOptimizer(0.1)),
    "compat.v1.train.ProximalGradientDescentOptimizer": v1_optimizer(
        lambda: v1.train.ProximalGradientDescentOptimizer(0.1)
    ),
    "compat.v1.train.RMSPropOptimizer": v1_optimizer(lambda: v1.train.RMSPropOptimizer(0.1)),
    "compat.v1.train.Saver": lambda: Case(v1.train.Saver([v1.Variable(1.0)]), lambda x: x.save(None, at("saver"))),
    "compat.v1.variable_scope": lambda: v1.variable_scope("a"),
    "config.LogicalDevice": lambda: tf.config.LogicalDevice("CPU:0", "CPU"),
    "config.PhysicalDevice": lambda: tf.config.PhysicalDevice("CPU:0", "CPU"),
    "constant_initializer": initializer(lambda: tf.constant_initializer(2.0)),
    "data.Dataset": lambda: Case(dataset(), lambda x: [y.numpy().tolist() for y in x]),
    "data.DatasetSpec": spec(lambda: tf.data.DatasetSpec(tf.TensorSpec([2]))),
    "data.Iterator": lambda: Case(iter(dataset()), numbers(next)),
    "data.IteratorSpec": spec(lambda: tf.data.IteratorSpec(tf.TensorSpec([2]))),
    "data.NumpyIterator": lambda: Case(dataset().as_numpy_iterator(), numbers(next)),
    "data.Options": lambda: Case(tf.data.Options(), lambda x: (setattr(x, "deterministic", True), x.deterministic)),
    "data.experimental.DatasetInitializer": lambda: tf.data.experimental.DatasetInitializer(
        tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(2)))
    ),
    "data.experimental.Optional": lambda: Case(
        tf.experimental.Optional.from_value(2.0), numbers(lambda x: (x.get_value(), repr(x.element_spec)))
    ),
    "data.experimental.Reducer": lambda: tf.data.experimental.Reducer(identity, identity, identity),
    "data.experimental.TFRecordWriter": lambda: tf.data.experimental.TFRecordWriter(at("data")),
    "distribute.DistributedGradientTape": lambda: tf.distribute.DistributedGradientTape(tf.GradientTape()),
    "distribute.MirroredStrategy": trained(lambda: tf.distribute.MirroredStrategy()),
    "distribute.MultiWorkerMirroredStrategy": trained(lambda: tf.distribute.MultiWorkerMirroredStrategy()),
    "distribute.OneDeviceStrategy": trained(lambda: tf.distribute.OneDeviceStrategy("/cpu:0")),
    "distribute.ReplicaContext": lambda: tf.distribute.get_replica_context(),
    "distribute.Strategy": lambda: tf.distribute.get_strategy(),
    "distribute.StrategyExtended": lambda: tf.distribute.get_strategy().extended,
    "distribute.cluster_resolver.SimpleClusterResolver": resolver(
        lambda: tf.distribute.cluster_resolver.SimpleClusterResolver(cluster())
    ),
    "distribute.experimental.CentralStorageStrategy": trained(
        lambda: tf.distribute.experimental.CentralStorageStrategy()
    ),
    "distribute.experimental.MultiWorkerMirroredStrategy": trained(
        lambda: tf.distribute.experimental.MultiWorkerMirroredStrategy()
    ),
    "experimental.BatchableExtensionType": lambda: Case(
        Pair(tf.constant([1.0]), ragged()), lambda x: (x.left.numpy().tolist(), x.right.to_list())
    ),
    "experimental.ExtensionTypeSpec": spec(lambda: tf.type_spec_from_value(Pair(tf.constant([1.0]), ragged()))),
    "experimental.DynamicRaggedShape": lambda: Case(
        tf.experimental.DynamicRaggedShape.from_tensor(ragged()), lambda x: (x.rank, repr(x))
    ),
    "experimental.RowPartition": lambda: Case(
        tf.experimental.RowPartition.from_row_lengths([1, 2]), numbers(lambda x: x.row_splits())
    ),
    "io.FixedLenFeature": lambda: tf.io.FixedLenFeature([2], tf.float32),
    "io.FixedLenSequenceFeature": lambda: tf.io.FixedLenSequenceFeature([2], tf.float32, True),
    "io.RaggedFeature": lambda: tf.io.RaggedFeature(tf.float32),
    "io.SparseFeature": lambda: tf.io.SparseFeature("i", "v", tf.float32, 4),
    "io.VarLenFeature": lambda: tf.io.VarLenFeature(tf.float32),
    "linalg.LinearOperatorAdjoint": operator(lambda: tf.linalg.LinearOperatorAdjoint(diagonal())),
    "linalg.LinearOperatorBlockDiag": operator(lambda: tf.linalg.LinearOperatorBlockDiag([diagonal(), diagonal()])),
    "linalg.LinearOperatorBlockLowerTriangular": operator(
        lambda: tf.linalg.LinearOperatorBlockLowerTriangular([[diagonal()], [diagonal(), diagonal()]])
    ),
    "linalg.LinearOperatorCirculant": operator(lambda: tf.linalg.LinearOperatorCirculant([1.0 + 0j, 2.0])),
    "linalg.LinearOperatorCirculant2D": operator(
        lambda: tf.linalg.LinearOperatorCirculant2D([[1.0 + 0j, 2.0], [3.0, 4.0]])
    ),
    "linalg.LinearOperatorCirculant3D": operator(
        lambda: tf.linalg.LinearOperatorCirculant3D([[[1.0 + 0j, 2.0], [3.0, 4.0]]])
    ),
    "linalg.LinearOperatorComposition": operator(lambda: tf.linalg.LinearOperatorComposition([diagonal(), diagonal()])),
    "linalg.LinearOperatorDiag": operator(diagonal),
    "linalg.LinearOperatorFullMatrix": operator(lambda: tf.linalg.LinearOperatorFullMatrix(EYE)),
    "linalg.LinearOperatorHouseholder": operator(lambda: tf.linalg.LinearOperatorHouseholder([1.0, 2.0])),
    "linalg.LinearOperatorIdentity": operator(lambda: tf.linalg.LinearOperatorIdentity(2)),
    "linalg.LinearOperatorInversion": operator(lambda: tf.linalg.LinearOperatorInversion(diagonal())),
    "linalg.LinearOperatorKronecker": operator(lambda: tf.linalg.LinearOperatorKronecker([diagonal(), diagonal()])),
    "linalg.LinearOperatorLowRankUpdate": operator(
        lambda: tf.linalg.LinearOperatorLowRankUpdate(diagonal(), [[1.0], [2.0]])
    ),
    "linalg.LinearOperatorLowerTriangular": operator(lambda: tf.linalg.LinearOperatorLowerTriangular(EYE)),
    "linalg.LinearOperatorPermutation": operator(lambda: tf.linalg.LinearOperatorPermutation([1, 0])),
    "linalg.LinearOperatorScaledIdentity": operator(lambda: tf.linalg.LinearOperatorScaledIdentity(2, 3.0)),
    "linalg.LinearOperatorToeplitz": operator(lambda: tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])),
    "linalg.LinearOperatorTridiag": operator(
        lambda: tf.linalg.LinearOperatorTridiag([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ),
    "linalg.LinearOperatorZeros": operator(lambda: tf.linalg.LinearOperatorZeros(2)),
    "lookup.KeyValueTensorInitializer": key_values,
    "lookup.StaticHashTable": lookups(lambda: tf.lookup.StaticHashTable(key_values(), -1)),
    "lookup.StaticVocabularyTable": lookups(
        lambda: tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 2
        ),
        "b",
    ),
    "lookup.TextFileInitializer": lambda: Case(
        tf.lookup.TextFileInitializer(words(), tf.string, 0, tf.int64, 1, delimiter=" "), lambda x: x._filename
    ),
    "lookup.experimental.DenseHashTable": lookups(dense),
    "lookup.experimental.MutableHashTable": lookups(mutable),
    "name_scope": lambda: Case(tf.name_scope("a"), lambda x: x.__enter__() and x.__exit__(None, None, None)),
    "numpy_on_tape": switched_off,
    "ones_initializer": initializer(lambda: tf.ones_initializer()),
    "profiler.experimental.Profile": lambda: tf.profiler.experimental.Profile(at("profile")),
    "profiler.experimental.Trace": lambda: tf.profiler.experimental.Trace("a"),
    "random.Generator": lambda: Case(tf.random.Generator.from_seed(3), generator),
    "random_normal_initializer": initializer(lambda: tf.random_normal_initializer(seed=3)),
    "random_uniform_initializer": initializer(lambda: tf.random_uniform_initializer(seed=3)),
    "saved_model.Asset": lambda: Case(tf.saved_model.Asset(words()), numbers(lambda x: x.asset_path)),
    "saved_model.experimental.Fingerprint": lambda: tf.saved_model.experimental.Fingerprint(),
    "saved_model.experimental.TrackableResource": Table,
    "summary.SummaryWriter": lambda: Case(tf.summary.create_file_writer(at("summary")), lambda x: x.flush()),
    "tpu.experimental.embedding.CustomCombiner": lambda: embedding.CustomCombiner(identity, 2),
    "tpu.experimental.embedding.CustomOptimizer": lambda: embedding.CustomOptimizer(identity),
    "tpu.experimental.embedding.FeatureConfig": lambda: Case(
        embedding.FeatureConfig(some_table()), lambda x: x.table.dim
    ),
    "tpu.experimental.embedding.QuantizationConfig": lambda: embedding.QuantizationConfig(4, 0.0, 1.0),
    "tpu.experimental.embedding.TableConfig": lambda: Case(some_table(), lambda x: (x.dim, x.name)),
    "tpu.experimental.embedding.TPUEmbeddingForServing": lambda: Case(
        embedding.TPUEmbeddingForServing(embedding.FeatureConfig(some_table()), embedding.SGD(0.1)),
        numbers(lambda x: list(x.embedding_tables.values())),
    ),
    "train.Checkpoint": lambda: Case(checkpoint(), read),
    "train.CheckpointManager": lambda: Case(
        tf.train.CheckpointManager(checkpoint(), at("manager"), 2), lambda x: x.checkpoint.x.numpy()
    ),
    "train.CheckpointView": lambda: Case(
        tf.train.CheckpointView(checkpoint().write(at("view"))), lambda x: sorted(x.children(0))
    ),
    "train.ClusterSpec": lambda: Case(cluster(), lambda x: x.as_dict()),
    "train.Coordinator": lambda: Case(tf.train.Coordinator(), lambda x: (x.request_stop(), x.should_stop())),
    "train.ExponentialMovingAverage": lambda: Case(tf.train.ExponentialMovingAverage(0.5), lambda x: x.name),
    "train.TrackableView": lambda: Case(tf.train.TrackableView(ROOT), lambda x: sorted(x.children(x.root))),
    "train.experimental.MaxShardSizePolicy": lambda: tf.train.experimental.MaxShardSizePolicy(100),
    "train.experimental.PythonState": Counter,
    "types.experimental.ConcreteFunction": lambda: double.get_concrete_function(tf.TensorSpec([])),
    "types.experimental.GenericFunction": lambda: Case(tf.function(identity), numbers(lambda f: f(tf.constant(2.0)))),
    "types.experimental.distributed.Mirrored": lambda: replicas.Mirrored([tf.constant(1.0)]),
    "types.experimental.distributed.PerReplica": lambda: replicas.PerReplica([tf.constant(1.0)]),
    "RegisterGradient": lambda: tf.RegisterGradient("Op"),
    "distribute.coordinator.ClusterCoordinator": lambda: COORDINATOR,
    "distribute.coordinator.PerWorkerValue": lambda: tf.distribute.coordinator.PerWorkerValue(
        [COORDINATOR.schedule(double, [tf.constant(1.0)])]
    ),
    "distribute.coordinator.RemoteValue": lambda: COORDINATOR.schedule(double, [tf.constant(1.0)]),
    "linalg.LinearOperator": lambda: tf.linalg.LinearOperator(tf.float32),
}

ABSTRACT = """
    TypeSpec distribute.DistributedDataset distribute.DistributedIterator distribute.DistributedValues
    experimental.ExtensionType train.experimental.ShardingCallback types.experimental.AtomicFunction
    types.experimental.SupportsTracingProtocol types.experimental.TraceType
"""
ABSENT = """
    compat.v1.InteractiveSession compat.v1.Session distribute.ParameterServerStrategy distribute.Server
    distribute.TPUStrategy distribute.cluster_resolver.SlurmClusterResolver
    distribute.cluster_resolver.TPUClusterResolver distribute.experimental.PreemptionCheckpointHandler
    distribute.experimental.TPUStrategy experimental.dtensor.DTensorCheckpoint experimental.dtensor.DTensorDataset
    experimental.dtensor.DVariable experimental.dtensor.Layout experimental.dtensor.Mesh
    experimental.tensorrt.Converter lite.Interpreter lite.TFLiteConverter lite.experimental.QuantizationDebugger
    tpu.experimental.DeviceAssignment tpu.experimental.HardwareFeature
    tpu.experimental.embedding.TPUEmbedding tpu.experimental.embedding.TPUEmbeddingV0
    tpu.experimental.embedding.TPUEmbeddingV2 train.experimental.ShardableTensor
"""
# Those that belong to their process; the error says what to pickle.
UNPICKLABLE = set(
    """
    Graph GradientTape Operation autodiff.ForwardAccumulator compat.v1.io.TFRecordWriter
    compat.v1.summary.FileWriter data.Iterator data.NumpyIterator distribute.DistributedGradientTape
    distribute.ReplicaContext distribute.coordinator.ClusterCoordinator distribute.coordinator.PerWorkerValue
    distribute.coordinator.RemoteValue numpy_on_tape summary.SummaryWriter train.Coordinator train.TrackableView
    types.experimental.ConcreteFunction
    """.split()
)
COPIED_AS_THEMSELVES = set(
    """
    distribute.MirroredStrategy distribute.MultiWorkerMirroredStrategy distribute.OneDeviceStrategy
    distribute.experimental.CentralStorageStrategy distribute.experimental.MultiWorkerMirroredStrategy
    """.split()
)
UNPICKLABLE_AFTER_USE = {"compat.v1.gfile.FastGFile", "compat.v1.gfile.GFile"}  # open files
NOT_CREATED = {
    **dict.fromkeys(ABSTRACT.split(), "it is abstract"),
    **dict.fromkeys(ABSENT.split(), "it needs hardware, services or packages that are not there"),
}


def create(name):
    """Returns an object of a public class, and a function that observes it."""
    kind = CLASSES[name]
    if name in CASES:
        value = CASES[name]()
    elif issubclass(kind, tf.errors.OpError):
        value = kind(None, None, "message")
    elif issubclass(kind, enum.Enum):
        value = next(iter(kind))
    else:
        value = kind("message") if issubclass(kind, BaseException) else kind()
    return (value.value, value.use or state) if isinstance(value, Case) else (value, state)
