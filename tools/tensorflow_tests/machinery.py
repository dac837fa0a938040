"""What stands in for TensorFlow's test machinery, on both platforms, and for some private names, on gradtape."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import re
import sys
import types
import unittest
import unittest.mock
from collections.abc import Callable
from typing import Any

from absl.testing import parameterized

_KEYS = itertools.count(1)


class Private:
    """Something of TensorFlow's that has no public name: a file may mention it, but a test that uses it fails."""

    loading = True

    def __init__(self, name: str) -> None:
        self.__name__ = self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Private(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if Private.loading:
            return Private(f"{self._name}()")
        raise NotImplementedError(f"{self._name} is private to TensorFlow")

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (type(self._name.rpartition(".")[2], (unittest.TestCase,), {"setUp": self.__call__}),)

    def __instancecheck__(self, instance: Any) -> bool:
        return False  # nothing here is of a kind that is TensorFlow's own


_KINDS = (
    (".*NoMergeCall", None),
    ("Default", ("Default",)),
    ("OneDevice.*", ("OneDevice", "/cpu:0")),
    ("MultiWorkerMirrored.*", ("MultiWorker",)),
    ("Mirrored1.PU", ("Mirrored", "/cpu:0")),
    ("Mirrored2CPU", ("Mirrored", "/cpu:1", "/cpu:2")),
    ("Mirrored.*", ("Mirrored", "/cpu:0", "/cpu:1")),
)


class NamedDistribution:
    """A strategy by the name that `strategy_combinations.py` gives it, made of CPUs; None if it cannot be."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        self.kind: tuple[str, ...] | None = next((kind for form, kind in _KINDS if re.fullmatch(form, name)), None)

    def __repr__(self) -> str:
        return "".join(self.kind or ()).replace("/cpu:", "")

    @property
    def strategy(self) -> Any:
        """The strategy, made anew."""
        import tensorflow as tf

        assert self.kind is not None
        kind, *devices = self.kind
        if kind == "Default":
            return tf.distribute.get_strategy()
        if kind == "OneDevice":
            return tf.distribute.OneDeviceStrategy(*devices)
        made = tf.distribute.MirroredStrategy if devices else tf.distribute.MultiWorkerMirroredStrategy
        if hasattr(made, "_collective_key_base"):  # TensorFlow's machinery does the same: a key serves one test
            made._collective_key_base = 100_000 * next(_KEYS)
        strategy = made(devices) if devices else made()
        if not devices and strategy.num_replicas_in_sync > 1:  # gradtape's: TensorFlow's takes no CPU but the first
            strategy._begin(strategy.extended.worker_devices[:1])
        return strategy


class NamedObject:
    """A value with a name for the title of a test."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self.value = name, obj

    def __repr__(self) -> str:
        return self._name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("_name", "value"):
            raise AttributeError(name)
        return getattr(self.value, name)


def combine(**choices: Any) -> list[dict[str, Any]]:
    """Every choice of one value for each name."""
    each = [choice if isinstance(choice, list) else [choice] for choice in choices.values()]
    return [dict(zip(choices, chosen, strict=True)) for chosen in itertools.product(*each)]


def times(*several: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every choice of one of each of `several`."""
    return [functools.reduce(lambda a, b: a | b, chosen) for chosen in itertools.product(*several)]


def named_combinations(**choices: Any) -> list[dict[str, Any]]:
    """Every choice of one value for each name, with the title that TensorFlow's machinery gives a test of it."""

    def title(chosen: dict[str, Any]) -> str:
        parts = (part for name, value in chosen.items() for part in (name, str(value)))
        return "".join(f"_{''.join(filter(str.isalnum, part))}" for part in parts)

    return [{**chosen, "testcase_name": f"_test{title(chosen)}"} for chosen in combine(**dict(sorted(choices.items())))]


def generate(combinations: list[dict[str, Any]], test_combinations: Any = ()) -> Callable[[Any], Any]:
    """A test for each combination that is eager and whose strategies are there; what comes out the same, once.

    `test_combinations` may have contexts in which a combination runs, and parameters that a test need not take.
    """
    cases: dict[str, dict[str, Any]] = {}
    for chosen in combinations:
        named = [value for value in chosen.values() if isinstance(value, NamedDistribution)]
        graph = chosen.get("mode") == "graph" or chosen.get("tf_api_version") == 1
        if graph or any(value.kind is None for value in named):
            continue
        shown = {name: value for name, value in chosen.items() if name not in ("mode", "tf_api_version")}
        title = "".join(f"_{name}_{_title(value)}" for name, value in sorted(shown.items()))
        cases.setdefault(title or "_eager", chosen)

    def decorate(tested: Any) -> Any:
        if isinstance(tested, type):
            for name, method in list(vars(tested).items()):
                if name.startswith("test") and inspect.isfunction(method):
                    delattr(tested, name)
                    for title, chosen in cases.items():
                        setattr(tested, name + title, _with(method, chosen, test_combinations))
            return tested
        run = lambda self, **chosen: _with(tested, chosen, test_combinations)(self)  # noqa: E731
        run.__name__, run.__doc__ = tested.__name__, None
        if not cases:
            return unittest.skip("no combination is eager and on CPUs")(lambda self: None)
        return parameterized.named_parameters(*({"testcase_name": t, **chosen} for t, chosen in cases.items()))(run)

    return decorate


def _title(value: Any) -> str:
    """A value in the title of a test: the same on both platforms."""
    return re.sub(" at 0x[0-9a-f]+", "", getattr(value, "__name__", repr(value)))


def _with(method: Any, chosen: dict[str, Any], test_combinations: Any) -> Any:
    """The test `method` with what it takes of `chosen`, its strategies made."""
    known = inspect.signature(method, follow_wrapped=False).parameters
    every = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    if every:  # a decorator passes on what the test takes; a test of `parameterized` has its parameters already
        known = inspect.signature(method).parameters
    optional = {"mode", "tf_api_version", *(name for each in test_combinations for name in each.parameter_modifiers())}

    def run(self: Any) -> Any:
        given = {name: v for name, v in chosen.items() if name in known or (every and name not in optional)}
        made = {name: v.strategy if isinstance(v, NamedDistribution) else v for name, v in given.items()}
        with contextlib.ExitStack() as contexts:
            for each in test_combinations:
                for context in each.context_managers(dict(chosen)):
                    contexts.enter_context(context)
            return method(self, **made)

    return run


def gather(strategy: Any, value: Any) -> Any:
    """The values of all replicas of each part of a nest, stacked."""
    import tensorflow as tf

    return tf.nest.map_structure(lambda part: tf.stack(strategy.experimental_local_results(part)), value)


def _unchanged(f: Any = None, *args: Any, **options: Any) -> Any:
    """A decorator that changes nothing, with or without arguments."""
    return f if callable(f) else lambda g: g


def _skipped(reason: str) -> Callable[..., Any]:
    """A decorator, with or without arguments, of tests that are skipped."""

    def decorate(f: Any = None, *args: Any, **options: Any) -> Any:
        return unittest.skip(reason)(f) if callable(f) else unittest.skip(reason)

    return decorate


def _no_block(*args: Any, **kwargs: Any) -> Any:
    """A context that changes nothing."""
    return contextlib.nullcontext()


def _also_in_function(f: Any) -> Any:
    """A test that runs twice: as it is, and as a `tf.function`."""

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> None:
        f(*args, **kwargs)
        sys.modules["tensorflow"].function(lambda: f(*args, **kwargs), autograph=False)()

    return run


def _channels_first(x: Any) -> Any:
    """An image, or its shape, with the channels after the batch."""
    import tensorflow as tf

    if tf.is_tensor(x):
        return tf.transpose(x, [0, len(x.shape) - 1, *range(1, len(x.shape) - 1)])
    return [x[0], x[-1], *x[1:-1]]


def _channels_last(x: Any) -> Any:
    """An image, or its shape, with the channels at the end."""
    import tensorflow as tf

    if tf.is_tensor(x):
        return tf.transpose(x, [0, *range(2, len(x.shape)), 1])
    return [x[0], *x[2:], x[1]]


_COMBINATIONS = {
    "NamedDistribution": NamedDistribution, "NamedObject": NamedObject, "combine": combine, "times": times,
    "generate": generate, "concat": lambda *several: [*itertools.chain(*several)], "in_main_process": lambda: True,
    "no_tf_function": NamedObject("NoTfFunction", lambda f: f), "env": lambda: types.SimpleNamespace(),
    "tf_function": NamedObject("TfFunction", lambda f: sys.modules["tensorflow"].function(f)),
}  # fmt: skip


def _for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Any:
    """Decorator of a class: decorates its tests."""

    def decorate(kind: type) -> type:
        for name, method in list(vars(kind).items()):
            if callable(method) and name.startswith("test"):
                setattr(kind, name, decorator(*args, **kwargs)(method))
        return kind

    return decorate


_UNCHANGED = """
run_in_graph_and_eager_modes run_v2_only with_eager_op_as_function run_all_in_graph_and_eager_modes disable_xla
disable_tfrt disable_mlir_bridge run_without_tensor_float_32 run_all_without_tensor_float_32
assert_no_garbage_created assert_no_new_tensors assert_no_new_pyobjects_executing_eagerly run_in_async_and_sync_mode
enable_control_flow_v2 disable_control_flow_v2 with_control_flow_v2 xla_allow_fallback no_xla_auto_jit disable_asan
disable_ubsan disable_msan disable_tsan add_graph_building_optimization_tests disable_eager_op_as_function
enable_eager_op_as_function enable_output_all_intermediates with_forward_compatibility_horizons
"""
_SKIPPED = {
    "run_deprecated_v1 run_v1_only deprecated_graph_mode_only build_as_function_and_v1_graph": "a TensorFlow 1 graph",
    "run_gpu_only run_cuda_only run_gpu_or_tpu": "there is no GPU",
}
_NOT_HERE = "is_xla_enabled is_gpu_available IsMklEnabled GpuSupportsHalfMatMulAndConv is_asan_enabled is_ubsan_enabled"
MACHINERY: dict[str, dict[str, Any]] = {
    "distribute.combinations": _COMBINATIONS,
    "framework.test_combinations": _COMBINATIONS,
    "framework.combinations": _COMBINATIONS,
    "framework.test_util": {
        **dict.fromkeys(_UNCHANGED.split(), _unchanged),
        "for_all_test_methods": _for_all_test_methods,
        **{name: _skipped(reason) for names, reason in _SKIPPED.items() for name in names.split()},
        **dict.fromkeys(_NOT_HERE.split(), lambda *args, **kwargs: False),
        **dict.fromkeys(("use_gpu", "force_cpu", "force_gpu", "device"), _no_block),
        "generate_combinations_with_testcase_name": named_combinations,
        "also_run_as_tf_function": _also_in_function, "gpu_device_name": lambda: "", "sync_devices": lambda: None,
        "matmul_without_tf32": lambda *args, **options: sys.modules["tensorflow"].matmul(*args, **options),
        "NHWCToNCHW": _channels_first, "NCHWToNHWC": _channels_last,
    },
    "distribute.test_util": {"gather": gather, "main": None, "set_logical_devices_to_at_least": lambda *args: None},
    "distribute.multi_process_runner": {"test_main": None},
    "platform.test": {"mock": unittest.mock},
    "tf2": {"enabled": lambda: True},
    "eager.context": {
        "num_gpus": lambda: 0, "_reset_context": lambda: None, "eager_mode": _no_block,
        "ensure_initialized": lambda: None,
    },
}  # fmt: skip
OWN_FILES = ("distribute.strategy_combinations", "distribute.strategy_test_lib")  # TensorFlow's, run as they are
HELPER_FILES = (
    "data.kernel_tests.test_base", "data.kernel_tests.checkpoint_test_base", "data.kernel_tests.tf_record_test_base",
    "ops.image_grad_test_base", "ops.linalg.linear_operator_test_util", "ops.parallel_for.test_util",
    "ops.ragged.ragged_tensor_test_ops",
    "kernel_tests.signal.test_util", "kernel_tests.random.util", "kernel_tests.sparse_ops.sparse_xent_op_test_base",
    "kernel_tests.nn_ops.xent_op_test_base", "kernel_tests.nn_ops.bias_op_base",
    "kernel_tests.nn_ops.depthwise_conv_op_base", "kernel_tests.nn_ops.cudnn_deterministic_base",
    "kernel_tests.proto.decode_proto_op_test_base", "kernel_tests.proto.encode_proto_op_test_base",
    "kernel_tests.proto.descriptor_source_test_base", "saved_model.registration.test_util",
)  # as they are too; what is private in them is not asked of the tests that use them  # fmt: skip


def _select(number: int, structure: Any) -> Any:
    """The part of one replica in each value of a nest; variables know by themselves which they are."""
    import tensorflow as tf

    def part(x: Any) -> Any:
        chosen = isinstance(x, tf.distribute.DistributedValues) and not isinstance(x, tf.Variable)
        return x.values[number] if chosen else x

    return tf.nest.map_structure(part, structure)


def _is_synchronized(on_read: bool) -> Callable[[Any], bool]:
    """A function that says whether a variable of several replicas is kept alike by writing, or by reading."""

    def asked(v: Any) -> bool:
        import tensorflow as tf

        known = isinstance(v, tf.distribute.DistributedValues) and hasattr(v, "synchronization")
        return known and (v.synchronization == tf.VariableSynchronization.ON_READ) == on_read

    return asked


def _canonical(device: str, default: str | None = None) -> str:
    """The whole name of a device; what it leaves out is taken from another, or is this machine's first CPU."""
    import tensorflow as tf

    known = tf.DeviceSpec.from_string("/job:localhost/replica:0/task:0/device:CPU:0")
    for name in filter(None, (default, device)):
        known = known.make_merged_spec(tf.DeviceSpec.from_string(name))
    return str(known.to_string())


def _distributed(strategy: Any, x: Any, num_replicas_in_sync: int | None = None, **options: Any) -> Any:
    """A distributed dataset: of one whose batches are split among the replicas, or of a function that makes shares."""
    if callable(x):
        return strategy.distribute_datasets_from_function(x)
    if num_replicas_in_sync is None:
        return strategy.distribute_datasets_from_function(lambda context: x)
    if num_replicas_in_sync != strategy.num_replicas_in_sync:
        raise NotImplementedError("batches are split among all replicas of the strategy, and no others")
    return strategy.experimental_distribute_dataset(x)


def _is(*kinds: str) -> Callable[[Any], bool]:
    """A function that says whether a value is of one of the public classes."""
    classes = [operator.attrgetter(kind) for kind in kinds]
    return lambda value: isinstance(value, tuple(find(sys.modules["tensorflow"]) for find in classes))


def _leaves(structure: Any) -> Any:
    return sys.modules["tensorflow"].nest.flatten(structure)


# Private names that tests use for what public ones do as well. Only gradtape is given these.
COUNTERPARTS: dict[str, Any] = {
    "distribute.distribute_utils.select_replica": _select,
    "distribute.distribute_utils.is_mirrored": _is_synchronized(on_read=False),
    "distribute.distribute_utils.is_sync_on_read": _is_synchronized(on_read=True),
    "distribute.device_util.canonicalize": _canonical,
    "distribute.input_lib.InputWorkers": lambda pairs, *args, **kwargs: types.SimpleNamespace(num_workers=len(pairs)),
    "distribute.input_lib.DistributedDataset": lambda workers, strategy, x, **kwargs: _distributed(
        strategy, x, **kwargs
    ),
    "distribute.input_util.get_distributed_dataset": lambda x, workers, strategy, **kwargs: _distributed(
        strategy, x, **kwargs
    ),
    "distribute.input_util.get_distributed_datasets_from_function": lambda x, workers, contexts, strategy, *args: (
        _distributed(strategy, x)
    ),
    "distribute.v1.input_lib.DatasetIterator": lambda x, workers, strategy, **kwargs: iter(
        _distributed(strategy, x, **kwargs)
    ),
    "distribute.v1.input_lib.InputFunctionIterator": lambda x, workers, contexts, strategy: iter(
        _distributed(strategy, x)
    ),
    "eager.context.set_global_seed": lambda seed: sys.modules["tensorflow"].random.set_seed(seed),
    "data.ops.test_mode.toggle_test_mode": lambda testing: None,
    **dict.fromkeys(f"data.util.nest.{name}" for name in ("flatten", "assert_same_structure", "map_structure")),
    "data.util.structure.are_compatible": lambda a, b: [*map(str, _leaves(a))] == [*map(str, _leaves(b))],
    "framework.sparse_tensor.is_sparse": _is("SparseTensor", "compat.v1.SparseTensorValue"),
    "ops.ragged.ragged_tensor.is_ragged": _is("RaggedTensor", "compat.v1.ragged.RaggedTensorValue"),
    "distribute.v1.input_lib.DistributedDatasetV1": None,  # without TensorFlow 2 only
    "distribute.values.PerReplica": None,  # `gradtape run` has a module `values`
    "distribute.values.Mirrored": None,
}
