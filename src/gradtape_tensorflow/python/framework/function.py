"""`tensorflow.python.framework.function`: functions with a gradient of their own, as TensorFlow 1 defines them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import gradtape


class Defun:
    """Decorator: traces a function whose arguments have the given dtypes.

    `python_grad_func(op, *grads)`, where `op.inputs` and `op.outputs` are those of the call, or `grad_func(*inputs,
    *grads)` computes the gradients instead of the derivatives of the body.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._dtypes = input_types
        self._name = kwargs.pop("func_name", None)
        self._grad_func = kwargs.pop("grad_func", None)
        self._python_grad_func = kwargs.pop("python_grad_func", None)
        for unused in ("out_names", "shape_func", "noinline"):
            kwargs.pop(unused, None)
        self._options = kwargs

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the traced function."""
        body = gradtape.function(func, autograph=False)

        @gradtape.custom_gradient
        def with_gradient(*inputs: Any) -> Any:
            outputs = body(*inputs)

            def grad(*grads: Any) -> Any:
                if self._python_grad_func is not None:
                    flat = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
                    op = types.SimpleNamespace(inputs=list(inputs), outputs=flat, name=self._name, type=self._name)
                    return self._python_grad_func(op, *grads)
                return self._grad_func(*inputs, *grads)

            return outputs, grad

        custom = self._grad_func is not None or self._python_grad_func is not None

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            if self._dtypes and len(args) != len(self._dtypes):
                raise ValueError(
                    f"Expected number of arguments: {len(self._dtypes)}, received: {len(args)} in call to function "
                    f"{self._name or func.__name__}"
                )
            kinds = self._dtypes or [None] * len(args)
            tensors = [gradtape.convert_to_tensor(x, kind) for x, kind in zip(args, kinds, strict=True)]
            return (with_gradient if custom else body)(*tensors)

        return call
