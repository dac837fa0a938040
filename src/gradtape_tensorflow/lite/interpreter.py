"""`tf.lite.Interpreter`, by the package LiteRT if it is installed."""

from __future__ import annotations

import importlib
from typing import Any

from .experimental_settings import OpResolverType

NAMESPACES = ("lite",)
__all__ = ["Interpreter"]


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
