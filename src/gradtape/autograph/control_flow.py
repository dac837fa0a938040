"""`if`, `while`, `for` and the conditional expression as functions of their parts.

The parts of a statement share the variables it assigns: `get_state()` returns a tuple of their values and `set_state`
assigns them. Plain Python runs the parts directly; staged statements pass the values through `tf.cond` or
`tf.while_loop`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from malt.operators.variables import Undefined, UndefinedReturnValue

from ..api.namespace import root as tf
from ..core import nest
from ..core.tensor import Tensor
from ..graph.control_flow.cond import branch_streams
from ..graph.control_flow.structured_loops import rounds
from . import checks
from .builtin_functions import LoopSteps
from .staging import as_tensors, is_tensor, rehearse, staging

State = tuple[Any, ...]
Get = Callable[[], State]
Set = Callable[[State], None]
LIMITATIONS = (
    "\nSee https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/"
    "limitations.md#consistency-of-control-flow-types for more info."
)


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
    nouts: int,
) -> None:
    """`if cond: body() else: orelse()`; the first `nouts` variables are live afterwards."""
    if not (staging() and is_tensor(cond)):
        with branch_streams(cond) if is_tensor(cond) else nullcontext():
            body() if cond else orelse()
        return
    predicate = checks.condition(cond, "if statement")
    before = get_state()
    done: dict[str, State] = {}

    def taken(block: Callable[[], Any], which: str) -> State:
        set_state(before)
        block()
        values = done[which] = get_state()[:nouts]
        checks.branch(values, symbol_names, which)
        if len(done) == 2:
            checks.branches(done["main"], done["else"], symbol_names)
        return as_tensors(values)

    after = tf.cond(predicate, lambda: taken(body, "main"), lambda: taken(orelse, "else"))
    set_state(tuple(after) + before[nouts:])


def if_exp(cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str) -> Any:
    """`if_true() if cond else if_false()`."""
    if not (staging() and is_tensor(cond)):
        with branch_streams(cond) if is_tensor(cond) else nullcontext():
            return if_true() if cond else if_false()
    predicate = checks.condition(cond, "conditional expression")
    done: dict[str, Any] = {}

    def taken(block: Callable[[], Any], which: str) -> Any:
        done[which] = block()
        if len(done) == 2:
            checks.check_branches(expr_repr, done["main"], done["else"])
        return as_tensors(done[which])

    return tf.cond(predicate, lambda: taken(if_true, "main"), lambda: taken(if_false, "else"))


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """`while test(): body()`."""
    going_on = test()
    if is_tensor(going_on):
        if staging():
            return _stage_while(test, body, get_state, set_state, symbol_names, opts)
        limit, one_round = opts.get("maximum_iterations"), rounds()
        for _ in itertools.count() if limit is None else range(int(limit)):
            if not going_on:
                return
            with one_round():
                body()
                going_on = test()
        return
    while going_on:
        body()
        going_on = test()
        if staging() and is_tensor(going_on):
            raise NotImplementedError(
                "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either "
                "because variables changed type, or when a break or return statement inside the loop depends on a "
                f"Tensor condition. In both cases, changing to a TF loop should remove the error.{LIMITATIONS}"
            )


def for_stmt(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """`for element in iter_: body(element)`, while `extra_test()` is true: a `break` makes it false."""
    over_tensor = is_tensor(iter_) or isinstance(iter_, LoopSteps)
    if staging():
        if over_tensor:
            return _stage_for(iter_, extra_test, body, get_state, set_state, symbol_names, opts)
        if hasattr(iter_, "reduce") and hasattr(type(iter_), "element_spec"):  # a dataset
            return _stage_dataset_loop(iter_, extra_test, body, get_state, set_state, symbol_names)
    limit = opts.get("maximum_iterations") if over_tensor else None
    elements = iter_ if limit is None else itertools.islice(iter_, int(limit))
    one_round = rounds() if over_tensor else nullcontext
    if extra_test is None:
        for element in elements:
            with one_round():
                body(element)
    elif _python_test(extra_test):
        for element in elements:
            with one_round():
                body(element)
            if not _python_test(extra_test):
                break


def _python_test(extra_test: Callable[[], Any]) -> bool:
    going_on = extra_test()
    if staging() and is_tensor(going_on):
        raise NotImplementedError(
            "break and return statements which depend on a TF condition are not supported in Python for loops. Did you "
            f"intend to make it a TF loop?{LIMITATIONS}"
        )
    return bool(going_on)


def _stage_for(
    iter_: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    """Stages a loop over the rows of a tensor or over a range as a `while` whose first variable is a counter."""
    steps = iter_ if isinstance(iter_, LoopSteps) else LoopSteps.of_rows(iter_)
    counter: Any = steps.start

    def all_state() -> State:
        # The iteration variable of a range need not be defined before the loop: it is the counter.
        named = zip(symbol_names, get_state(), strict=True)
        own = opts["iterate_names"] if steps is iter_ else None
        return (counter, *[counter if n == own and isinstance(v, Undefined) else v for n, v in named])

    def set_all_state(state: State) -> None:
        nonlocal counter
        counter = state[0]
        set_state(tuple(state[1:]))

    if steps.is_empty():
        return set_all_state(all_state())

    def step() -> None:
        nonlocal counter
        body(counter if steps is iter_ else tf.gather(iter_, counter))
        counter = counter + steps.delta

    def test() -> Tensor:
        going_on = _is_within(counter, steps)
        # No short-circuit here: the flag that `break` sets always has a value.
        return going_on if extra_test is None else tf.logical_and(going_on, extra_test())

    _stage_while(test, step, all_state, set_all_state, ("<internal iterate>", *symbol_names), opts)


def _is_within(counter: Any, steps: LoopSteps) -> Any:
    up: Any = steps.delta >= 0
    before, after = counter < steps.limit, counter > steps.limit
    if type(up) is Tensor:
        return before if up else after
    return tf.logical_or(tf.logical_and(up, before), tf.logical_and(tf.logical_not(up), after))


def _stage_dataset_loop(
    dataset: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
) -> None:
    """Stages a loop over a dataset as `dataset.reduce(state, step)`; after a `break`, steps keep the state."""
    first = get_state()
    checks.check_before_loop(first, symbol_names, None, "")

    def step(state: State, element: Any) -> State:
        set_state(tuple(state))

        def run() -> State:
            set_state(tuple(state))
            body(element)
            after = get_state()
            checks.iteration(first, state, after, symbol_names, None)
            return as_tensors(after)

        return run() if extra_test is None else tf.cond(extra_test(), run, lambda: tuple(state))

    set_state(tuple(dataset.reduce(as_tensors(first), step)))


def _stage_while(
    test: Callable[[], Any],
    body: Callable[[], Any],
    get_state: Get,
    set_state: Set,
    symbol_names: Sequence[str],
    opts: dict[str, Any],
) -> None:
    given = get_state()
    invariants = _invariants(opts, given)
    missing = [checks.is_missing(value) for value in given]
    must_run = any(missing)
    first = given
    if must_run:
        first = _with_placeholders(body, get_state, set_state, given, missing, symbol_names)
        known = (None,) * len(given) if invariants is None else invariants
        # Variables that the loop itself defines may change shape in each iteration.
        invariants = tuple(
            [nest.map_structure(_any_shape, x) if new and shape is None else shape
             for x, shape, new in zip(first, known, missing, strict=True)]
        )  # fmt: skip
    options: dict[str, Any] = {
        key: opts[key] for key in ("maximum_iterations", "parallel_iterations", "swap_memory") if key in opts
    }
    count = len(given)
    # A flag records whether the loop has run, if that matters or if there are no other variables.
    flagged = must_run or not given
    has_not_run, has_run = ((tf.constant(False),), (tf.constant(True),)) if flagged else ((), ())
    if invariants is not None:
        options["shape_invariants"] = invariants + (None,) * flagged

    def going_on(*state: Any) -> Tensor:
        set_state(state[:count])
        return checks.condition(test(), "while loop")

    def iteration(*state: Any) -> State:
        before = state[:count]
        set_state(before)
        body()
        after = get_state()
        checks.iteration(first, before, after, symbol_names, invariants)
        return as_tensors(after) + has_run

    last = tuple(tf.while_loop(going_on, iteration, as_tensors(first) + has_not_run, **options))
    if must_run:
        names = [
            "the function return value" if isinstance(value, UndefinedReturnValue) else name
            for name, value, is_missing in zip(symbol_names, given, missing, strict=True)
            if is_missing
        ]
        tf.debugging.Assert(last[-1], [f"loop must iterate at least once to initialize {', '.join(names)}"])
    set_state(last[:count])


def _any_shape(_: Any) -> Any:
    return tf.TensorShape(None)


def _invariants(opts: dict[str, Any], state: State) -> tuple[Any, ...] | None:
    """Returns the shape invariant of each variable, from the user's (value, shape) pairs; None if unspecified."""
    if "shape_invariants" not in opts:
        return None
    given = {id(value): shape for value, shape in opts["shape_invariants"]}
    return tuple([given.get(id(value)) for value in state])


