"""Validates recordings: everything read from a file is checked here before it is used.

A recording may be untrusted. Its texts are displayed, and compared with the names of known ops, attributes and dtypes;
none is executed, looked up in a module or opened as a file. `Document` first checks the form of the whole document
without knowledge of the ops; `check_op` then checks each op's inputs and attributes against its registry entry.
Whatever `save_tape` would not write raises a `DataLossError` that names the location.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...core import dtypes, errors
from ...core.dtypes import DType
from ...core.tensor import Tensor
from ...engine.registry.op import Op

FORMAT = 3  # format 2 added graphs; format 3 added assigned values and the shapes of all values
_KNOWN_FORMATS = (1, 2, 3)
_MAX_DEPTH = 40  # of nested attributes and graphs
_MAX_LINE = 1_000_000  # the number of a source line
_MAX_NAME = 4096  # characters of a name or a path
_MAX_TEXT = 1 << 16  # characters of a source line, or of an attribute
_MAX_RANK = 64
_MAX_INTEGER = 1 << 63
_FREE_SIZE = 1 << 16  # an attribute up to this number may exceed the op's sizes
_NOT_SIZES = ("shift", "below", "above")  # attributes that may exceed any size
_GRAPH = ("name", "values", "inputs", "nodes", "outputs")
_CONTENTS = ("format", "leaves", "steps", "texts", "targets", "sources")
_NUMBERS = ("?", *np.typecodes["AllInteger"], *np.typecodes["Float"])
_ARRAY_DTYPES = {np.dtype(name).str: np.dtype(name) for name in _NUMBERS}

Spec = tuple[tuple[int, ...], DType]  # the shape and the dtype of a value


class SavedStep(NamedTuple):
    """One op of a recording; inputs and outputs are numbers of values, or of constants."""

    op: str
    inputs: list[Any]
    words: dict[str, Any]  # its encoded attributes
    outputs: list[int]
    several: bool
    line: Any


class Document:
    """The validated contents of a recording: their form, references, and shapes and dtypes where stated.

    `tensors` are the arrays of the file, by name.
    """

    def __init__(self, path: Any, notes: Any, tensors: dict[str, Tensor]) -> None:
        self.path = path
        self._check_format(notes)
        self.values = self._numbered("value/", tensors)
        constants = self._numbered("constant/", tensors)
        self.constants = [constants[i] for i in self._range(constants)]
        self.texts = self._texts(notes["texts"])
        self.leaves: dict[int, str] = {}
        self.unsaved: dict[int, Spec] = {}  # of values that are recomputed
        for i, pair in enumerate(self._list(notes["leaves"], "leaves")):
            where = f"leaves[{i}]"
            key, name = self._list(pair, where, 2)
            self._new_key(key, self.leaves, where)
            if self._text(name, where, _MAX_NAME) in self.leaves.values():
                self.fail(where, name, "a name that no other leaf has")
            if key not in self.values:
                self.fail(where, key, "the number of a value that is in the file")
            self.leaves[key] = name
        for text, spec in self._dict(notes.get("unsaved", {}), "unsaved").items():
            where = f"unsaved[{text!r}]"
            self.unsaved[self._decimal(text, where)] = self._spec(self._list(spec, where, 2), where)
        self.steps: list[SavedStep] = []
        self._known: set[int] = set(self.leaves)
        for i, fields in enumerate(self._list(notes["steps"], "steps")):
            self.steps.append(self._step(fields, f"steps[{i}]"))
        for kind in (self.values, self.unsaved):
            for key in kind:
                if key not in self._known:
                    self.fail(f"value {key}", key, "the number of a leaf or of an output of a step")
        self.targets = self._keys(notes["targets"], "targets")
        self.sources = self._keys(notes["sources"], "sources")
        self.on_tape = frozenset(self._keys(notes.get("on_tape", []), "on_tape"))  # those that the tape recorded
        self.weights = [self._weight(key, tensors) for key in self.targets]

    def fail(self, where: str, found: Any, expected: str) -> NoReturn:
        """Raises the error for the invalid item at `where`."""
        text = ascii(found)
        raise errors.DataLossError(
            f"{self.path}: {where} is {text if len(text) <= 80 else text[:80] + '...'}, expected {expected}. The "
            "recording is damaged, or was changed after it was saved: save the step again"
        )

    def spec(self, key: int) -> Spec | None:
        """Returns the stated shape and dtype of a value; the first formats do not state all."""
        value = self.values.get(key)
        return self.unsaved.get(key) if value is None else (value.dims, value.dtype)

    def _check_format(self, notes: Any) -> None:
        if not isinstance(notes, dict) or "format" not in notes:
            raise errors.DataLossError(
                f"{self.path} is not a recording of a tape. Write one with tape.save(path, target, sources)"
            )
        version = notes["format"]
        if type(version) is int and version > FORMAT:
            raise errors.FailedPreconditionError(
                f"{self.path} is a recording of format {version}; this gradtape reads {FORMAT}. Use the version that "
                "wrote it, or save it again"
            )
        if type(version) is not int or version not in _KNOWN_FORMATS:
            self.fail("format", version, f"one of {_KNOWN_FORMATS}")
        for name in _CONTENTS:
            if name not in notes:
                self.fail("contents.json", sorted(notes), f"an entry {name!r}")

    # Each of these methods returns the item at `where` if it is valid, and fails otherwise.

    def _list(self, value: Any, where: str, length: int | None = None) -> list[Any]:
        if type(value) is not list or (length is not None and len(value) != length):
            self.fail(where, value, "a list" if length is None else f"a list of {length}")
        return value

    def _dict(self, value: Any, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            self.fail(where, value, "a dictionary")
        return value

    def _text(self, value: Any, where: str, longest: int = _MAX_TEXT) -> str:
        if type(value) is not str or len(value) > longest:
            self.fail(where, value, f"a text of at most {longest} characters")
        return value

    def _flag(self, value: Any, where: str) -> bool:
        if type(value) is not bool:
            self.fail(where, value, "true or false")
        return value

    def _integer(self, value: Any, where: str, low: int, end: int) -> int:
        if type(value) is not int or not low <= value < end:
            self.fail(where, value, f"a whole number of at least {low} and less than {end}")
        return value

    def _decimal(self, value: str, where: str) -> int:
        if not (value.isascii() and value.isdecimal() and len(value) <= 10 and str(int(value)) == value):
            self.fail(where, value, "a whole number")
        return int(value)

    def _range(self, found: dict[int, Any]) -> range:
        """Returns the range of consecutive numbers from 0."""
        if set(found) != set(range(len(found))):
            self.fail("the numbers of the constants", sorted(found), f"those from 0 to {len(found) - 1}")
        return range(len(found))

    def _numbered(self, kind: str, tensors: dict[str, Tensor]) -> dict[int, Tensor]:
        names = [name for name in tensors if name.startswith(kind)]
        return {self._decimal(name[len(kind) :], f"the name {name!r}"): tensors[name] for name in names}

    def _new_key(self, key: Any, known: Any, where: str) -> int:
        self._integer(key, where, 0, 1 << 40)
        if key in known:
            self.fail(where, key, "a number that no earlier value has")
        return int(key)

    def _key(self, key: Any, where: str) -> int:
        if type(key) is not int or key not in self._known:
            self.fail(where, key, "the number of a leaf or of an output of an earlier step")
        return int(key)

    def _keys(self, keys: Any, where: str) -> list[int]:
        return [self._key(key, f"{where}[{i}]") for i, key in enumerate(self._list(keys, where))]

    def _shape(self, value: Any, where: str) -> tuple[int, ...]:
        if len(self._list(value, where)) > _MAX_RANK:
            self.fail(where, value, f"at most {_MAX_RANK} sizes")
        return tuple([self._integer(n, where, 0, _MAX_INTEGER) for n in value])

    def _spec(self, value: Sequence[Any], where: str) -> Spec:
        shape, dtype = self._shape(value[0], where), self._dtype(value[1], where)
        if math.prod(shape) * dtype.size > _memory():
            raise errors.ResourceExhaustedError(
                f"{self.path}: {where} has {dtype.name} values of shape {list(shape)}, more than this machine's memory "
                "holds. Load it on a larger one, or save a step of fewer examples"
            )
        return shape, dtype

    def _dtype(self, value: Any, where: str) -> DType:
        try:
            return dtypes.as_dtype(self._text(value, where, 100))
        except TypeError:
            self.fail(where, value, "the name of a dtype")

    def _texts(self, value: Any) -> dict[str, dict[int, str]]:
        found: dict[str, dict[int, str]] = {}
        for path, lines in self._dict(value, "texts").items():
            where = f"texts[{ascii(path)[:80]}]"
            self._text(path, where, _MAX_NAME)
            own = found[path] = {}
            for number, text in self._dict(lines, where).items():
                own[self._integer(self._decimal(number, where), where, 0, _MAX_LINE)] = self._text(text, where)
        return found

    def line(self, value: Any, where: str) -> Any:
        """Checks a source line: path, number and function, or None."""
        if value is None:
            return None
        path, number, function = self._list(value, where, 3)
        if self._text(path, where, _MAX_NAME) not in self.texts:
            self.fail(where, path, "the path of a file whose lines are in the recording")
        self._integer(number, where, 0, _MAX_LINE)
        self._text(function, where, _MAX_NAME)
        return value

    def _constant(self, value: Any, where: str) -> Tensor:
        return self.constants[self._integer(value, where, 0, len(self.constants))]

    def _weight(self, key: int, tensors: dict[str, Tensor]) -> Tensor:
        name, spec = f"weight/{key}", self.spec(key)
        weight = tensors.get(name)
        if weight is None:
            self.fail(name, None, "an array in the file")
        if spec is not None and (weight.dims, weight.dtype) != spec:
            self.fail(name, (weight.dims, weight.dtype.name), f"{spec[1].name} of shape {list(spec[0])}, as the target")
        return weight

    def _step(self, fields: Any, where: str) -> SavedStep:
        op, inputs, words, outputs, several, line = self._list(fields, where, 6)
        self._text(op, f"{where}, its op,", 200)
        for i, x in enumerate(self._list(inputs, f"{where}, its inputs,")):
            at = f"{where}, input {i},"
            if type(x) is dict:
                self._constant(self._single(x, at, ("constant",))[1], at)
            else:
                self._key(x, at)
        self._attributes(words, where, 0)
        for i, key in enumerate(self._list(outputs, f"{where}, its outputs,")):
            self._known.add(self._new_key(key, self._known, f"{where}, output {i},"))
        self._flag(several, f"{where}, whether its outputs are a tuple,")
        self.line(line, f"{where}, its line,")
        return SavedStep(op, inputs, words, outputs, several, line)

    def _single(self, value: dict[str, Any], where: str, kinds: Sequence[str]) -> tuple[str, Any]:
        if len(value) != 1 or next(iter(value)) not in kinds:
            self.fail(where, value, f"a dictionary with one of the keys {', '.join(kinds)}")
        return next(iter(value.items()))

    def _attributes(self, words: Any, where: str, depth: int) -> None:
        for name, value in self._dict(words, f"{where}, its attributes,").items():
            if not (name.isascii() and name.isidentifier()):
                self.fail(f"{where}, the name of an attribute,", name, "an identifier")
            self._attribute(value, f"{where}, its {name},", depth)

    def _attribute(self, value: Any, where: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            self.fail(where, "nested more deeply", f"at most {_MAX_DEPTH} levels")
        if type(value) is int:
            self._integer(value, where, -_MAX_INTEGER, 2 * _MAX_INTEGER)
        elif type(value) is str:
            self._text(value, where)
        elif type(value) is dict:
            kind, content = self._single(value, where, tuple(_KINDS))
            _KINDS[kind](self, content, where, depth + 1)
        elif value is not None and type(value) is not bool:
            self.fail(where, value, "null, a truth value, a whole number, a text or a dictionary with one key")

    def _check_float(self, content: Any, where: str, depth: int) -> None:
        try:
            float.fromhex(self._text(content, where, 100))
        except (ValueError, OverflowError):
            self.fail(where, content, "a number as float.hex writes it")

    def _check_complex(self, content: Any, where: str, depth: int) -> None:
        for part in self._list(content, where, 2):
            self._check_float(part, where, depth)

    def _check_dtype(self, content: Any, where: str, depth: int) -> None:
        self._dtype(content, where)

    def _check_sequence(self, content: Any, where: str, depth: int) -> None:
        for part in self._list(content, where):
            self._attribute(part, where, depth)

    def _check_slice(self, content: Any, where: str, depth: int) -> None:
        for part in self._list(content, where, 3):
            if part is not None:
                self._integer(part, where, -_MAX_INTEGER, _MAX_INTEGER)

    def _check_ellipsis(self, content: Any, where: str, depth: int) -> None:
        if content is not True:
            self.fail(where, content, "true")

    def _check_array(self, content: Any, where: str, depth: int) -> None:
        dtype, shape, numbers = self._list(content, where, 3)
        if self._text(dtype, where, 20) not in _ARRAY_DTYPES:
            self.fail(where, dtype, f"one of the dtypes {', '.join(_ARRAY_DTYPES)}")
        if math.prod(self._shape(shape, where)) != len(self._list(numbers, where)):
            self.fail(where, len(numbers), f"as many numbers as the shape {shape} has")
        for number in numbers:
            if type(number) not in (bool, int, float) or (type(number) is int and not _fits(number, dtype)):
                self.fail(where, number, f"a number of dtype {dtype}")

    def _check_tensor(self, content: Any, where: str, depth: int) -> None:
        self._constant(content, where)

    def _check_scalar(self, content: Any, where: str, depth: int) -> None:
        if self._constant(content, where).dims:
            self.fail(where, content, "the number of a constant that is a single value")

    def _check_rounds(self, content: Any, where: str, depth: int) -> None:
        carried, scanned, count, reverse = self._list(content, where, 4)
        for number in (carried, scanned, *([] if count is None else [count])):
            self._integer(number, where, 0, _MAX_INTEGER)
        self._flag(reverse, where)

    def _check_rule(self, content: Any, where: str, depth: int) -> None:
        graph, forms = self._list(content, where, 2)
        self._check_graph(graph, where, depth)
        count = len(graph["outputs"])
        for form in self._list(forms, where):
            if type(form) is list:
                at, shape = self._list(form, where, 2)
                self._integer(at, where, 0, count - 1)
                if shape is not None:
                    self._shape(shape, where)
            elif form is not None:
                self._integer(form, where, 0, count)

    def _check_graph(self, words: Any, where: str, depth: int) -> None:
        if sorted(self._dict(words, where)) != sorted(_GRAPH):
            self.fail(where, sorted(words), f"a graph with {', '.join(_GRAPH)}")
        self._text(words["name"], f"{where} the name of a graph,", _MAX_NAME)
        values = self._list(words["values"], f"{where} values of a graph,")
        constant = []
        for i, value in enumerate(values):
            at = f"{where} value {i} of a graph,"
            spec, known = self._spec(self._list(value, at, 3)[:2], at), value[2]
            if known is not None:
                tensor = self._constant(known, at)
                if (tensor.dims, tensor.dtype) != spec:
                    self.fail(at, value, f"the {tensor.dtype.name} of shape {list(tensor.dims)} that the constant is")
            constant.append(known is not None)
        made = set(self._values(words["inputs"], f"{where} inputs of a graph,", len(values)))
        if len(made) != len(words["inputs"]):
            self.fail(f"{where} inputs of a graph,", words["inputs"], "each value once")
        for i, node in enumerate(self._list(words["nodes"], f"{where} nodes of a graph,")):
            at = f"{where} node {i} of a graph"
            op, inputs, attrs, outputs, several, line = self._list(node, at, 6)
            self._text(op, f"{at}, its op,", 200)
            self._used(inputs, made, constant, f"{at}, its inputs,")
            self._attributes(attrs, at, depth)
            for number in self._values(outputs, f"{at}, its outputs,", len(values)):
                if number in made or constant[number]:
                    self.fail(f"{at}, its outputs,", number, "a value that nothing before it makes")
                made.add(number)
            self._flag(several, f"{at}, whether its outputs are a tuple,")
            self.line(line, f"{at}, its line,")
        self._used(words["outputs"], made, constant, f"{where} outputs of a graph,")

    def _values(self, numbers: Any, where: str, count: int) -> list[int]:
        return [self._integer(number, where, 0, count) for number in self._list(numbers, where)]

    def _used(self, numbers: Any, made: set[int], constant: list[bool], where: str) -> None:
        for number in self._values(numbers, where, len(constant)):
            if number not in made and not constant[number]:
                self.fail(where, number, "a value that is made before it is used")


_KINDS: dict[str, Any] = {
    "float": Document._check_float,
    "complex": Document._check_complex,
    "dtype": Document._check_dtype,
    "numpy_dtype": Document._check_dtype,
    "tuple": Document._check_sequence,
    "list": Document._check_sequence,
    "slice": Document._check_slice,
    "ellipsis": Document._check_ellipsis,
    "array": Document._check_array,
    "tensor": Document._check_tensor,
    "scalar": Document._check_scalar,
    "rounds": Document._check_rounds,
    "rule": Document._check_rule,
    "graph": Document._check_graph,
}


def _fits(number: int, dtype: str) -> bool:
    own = _ARRAY_DTYPES[dtype]
    if own.kind not in "iu":
        return abs(number) < _MAX_INTEGER
    return bool(np.iinfo(own).min <= number <= np.iinfo(own).max)


def _memory() -> int:
    """Returns the most bytes that one value may have: half of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # unavailable on this system
        return 1 << 32


