# Written by tools/write_stubs.py.
from gradtape.io import gfile as gfile
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
    decode_raw as decode_raw,
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
    parse_example as parse_example,
    parse_sequence_example as parse_sequence_example,
    parse_single_example as parse_single_example,
    parse_single_sequence_example as parse_single_sequence_example,
)
from gradtape.api.io.records import (
    TFRecordOptions as TFRecordOptions,
    TFRecordWriter as TFRecordWriter,
)
from gradtape.api.io.tensors import (
    deserialize_many_sparse as deserialize_many_sparse,
    parse_tensor as parse_tensor,
    serialize_many_sparse as serialize_many_sparse,
    serialize_sparse as serialize_sparse,
    serialize_tensor as serialize_tensor,
)
from gradtape.api.io.text_records import (
    decode_compressed as decode_compressed,
    decode_csv as decode_csv,
    decode_json_example as decode_json_example,
)
from gradtape_tensorflow.graph_defs.files import (
    write_graph as write_graph,
)
