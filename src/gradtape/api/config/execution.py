"""Settings of TensorFlow's runtime that are stored without effect, and contexts without effect.

Every op is computed when it is called, so there is nothing to wait for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

NAMESPACES = ("config.experimental", "config.optimizer", "experimental", "test", "test.experimental")
__all__ = [
    "async_clear_error", "async_scope", "disable_mlir_bridge", "disable_with_predicate", "enable_mlir_bridge",
    "enable_strict_mode", "function_executor_type", "get_device_policy", "get_experimental_options",
    "get_synchronous_execution", "set_device_policy", "set_experimental_options", "set_synchronous_execution",
    "sync_devices", "with_eager_op_as_function",
]  # fmt: skip

_settings: dict[str, Any] = {
    "synchronous": True, "policy": "silent",
    "options": {"disable_meta_optimizer": False, "disable_model_pruning": False},
}  # fmt: skip
_POLICIES = (None, "silent", "silent_for_int32", "warn", "explicit")


def get_synchronous_execution() -> bool:
    """Returns the setting of `set_synchronous_execution`; True by default.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return _settings["synchronous"]


def set_synchronous_execution(enable: bool) -> None:
    """Sets whether ops may run asynchronously. Stored only: they never do.

    >>> tf.config.experimental.set_synchronous_execution(True)
    """
    _settings["synchronous"] = bool(enable)


def get_device_policy() -> str:
    """Returns the setting of `set_device_policy`.

    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return _settings["policy"]


def set_device_policy(device_policy: str | None) -> None:
    """Sets how to handle inputs on another device. Stored only: they are always copied.

    >>> tf.config.experimental.set_device_policy("silent")
    """
    if device_policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to {', '.join(map(repr, _POLICIES))}"
        )
    _settings["policy"] = device_policy or "silent"


def get_experimental_options() -> dict[str, Any]:
    """Returns the options set for TensorFlow's graph optimizer.

    >>> tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
    False
    """
    return dict(_settings["options"])


def set_experimental_options(options: dict[str, Any]) -> None:
    """Sets options of TensorFlow's graph optimizer. Stored only: gradtape's passes preserve semantics and stay on.

    >>> tf.config.optimizer.set_experimental_options({})
    """
    _settings["options"].update(options)


def enable_mlir_bridge() -> None:
    """Does nothing: there is no such bridge to XLA.

    >>> tf.config.experimental.enable_mlir_bridge()
    """


def disable_mlir_bridge() -> None:
    """Does nothing: there is no such bridge to XLA.

    >>> tf.config.experimental.disable_mlir_bridge()
    """


def async_scope() -> contextlib.AbstractContextManager[None]:
    """Context manager for TensorFlow's asynchronous execution. In gradtape, ops and errors are immediate.

    >>> with tf.experimental.async_scope():
    ...     x = tf.constant(1.0) + 1.0
    """
    return contextlib.nullcontext()


def async_clear_error() -> None:
    """Does nothing: an op raises its own error.

    >>> tf.experimental.async_clear_error()
    """


def function_executor_type(executor_type: str | None) -> contextlib.AbstractContextManager[None]:
    """Context manager that selects TensorFlow's executor of functions; without effect.

    >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
    ...     pass
    """
    return contextlib.nullcontext()


def enable_strict_mode() -> None:
    """Does nothing: there are no deprecated functions that would fail.

    >>> tf.experimental.enable_strict_mode()
    """


def sync_devices() -> None:
    """Does nothing: values are complete when they are read.

    >>> tf.test.experimental.sync_devices()
    """


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[..., Any]:
    """Decorates a test method, which is skipped if `pred()` is true.

    >>> @tf.test.disable_with_predicate(lambda: False, "never")
    ... def test(self):
    ...     return "ran"
    >>> test(None)
    'ran'
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        def test(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self.skipTest(skip_message) if pred() else function(self, *args, **kwargs)

        return test

    return decorator


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """Decorates a class of tests, without effect.

    >>> @tf.test.with_eager_op_as_function
    ... class Tests:
    ...     pass
    """
    return (lambda decorated: decorated) if cls is None else cls
