"""`tensorflow.python.util.tf_decorator`: decorators that record their target."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from gradtape.engine.run.signatures import signature_of
from gradtape.graph.function.function import Function


class TFDecorator:
    """The record of a decorator about its target, stored as `_tf_decorator` of the function."""

    def __init__(
        self,
        decorator_name: str,
        target: Callable[..., Any],
        decorator_doc: str = "",
        decorator_argspec: inspect.FullArgSpec | None = None,
    ) -> None:
        self.decorator_name = decorator_name
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        self.decorated_target = self._decorated_target = target


def make_decorator(
    target: Callable[..., Any],
    decorator_func: Callable[..., Any],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: inspect.FullArgSpec | None = None,
) -> Any:
    """Gives `decorator_func`, which decorates `target`, its name and signature."""
    name = decorator_name or inspect.currentframe().f_back.f_code.co_name  # type: ignore[union-attr]
    noted: Any = decorator_func
    noted._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    functools.update_wrapper(decorator_func, target, updated=())
    noted.__wrapped__ = target
    if decorator_argspec is not None:
        noted.__signature__ = _signature(decorator_argspec, _is_bound(target))
        return decorator_func
    try:
        noted.__signature__ = signature_of(target)
    except (TypeError, ValueError):
        pass
    return decorator_func


def _is_bound(target: Any) -> bool:
    """Whether a function, or what it decorates, is a bound method."""
    decorators, _ = unwrap(target)
    return any(map(inspect.ismethod, [target, *(decorator.decorated_target for decorator in decorators)]))


def _signature(spec: inspect.FullArgSpec, is_bound: bool) -> inspect.Signature:
    """Returns the signature that a `FullArgSpec` describes, without the instance of a bound method."""
    kind, empty = inspect.Parameter, inspect.Parameter.empty
    defaults = [empty] * (len(spec.args) - len(spec.defaults or ())) + list(spec.defaults or ())
    parameters = [
        kind(name, kind.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in zip(spec.args, defaults, strict=True)
    ]
    if is_bound and spec.args[:1] == ["self"]:
        del parameters[0]
    if spec.varargs:
        parameters.append(kind(spec.varargs, kind.VAR_POSITIONAL))
    named = spec.kwonlydefaults or {}
    parameters += [kind(name, kind.KEYWORD_ONLY, default=named.get(name, empty)) for name in spec.kwonlyargs]
    if spec.varkw:
        parameters.append(kind(spec.varkw, kind.VAR_KEYWORD))
    return inspect.Signature(parameters)


def tf_decorator(*args: Any, **kwargs: Any) -> Any:
    """Same as `make_decorator`."""
    return make_decorator(*args, **kwargs)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """Returns the decorators of a function, outermost first, and the function. `tf.function` counts as one."""
    decorators, current = [], maybe_tf_decorator
    while True:
        if isinstance(current, Function):
            decorators.append(TFDecorator("function", current.python_function))
        elif isinstance(getattr(current, "_tf_decorator", None), TFDecorator):
            decorators.append(current._tf_decorator)
        else:
            return decorators, current
        current = decorators[-1].decorated_target