def check_op(document: Document, op: Op, inputs: Sequence[Spec], attrs: dict[str, Any], where: str) -> None:
    """Checks the number of inputs and the attributes of a registered op against its registry entry.

    Shapes and dtypes of the inputs are checked by running the op, which `load_tape` does.
    """
    count = len(op.args) - op.variadic
    if len(inputs) < count or (len(inputs) > count and not op.variadic):
        expected = f"{count} inputs{' or more' * op.variadic}, as {op.name} takes"
        document.fail(f"{where}, its inputs,", len(inputs), expected)
    check_names(document, op, attrs, where)
    for name, value in attrs.items():
        allowed = _leaf_types(op, name)
        for leaf in _leaves(value):
            kind = _leaf_type(leaf)
            if (kind in ("text", "dtype") or allowed == {"dtype"}) and kind not in allowed:
                document.fail(f"{where}, its {name},", leaf, f"a {' or '.join(sorted(allowed))}, as {op.name} takes")


def check_names(document: Document, op: Any, attrs: dict[str, Any], where: str) -> None:
    """Checks that the op has all of these attributes, and that no required one is missing."""
    own: dict[str, bool] = op.attributes
    for name in attrs:
        if name not in own:
            document.fail(f"{where}, an attribute,", name, f"one of {op.name}'s: {', '.join(own) or 'it has none'}")
    for name, required in own.items():
        if required and name not in attrs:
            document.fail(f"{where}, its attributes,", sorted(attrs), f"{name} among them, as {op.name} needs it")


