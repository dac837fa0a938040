"""`tensorflow.python.util.function_utils`: the names and arguments of functions."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from . import tf_inspect
from .tf_decorator import unwrap


def fn_args(fn: Any) -> tuple[str, ...]:
    """Returns the names of a function's positional arguments, without `self` and those a partial binds."""
    if isinstance(fn, functools.partial):
        names = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in names if name not in fn.keywords)
    bound = inspect.ismethod(unwrap(fn)[1])
    if callable(fn) and not inspect.isroutine(fn) and not inspect.isclass(fn):
        target = unwrap(fn)[1]
        fn, bound = (fn, bound) if inspect.isroutine(target) else (fn.__call__, True)
    args = list(tf_inspect.getfullargspec(fn).args)
    return tuple(args[1:] if bound and args else args)


def has_kwargs(fn: Any) -> bool:
    """Returns whether a function takes any keyword arguments (`**kwargs`)."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif callable(fn) and not inspect.isroutine(unwrap(fn)[1]) and not inspect.isclass(fn):
        fn = fn.__call__
    elif not callable(fn):
        raise TypeError(f"Argument `fn` should be a callable. Received: fn={fn} (of type {type(fn)})")
    return tf_inspect.getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """Returns the name of a callable."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError(f"Argument `func` must be a callable. Received func={func} (of type {type(func)})")
    if inspect.isfunction(func) or inspect.isbuiltin(func) or inspect.isclass(func):
        return str(func.__name__)
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    return get_func_name(func.func) if isinstance(func, functools.partial) else str(type(func))


def get_func_code(func: Any) -> Any:
    """Returns the code of a function, or None if it has none."""
    _, func = unwrap(func)
    if not callable(func):
        raise ValueError(f"Argument `func` must be a callable. Received func={func} (of type {type(func)})")
    return getattr(func, "__code__", None) or getattr(type(func).__call__, "__code__", None)


def get_disabled_rewriter_config() -> bytes:
    """Returns the configuration that turns off rewrites of graphs, as bytes of a `ConfigProto`."""
    from gradtape_tensorflow.protos import generated

    config = generated.message_class("tensorflow.ConfigProto")()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return bytes(config.SerializeToString())
