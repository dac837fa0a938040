"""Which public names the API reference has, how each is spelled, and which page has its entry."""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from gradtape.api.namespace import OWN, resolve

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = ("raw_ops.", "compat.v1.")  # the pages of `tables`


def public_names() -> dict[str, str]:
    """Returns where each public name lives, `module:attribute`, without those that `LEFT_OUT` says."""
    lines = (ROOT / "src/gradtape/api/names.txt").read_text("utf-8").splitlines()
    names = dict(line.split() for line in lines)
    return {name: where for name, where in names.items() if not name.startswith(LEFT_OUT)}


def spellings(names: dict[str, str]) -> dict[str, list[str]]:
    """Returns the names of each thing that has several, by the one its entry has.

    A class has its shortest name, as in `tf.Tensor`; anything else that of its namespace, as in `tf.math.abs`.

    >>> spellings({"abs": "a:abs", "math.abs": "a:abs", "GradientTape": "b:T", "autodiff.GradientTape": "b:T"})
    {'math.abs': ['abs'], 'GradientTape': ['autodiff.GradientTape']}
    """
    same: dict[str, list[str]] = defaultdict(list)
    for name, where in names.items():
        same[where].append(name)
    found = {}
    for group in same.values():
        is_class = group[0].rpartition(".")[2][:1].isupper()
        group.sort(key=lambda name: ("experimental" in name, name.count(".") * (1 if is_class else -1), name))
        found[group[0]] = group[1:]
    return found


def space_of(name: str) -> str:
    """Returns the page of a name's namespace, the outermost one.

    >>> space_of("abs"), space_of("config.threading.x"), space_of("experimental.numpy.pi")
    ('gradtape', 'config', 'experimental.numpy')
    """
    space = name.rpartition(".")[0] or "gradtape"
    return "experimental.numpy" if space.startswith("experimental.numpy") else space.partition(".")[0]


@cache
def page_of(name: str) -> str:
    """Returns the page that has the entry of a name: its own, or that of its namespace.

    Functions and classes have pages of their own. Constants, exceptions and NumPy's types share the namespace's.

    >>> page_of("math.sin"), page_of("dtypes.float32"), page_of("errors.AbortedError"), page_of("extend.Op")
    ('tf.math.sin', 'dtypes', 'errors', 'tf.extend.Op')
    """
    space, _, leaf = name.rpartition(".")
    value = getattr(importlib.import_module(f"gradtape.{space}"), leaf) if space in OWN else resolve(name)
    is_defined = callable(value) and hasattr(value, "__name__") and value.__module__ != "numpy"
    return f"tf.{name}" if is_defined and space != "errors" else space_of(name)


def fenced(text: str) -> str:
    """Returns the docstring with each example, the lines from `>>>` to the next empty one, in a fence."""
    fence = "```"
    return re.sub(r"^>>> (?:.+\n?)+", lambda found: f"{fence}pycon\n{found[0].rstrip()}\n{fence}\n", text, flags=re.M)
