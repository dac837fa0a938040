"""`tensorflow.python.framework.test_combinations`: tests that run once for each combination of parameters.

A test is expanded by absl's `parameterized`, on which the classes of such tests are built anyway.
"""

from __future__ import annotations

import inspect
import itertools
import re
import types
import unittest
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

Combination = OrderedDict[str, Any]


class TestCombination:
    """Customizes how generated tests run."""

    __test__ = False  # for pytest: this class has no tests

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether a combination runs, and otherwise the reason why it is skipped."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns what changes the arguments of the tests."""
        return []

    def context_managers(self, kwargs: dict[str, Any]) -> list[AbstractContextManager[Any]]:
        """Returns the contexts in which a combination runs."""
        return []


class ParameterModifier:
    """Changes the arguments of generated tests. Modifiers of the same parameter are equal."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: list[str]) -> dict[str, Any]:
        """Returns the arguments that differ from those of the combination."""
        return {}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._parameter_name == getattr(other, "_parameter_name", None)

    def __hash__(self) -> int:
        return hash((type(self), self._parameter_name or id(self)))


class OptionalParameter(ParameterModifier):
    """A parameter that only those tests receive that have it in their signature."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: list[str]) -> dict[str, Any]:
        """Returns the parameter with the mark of those that are not passed."""
        name = self._parameter_name
        return {} if name is None or name in requested_parameters else {name: self.DO_NOT_PASS_TO_THE_TEST}


class NamedObject:
    """An object with the name that titles of tests show."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name, self._obj = name, obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __iter__(self) -> Any:
        return iter(self._obj)

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[Combination]:
    """Returns the combinations of options: each argument is a list of values, or a value."""
    names = sorted(kwargs)
    values = [kwargs[name] if isinstance(kwargs[name], list) else [kwargs[name]] for name in names]
    return [OrderedDict(zip(names, row, strict=True)) for row in itertools.product(*values)]


def times(*combined: list[Combination]) -> list[Combination]:
    """Returns the products of combinations, whose keys must differ."""
    products = []
    for parts in itertools.product(*combined):
        product = OrderedDict(item for part in parts for item in part.items())
        if len(product) < sum(map(len, parts)):
            raise ValueError(f"Keys need to not overlap: {' vs '.join(str(list(part)) for part in parts)}")
        products.append(product)
    return products


def generate(combinations: list[Combination], test_combinations: Sequence[TestCombination] = ()) -> Callable[..., Any]:
    """Decorator: runs a test, or the tests of a class, once for each combination."""

    def decorated(test_method_or_class: Any) -> Any:
        if not isinstance(test_method_or_class, type):
            from absl.testing import parameterized

            rows = [{**combination, "testcase_name": _title(combination)} for combination in combinations]
            return parameterized.named_parameters(*rows)(_customized(test_method_or_class, test_combinations))
        for name, test in list(vars(test_method_or_class).items()):
            if name.startswith(unittest.TestLoader.testMethodPrefix) and isinstance(test, types.FunctionType):
                delattr(test_method_or_class, name)
                for combination in combinations:
                    one = _with(test, combination, test_combinations)
                    setattr(test_method_or_class, name + _title(combination), one)
        return test_method_or_class

    return decorated


def _title(combination: Combination) -> str:
    parts = [
        f"_{_letters(name)}_{_letters(re.sub('0[xX][0-9a-fA-F]+', str(i), str(value)))}"
        for i, (name, value) in enumerate(combination.items())
    ]
    return f"_test{''.join(parts)}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _with(test: Callable[..., Any], combination: Combination, customizations: Any) -> Callable[[Any], None]:
    run = _customized(test, customizations)
    return lambda self: run(self, **combination)


def _customized(test: Callable[..., Any], customizations: Sequence[TestCombination]) -> Callable[..., None]:
    """Returns a test that skips combinations, changes arguments and enters contexts as `customizations` say."""

    def run(self: unittest.TestCase, **kwargs: Any) -> None:
        decisions = [customization.should_execute_combination(dict(kwargs)) for customization in customizations]
        reasons = [f" - {reason}" for runs, reason in decisions if not runs]
        if reasons:
            self.skipTest("\n".join(reasons))
        with ExitStack() as contexts:
            for customization in customizations:
                for context in customization.context_managers(dict(kwargs)):
                    contexts.enter_context(context)
            test(self, **_arguments(test, kwargs, customizations))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def _arguments(test: Callable[..., Any], kwargs: dict[str, Any], customizations: Any) -> dict[str, Any]:
    """Returns the arguments of a test for a combination."""
    requested = inspect.getfullargspec(test).args
    arguments = dict(kwargs)
    for modifier in dict.fromkeys(m for customization in customizations for m in customization.parameter_modifiers()):
        arguments |= modifier.modified_arguments(dict(kwargs), requested)
    arguments = {
        name: value for name, value in arguments.items() if value is not ParameterModifier.DO_NOT_PASS_TO_THE_TEST
    }
    if omitted := set(requested) - {*arguments, "self"}:
        raise ValueError(f"The test requires parameters whose arguments were not passed: {omitted} .")
    if unknown := set(arguments) - set(requested):
        raise ValueError(f"The test does not take parameters that were passed : {unknown} .")
    return arguments
