"""Lookup tables in a SavedModel: functions create and fill them, and others capture them as resources."""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple

import numpy as np

from ..api.lookup.initializers import KeyValueTensorInitializer, TextFileInitializer
from ..api.lookup.static_tables import StaticHashTable
from ..core import dtypes, errors
from ..core.owners import Owner
from ..core.tensor import Tensor
from ..engine.run.convert import to_array, to_tensor
from .writing.library import FunctionLibrary


class TableFunction(NamedTuple):
    """A function of a table: it creates, fills or destroys the table."""

    table: StaticHashTable
    name: str


def functions_of_table(table: StaticHashTable) -> dict[str, TableFunction]:
    """Returns the functions of a table by the names that TensorFlow looks up."""
    return {name: TableFunction(table, name) for name in ("_create_resource", "_initialize", "_destroy_resource")}


def write_table(library: FunctionLibrary, table: StaticHashTable) -> dict[str, str]:
    """Writes the functions of a table; returns the names of the `FunctionDef`s."""
    kinds = {"key_dtype": table.key_dtype, "value_dtype": table.value_dtype}
    maker = library.writer()
    maker.is_stateful = True
    handle = maker.HashTableV2(shared_name=shared_name(table), **kinds)
    filler = library.writer()
    given = library.capture(filler, table)
    keys, values = (filler.constant(np.asarray(part.array), part.dtype) for part in table.export())
    filled = filler.LookupTableImportV2(given, keys, values)
    ender = library.writer()
    return {
        "_create_resource": library.finish(maker, "__inference__creator", [handle]),
        "_initialize": library.finish(filler, "__inference__initializer", [filler.ref(1)], effects=[filled]),
        "_destroy_resource": library.finish(ender, "__inference__destroyer", [ender.ref(1)]),
    }


def shared_name(table: StaticHashTable) -> str:
    """Returns the unique name by which a runtime identifies the table."""
    return vars(table).setdefault("_shared_name", f"table_{uuid.uuid4().hex}")


class LoadedTable(Owner):
    """A table of a SavedModel. Lookups supply the value for missing keys."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._initializer: Any = None
        self.tables: dict[str, StaticHashTable] = {}

    def fill(self, keys: Any, values: Any) -> None:
        """Fills the table with rows."""
        self._initializer = KeyValueTensorInitializer(to_tensor(keys), to_tensor(values))

    def fill_table(self, table: StaticHashTable) -> None:
        """Fills another table with the same rows, unless it has rows already."""
        if self._initializer is not None and table._rows is None:
            self._initializer.initialize(table)

    def fill_from(self, path: bytes, **options: Any) -> None:
        """Fills the table with the rows of a file."""
        self._initializer = TextFileInitializer(
            path, self.key_dtype, options["key_index"], self.value_dtype, options["value_index"],
            None if options["vocab_size"] in (-1, None) else options["vocab_size"], options["delimiter"] or "\t",
        )  # fmt: skip

    def _with_default(self, default: Any) -> StaticHashTable:
        if self._initializer is None:
            raise errors.FailedPreconditionError("Table not initialized.")
        value = to_array(default)
        key = repr(value.tolist())
        if key not in self.tables:
            self.tables[key] = StaticHashTable(self._initializer, Tensor(value, self.value_dtype))
        return self.tables[key]

    def find(self, keys: Any, default: Any) -> Any:
        """Returns the values of keys."""
        return self._with_default(default).lookup(keys)

    def size(self) -> Tensor:
        """Returns the number of keys."""
        zero = np.zeros((), self.value_dtype.numpy) if self.value_dtype is not dtypes.string else np.array(b"", object)
        return self._with_default(Tensor(zero, self.value_dtype)).size()
