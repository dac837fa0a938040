"""`tf.autograph`: explicit conversion of Python control flow."""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable
from typing import Any

from ..graph.trace import conversion_status
from . import loop_options

NAMESPACES = ("autograph", "autograph.experimental")
__all__ = ["Feature", "do_not_convert", "set_loop_options", "set_verbosity", "to_code", "to_graph", "trace"]

set_loop_options = loop_options.set_loop_options
do_not_convert = conversion_status.do_not_convert


class Feature(enum.Enum):
    """Optional parts of the conversion, for `experimental_autograph_options` of `tf.function`.

    >>> tf.autograph.experimental.Feature.LISTS.name
    'LISTS'
    """

    __module__ = "gradtape.autograph.experimental"

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Returns every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Returns every feature except these."""
        left_out = exclude if isinstance(exclude, list | tuple | set) else (exclude,)
        return tuple(feature for feature in cls if feature not in (*left_out, cls.ALL))


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Callable[..., Any]:
    """Converts the control flow on tensors of the function `entity`.

    >>> def f(x):
    ...     if x > 0:
    ...         y = x * x
    ...     else:
    ...         y = -x
    ...     return y
    >>> int(tf.autograph.to_graph(f)(tf.constant(2)))
    4
    """
    from .conversion import to_graph as convert

    return convert(entity, recursive, experimental_optional_features)


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """Returns the source code that `to_graph` generates for the function `entity`.

    >>> def f(x):
    ...     if x < 0:
    ...         x = -x
    ...     return x
    >>> print(tf.autograph.to_code(f).split("(")[0])
    def tf__f
    """
    from .conversion import to_code

    return to_code(entity, recursive, experimental_optional_features)


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Sets how much is logged about conversions: 0 is nothing, 10 everything; `alsologtostdout` prints it too.

    >>> tf.autograph.set_verbosity(0)
    """
    from malt.utils import ag_logging

    ag_logging.set_verbosity(level, alsologtostdout)
    logging.getLogger("gradtape").setLevel(logging.INFO if level > 0 else logging.NOTSET)


def trace(*args: Any) -> None:
    """Prints `args` immediately; in a traced function, once, while tracing.

    >>> tf.autograph.trace("here", 1)
    here 1
    """
    print(*args)
