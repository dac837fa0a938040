"""Datasets of CSV files: their lines, and batches of named columns."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

from ...api.io.files import glob
from ...api.io.text_records import value_of
from ...core import dtypes, errors
from ...core.dtypes import DType, as_dtype
from ...core.tensor import Tensor
from ...core.type_hints import StringLike
from ...engine.run.convert import to_tensor
from ...state.record_files import check_compression, open_records
from ...state.specs import TensorSpec
from ..datasets import AUTOTUNE, Dataset
from ..pipeline import UNKNOWN_CARDINALITY
from ..resumable import ChainIterator
from .csv_records import BUFFER_SIZE, CsvRecords

NAMESPACES = ("data.experimental",)
__all__ = ["CsvDataset", "make_csv_dataset"]

_KINDS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)  # dtypes to try, in order


def CsvDataset(
    filenames: StringLike,
    record_defaults: Any,
    compression_type: str | None = None,
    buffer_size: int | None = None,
    header: bool = False,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    exclude_cols: Any = None,
) -> Dataset:
    """The lines of CSV files as tuples of scalars.

    Args:
      filenames: the files, read in sequence.
      record_defaults: for each column the value of an empty field, or a dtype if fields must not be empty.
      buffer_size: the number of bytes per read of a file.
      header: whether to skip the first line of each file.
      na_value: also means an empty field.
      select_cols: the indices of the columns to read, in order; all by default.
      exclude_cols: the indices of the columns to skip, as an alternative.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "two.csv")
    >>> tf.io.write_file(path, "1,a\\n,b\\n")
    >>> [(number.numpy(), word.numpy()) for number, word in tf.data.experimental.CsvDataset(path, [7.0, tf.string])]
    [(np.float32(1.0), b'a'), (np.float32(7.0), b'b')]
    """
    options = (compression_type, header, field_delim, use_quote_delim, na_value, select_cols, exclude_cols)
    return _rows(filenames, _defaults(record_defaults), *options, buffer_size=buffer_size)


def _rows(
    filenames: Any,
    defaults: list[Tensor],
    compression_type: str | None,
    header: bool,
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: Any = None,
    exclude_cols: Any = None,
    buffer_size: Any = None,
) -> Dataset:
    """`CsvDataset`, with defaults as tensors."""
    if select_cols is not None and exclude_cols is not None:
        raise errors.InvalidArgumentError("Either select_cols or exclude_cols should be empty, got both")
    if len(field_delim.encode()) != 1:
        raise errors.InvalidArgumentError(f"field_delim should be only 1 char, got {field_delim!r}")
    size = BUFFER_SIZE if buffer_size is None else int(buffer_size)
    if size <= 0:
        raise errors.InvalidArgumentError(f"buffer_size should be positive, got {size}")
    for i, default in enumerate(defaults):
        if len(default.dims) > 1:
            raise errors.InvalidArgumentError(
                f"Each record default should be at most rank 1, got {default!r} for field {i}"
            )
    check_compression(compression_type)
    files = [os.fsdecode(name) for name in np.ravel(to_tensor(filenames, dtypes.string).array)]
    delim, missing = field_delim.encode(), na_value.encode()
    chosen = None if select_cols is None else [int(i) for i in select_cols]
    left_out = frozenset() if exclude_cols is None else frozenset(int(i) for i in exclude_cols)

    def row(fields: list[bytes]) -> tuple[Tensor, ...]:
        if chosen is not None:
            fields = [fields[i] for i in chosen if i < len(fields)]
        elif left_out:
            fields = [field for i, field in enumerate(fields) if i not in left_out]
        if len(fields) != len(defaults):
            given = "more" if len(fields) > len(defaults) else len(fields)
            raise errors.InvalidArgumentError(f"Expect {len(defaults)} fields but have {given} in record")
        values = [
            value_of(field, None, i, default, missing)
            for i, (field, default) in enumerate(zip(fields, defaults, strict=True))
        ]
        return tuple([to_tensor(value, default.dtype) for value, default in zip(values, defaults, strict=True)])

    def records_of(path: str) -> Iterator[list[bytes]]:
        records = CsvRecords(path, compression_type, size, delim, use_quote_delim)
        if header and next(records, None) is None:
            raise errors.InvalidArgumentError("Can't read header of file")
        return records

    def rows() -> Iterator[Any]:
        return map(row, ChainIterator(map(records_of, files)))  # continues after an invalid record

    spec = tuple([TensorSpec([], default.dtype) for default in defaults])
    return Dataset("CsvDatasetV2", rows, lambda _: spec, UNKNOWN_CARDINALITY)


def _defaults(given: Any) -> list[Tensor]:
    """Returns the value of an empty field for each column: an empty tensor of its dtype if fields must not be empty."""
    return [
        to_tensor([], as_dtype(x))
        if isinstance(x, DType | np.dtype | type | str | int) and x in _KINDS  # 1 is float32's enum, as in TensorFlow
        else to_tensor(x)
        for x in given
    ]


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the lines of CSV files: a dict from column names to values, and the label if one is named.

    Args:
      file_pattern: a glob pattern of file names, or several.
      column_names: by default those of the first line.
      column_defaults: like `record_defaults` of `CsvDataset`; by default the dtypes are inferred from the first lines,
        and an empty field is 0 or an empty string.
      select_columns: the columns to read, by name or index.
      num_epochs: the number of repetitions; infinite by default.
      num_rows_for_inference: the number of lines for inferring dtypes; None for all.
      ignore_errors: whether to skip invalid lines.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "two.csv")
    >>> tf.io.write_file(path, "age,name,height\\n1,a,0.5\\n2,b,1.5\\n")
    >>> data = tf.data.experimental.make_csv_dataset(path, 2, label_name="height", num_epochs=1, shuffle=False)
    >>> for features, label in data:
    ...     print(features["age"].numpy(), features["name"].numpy(), label.numpy())
    [1 2] [b'a' b'b'] [0.5 1.5]
    """
    files = _matching(file_pattern)
    texts = _Texts(files, compression_type, encoding, field_delim, use_quote_delim)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = texts.names()
    _check_unique(column_names)
    chosen = None if select_columns is None else _numbers_of(select_columns, column_names)
    if column_defaults is None:
        column_defaults = texts.defaults(len(column_names), chosen, na_value, header, num_rows_for_inference)
    if chosen is not None:
        if len(column_defaults) != len(chosen):
            raise ValueError(
                "If specified, `column_defaults` and `select_columns` must have the same length: `column_defaults` has "
                f"length {len(column_defaults)}, `select_columns` has length {len(chosen)}."
            )
        column_names = [column_names[i] for i in chosen]
    if label_name is not None and label_name not in column_names:
        raise ValueError(f"`label_name` provided must be one of the columns: {column_names}. Received: {label_name}.")

    defaults = _defaults(column_defaults)

    def lines(path: Any) -> Dataset:
        found = _rows(path, defaults, compression_type, header, field_delim, use_quote_delim, na_value, chosen)
        return found.ignore_errors() if ignore_errors else found

    def by_name(*columns: Tensor) -> Any:
        features = OrderedDict(zip(column_names, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    data = Dataset.from_tensor_slices(files)
    if shuffle:
        data = data.shuffle(len(files), shuffle_seed)
    data = data.interleave(lines, cycle_length=max(1, num_parallel_reads or 1), block_length=1)
    if shuffle:
        data = data.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        data = data.repeat(num_epochs)
    batches = data.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return batches.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _matching(pattern: Any) -> list[str]:
    patterns = [pattern] if isinstance(pattern, str | os.PathLike) else list(pattern)
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    files = sorted(name for one in patterns for name in glob(os.fspath(one)))
    if not files:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return files


def _check_unique(names: Sequence[str]) -> None:
    twice = {name for name, count in Counter(names).items() if count > 1}
    if twice:
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")


def _numbers_of(columns: Any, names: Sequence[str]) -> list[int]:
    """Returns the indices, in order, of columns given by name or index."""
    found = set()
    for column in columns:
        if isinstance(column, int) and not 0 <= column < len(names):
            raise ValueError(
                f"Column index {column} specified in `select_columns` should be > 0  and <= {len(names)}, which is the "
                "number of columns."
            )
        if not isinstance(column, int) and column not in names:
            raise ValueError(
                f"Column {column} specified in `select_columns` must be of one of the columns: {list(names)}."
            )
        found.add(column if isinstance(column, int) else list(names).index(column))
    if len(found) != len(list(columns)):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {list(columns)}.")
    return sorted(found)


class _Texts:
    """Properties of columns, inferred from the first lines of files."""

    def __init__(self, files: list[str], compression_type: str | None, encoding: str, delim: str, quotes: bool) -> None:
        check_compression(compression_type)
        self._files, self._compression, self._encoding = files, compression_type, encoding
        self._options: dict[str, Any] = {"delimiter": delim, "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE}

    def _lines(self, path: str) -> Generator[list[str]]:
        if self._compression == "ZLIB":
            raise ValueError("`compression_type` ZLIB is not supported for probing columns.")
        with open_records(path, self._compression) as data, io.TextIOWrapper(data, self._encoding, newline="") as file:
            yield from csv.reader(file, **self._options)

    def names(self) -> list[str]:
        """Returns the first line, which must be the same in all files."""
        found: list[str] | None = None
        for path in self._files:
            with closing(self._lines(path)) as lines:
                line = next(lines, None)
            if line is None:
                raise ValueError(f"Failed when reading the header line of {path}. Is it an empty file?")
            if found is not None and line != found:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. File "
                    f"{path} has different column names."
                )
            found = line
        assert found is not None
        return found

    def defaults(self, count: int, chosen: list[int] | None, na: str, header: bool, most: int | None) -> list[Tensor]:
        """Returns 0, or an empty string, for each column, in the narrowest dtype of all its fields."""
        columns = range(count) if chosen is None else chosen
        kinds: list[DType | None] = [None] * len(columns)
        with closing(self._body(count, header)) as body:
            lines = list(body) if most is None else list(islice(body, most))
        for line in lines:
            for j, column in enumerate(columns):
                kinds[j] = _kind(line[column], na, kinds[j])
        return [to_tensor("" if kind in (None, dtypes.string) else 0, kind or dtypes.string) for kind in kinds]

    def _body(self, count: int, header: bool) -> Generator[list[str]]:
        for path in self._files:
            with closing(self._lines(path)) as lines:
                for number, line in enumerate(lines, 1):
                    if header and number == 1:
                        continue
                    if len(line) != count:
                        raise ValueError(
                            f"Problem inferring types: CSV row {number} has {len(line)} number of fields. Expected: "
                            f"{count}."
                        )
                    yield line


def _kind(text: str, na: str, before: DType | None) -> DType | None:
    """Returns the narrowest dtype for a field and the fields before it."""
    if text in ("", na):
        return before
    first = 0 if before is None else _KINDS.index(before)
    return next(kind for kind in _KINDS[first:] if _READS[kind](text))


def _reads(kind: Callable[[str], Any]) -> Callable[[str], bool]:
    def reads(text: str) -> bool:
        try:
            return bool(kind(text) < np.inf)
        except (ValueError, OverflowError):
            return False

    return reads


_READS: dict[DType, Callable[[str], bool]] = {
    **{kind: _reads(kind.as_numpy_dtype) for kind in _KINDS[:-1]}, dtypes.string: lambda text: True
}  # fmt: skip
