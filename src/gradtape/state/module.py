"""`Module`: a named object that owns variables and other modules, and collects them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ..core import nest
from ..core.owners import Owner
from ..core.scopes import name_scope, scoped
from .variable import Variable

_Method = TypeVar("_Method", bound=Callable[..., Any])
_IDENTIFIER = re.compile(r"^[a-zA-Z_]\w*$")


class Module(Owner):
    """Base class of layers and models: collects variables and modules in attributes, also inside lists and dicts.

    They are ordered by attribute name, a module's own variables before those of its submodules, each once.

    Args:
      name: the name of the module, a valid Python identifier; by default, the name of the class in snake case.

    >>> class Dense(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.Variable([[1.0, 2.0]], name="w")
    ...         self.b = tf.Variable([0.0, 0.0], name="b")
    >>> [v.name for v in Dense().trainable_variables]
    ['b:0', 'w:0']
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()  # attributes that are skipped

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not _IDENTIFIER.match(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        self._name_scope = name_scope(scoped(name) + "/")

    @property
    def name(self) -> str:
        """The given name, or the class name in snake case."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The name scope of this module's variables: see `with_name_scope`."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and of its submodules."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The trainable variables."""
        found = self._flatten(predicate=_is_variable, expand_composites=True)
        return tuple(variable for variable in found if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that are not trainable."""
        found = self._flatten(predicate=_is_variable, expand_composites=True)
        return tuple(variable for variable in found if not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All descendant modules.

        >>> outer, inner = tf.Module("outer"), tf.Module("inner")
        >>> outer.parts = [inner]
        >>> [m.name for m in outer.submodules]
        ['inner']
        """
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    @classmethod
    def with_name_scope(cls, method: _Method) -> _Method:
        """Decorate a method: names of variables created inside it are prefixed with the module's name.

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

    def _flatten(
        self, recursive: bool = True, predicate: Callable[[Any], Any] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None, with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:  # fmt: skip
        """Yields the attribute values that satisfy `predicate`: this module's first, then those of its submodules.

        For subclasses that collect more than variables and modules. Each value is yielded once; with `with_path`, once
        per path to it, as a pair of the path (names, indices and keys) and the value.

        Args:
          attribute_traversal_key: sort key of attribute names that determines the order of traversal.
        """
        seen = {id(self)}

        def walk(module: Module, path: tuple[Any, ...], above: frozenset[int]) -> Iterator[Any]:
            below: list[tuple[tuple[Any, ...], Module]] = []
            for name in sorted(vars(module).keys() - module._TF_MODULE_IGNORED_PROPERTIES, key=attribute_traversal_key):
                try:
                    leaves = list(_leaves(vars(module)[name], expand_composites))
                except TypeError as error:
                    raise ValueError(f"Error processing property {name!r} of {module!r}: {error}") from error
                for steps, leaf in leaves:
                    if not with_path and id(leaf) in seen:
                        continue
                    way = (*path, name, *steps)
                    if predicate is None or predicate(leaf):
                        seen.add(id(leaf))
                        yield (way, leaf) if with_path else leaf
                    if isinstance(leaf, Module):
                        seen.add(id(leaf))
                        if recursive and id(leaf) not in above:
                            below.append((way, leaf))
            for way, submodule in below:
                yield from walk(submodule, way, above | {id(submodule)} if with_path else above)

        return walk(self, (), frozenset())


Module.__module__ = "gradtape"


def _is_variable(value: object) -> bool:
    return isinstance(value, Variable)


def _leaves(value: Any, expand: bool) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields the leaves of an attribute with the path to each."""
    if isinstance(value, Mapping):
        parts = [(key, value[key]) for key in nest.sorted_keys(value)]
    elif nest.is_nested(value):
        parts = list(enumerate(value))
    elif expand and nest.is_composite(value):
        parts = list(enumerate(nest.flatten(value, expand_composites=True)))
    else:
        yield (), value
        return
    for step, part in parts:
        for steps, leaf in _leaves(part, expand):
            yield (step, *steps), leaf


def _snake_case(name: str) -> str:
    words_apart = re.sub(r"(.)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", words_apart).lower()
