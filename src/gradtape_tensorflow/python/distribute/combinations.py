"""`tensorflow.python.distribute.combinations`: tests that run once for each strategy.

Strategies that need TPUs, clusters or more GPUs than there are, and graphs of TensorFlow 1, are skipped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import gradtape

from ..framework import test_combinations as framework
from ..framework.test_combinations import Combination, OptionalParameter, ParameterModifier, TestCombination

NamedObject = framework.NamedObject
combine = framework.combine
times = framework.times

class NamedDistribution:
    """A strategy that is created when a test asks for it, with the name that titles of tests show."""

    def __init__(
        self, name: str, distribution_fn: Callable[[], Any], required_gpus: int | None = None,
        required_physical_gpus: int = 0, required_tpu: bool = False, use_cloud_tpu: bool = False,
        has_chief: bool = False, num_workers: int = 1, num_ps: int = 0, share_gpu: bool = True,
        pool_runner_fn: Callable[[], Any] | None = None, no_xla: bool = False,
    ) -> None:  # fmt: skip
        self._name, self._distribution_fn, self._pool_runner_fn = name, distribution_fn, pool_runner_fn
        self.required_gpus, self.required_physical_gpus = required_gpus, required_physical_gpus
        self.required_tpu, self.use_cloud_tpu = required_tpu, use_cloud_tpu
        self.has_chief, self.num_workers, self.num_ps, self.share_gpu = has_chief, num_workers, num_ps, share_gpu
        self.no_xla = no_xla

    @property
    def runner(self) -> Any:
        """What runs tests of several processes."""
        return None if self._pool_runner_fn is None else self._pool_runner_fn()

    @property
    def strategy(self) -> Any:
        """A new strategy."""
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


def _distributions(kwargs: dict[str, Any]) -> list[NamedDistribution]:
    return [value for value in kwargs.values() if isinstance(value, NamedDistribution)]


class _Strategies(ParameterModifier):
    """Passes strategies in place of their names."""

    def modified_arguments(self, kwargs: dict[str, Any], requested_parameters: list[str]) -> dict[str, Any]:
        return {name: value.strategy for name, value in kwargs.items() if isinstance(value, NamedDistribution)}


class DistributionCombination(TestCombination):
    """Creates the strategies of a combination; those of several processes are skipped."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether the strategies need one process."""
        several = any(d.has_chief or d.num_workers > 1 or d.num_ps for d in _distributions(kwargs))
        several = several or kwargs.get("has_chief", False) or kwargs.get("num_workers", 1) > 1
        return not several, "The strategy needs a cluster: see `gradtape launch`." if several else None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the modifiers of strategies, and of what describes a cluster."""
        of_clusters = ("has_chief", "num_workers", "num_ps", "share_gpu", "runner", "pool_runner_fn")
        return [_Strategies(), *map(OptionalParameter, of_clusters)]


class GPUCombination(TestCombination):
    """Skips combinations that need more GPUs than there are."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether there are enough GPUs."""
        given = [kwargs.get("required_gpus"), kwargs.get("required_physical_gpus")]
        distributions = _distributions(kwargs)
        given += [n for d in distributions for n in (d.required_gpus, d.required_physical_gpus)]
        needed, available = max(int(n or 0) for n in given), len(gradtape.config.list_logical_devices("GPU"))
        return needed <= available, f"Only {available} of {needed} required GPUs are available."

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the optional parameters."""
        return [OptionalParameter("required_gpus"), OptionalParameter("required_physical_gpus")]


class TPUCombination(TestCombination):
    """Skips combinations that need a TPU."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether no TPU is needed."""
        given = [kwargs.get("required_tpus"), kwargs.get("required_tpu"), kwargs.get("use_cloud_tpu")]
        needed = any([*given, *(d.required_tpu or d.use_cloud_tpu for d in _distributions(kwargs))])
        return not needed, "Test requires a TPU, but it's not available." if needed else None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the optional parameters."""
        return [OptionalParameter(name) for name in ("required_tpus", "required_tpu", "use_cloud_tpu")]


class EagerGraphCombination(TestCombination):
    """Skips graphs of TensorFlow 1."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether the test runs eagerly."""
        mode = kwargs.get("mode", "eager")
        if mode not in ("eager", "graph"):
            raise ValueError(f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}.")
        return mode == "eager", "gradtape has no graphs of TensorFlow 1." if mode == "graph" else None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the optional parameter."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """Skips combinations for TensorFlow 1."""

    def should_execute_combination(self, kwargs: dict[str, Any]) -> tuple[bool, str | None]:
        """Returns whether the combination is for TensorFlow 2."""
        first = kwargs.get("tf_api_version") == 1
        return not first, "Skipping a TF1.x test when TF2 is enabled." if first else None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Returns the optional parameter."""
        return [OptionalParameter("tf_api_version")]


_CUSTOMIZATIONS = (
    DistributionCombination(), GPUCombination(), TPUCombination(), EagerGraphCombination(), TFVersionCombination(),
)  # fmt: skip


def generate(combinations: list[Combination], test_combinations: Sequence[TestCombination] = ()) -> Callable[..., Any]:
    """Decorator: runs a test, or the tests of a class, once for each combination, which may contain strategies."""
    return framework.generate(combinations, (*_CUSTOMIZATIONS, *test_combinations))


def concat(*combined: list[Combination]) -> list[Combination]:
    """Returns combinations one after the other."""
    return list(itertools.chain.from_iterable(combined))


def in_main_process() -> bool:
    """Returns whether this is the process that started the tests: there are no others."""
    return True


class TestEnvironment:
    """What tests of several processes know: there is no cluster."""

    __test__ = False  # for pytest: this class has no tests

    tf_data_service_dispatcher = None
    total_phsyical_gpus = None

    def __setattr__(self, name: str, value: Any) -> None:
        if not in_main_process():
            raise ValueError("combinations.env() should only be modified in the main process.")
        object.__setattr__(self, name, value)


_environment = TestEnvironment()


def env() -> TestEnvironment:
    """Returns the environment of the tests."""
    return _environment


tf_function = NamedObject("TfFunction", gradtape.function)
no_tf_function = NamedObject("NoTfFunction", lambda f: f)
