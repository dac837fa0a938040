"""`tf.lite`: models for phones and microcontrollers. gradtape runs them by LiteRT, and does not convert to them."""

from __future__ import annotations

import dataclasses
import enum
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from gradtape.core import errors

NAMESPACES = ("lite", "lite.experimental")
__all__ = [
    "Interpreter", "OpResolverType", "OpsSet", "Optimize", "QuantizationDebugOptions", "QuantizationDebugger",
    "TFLiteConverter",
]  # fmt: skip

_INSTEAD = (
    "gradtape does not convert models for LiteRT. Save the model by tf.saved_model.save(model, folder), and convert it "
    "where TensorFlow is installed: tf.lite.TFLiteConverter.from_saved_model(folder).convert()"
)


class OpsSet(enum.Enum):
    """Which ops a converted model may use."""

    __module__ = "gradtape.lite"

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return str(self.value)


class Optimize(enum.Enum):
    """What a converter optimizes."""

    __module__ = "gradtape.lite"

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return str(self.value)


class OpResolverType(enum.Enum):
    """Which kernels an interpreter uses."""

    __module__ = "gradtape.lite.experimental"

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


@dataclasses.dataclass
class QuantizationDebugOptions:
    """Options of a `QuantizationDebugger`.

    >>> tf.lite.experimental.QuantizationDebugOptions(denylisted_ops=["CONV_2D"]).denylisted_ops
    ['CONV_2D']
    """

    __module__ = "gradtape.lite.experimental"

    layer_debug_metrics: Mapping[str, Callable[[Any], float]] | None = None
    model_debug_metrics: Mapping[str, Callable[..., float]] | None = None
    layer_direct_compare_metrics: Mapping[str, Callable[..., float]] | None = None
    denylisted_ops: list[str] | None = None
    denylisted_nodes: list[str] | None = None
    fully_quantize: bool = False

    def __post_init__(self) -> None:
        direct = self.layer_direct_compare_metrics or {}
        twice = set(self.layer_debug_metrics or {}) & set(direct)
        if twice:
            raise ValueError(f"Provided metrics have duplicate keys: {sorted(twice)}")


