"""Random pipelines of `tf.data`: elements, their order, cardinality, specs and errors.

With TensorFlow's interpreter, the same source runs there. Deterministic pipelines also run on `Lists`, where a dataset
is a list of NumPy arrays.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from tensorflow_process import TensorFlow

import gradtape as tf

from ._dataset_lists import map_nest, numpy_scope
from ._dataset_programs import ELEMENTS_READ, Generator, program

UNKNOWN = tf.data.UNKNOWN_CARDINALITY


@cache
def _interpreter(python: str) -> TensorFlow:
    return TensorFlow(python)


def disagreements(seed: int, tensorflow: str | None = None) -> list[str]:
    """Returns the ways in which one pipeline differs from TensorFlow's and from that of lists."""
    generator = Generator(seed)
    scope: dict[str, Any] = {"tf": tf, "np": np}
    exec(program(generator, seed), scope)
    mine, found = scope["result"], []
    if tensorflow is not None:
        its = _interpreter(tensorflow).result(program(generator, seed))
        if its is not None:  # otherwise TensorFlow crashed or hung, as it does when it unbatches rows without values
            found += _differences(mine, its, generator)
    if not generator.by_chance:
        found += _differences_from_lists(generator, mine)
    return [f"{generator.source}\n{difference}" for difference in found]


def _first_error(result: dict[str, Any]) -> str | None:
    errors = [element[1] for one in result.get("passes", ()) for element in one
              if isinstance(element, tuple) and element[0] == "error"]  # fmt: skip
    return result.get("error") or (errors[0] if errors else None)


def _differences(mine: dict[str, Any], its: dict[str, Any], generator: Generator) -> list[str]:
    errors, has_rows_of_functions = (_first_error(mine), _first_error(its)), "unbatch" in generator.source
    if errors == ("OutOfRangeError", None) and "checked" in generator.source:
        return []  # the specs of an empty dataset are those of placeholder elements, which a function may reject
    if errors == (None, "InvalidArgumentError") and "ragged.constant" in generator.source and has_rows_of_functions:
        return []  # TensorFlow cannot batch rows of ragged tensors twice: "Inferred input_ragged_rank must be >= 0"
    if errors[0] != errors[1]:
        return [f"errors: {errors[0]}, TensorFlow: {errors[1]}"]
    if errors[0] and ("error" in mine or "error" in its or generator.repeats_errors):
        return []
    keeps_specs = generator.keeps_specs
    found = [f"{what}: {mine.get(what)}\n  TensorFlow: {its[what]}" for what in its
             if what not in ("spec", "passes", "cardinality") and mine.get(what) != its[what]]  # fmt: skip
    # gradtape knows the number of rows of a function's result after running it, TensorFlow after tracing it.
    if mine["cardinality"] not in (its["cardinality"], UNKNOWN if has_rows_of_functions else its["cardinality"]):
        found.append(f"cardinality: {mine['cardinality']}\n  TensorFlow: {its['cardinality']}")
    for number, (one, other) in enumerate(zip(mine["passes"], its["passes"], strict=True)):
        if not keeps_specs:
            one, other = _as_lists(one), _as_lists(other)
        if one != other:
            found.append(f"pass {number}: {one}\n  TensorFlow: {other}")
    if keeps_specs and not _is_subtype(mine["spec"], its["spec"]):
        found.append(f"spec: {mine['spec']}\n  TensorFlow: {its['spec']}")
    return found


def _as_lists(value: Any) -> Any:
    """Returns ragged tensors and tensors alike as lists of their values."""
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[2], str):
        return value[2]
    if isinstance(value, dict):
        return {name: _as_lists(part) for name, part in value.items()}
    return type(value)(map(_as_lists, value)) if isinstance(value, tuple | list) else value


def _is_subtype(mine: Any, its: Any) -> bool:
    """Returns whether a spec is TensorFlow's or, because functions are run, knows a size that TensorFlow's does not."""
    if isinstance(its, dict):
        return isinstance(mine, dict) and mine.keys() == its.keys() and all(_is_subtype(mine[k], its[k]) for k in its)
    if isinstance(its, tuple) and len(its) == 3 and isinstance(its[0], str) and isinstance(mine, tuple):
        dims = mine[2] if len(mine) == 3 else ()
        open_rank = its[2] is None or (dims is not None and len(dims) == len(its[2]) and all(
            n == m or m is None for n, m in zip(dims, its[2], strict=True)))  # fmt: skip
        return mine[:2] == its[:2] and open_rank
    if isinstance(its, tuple):
        return isinstance(mine, tuple) and len(mine) == len(its) and all(map(_is_subtype, mine, its))
    return bool(mine == its)


def _differences_from_lists(generator: Generator, mine: dict[str, Any]) -> list[str]:
    scope = numpy_scope()
    try:
        exec(generator.source, scope)
        elements = scope["pipeline"]().elements
    except Exception as error:  # an invalid pipeline: any error class is accepted
        return [] if _first_error(mine) else [f"no error, though lists give {type(error).__name__}: {error}"]
    if _first_error(mine):  # for no elements, lists know dtypes and ranks, but no sizes for batching and unbatching
        is_known = elements or "batch(" not in generator.source
        return [f"{_first_error(mine)}, though lists give {elements}"] if is_known else []
    expected = [_said_of_arrays(element) for element in elements[:ELEMENTS_READ]]
    found = [f"pass {number}: {one}\n  lists: {expected}" for number, one in enumerate(mine["passes"])
             if _without_dtypes(one) != expected]  # fmt: skip
    if mine["cardinality"] not in (-2, len(elements)):
        found.append(f"cardinality {mine['cardinality']}, though lists have {len(elements)} elements")
    return found


def _said_of_arrays(element: Any) -> Any:
    return map_nest(lambda array: (np.shape(array), repr(np.asarray(array).astype(object).tolist())), element)


def _without_dtypes(value: Any) -> Any:
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str):
        return value[1:]
    if isinstance(value, dict):
        return {name: _without_dtypes(part) for name, part in value.items()}
    return type(value)(map(_without_dtypes, value))