def check_sizes(document: Document, attrs: dict[str, Any], specs: Sequence[Spec], where: str) -> None:
    """Checks that no attribute requests more elements than the op's inputs and outputs (`specs`) have."""
    most = max([_FREE_SIZE, *(math.prod(shape) for shape, _ in specs), *(n for shape, _ in specs for n in shape)])
    for name, value in attrs.items():
        for numbers in () if name in _NOT_SIZES else _integer_groups(value):
            if math.prod(numbers) > most:
                expected = f"sizes of at most {most}, as its inputs and outputs have"
                document.fail(f"{where}, its {name},", value, expected)


def _integer_groups(value: Any) -> list[list[int]]:
    """Returns the magnitudes of the integers in an attribute; those of a tuple together, as they may form a shape."""
    if type(value) is int:
        return [[abs(value)]]
    if type(value) not in (tuple, list):
        return []
    own = [abs(part) for part in value if type(part) is int and part]
    nested = [part for part in value if type(part) in (tuple, list)]
    if nested:  # paddings: a size for each axis
        own += [max(1, sum(map(math.prod, _integer_groups(part)))) for part in nested]
    order = sorted(own) == list(range(1, len(own) + 1))  # a permutation of axes, as in a transpose
    return [] if order else [own]


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if type(value) in (tuple, list) else [value]


def _leaf_type(value: Any) -> str:
    """Returns the kind of an attribute, as far as it matters: kernels accept numbers of any type and shape."""
    if isinstance(value, str):
        return "text"
    return "dtype" if isinstance(value, DType | np.dtype) else "number"


def _leaf_types(op: Op, name: str) -> set[str]:
    """Returns the kinds that an attribute has in the op's registered samples."""
    return {_leaf_type(leaf) for case in op.samples if name in case.attrs for leaf in _leaves(case.attrs[name])}