class TFLiteConverter:
    """Raises an error: convert a saved model where TensorFlow is installed.

    >>> tf.lite.TFLiteConverter.from_saved_model("folder")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.lite"

    def __init__(self, funcs: Any, trackable_obj: Any = None) -> None:
        raise errors.UnimplementedError(_INSTEAD)

    @classmethod
    def from_concrete_functions(cls, funcs: Any, trackable_obj: Any = None) -> TFLiteConverter:
        """Raises an error."""
        return cls(funcs, trackable_obj)

    @classmethod
    def from_saved_model(cls, saved_model_dir: Any, signature_keys: Any = None, tags: Any = None) -> TFLiteConverter:
        """Raises an error."""
        return cls(None)

    @classmethod
    def from_keras_model(cls, model: Any) -> TFLiteConverter:
        """Raises an error."""
        return cls(None, model)

    @classmethod
    def experimental_from_jax(cls, serving_funcs: Any, inputs: Any) -> TFLiteConverter:
        """Raises an error."""
        return cls(serving_funcs)

    def convert(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)


class QuantizationDebugger:
    """Raises an error: debug a model where TensorFlow is installed.

    >>> tf.lite.experimental.QuantizationDebugger()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """

    __module__ = "gradtape.lite.experimental"

    options: QuantizationDebugOptions

    def __init__(
        self,
        quant_debug_model_path: str | None = None,
        quant_debug_model_content: bytes | None = None,
        float_model_path: str | None = None,
        float_model_content: bytes | None = None,
        debug_dataset: Any = None,
        debug_options: QuantizationDebugOptions | None = None,
        converter: Any = None,
    ) -> None:
        raise errors.UnimplementedError(_INSTEAD)

    def get_debug_quantized_model(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def get_nondebug_quantized_model(self) -> bytes:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def layer_statistics_dump(self, file: Any) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)

    def run(self) -> None:
        """Raises an error."""
        raise errors.UnimplementedError(_INSTEAD)


def _litert() -> Any:
    """Returns the interpreter module of LiteRT, formerly TFLite."""
    for name in ("ai_edge_litert.interpreter", "tflite_runtime.interpreter"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError(
        "tf.lite.Interpreter runs models by the package LiteRT, which is not installed: pip install ai-edge-litert"
    )


class Interpreter:
    """Runs a converted model, by the package LiteRT (`pip install ai-edge-litert`).

    >>> interpreter = tf.lite.Interpreter("model.tflite")  # doctest: +SKIP
    >>> interpreter.allocate_tensors()  # doctest: +SKIP

    Args:
      model_path: the file of the model.
      model_content: its contents, instead.
      experimental_delegates: what LiteRT's `load_delegate` returns.
      num_threads: the number of threads.
    """

    __module__ = "gradtape.lite"

    def __init__(
        self,
        model_path: str | None = None,
        model_content: bytes | None = None,
        experimental_delegates: Any = None,
        num_threads: int | None = None,
        experimental_op_resolver_type: OpResolverType = OpResolverType.AUTO,
        experimental_preserve_all_tensors: bool = False,
        experimental_disable_delegate_clustering: bool = False,
        experimental_default_delegate_latest_features: bool = False,
    ) -> None:
        module = _litert()
        self._interpreter = module.Interpreter(
            model_path=model_path,
            model_content=model_content,
            experimental_delegates=experimental_delegates,
            num_threads=num_threads,
            experimental_op_resolver_type=module.OpResolverType(experimental_op_resolver_type.value),
            experimental_preserve_all_tensors=experimental_preserve_all_tensors,
        )

    def allocate_tensors(self) -> None:
        """Prepares the memory; to be called first."""
        self._interpreter.allocate_tensors()

    def get_input_details(self) -> list[dict[str, Any]]:
        """Returns the index, shape and dtype of each input."""
        return self._interpreter.get_input_details()  # type: ignore[no-any-return]

    def get_output_details(self) -> list[dict[str, Any]]:
        """Returns the index, shape and dtype of each output."""
        return self._interpreter.get_output_details()  # type: ignore[no-any-return]

    def get_tensor_details(self, subgraph_index: int = 0) -> list[dict[str, Any]]:
        """Returns the index, shape and dtype of each tensor."""
        return self._interpreter.get_tensor_details(subgraph_index)  # type: ignore[no-any-return]

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Sets an input."""
        self._interpreter.set_tensor(tensor_index, value)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> Any:
        """Returns an output as an array."""
        return self._interpreter.get_tensor(tensor_index, subgraph_index)

    def tensor(self, tensor_index: int) -> Any:
        """Returns a function that returns a view of a tensor."""
        return self._interpreter.tensor(tensor_index)

    def resize_tensor_input(self, input_index: int, tensor_size: Any, strict: bool = False) -> None:
        """Sets the shape of an input."""
        self._interpreter.resize_tensor_input(input_index, tensor_size, strict)

    def get_signature_list(self) -> dict[str, Any]:
        """Returns the signatures, with the names of inputs and outputs."""
        return self._interpreter.get_signature_list()  # type: ignore[no-any-return]

    def get_signature_runner(self, signature_key: str | None = None) -> Any:
        """Returns a function that runs a signature."""
        return self._interpreter.get_signature_runner(signature_key)

    def invoke(self) -> None:
        """Runs the model."""
        self._interpreter.invoke()

    def num_subgraphs(self) -> int:
        """Returns the number of graphs."""
        return self._interpreter.num_subgraphs()  # type: ignore[no-any-return]

    def reset_all_variables(self) -> None:
        """Resets the state of the model."""
        self._interpreter.reset_all_variables()
