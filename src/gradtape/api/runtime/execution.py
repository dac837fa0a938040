"""How TensorFlow's runtime would run ops: settings that are kept and answered, and contexts that change nothing here.

Every op is computed when it is called, so that there is nothing to wait for and nobody else to run it.
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
    """What `set_synchronous_execution` said last: True at first.

    >>> import gradtape as tf
    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return _settings["synchronous"]


def set_synchronous_execution(enable: bool) -> None:
    """Keeps whether ops may be computed later than they are called: here they never are.

    >>> import gradtape as tf
    >>> tf.config.experimental.set_synchronous_execution(True)
    """
    _settings["synchronous"] = bool(enable)


def get_device_policy() -> str:
    """What `set_device_policy` said last.

    >>> import gradtape as tf
    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return _settings["policy"]


def set_device_policy(device_policy: str | None) -> None:
    """Keeps what to do when an op's inputs are on another device. They are copied, whatever is said.

    >>> import gradtape as tf
    >>> tf.config.experimental.set_device_policy("silent")
    """
    if device_policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to {', '.join(map(repr, _POLICIES))}"
        )
    _settings["policy"] = device_policy or "silent"


def get_experimental_options() -> dict[str, Any]:
    """The options of TensorFlow's graph optimizer that were set.

    >>> import gradtape as tf
    >>> tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
    False
    """
    return dict(_settings["options"])


def set_experimental_options(options: dict[str, Any]) -> None:
    """Keeps options of TensorFlow's graph optimizer. gradtape's passes never change what a graph means, and stay on.

    >>> import gradtape as tf
    >>> tf.config.optimizer.set_experimental_options({})
    """
    _settings["options"].update(options)


def enable_mlir_bridge() -> None:
    """Nothing to do: there is no such bridge to XLA.

    >>> import gradtape as tf
    >>> tf.config.experimental.enable_mlir_bridge()
    """


def disable_mlir_bridge() -> None:
    """Nothing to do: there is no such bridge to XLA.

    >>> import gradtape as tf
    >>> tf.config.experimental.disable_mlir_bridge()
    """


def async_scope() -> contextlib.AbstractContextManager[None]:
    """A context in which TensorFlow would compute ops later. Here they are computed at once, errors come at once.

    >>> import gradtape as tf
    >>> with tf.experimental.async_scope():
    ...     x = tf.constant(1.0) + 1.0
    """
    return contextlib.nullcontext()


def async_clear_error() -> None:
    """Nothing to do: an error is raised by the op that has it.

    >>> import gradtape as tf
    >>> tf.experimental.async_clear_error()
    """


def function_executor_type(executor_type: str | None) -> contextlib.AbstractContextManager[None]:
    """A context that would choose TensorFlow's executor of functions.

    >>> import gradtape as tf
    >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
    ...     pass
    """
    return contextlib.nullcontext()


def enable_strict_mode() -> None:
    """Nothing to do: there are no deprecated functions that it would make fail.

    >>> import gradtape as tf
    >>> tf.experimental.enable_strict_mode()
    """


def sync_devices() -> None:
    """Nothing to wait for: what was computed is there when it is read.

    >>> import gradtape as tf
    >>> tf.test.experimental.sync_devices()
    """


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[..., Any]:
    """A decorator of a test's method, which is skipped where `pred()` is true.

    >>> import gradtape as tf
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
    """A decorator of a class of tests that changes nothing.

    >>> import gradtape as tf
    >>> @tf.test.with_eager_op_as_function
    ... class Tests:
    ...     pass
    """
    return (lambda decorated: decorated) if cls is None else cls
