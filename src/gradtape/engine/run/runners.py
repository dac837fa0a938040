"""The template of op runners: how an op runs on plain tensors, written once for one, two and n arguments.

A runner reads its arguments, runs the kernel, wraps the result, and notifies the active modes and then the recorder.
These steps are statements of one function, because a call for each would double the cost of a small op. A runner of one
or two arguments is an op's fast path: it passes arguments that are not plain tensors of the op's dtypes to `other`.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from textwrap import indent
from typing import Any, Literal, NamedTuple

from .source_lines import declare_library

Form = Literal["elementwise", "product", "general"]


class _Inputs(NamedTuple):
    """How the source spells the inputs of a runner; `dtype` and lines `OTHER` are in the text of `read`."""

    parameters: str
    sequence: str
    arrays: str
    dims: str
    read: str
    is_tracked: str


# What has no fast path. The runner's own frame is hidden as well: a frame without a handler would be in the traceback.
_OTHER = """\
try:
    return other({call})
except Exception as error:
    hide_frames(error)
    raise
"""

_UNARY = _Inputs(
    "x", "(x,)", "x.array", "[x.dims]",
    """\
if type(x) is not Tensor:
    if type(x) in readable:
        x = x._as_tensor()
    if type(x) is not Tensor:
        OTHER
dtype = x.dtype
if not dtype.kind & kinds:
    OTHER
""",
    "if x.tracer is not None:",
)  # fmt: skip

# Inlines `read_both` for a variable or a float on the right, since `x * 0.5` and `x + bias` are frequent.
_BINARY = _Inputs(
    "a, b", "(a, b)", "a.array, b.array", "[a.dims, b.dims]",
    """\
kind = type(b)
if kind is not Tensor or type(a) is not Tensor:
    if kind is float and type(a) is Tensor and a.dtype.kind == FLOAT:
        known = a.dtype.numbers.get(b)
        b = number(a.dtype, b) if known is None else known
    else:
        if kind in readable:
            b = b._as_tensor()
        if type(a) is not Tensor or type(b) is not Tensor:
            if type(a) is not type(b) or type(a) in readable:
                a, b = read_both(a, b)
            if type(a) is not Tensor or type(b) is not Tensor:
                OTHER
dtype = a.dtype
if dtype is not b.dtype or not dtype.kind & kinds:
    OTHER
""",
    "if a.tracer is not None or b.tracer is not None:",
)  # fmt: skip

_N_ARY = _Inputs(
    "op, inputs, attrs", "inputs", "*[x.array for x in inputs]", "[x.dims for x in inputs]",
    """\
kernel = op.numpy
dtype = inputs[0].dtype if inputs else float32
""",
    """\
tracked = False
for x in inputs:
    if x.tracer is not None:
        tracked = True
        break
if tracked:""",
)  # fmt: skip

_BLOCKWISE = {  # large arrays of elementwise ops are computed in blocks, on all cores
    1: """\
array = x.array
value = kernel(array) if array.size < least else large(to or dtype, array)
""",
    2: """\
first, second = a.array, b.array
if first.size < least and second.size < least:
    if first.ndim > 2 and first.shape != second.shape:
        first, second = repeat_short_rows(first, second)
    value = kernel(first, second)
else:
    value = large(to or dtype, first, second)
""",
}

_WRAP_ONE = """\
y = new(Tensor)
y.array = value
y.dtype = to or dtype
y.tracer = None
"""
_WRAP_ANY = """\
y = tuple([tensor_like(part, dtype) for part in value]) if type(value) is tuple else tensor_like(value, dtype)
"""


def runner_source(arity: int | None, form: Form, sized: bool = False, in_single: bool = False) -> str:
    """Returns the source of `call`, a runner of `arity` arguments, or of n if that is None.

    A runner that is `sized` has a second kernel `large` for arrays of `least` elements; elementwise ops always do. One
    that runs float16 `in_single` has a kernel `half` for it.

    The result of an "elementwise" op or of a "product" is one tensor, of the dtype `to` or else of the inputs' dtype; a
    "general" op returns one or several of any dtypes. Elementwise ops have no attributes.
    """
    inputs = _N_ARY if arity is None else _UNARY if arity == 1 else _BINARY
    several = inputs.sequence
    parameters = inputs.parameters if form == "elementwise" or arity is None else f"{inputs.parameters}, **attrs"
    if form == "elementwise" and arity is not None:
        kernel = _BLOCKWISE[arity]
    else:
        array = inputs.arrays.partition(",")[0]
        function = f"kernel if {array}.size < least else large" if sized else "kernel"
        function = f"half if dtype is float16 else {function}" if in_single else function
        kernel = f"value = ({function})({inputs.arrays}, **attrs)\n"
    record = f"recorder.record(op, {several}, y, attrs)"
    if form == "product":
        record = f"recorder.binary(op, {inputs.parameters}, y) if not attrs else {record}"
    elif form == "elementwise":
        method = "unary" if arity == 1 else "binary"
        record = f"recorder.{method}(op, {inputs.parameters}, y) if recorded else recorder.constant(op, {several}, y)"
    other = _OTHER.format(call=parameters)
    read = re.sub(r"( *)OTHER\n", lambda line: indent(other, line[1]), inputs.read)
    body = f"""\
{read}\
try:
{indent(kernel, "    ")}\
except KERNEL_ERRORS as reason:
    try:
        with recovery(op, {inputs.dims}, reason):
{indent(kernel, "            ")}\
    except Exception as error:
        hide_frames(error)
        raise
{_WRAP_ANY if form == "general" else _WRAP_ONE}\
if modes.active:
    modes.op_finished(op, {several}, y)
{inputs.is_tracked}
    recorder = thread.recorder
    if recorder is not None:
        {record}
return y
"""
    return f"def call({parameters}):\n{indent(body, '    ')}"


def compile_runner(
    arity: int | None, form: Form, namespace: dict[str, Any], parameters: Sequence[str] = (), sized: bool = False,
    in_single: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """Compiles `factory(<parameters>)`, which returns a runner, and makes its source visible in tracebacks.

    The parameters are the names in the source that differ between ops; `namespace` has the others.
    """
    runner = indent(runner_source(arity, form, sized, in_single), "    ")
    source = f"def factory({', '.join(parameters)}):\n{runner}    return call\n"
    file = f"<gradtape runner: {form}{', sized' if sized else ''}{', single' if in_single else ''}, {arity or 'n'}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    declare_library(file)
    made: dict[str, Callable[..., Any]] = {}
    exec(compile(source, file, "exec"), namespace, made)
    return made["factory"]
