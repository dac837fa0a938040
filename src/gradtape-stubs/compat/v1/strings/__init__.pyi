# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import AxisLike, DTypeLike, StringLike, TensorLike
from gradtape.api.strings.hashes import (
    to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong,
)
from gradtape.api.strings.splitting import (
    bytes_split as bytes_split,
    ngrams as ngrams,
)
from gradtape.api.strings.strings import (
    as_string as as_string,
    format as format,
    join as join,
    lower as lower,
    regex_full_match as regex_full_match,
    regex_replace as regex_replace,
    strip as strip,
    unsorted_segment_join as unsorted_segment_join,
    upper as upper,
)
from gradtape.api.strings.unicode import (
    unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets,
    unicode_encode as unicode_encode,
    unicode_script as unicode_script,
    unicode_split as unicode_split,
    unicode_split_with_offsets as unicode_split_with_offsets,
    unicode_transcode as unicode_transcode,
)
def length(input: StringLike, name: str | None = ..., unit: str = ...) -> Tensor: ...
def reduce_join(inputs: StringLike, axis: AxisLike | None = ..., keep_dims: Any = ..., separator: str = ..., name: str | None = ..., reduction_indices: AxisLike | None = ..., keepdims: Any = ...) -> Tensor: ...
def split(input: Any = ..., sep: StringLike | None = ..., maxsplit: int = ..., result_type: str = ..., source: Any = ..., name: str | None = ...) -> Any: ...
def substr(input: StringLike, pos: TensorLike, len: TensorLike, name: str | None = ..., unit: str = ...) -> Tensor: ...
def to_hash_bucket(string_tensor: StringLike | None = ..., num_buckets: int | None = ..., name: str | None = ..., input: StringLike | None = ...) -> Tensor: ...
def to_number(string_tensor: StringLike | None = ..., out_type: DTypeLike = ..., name: str | None = ..., input: StringLike | None = ...) -> Tensor: ...
