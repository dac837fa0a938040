"""What Keras' interface for backends does not cover: modules of Keras that are adapted after they have loaded.

The table in docs/keras.md says for each what it is for, and which extension point of Keras would replace it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Adapt = Callable[[Any], None]
_WIDER = {"int32": "int64", "uint32": "uint64"}


def of(serves_tensorflow: bool) -> dict[str, Adapt]:
    """Returns the adaptations by the module's name; more of them if gradtape serves as `tensorflow`."""
    return {**ALWAYS, **AS_TENSORFLOW} if serves_tensorflow else dict(ALWAYS)


def _keep_64_bits(dtypes: Any) -> None:
    """Keeps 64-bit arguments 64-bit, as on TensorFlow; results that only promotion widens become 32-bit."""
    dtypes.BIT64_TO_BIT32_DTYPE.update(float64="float64", complex128="complex128")  # Keras narrows them for JAX only
    lattice = dtypes._lattice_result_type

    def promoted(*dtypes: Any) -> str:
        found = lattice(*dtypes)
        wider = _WIDER.get(found)
        return wider if wider is not None and wider in dtypes else found

    dtypes._lattice_result_type = promoted


def _extend_optimizer(module: Any) -> None:
    """Adds gradtape's extension to the base class of Keras' optimizers."""
    from .src.optimizer import OptimizerExtension

    module.BackendOptimizer.__bases__ = (OptimizerExtension, *module.BackendOptimizer.__bases__)


def _scale_losses(module: Any) -> None:
    """Scales losses by the number of replicas of a strategy, as on TensorFlow."""
    from .src import replicas

    module.scale_loss_for_distribution, module.unscale_loss_for_distribution = replicas.scaled, replicas.unscaled


def _synchronise_batch_norm(module: Any) -> None:
    """Enables synchronized batch normalization, which Keras restricts to its TensorFlow backend."""
    module.backend = _AsTensorFlow(module.backend)


class _AsTensorFlow:
    """Keras' backend under the name `tensorflow`, for a module that only checks the name."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def backend(self) -> str:
        """Returns the name."""
        return "tensorflow"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)


def _serve_tensorflow(module_utils: Any) -> None:
    """Redirects Keras' own uses of TensorFlow, which do not depend on the backend, to gradtape."""
    module_utils.tensorflow.name = "keras_gradtape.src.tensorflow"
    module_utils.gfile.name = "gradtape.io.gfile"


def _know_types(module: Any) -> None:
    """Makes Keras' type checks, which compare TensorFlow's module names, recognize gradtape's types."""
    import gradtape

    ragged, sparse = gradtape.RaggedTensor, gradtape.SparseTensor
    types: dict[str, Any] = {
        "is_tf_dataset": (gradtape.data.Dataset, gradtape.distribute.DistributedDataset),
        "is_tensorflow_tensor": (gradtape.Tensor, ragged, sparse),
        "is_tensorflow_ragged": ragged, "is_tensorflow_sparse": sparse, "is_ragged_tensor": ragged,
    }  # fmt: skip
    for name in types.keys() & vars(module).keys():
        setattr(module, name, functools.partial(_is_instance, types[name]))


def _is_instance(kinds: Any, value: Any) -> bool:
    return isinstance(value, kinds)


def _hide_frames(module: Any) -> None:
    """Leaves gradtape's frames out of Keras' tracebacks, which are without Keras' and TensorFlow's."""
    from gradtape.core.tracebacks import without_ours

    without_keras = module._process_traceback_frames
    module._process_traceback_frames = lambda trace: without_keras(without_ours(trace))


def _keep_former_names(module: Any) -> None:
    """Gives metrics the Keras 2 method name of TensorFlow's tutorials."""
    module.Metric.reset_states = lambda self: self.reset_state()


def _answer_tensorflow(module: Any) -> None:
    """Makes the public `backend()` return "tensorflow".

    Libraries compare the name with those of Keras' own backends, to choose the code for TensorFlow. Keras itself asks
    `keras.src.backend`, which returns gradtape's name.
    """
    module.backend = _tensorflow_name


def _tensorflow_name() -> str:
    """Returns the name of the backend that `tensorflow` is."""
    return "tensorflow"


def _know_graphs(backend_utils: Any) -> None:
    """Keras checks for a TensorFlow graph, in which only its TensorFlow backend works: never true here."""
    backend_utils.in_tf_graph = lambda: False


ALWAYS: dict[str, Adapt] = {
    "keras.src.backend.common.dtypes": _keep_64_bits,
    "keras.src.layers.normalization.batch_normalization": _synchronise_batch_norm,
    "keras.src.losses.loss": _scale_losses,
    "keras.src.optimizers.optimizer": _extend_optimizer,
    "keras.src.trainers.data_adapters": _know_types,
    "keras.src.trainers.data_adapters.data_adapter_utils": _know_types,
    "keras.src.utils.dataset_utils": _know_types,
    "keras.src.utils.module_utils": _serve_tensorflow,
    "keras.src.utils.tf_utils": _know_types,
    "keras.src.utils.traceback_utils": _hide_frames,
}
AS_TENSORFLOW: dict[str, Adapt] = {
    "keras._tf_keras.keras.backend": _answer_tensorflow,
    "keras._tf_keras.keras.config": _answer_tensorflow,
    "keras.backend": _answer_tensorflow,
    "keras.config": _answer_tensorflow,
    "keras.src.metrics.metric": _keep_former_names,
    "keras.src.utils.backend_utils": _know_graphs,
}
