"""`Module`: a named thing that owns variables and other modules, and finds them all."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from . import nest
from .scopes import name_scope, scoped
from .variable import Variable

_Method = TypeVar("_Method", bound=Callable[..., Any])
_IDENTIFIER = re.compile(r"^[a-zA-Z_]\w*$")


class Module:
    """Base class of layers and models: variables and modules set as attributes, also inside lists and dicts, are found.

    They are found by name of the attribute, a module's own variables before those of its submodules, each once.

    >>> import gradtape as tf
    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.Variable([[1.0, 2.0]], name="w")
    ...         self.b = tf.Variable([0.0, 0.0], name="b")
    >>> [v.name for v in Dense().trainable_variables]
    ['b:0', 'w:0']
    """

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not _IDENTIFIER.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        self._scope_name = scoped(name) + "/"

    @property
    def name(self) -> str:
        """The name given, or the class's name in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope of this module's variables: see `with_name_scope`."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and of its submodules."""
        return tuple(self._flatten(_is_variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable ones among `variables`."""
        return tuple(self._flatten(lambda value: _is_variable(value) and value.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The others among `variables`."""
        return tuple(self._flatten(lambda value: _is_variable(value) and not value.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules this one owns, those they own, and so on.

        >>> import gradtape as tf
        >>> outer, inner = tf.Module("outer"), tf.Module("inner")
        >>> outer.parts = [inner]
        >>> [m.name for m in outer.submodules]
        ['inner']
        """
        return tuple(self._flatten(lambda value: isinstance(value, Module)))

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """A decorator: variables made inside the method have the module's name in front of theirs.

        >>> import gradtape as tf
        >>> class Scale(tf.Module):
        ...     @tf.Module.with_name_scope
        ...     def build(self):
        ...         self.w = tf.Variable(2.0, name="w")
        >>> scale = Scale()
        >>> scale.build()
        >>> scale.w.name
        'scale/w:0'
        """

        @functools.wraps(method)
        def in_scope(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope  # type: ignore[return-value]

    def _flatten(self, wanted: Callable[[Any], Any]) -> Iterator[Any]:
        """What satisfies `wanted`, here first, then in the submodules, breadth by breadth in order of discovery."""
        seen = {id(self)}
        pending: list[Module] = [self]
        while pending:
            module = pending.pop(0)
            below: list[Module] = []
            for _, attribute in sorted(vars(module).items()):
                for leaf in _leaves(attribute):
                    if id(leaf) in seen:
                        continue
                    if wanted(leaf):
                        seen.add(id(leaf))
                        yield leaf
                    if isinstance(leaf, Module):
                        seen.add(id(leaf))
                        below.append(leaf)
            pending[:0] = below


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _leaves(value: Any) -> Iterator[Any]:
    """The leaves of an attribute; a dict whose keys have no order is taken in its own."""
    if isinstance(value, Mapping):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        for key in keys:
            yield from _leaves(value[key])
    elif nest.is_nested(value):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _snake_case(name: str) -> str:
    words_apart = re.sub(r"(.)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words_apart).lower()
