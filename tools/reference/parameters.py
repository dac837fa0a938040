"""Descriptions of parameters that mean the same in every function, for entries whose docstring does not list them.

The docstrings of most functions are a sentence and an example. In the reference, each gets a list of its parameters:
those of its own `Args:` section, then those of this table. A parameter that is in neither is shown in the signature.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_BY_NAME = {
    "name": "a name for the op, which graphs and error messages show.",
    "x": "a tensor, or a value that converts to one.",
    "y": "a tensor, or a value that converts to one, of the dtype of `x`; shapes broadcast.",
    "input": "a tensor, or a value that converts to one.",
    "input_tensor": "a tensor, or a value that converts to one.",
    "tensor": "a tensor, or a value that converts to one.",
    "value": "a tensor, or a value that converts to one.",
    "values": "tensors, or values that convert to tensors.",
    "features": "a tensor of floating dtype.",
    "logits": "a tensor of floating dtype: log probabilities that need not be normalized.",
    "labels": "the correct classes, or their probabilities.",
    "axis": "the axis, or the axes, to compute along; negative ones count from the end.",
    "axes": "the axes to compute along; negative ones count from the end.",
    "keepdims": "whether the result keeps the reduced axes, with size 1.",
    "dtype": "the dtype of the result.",
    "out_type": "the dtype of the result.",
    "output_type": "the dtype of the result.",
    "shape": "the shape of the result: a list or a tensor of integers.",
    "seed": "the seed of this op; with that of `tf.random.set_seed`, it defines the numbers.",
    "message": "the text of the error.",
    "summarize": "the number of entries of each tensor that the error shows.",
    "image": "an image of shape `[height, width, channels]`, or a batch of images.",
    "images": "images of shape `[..., height, width, channels]`.",
    "contents": "a scalar string: the content of the file.",
    "channels": "the number of color channels of the result; 0 means that of the file.",
    "padding": '`"SAME"`, `"VALID"`, or explicit numbers of entries before and after each axis.',
    "data_format": 'the order of the axes, such as `"NHWC"`: where the channels are.',
    "strides": "the step of the window: one number, one for each spatial axis, or one for each axis.",
    "ksize": "the size of the window: one number, one for each spatial axis, or one for each axis.",
    "dilations": "the distance between entries of the window: one number, or one for each spatial axis.",
    "filters": "the filter, with input and output channels as its last axes.",
    "segment_ids": "integers: the segment of each row of `data`.",
    "num_segments": "the number of segments, the first axis of the result.",
    "indices": "a tensor of integers.",
    "updates": "the values for the entries that `indices` selects.",
    "fft_length": "the length of the transform; the input is cropped or padded with zeros.",
    "sp_input": "a `tf.sparse.SparseTensor`.",
    "exclusive": "whether the first entry of the result is the neutral element.",
    "reverse": "whether to begin with the last entry.",
    "is_non_singular": "what the caller knows of the operator; None if nothing.",
    "is_self_adjoint": "what the caller knows of the operator; None if nothing.",
    "is_positive_definite": "what the caller knows of the operator; None if nothing.",
    "is_square": "what the caller knows of the operator; None if nothing.",
    "parallel_iterations": "ignored; iterations run one after the other.",
    "back_prop": "in a function, whether gradients flow through the loop.",
    "swap_memory": "ignored; accepted for compatibility with TensorFlow.",
    "validate_args": "whether to check the values of the arguments.",
    "validate_indices": "ignored; accepted for compatibility with TensorFlow.",
    "num_parallel_calls": "ignored; elements are computed in order.",
    "deterministic": "ignored; the order is always deterministic.",
    "num_bits": "the number of bits of a quantized value.",
    "narrow_range": "whether the smallest quantized value is left out.",
    "mean": "the mean, which broadcasts to the shape of the result.",
    "stddev": "the standard deviation, which broadcasts to the shape of the result.",
    "minval": "the lower bound, which may occur.",
    "maxval": "the upper bound, which does not occur.",
    "step": "the step of the summary; by default, that of `tf.summary.experimental.set_step`.",
    "description": "a text that TensorBoard shows.",
    "errors": '`"strict"` raises an error for invalid text, `"replace"` replaces it, `"ignore"` drops it.',
    "replacement_char": "the code point that replaces invalid text.",
    "compression_type": '`"GZIP"`, `"ZLIB"` or the empty string.',
}
# Where a name means something else.
_BY_NAMESPACE = {
    "random.stateless_": {"seed": "two integers, which define the numbers together with the other arguments."},
    "image.stateless_": {"seed": "two integers, which define the numbers together with the other arguments."},
    "strings.": {"input": "a tensor of strings.", "name": "a name for the op, which graphs and error messages show."},
    "linalg.": {"matrix": "a matrix, or a batch of matrices in the last two axes."},
    "debugging.assert_": {"y": "a tensor to compare with; shapes broadcast."},
}
# The parameters of gradtape's own functions, to which the table of TensorFlow's does not apply.
_OWN = {
    "inspect.": {
        "tape": "a tape whose block has ended.",
        "target": "the tensor to be differentiated; by default, that of the last gradient, or else the last value.",
        "sources": "what to differentiate with respect to; by default, the sources of the last gradient, or all that "
        "the tape watches.",
        "path": "the file to write.",
        "seed": "the seed of the random directions.",
    },
    "extend.": {},
}
_RETURNS = {
    "Tensor": "A tensor.",
    "list[Tensor]": "A list of tensors.",
    "tuple[Tensor, Tensor]": "Two tensors.",
    "tuple[Tensor, Tensor, Tensor]": "Three tensors.",
    "RaggedTensor": "A ragged tensor.",
    "SparseTensor": "A sparse tensor.",
}
_EXAMPLE = re.compile(r"^(>>> |```)", re.MULTILINE)
_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Keyword Args):\n", re.MULTILINE)


def described(parameter: str, function: str) -> str | None:
    """Returns the common description of a parameter of a public function, or None.

    >>> described("keepdims", "math.reduce_sum")
    'whether the result keeps the reduced axes, with size 1.'
    >>> described("seed", "random.stateless_uniform"), described("no_such_parameter", "math.sin")
    ('two integers, which define the numbers together with the other arguments.', None)
    """
    for space, found in _OWN.items():
        if function.startswith(space):
            return found.get(parameter)
    for space, found in _BY_NAMESPACE.items():
        if function.startswith(space) and parameter in found:
            return found[parameter]
    return _BY_NAME.get(parameter)


def with_sections(text: str, function: str, parameters: Sequence[str], result: str | None) -> str:
    """Returns a docstring whose `Args:` list every parameter that is described anywhere, with `Returns:`.

    >>> text = "Sums `x`.\\n\\nRaises:\\n  ValueError: never.\\n"
    >>> print(with_sections(text, "math.f", ["x", "other"], "Tensor").rstrip())
    Sums `x`.
    <BLANKLINE>
    Args:
      x: a tensor, or a value that converts to one.
    <BLANKLINE>
    Returns:
      A tensor.
    <BLANKLINE>
    Raises:
      ValueError: never.
    """
    own = _own_lines(text)
    lines = {name: own.get(name) or _line(name, function) for name in (*parameters, *own)}
    sections = [f"Args:\n{''.join(found)}" for found in [[line for line in lines.values() if line]] if found]
    if result in _RETURNS and "\nReturns:\n" not in text:
        sections.append(f"Returns:\n  {_RETURNS[result]}\n")
    if not sections:
        return text
    text = re.sub(r"^Args:\n(?:[ ].*\n?|\n(?=  ))+", "", text, flags=re.MULTILINE).rstrip("\n") + "\n"
    text = re.sub(r"\n{3,}", "\n\n", text)
    places = [match.start() for match in (_SECTION.search(text), _EXAMPLE.search(text)) if match]
    at = min(places, default=len(text))
    before = text[:at].rstrip("\n")
    return "\n\n".join([before, *(section.rstrip("\n") for section in sections), text[at:]])


def _line(parameter: str, function: str) -> str:
    found = described(parameter, function)
    return f"  {parameter}: {found}\n" if found else ""


def _own_lines(text: str) -> Mapping[str, str]:
    """Returns the lines of the `Args:` section of a docstring, by parameter.

    >>> dict(_own_lines("Text.\\n\\nArgs:\\n  a: one\\n    more.\\n  b: two.\\n\\nReturns:\\n  A number.\\n"))
    {'a': '  a: one\\n    more.\\n', 'b': '  b: two.\\n'}
    """
    section = re.search(r"^Args:\n((?:[ ]+.*\n?)+)", text, re.MULTILINE)
    if section is None:
        return {}
    items = re.findall(r"^(  \*{0,2}(\w+).*\n?(?:    .*\n?)*)", section[1], re.MULTILINE)
    return {name: line.rstrip("\n") + "\n" for line, name in items}
