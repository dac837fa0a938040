"""`tf.mlir.experimental`: dialects of TensorFlow's compiler. XLA programs of gradtape are in another, StableHLO."""

from __future__ import annotations

from typing import Any

from ...core import errors

NAMESPACES = ("mlir.experimental",)
__all__ = [
    "convert_function",
    "convert_graph_def",
    "convert_saved_model",
    "convert_saved_model_v1",
    "run_pass_pipeline",
    "tflite_to_tosa_bytecode",
    "write_bytecode",
]


def _no_compiler(name: str) -> errors.UnimplementedError:
    return errors.UnimplementedError(
        f"tf.mlir.experimental.{name} is part of TensorFlow's compiler, which gradtape does not have. For a function, "
        'tf.function(f, jit_compile=True).experimental_get_compiler_ir(x)(stage="hlo") returns its XLA program; save a '
        "model by tf.saved_model.save and convert it where TensorFlow is installed"
    )


def convert_function(
    concrete_function: Any, pass_pipeline: str = "tf-standard-pipeline", show_debug_info: bool = False
) -> str:
    """Raises an error: `experimental_get_compiler_ir` returns the XLA program of a function.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.convert_function(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("convert_function")


def convert_graph_def(
    graph_def: Any, pass_pipeline: str = "tf-standard-pipeline", show_debug_info: bool = False
) -> str:
    """Raises an error: there is no compiler of TensorFlow's graphs to MLIR.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.convert_graph_def(None)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("convert_graph_def")


def convert_saved_model(saved_model_path: Any, exported_names: Any, show_debug_info: bool = False) -> str:
    """Raises an error: there is no compiler of saved models to MLIR.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.convert_saved_model("folder", "")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("convert_saved_model")


def convert_saved_model_v1(
    saved_model_path: Any,
    exported_names: Any,
    tags: Any,
    lift_variables: bool,
    include_variables_in_initializers: bool,
    upgrade_legacy: bool = True,
    show_debug_info: bool = False,
) -> str:
    """Raises an error: there is no compiler of saved models to MLIR.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.convert_saved_model_v1("folder", "", "", True, True)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("convert_saved_model_v1")


def run_pass_pipeline(mlir_txt: str, pass_pipeline: str, show_debug_info: bool = False) -> str:
    """Raises an error: there are no passes of TensorFlow's compiler.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.run_pass_pipeline("", "")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("run_pass_pipeline")


def tflite_to_tosa_bytecode(
    flatbuffer: Any,
    bytecode: Any,
    use_external_constant: bool = False,
    ordered_input_arrays: Any = None,
    ordered_output_arrays: Any = None,
) -> None:
    """Raises an error: there is no compiler of models for LiteRT.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.tflite_to_tosa_bytecode("a", "b")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("tflite_to_tosa_bytecode")


def write_bytecode(filename: Any, mlir_txt: str) -> None:
    """Raises an error: there is no writer of MLIR's bytecode.

    >>> import gradtape as tf
    >>> tf.mlir.experimental.write_bytecode("a", "")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    UnimplementedError: ...
    """
    raise _no_compiler("write_bytecode")