def _with_placeholders(
    body: Callable[[], Any],
    get_state: Get,
    set_state: Set,
    given: State,
    missing: Sequence[bool],
    symbol_names: Sequence[str],
) -> State:
    """Returns the variables before a loop, with zeros for those that its first iteration defines."""
    note, after = "", None
    filled = given

    def run() -> State:
        set_state(tuple([value if absent else as_tensors(value) for value, absent in zip(given, missing, strict=True)]))
        body()
        return get_state()

    try:
        after = rehearse(run)
        filled = tuple(
            [_zero(new, old) if absent else old for old, new, absent in zip(given, after, missing, strict=True)]
        )
    except (UnboundLocalError, TypeError, ValueError, KeyError) as error:
        note = f"\nNote: AutoGraph tried to define it automatically, but ran into a {type(error).__name__}: {error}"
    finally:
        set_state(given)
    checks.check_before_loop(filled, symbol_names, after, note)
    return filled


def _zero(like: Any, otherwise: Any) -> Any:
    """Returns zeros like `like`, or `otherwise` if it has no value either."""
    if checks.is_missing(like):
        return otherwise
    if isinstance(like, bool | int | float):
        return type(like)(0)
    if is_tensor(like):
        return tf.zeros(like.shape, like.dtype)
    if isinstance(like, list | tuple | dict):
        return nest.map_structure(lambda part: _zero(part, part), like)
    raise TypeError(
        f"Found an unsupported type '{type(like).__name__}' while creating placeholder for {like}. Supported types "
        "include Tensor, int, float, bool, list, tuple or dict."
    )
