# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import DTypeLike, StringLike
from gradtape.api.image.codecs import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    decode_webp as decode_webp,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from gradtape.api.io.bytes import (
    decode_base64 as decode_base64,
    encode_base64 as encode_base64,
    match_filenames_once as match_filenames_once,
    matching_files as matching_files,
    read_file as read_file,
    write_file as write_file,
)
from gradtape.api.io.features import (
    FixedLenFeature as FixedLenFeature,
    FixedLenSequenceFeature as FixedLenSequenceFeature,
    RaggedFeature as RaggedFeature,
    SparseFeature as SparseFeature,
    VarLenFeature as VarLenFeature,
)
from gradtape.api.io.parsing import (
    parse_sequence_example as parse_sequence_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from gradtape.api.io.tensors import (
    deserialize_many_sparse as deserialize_many_sparse,
    parse_tensor as parse_tensor,
    serialize_tensor as serialize_tensor,
)
from gradtape.api.io.text_records import (
    decode_compressed as decode_compressed,
    decode_json_example as decode_json_example,
)
from gradtape_tensorflow.graph_defs.files import (
    write_graph as write_graph,
)
from gradtape_tensorflow.v1.records import (
    TFRecordCompressionType as TFRecordCompressionType,
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
    tf_record_iterator as tf_record_iterator,
)
def decode_csv(records: StringLike, record_defaults: Any, field_delim: str = ..., use_quote_delim: bool = ..., name: str | None = ..., na_value: str = ..., select_cols: Any = ...) -> list[Tensor]: ...
def decode_raw(input_bytes: StringLike | None = ..., out_type: DTypeLike | None = ..., little_endian: bool = ..., name: str | None = ..., bytes: StringLike | None = ...) -> Tensor: ...
def parse_example(serialized: StringLike, features: Any, name: str | None = ..., example_names: StringLike | None = ...) -> Any: ...
def parse_single_example(serialized: StringLike, features: Any, name: str | None = ..., example_names: StringLike | None = ...) -> Any: ...
def serialize_many_sparse(sp_input: Any, name: str | None = ..., out_type: DTypeLike = ...) -> Tensor: ...
def serialize_sparse(sp_input: Any, name: str | None = ..., out_type: DTypeLike = ...) -> Tensor: ...
