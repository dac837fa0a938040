"""Runs many small cases as one test: pytest takes longer to start and report a test than such a case takes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def check_cases(check: Callable[..., None], cases: Mapping[str, tuple[Any, ...]]) -> None:
    """Calls `check` with the arguments of each named case; raises the failures of all cases together, with the names.

    A skip within a case would end the whole test: the cases that cannot run are left out of `cases`.
    """
    failures = []
    for name, arguments in cases.items():
        try:
            check(*arguments)
        except Exception as error:
            error.add_note(f"in the case {name}")
            failures.append(error)
    if failures:
        names = [error.__notes__[-1].removeprefix("in the case ") for error in failures]
        raise ExceptionGroup(f"{len(failures)} of {len(cases)} cases fail: {', '.join(names)}", failures)


def check_together(check: Callable[[Mapping[str, Any]], None], cases: Mapping[str, Any]) -> None:
    """Calls `check` with all cases at once, as one program; if it fails, with each alone, to tell which case fails."""
    try:
        check(cases)
    except Exception:
        check_cases(check, {name: ({name: case},) for name, case in cases.items()})
        raise  # each case passes alone


def in_batches(cases: Mapping[str, Any], size: int) -> dict[str, dict[str, Any]]:
    """Splits cases into batches of a size, named after their first and last case."""
    names = list(cases)
    batches = [names[i : i + size] for i in range(0, len(names), size)]
    return {f"{batch[0]}..{batch[-1]}": {name: cases[name] for name in batch} for batch in batches}


def by_namespace(names: Iterable[str]) -> dict[str, list[str]]:
    """Groups public names by their namespace: `math.log` by `math`, `Tensor` by `tf`."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[0] or "tf", []).append(name)
    return groups
