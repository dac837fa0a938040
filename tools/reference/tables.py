"""The pages of `tf.raw_ops` and `tf.compat.v1`: tables of signatures, with links to the entries of TensorFlow 2.

These functions are those of TensorFlow 2 under other names, or with other parameters. A table of 450 rows is built at
once, where as many entries would double the time to build the reference.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

from spelling import page_of

from gradtape.api.catalogue.nodes import functions as node_functions
from gradtape.api.catalogue.v1_table import ALIASES
from gradtape.api.names import NAMES
from gradtape.api.namespace import V1, resolve, summary

RAW = "raw_ops."


class Line(NamedTuple):
    """A line of a table: a public name, its parameters, a sentence about it, and the name it stands for."""

    name: str
    parameters: str
    text: str
    same_as: str = ""


def raw_lines() -> list[Line]:
    """Returns the ops of `tf.raw_ops`."""
    public = node_functions()
    names = sorted(name for name in NAMES if name.startswith(RAW))
    return [Line(name, parameters_of(name), "", public.get(name.removeprefix(RAW), "")) for name in names]


def v1_lines() -> list[Line]:
    """Returns the names of `tf.compat.v1` that TensorFlow 2 does not have, or has with other parameters."""
    own = [Line(name, parameters_of(name), summary(resolve(name))) for name in NAMES if name.startswith(V1)]
    aliases = [Line(f"{V1}{old}", "", "", new) for old, new in ALIASES.items()]
    return sorted(own + aliases, key=lambda line: (line.name.rpartition(".")[0], line.name))


def parameters_of(name: str) -> str:
    """Returns the parameters of a function, without types; nothing for a class or a value.

    >>> parameters_of("raw_ops.Sin"), parameters_of("compat.v1.GraphKeys")
    ('(x, name=None)', '')
    """
    value = resolve(name)
    if not inspect.isroutine(value):
        return ""
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(value).parameters.values()]
    return str(inspect.Signature(parameters))


_TEXTS = {
    "raw_ops": "TensorFlow's ops under their own names. Arguments are passed by keyword. The second column is the "
    "function that computes the same, whose entry says which engines and derivatives there are.",
    "compat.v1": "The names of TensorFlow 1 that TensorFlow 2 does not have, or has with other parameters. All other "
    "names of `tf` exist in `tf.compat.v1` too, with the same meaning.",
}


def table_text(page: str, lines: list[Line], entries: dict[str, list[str]]) -> str:
    """Returns a page with a table for each namespace."""
    entry_of = {name: first for first, also in entries.items() for name in (first, *also)}
    text = [f"# tf.{page}", "", _TEXTS[page], ""]
    space = ""
    for line in lines:
        if line.name.rpartition(".")[0] != space:
            space = line.name.rpartition(".")[0]
            text += ["", f"## tf.{space} {{#of-{space.replace('.', '-')}}}", "", "| name | |", "| --- | --- |"]
        code = f"{line.name.rpartition('.')[2]}{line.parameters}".replace("|", "\\|")
        about = line.text.replace("|", "\\|")
        if line.same_as:
            entry = entry_of.get(line.same_as)
            spelled = f"`tf.{line.same_as}`"
            about = f"[{spelled}]({page_of(entry)}.md#gradtape.{entry})" if entry else spelled
        text.append(f'| <a id="gradtape.{line.name}"></a>`{code}` | {about} |')
    return "\n".join([*text, ""])
