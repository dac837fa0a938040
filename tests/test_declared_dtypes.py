"""Every parameter that takes a dtype, a spec or a nest of these takes each spelling of a dtype, as TensorFlow does.

A dtype may be spelled as a DType, a NumPy class or dtype, a name, an enum or a Python type. TensorFlow 2.21 accepts all
of them in all calls below, except where it calls a method of `DType` on what it was given (feature columns,
`tf.signal`'s windows, lookup tables).
"""

import ast
import enum
import inspect
import itertools
import re
import sqlite3

import numpy as np
import pytest
from case_groups import check_cases

import gradtape as tf
from gradtape.api.names import NAMES
from gradtape.api.namespace import resolve

# Calls of public functions, where D stands for the dtype in front of the calls.
CALLS = {
    "float32": """
        constant(1, dtype=D)
        bitcast(1, type=D)
        convert_to_tensor(1, dtype=D)
        convert_to_tensor(1, dtype_hint=D)
        map_fn(lambda x: tf.cast(x, D), tf.constant([1, 2]), dtype=D)
        map_fn(lambda x: (tf.cast(x, D), {"a": tf.cast(x, D)}), tf.constant([1, 2]), dtype=(D, {"a": D}))
        function(lambda: map_fn(lambda x: (cast(x, D), x), tf.constant([1, 2]), fn_output_signature=(D, tf.int32)))()
        function(lambda: map_fn(lambda x: cast(x, D), tf.constant([1, 2]), dtype=D))()
        map_fn(lambda x: tf.cast(x, D), tf.zeros([0, 2], tf.int32), dtype=D)
        function(lambda: py_function(lambda: tf.cast(1, D), [], D))()
        function(lambda: py_function(lambda: (tf.cast(1, D), 1), [], [D, tf.int32]))()
        function(lambda: numpy_function(lambda: (np.zeros(2, "float32"), np.zeros(2, "float32")), [], [D, D]))()
        py_function(lambda: (tf.cast(1, D), 1), [], [D, tf.int32])
        map_fn(lambda x: tf.cast(x, D), tf.constant([1, 2]), fn_output_signature=D)
        numpy_function(lambda: np.zeros(2, "float32"), [], Tout=D)
        py_function(lambda: tf.cast(1, D), [], Tout=D)
        one_hot([1], 2, dtype=D)
        ones([2], dtype=D)
        ones_like([2], dtype=D)
        zeros([2], dtype=D)
        zeros_like([2], dtype=D)
        range(2, dtype=D)
        sequence_mask([1], dtype=D)
        compat.v1.initializers.ones(dtype=D)([2])
        compat.v1.initializers.zeros(dtype=D)([2])
        compat.v1.ones_initializer(dtype=D)([2])
        compat.v1.constant_initializer(1, dtype=D)([2])
        compat.v1.glorot_normal_initializer(1, dtype=D)([2, 2])
        compat.v1.glorot_uniform_initializer(1, dtype=D)([2, 2])
        compat.v1.orthogonal_initializer(1.0, dtype=D)([2, 2])
        compat.v1.random_normal_initializer(dtype=D)([2, 2])
        compat.v1.initializers.truncated_normal(dtype=D)([2, 2])
        compat.v1.random_uniform_initializer(dtype=D)([2, 2])
        compat.v1.uniform_unit_scaling_initializer(dtype=D)([2, 2])
        compat.v1.variance_scaling_initializer(dtype=D)([2, 2])
        compat.v1.initializers.he_normal(1)([2, 2], dtype=D)
        compat.v1.initializers.identity(dtype=D)([2, 2])
        compat.v1.ragged.constant_value([[1]], dtype=D)
        compat.v1.Variable(1, dtype=D, use_resource=True)
        compat.v1.VariableScope(None, dtype=D).dtype
        compat.v1.VariableScope.set_dtype(compat.v1.get_variable_scope(), dtype=D)
        compat.v1.get_variable(next_name(), [2], dtype=D, use_resource=True)
        compat.v1.get_local_variable(next_name(), [2], dtype=D, use_resource=True)
        in_scope(compat.v1.variable_scope("a", dtype=D))
        in_graph(lambda: compat.v1.placeholder(dtype=D))
        function(lambda x: x, input_signature=[TensorSpec([], D)])(tf.constant(1, D))
        data.experimental.CsvDataset(csv_file, [D])
        data.Dataset.from_generator(lambda: [1.0], output_types=D).element_spec
        data.Dataset.from_generator(list, output_types=(D, D), output_shapes=([], [None])).element_spec
        data.Dataset.from_generator(lambda: [1.0], output_signature=TensorSpec([], D)).element_spec
        debugging.assert_same_float_dtype(dtype=D)
        debugging.assert_type(tf.constant(1, D), tf_type=D)
        feature_column.weighted_categorical_column(column, "b", dtype=D).dtype
        feature_column.numeric_column("a", dtype=D).dtype
        feature_column.sequence_numeric_column("a", dtype=D).dtype
        io.parse_example(example, {"a": io.RaggedFeature(dtype=D)})
        io.parse_example(example, {"a": io.FixedLenFeature([1], dtype=D)})
        io.parse_example(example, {"a": io.FixedLenSequenceFeature([], dtype=D, allow_missing=True)})
        io.parse_example(example, {"a": io.VarLenFeature(dtype=D)})
        io.parse_example(example, {"a": io.SparseFeature("i", "a", dtype=D, size=4)})
        linalg.LinearOperatorIdentity(2, dtype=D).dtype
        linalg.LinearOperatorZeros(2, dtype=D).dtype
        linalg.LinearOperatorPermutation([1, 0], dtype=D).dtype
        experimental.numpy.arange(2, dtype=D)
        experimental.numpy.array([2], dtype=D)
        experimental.numpy.asarray([2], dtype=D)
        experimental.numpy.asanyarray([2], dtype=D)
        experimental.numpy.ascontiguousarray([2], dtype=D)
        experimental.numpy.eye(2, dtype=D)
        experimental.numpy.full([2], 1, dtype=D)
        experimental.numpy.full_like([2], 1, dtype=D)
        experimental.numpy.identity(2, dtype=D)
        experimental.numpy.linspace(0, 1, 2, dtype=D)
        experimental.numpy.logspace(0, 1, 2, dtype=D)
        experimental.numpy.geomspace(1, 2, 2, dtype=D)
        experimental.numpy.ones([2], dtype=D)
        experimental.numpy.ones_like([2], dtype=D)
        experimental.numpy.zeros([2], dtype=D)
        experimental.numpy.zeros_like([2], dtype=D)
        experimental.numpy.empty([2], dtype=D)
        experimental.numpy.empty_like([2], dtype=D)
        experimental.numpy.trace([[1]], dtype=D)
        experimental.numpy.tri(2, dtype=D)
        experimental.numpy.result_type(D, D)
        experimental.numpy.promote_types(D, D)
        experimental.numpy.cumsum([1], dtype=D)
        experimental.numpy.cumprod([1], dtype=D)
        experimental.numpy.mean([1], dtype=D)
        experimental.numpy.prod([1], dtype=D)
        experimental.numpy.sum([1], dtype=D)
        experimental.numpy.var([1], dtype=D)
        experimental.numpy.nanmean([1], dtype=D)
        experimental.numpy.nanprod([1], dtype=D)
        experimental.numpy.nansum([1], dtype=D)
        experimental.numpy.finfo(D).bits
        make_tensor_proto([1], dtype=D).dtype
        make_ndarray(make_tensor_proto([1], dtype=D)).dtype
        random.Generator.binomial(generator, [2], 3, 0.5, dtype=D)
        random.Generator.normal(generator, [2], dtype=D)
        random.Generator.truncated_normal(generator, [2], dtype=D)
        random.Generator.uniform(generator, [2], dtype=D)
        sparse.sampled_addmm([[0, 0]], [1.0], [1, 1], [[1.0]], [[1.0]], output_type=D)
        test.TestCase.assertDTypeEqual(test.TestCase(), tf.constant(1, D), expected_dtype=D)
        tpu.experimental.embedding.TableConfig(2, 2, dtype=D).dtype
        compat.v1.bincount([1], dtype=D)
        compat.v1.math.bincount([1], dtype=D)
        compat.v1.confusion_matrix([1], [1], dtype=D)
        compat.v1.math.confusion_matrix([1], [1], dtype=D)
        compat.v1.constant(1, dtype=D)
        compat.v1.convert_to_tensor(1, dtype=D)
        compat.v1.convert_to_tensor(1, preferred_dtype=D)
        compat.v1.convert_to_tensor(1, dtype_hint=D)
        compat.v1.convert_to_tensor_or_indexed_slices(1, dtype=D)
        compat.v1.convert_to_tensor_or_sparse_tensor(1, dtype=D)
        compat.v1.count_nonzero([1], dtype=D)
        compat.v1.math.count_nonzero([1], dtype=D)
        compat.v1.decode_raw("aaaa", out_type=D)
        compat.v1.io.decode_raw("aaaa", out_type=D)
        compat.v1.ones_like([1], dtype=D)
        compat.v1.zeros_like([1], dtype=D)
        compat.v1.py_func(lambda: np.zeros(2, "float32"), [], Tout=D)
        compat.v1.random_poisson([1.0], [1], dtype=D)
        compat.v1.random.poisson([1.0], [1], dtype=D)
        compat.v1.string_to_number(["1"], out_type=D)
        compat.v1.strings.to_number(["1"], out_type=D)
        compat.v1.wrap_function(lambda x: x, signature=[TensorSpec([], D)])(tf.constant(1, D))
        compat.v1.random_normal([2], dtype=D)
        compat.v1.random_uniform([2], dtype=D)
        compat.v1.truncated_normal([2], dtype=D)
        Variable(1, dtype=D)
        TensorArray(dtype=D, size=1).dtype
        TensorArraySpec([], dtype=D)
        TensorSpec([], dtype=D)
        SparseTensorSpec([], dtype=D)
        RaggedTensorSpec([None, None], dtype=D)
        IndexedSlicesSpec([], dtype=D)
        cast(1, dtype=D)
        dtypes.cast(1, dtype=D)
        dtypes.saturate_cast(1, dtype=D)
        dtypes.as_dtype(D)
        as_dtype(D)
        image.convert_image_dtype([[[1.0]]], dtype=D)
        io.decode_raw("aaaa", out_type=D)
        io.deserialize_many_sparse(io.serialize_many_sparse(sparse.eye(2)), dtype=D)
        io.parse_tensor(io.serialize_tensor([1.0]), out_type=D)
        linalg.eye(2, dtype=D)
        math.accumulate_n([1.0], tensor_dtype=D)
        math.bincount([1], dtype=D)
        math.confusion_matrix([1], [1], dtype=D)
        math.count_nonzero([1], dtype=D)
        math.sobol_sample(2, 2, dtype=D)
        ragged.constant([[1]], dtype=D)
        ragged.range([1], dtype=D)
        random.gamma([1], 1.0, dtype=D)
        random.normal([1], dtype=D)
        random.poisson([1], 1.0, dtype=D)
        random.truncated_normal([1], dtype=D)
        random.uniform([1], dtype=D)
        random.stateless_binomial([1], [1, 2], [1.0], [0.5], output_dtype=D)
        random.stateless_gamma([1], [1, 2], 1.0, dtype=D)
        random.stateless_normal([1], [1, 2], dtype=D)
        random.stateless_poisson([1], [1, 2], 1.0, dtype=D)
        random.stateless_truncated_normal([1], [1, 2], dtype=D)
        random.stateless_uniform([1], [1, 2], dtype=D)
        raw_ops.Angle(input=[1j], Tout=D)
        raw_ops.Bitcast(input=1, type=D)
        raw_ops.Cast(x=1, DstT=D)
        raw_ops.Const(value=[1.0], dtype=D)
        raw_ops.DecodeRaw(bytes="aaaa", out_type=D)
        raw_ops.Empty(shape=[1], dtype=D)
        raw_ops.IsotonicRegression(input=[[1.0]], output_dtype=D)
        raw_ops.RandomStandardNormal(shape=[1], dtype=D)
        raw_ops.RandomUniform(shape=[1], dtype=D)
        raw_ops.ReadVariableOp(resource=tf.Variable(1.0).handle, dtype=D)
        raw_ops.ResourceGather(resource=tf.Variable([1.0]).handle, indices=[0], dtype=D)
        raw_ops.ResourceGatherNd(resource=tf.Variable([1.0]).handle, indices=[0], dtype=D)
        raw_ops.SobolSample(dim=1, num_results=2, skip=0, dtype=D)
        raw_ops.StatelessRandomBinomial(shape=[1], seed=[1, 2], counts=[1.0], probs=[0.5], dtype=D)
        raw_ops.StatelessRandomNormal(shape=[1], seed=[1, 2], dtype=D)
        raw_ops.StatelessRandomNormalV2(shape=[1], key=key, counter=counter, alg=1, dtype=D)
        raw_ops.StatelessRandomPoisson(shape=[1], seed=[1, 2], lam=1.0, dtype=D)
        raw_ops.StatelessRandomUniform(shape=[1], seed=[1, 2], dtype=D)
        raw_ops.StatelessRandomUniformV2(shape=[1], key=key, counter=counter, alg=1, dtype=D)
        raw_ops.StatelessTruncatedNormal(shape=[1], seed=[1, 2], dtype=D)
        raw_ops.StatelessTruncatedNormalV2(shape=[1], key=key, counter=counter, alg=1, dtype=D)
        raw_ops.StringToNumber(string_tensor="1", out_type=D)
        raw_ops.TruncatedNormal(shape=[1], dtype=D)
        signal.hamming_window(2, dtype=D)
        signal.hann_window(2, dtype=D)
        signal.kaiser_bessel_derived_window(2, dtype=D)
        signal.kaiser_window(2, dtype=D)
        signal.vorbis_window(2, dtype=D)
        signal.linear_to_mel_weight_matrix(dtype=D)
        sparse.eye(2, dtype=D)
        strings.to_number(["1"], out_type=D)
        experimental.Optional.empty(element_spec=TensorSpec([], D)).element_spec
        io.decode_csv(["1"], [tf.constant(0, D)])
        random_normal_initializer()([2, 2], dtype=D)
        random_uniform_initializer()([2, 2], dtype=D)
        ones_initializer()([2], dtype=D)
        zeros_initializer()([2], dtype=D)
        constant_initializer(1)([2], dtype=D)
    """,
    "int64": """
        histogram_fixed_width([1.0], [0.0, 2.0], dtype=D, nbins=2)
        histogram_fixed_width_bins([1.0], [0.0, 2.0], dtype=D, nbins=2)
        searchsorted([1, 2], [1], out_type=D)
        shape([1], out_type=D)
        shape_n([[1]], out_type=D)
        size([1], out_type=D)
        compat.v1.ragged.constant_value([[1]], row_splits_dtype=D)
        data.experimental.Counter(dtype=D).element_spec
        data.Dataset.counter(dtype=D).element_spec
        data.Dataset.ragged_batch(numbers, 2, row_splits_dtype=D).element_spec
        data.Dataset.apply(numbers, data.experimental.dense_to_ragged_batch(2, row_splits_dtype=D)).element_spec
        feature_column.categorical_column_with_hash_bucket("a", 3, dtype=D).dtype
        feature_column.categorical_column_with_vocabulary_file("a", vocabulary, 2, dtype=D).dtype
        feature_column.categorical_column_with_vocabulary_list("a", [1, 2], dtype=D).dtype
        feature_column.sequence_categorical_column_with_hash_bucket("a", 3, dtype=D).categorical_column.dtype
        feature_column.sequence_categorical_column_with_vocabulary_file("a", vocabulary, 2, dtype=D).categorical_column
        feature_column.sequence_categorical_column_with_vocabulary_list("a", [1, 2], dtype=D).categorical_column.dtype
        io.parse_example(example, {"a": io.RaggedFeature(tf.float32, row_splits_dtype=D)})
        lookup.KeyValueTensorInitializer([1], [1], key_dtype=D).key_dtype
        lookup.KeyValueTensorInitializer([1], [1], value_dtype=D).value_dtype
        lookup.TextFileInitializer(vocabulary, D, -1, tf.int64, -2).key_dtype
        lookup.TextFileInitializer(vocabulary, tf.int64, -2, D, -1).value_dtype
        lookup.experimental.DenseHashTable(D, tf.int64, -1, 0, -2).key_dtype
        lookup.experimental.DenseHashTable(tf.int64, D, -1, 0, -2).value_dtype
        lookup.experimental.MutableHashTable(D, tf.int64, -1).key_dtype
        lookup.experimental.MutableHashTable(tf.int64, D, -1).value_dtype
        lookup.StaticVocabularyTable(pair, 1, lookup_key_dtype=D).key_dtype
        data.experimental.index_table_from_dataset(numbers, key_dtype=D).key_dtype
        data.experimental.table_from_dataset(pairs, default_value=0, key_dtype=D).key_dtype
        experimental.numpy.random.randint(2, size=[2], dtype=D)
        experimental.DynamicRaggedShape.Spec(row_partitions=[], static_inner_shape=[2], dtype=D).dtype
        experimental.DynamicRaggedShape([], [2], dtype=D).dtype
        experimental.DynamicRaggedShape.from_lengths([2, 2], dtype=D).dtype
        experimental.DynamicRaggedShape.from_row_partitions([rows], dtype=D).dtype
        experimental.DynamicRaggedShape.from_tensor([2, 2], dtype=D).dtype
        experimental.DynamicRaggedShape.with_dtype(experimental.DynamicRaggedShape([], [2]), dtype=D).dtype
        random.Generator.uniform_full_int(generator, [2], dtype=D)
        compat.v1.arg_max([1], 0, output_type=D)
        compat.v1.arg_min([1], 0, output_type=D)
        compat.v1.argmax([1], 0, output_type=D)
        compat.v1.argmin([1], 0, output_type=D)
        compat.v1.math.argmax([1], 0, output_type=D)
        compat.v1.math.argmin([1], 0, output_type=D)
        compat.v1.multinomial([[1.0]], 1, output_dtype=D)
        compat.v1.random.multinomial([[1.0]], 1, output_dtype=D)
        compat.v1.setdiff1d([1], [2], index_dtype=D)
        compat.v1.shape([1], out_type=D)
        compat.v1.size([1], out_type=D)
        compat.v1.nn.max_pool_with_argmax([[[[1.0]]]], [1, 1, 1, 1], [1, 1, 1, 1], "SAME", output_dtype=D)
        RaggedTensorSpec([None, None], row_splits_dtype=D)
        IndexedSlicesSpec([], indices_dtype=D)
        IndexedSlicesSpec([], dense_shape_dtype=D)
        image.extract_jpeg_shape(jpeg, output_type=D)
        linalg.lu([[1.0]], output_idx_type=D)
        math.argmax([1], output_type=D)
        math.argmin([1], output_type=D)
        math.top_k([1], index_type=D)
        nn.max_pool_with_argmax([[[[1.0]]]], [1, 1, 1, 1], [1, 1, 1, 1], "SAME", output_dtype=D)
        ragged.constant([[1]], row_splits_dtype=D)
        ragged.range([1], row_splits_dtype=D)
        ragged.row_splits_to_segment_ids([0, 1], out_type=D)
        ragged.segment_ids_to_row_splits([0, 1], out_type=D)
        random.categorical([[1.0]], 1, dtype=D)
        random.stateless_categorical([[1.0]], 1, [1, 2], dtype=D)
        raw_ops.ArgMax(input=[1], dimension=0, output_type=D)
        raw_ops.ArgMin(input=[1], dimension=0, output_type=D)
        raw_ops.HistogramFixedWidth(values=[1.0], value_range=[0.0, 2.0], nbins=2, dtype=D)
        raw_ops.LowerBound(sorted_inputs=[[1]], values=[[1]], out_type=D)
        raw_ops.Lu(input=[[1.0]], output_idx_type=D)
        raw_ops.Multinomial(logits=[[1.0]], num_samples=1, output_dtype=D)
        raw_ops.Shape(input=[1], out_type=D)
        raw_ops.ShapeN(input=[[1]], out_type=D)
        raw_ops.Size(input=[1], out_type=D)
        raw_ops.StatelessMultinomial(logits=[[1.0]], num_samples=1, seed=[1, 2], output_dtype=D)
        raw_ops.StatelessRandomUniformFullInt(shape=[1], seed=[1, 2], dtype=D)
        raw_ops.TopKV2(input=[1], k=1, index_type=D)
        raw_ops.UpperBound(sorted_inputs=[[1]], values=[[1]], out_type=D)
        raw_ops.VariableShape(input=tf.Variable(1.0).handle, out_type=D)
        experimental.RowPartition.from_row_lengths([1], dtype=D).dtype
        experimental.RowPartition.from_row_lengths([1], dtype_hint=D).dtype
        experimental.RowPartition.from_row_limits([1], dtype=D).dtype
        experimental.RowPartition.from_row_limits([1], dtype_hint=D).dtype
        experimental.RowPartition.from_row_splits([0, 1], dtype=D).dtype
        experimental.RowPartition.from_row_splits([0, 1], dtype_hint=D).dtype
        experimental.RowPartition.from_row_starts([0], nvals=1, dtype=D).dtype
        experimental.RowPartition.from_row_starts([0], nvals=1, dtype_hint=D).dtype
        experimental.RowPartition.from_uniform_row_length(1, nvals=1, dtype=D).dtype
        experimental.RowPartition.from_uniform_row_length(1, nvals=1, dtype_hint=D).dtype
        experimental.RowPartition.from_value_rowids([0], dtype=D).dtype
        experimental.RowPartition.from_value_rowids([0], dtype_hint=D).dtype
        experimental.RowPartition.with_dtype(rows, dtype=D).dtype
        experimental.RowPartition.with_row_splits_dtype(rows, dtype=D).dtype
        RaggedTensor.bounding_shape(ragged.constant([[1]]), out_type=D)
        RaggedTensor.from_sparse(sparse.from_dense([[1]]), row_splits_dtype=D)
        RaggedTensor.from_tensor([[1]], row_splits_dtype=D)
        RaggedTensor.nrows(ragged.constant([[1]]), out_type=D)
        RaggedTensor.with_row_splits_dtype(ragged.constant([[1]]), dtype=D)
    """,
    "float64": """
        data.experimental.SqlDataset("sqlite", sql_file, "select 1.0", output_types=(D,)).element_spec
        raw_ops.ComplexAbs(x=1j, Tout=D)
        raw_ops.Imag(input=[1j], Tout=D)
        raw_ops.Real(input=[1j], Tout=D)
    """,
    "int32": """
        linalg.matmul([[1]], [[1]], output_type=D)
        linalg.matmul(tf.constant([[1]], tf.int8), tf.constant([[1]], tf.int8), output_type=D)
        raw_ops.BatchMatMulV3(x=tf.constant([[1]], tf.int8), y=tf.constant([[1]], tf.int8), Tout=D)
    """,
    "complex64": """
        linalg.LinearOperatorCirculant([1.0 + 0j], input_output_dtype=D).dtype
        linalg.LinearOperatorCirculant2D([[1.0 + 0j]], input_output_dtype=D).dtype
        linalg.LinearOperatorCirculant3D([[[1.0 + 0j]]], input_output_dtype=D).dtype
        raw_ops.Complex(real=1.0, imag=1.0, Tout=D)
        raw_ops.Eig(input=[[1.0]], Tout=D)
    """,
    "string": """
        constant("a", dtype=D)
        zeros([2], dtype=D)
        Variable("a", dtype=D)
        map_fn(tf.strings.as_string, tf.constant([1, 2]), fn_output_signature=D)
        function(lambda: numpy_function(lambda: np.array(["a"]), [], D))()
        compat.v1.serialize_many_sparse(sparse.eye(2), out_type=D)
        compat.v1.serialize_sparse(sparse.eye(2), out_type=D)
        compat.v1.io.serialize_many_sparse(sparse.eye(2), out_type=D)
        compat.v1.io.serialize_sparse(sparse.eye(2), out_type=D)
        io.serialize_many_sparse(sparse.eye(2), out_type=D)
        io.serialize_sparse(sparse.eye(2), out_type=D)
    """,
    "uint8": """
        io.decode_image(png, dtype=D)
        io.decode_png(png, dtype=D)
        raw_ops.DecodePng(contents=png, dtype=D)
    """,
    "bool": """
        cast([1], D)
        constant([True], dtype=D)
        map_fn(lambda x: x > 1, tf.constant([1, 2]), fn_output_signature=D)
        function(lambda: py_function(lambda: True, [], D))()
        Variable([True], dtype=D)
        zeros([2], dtype=D)
    """,
}

# What a parameter that takes a dtype is called.
NAMED = re.compile(
    r"(\w+_)?dtypes?|dtype_hint|Tout|DstT|T|types?|(tf|out|output|output_idx|index)_types?|(\w+_)?signature"
)
# Parameters with such a name that have no call above, and why.
WITHOUT_CALL = {
    **dict.fromkeys(["signal.dct(type)", "signal.idct(type)"], "a number, not a dtype"),
    "DType.most_specific_common_supertype(types)": "compares: `==` takes every spelling",
    "Tensor(dtype)": "no constructor in TensorFlow", "TensorSpec.value_type(dtype)": "the same",
    "TensorArraySpec.value_type(dtype)": "`TensorArray`, which has a call",
    "linalg.LinearOperator(dtype)": "a base class: its subclasses have calls",
    "types.experimental.GenericFunction(input_signature)": "`tf.function`, which has a call",
    "compat.v1.sparse_placeholder(dtype)": "refused outside of functions, whatever the dtype",
    "train.experimental.ShardableTensor(dtype)": "made by the checkpoint",
    "io.decode_webp(dtype)": "needs a picture; read as by `decode_png`",
}  # fmt: skip
SPELLINGS = {
    "float32": {"a Python type": float, "another name": "float"}, "float64": {"another name": "double"},
    "string": {"a Python type": object, "text": np.str_, "bytes": np.bytes_}, "bool": {"a Python type": bool},
}  # fmt: skip
# Calls whose dtypes are NumPy's: `float` is float64, and an enum is no dtype.
NUMPY_RULES = ("experimental.numpy.", "compat.v1.ragged.constant_value([[1]], dtype=")


def spellings(name):
    """The spellings of a dtype."""
    dtype = tf.as_dtype(name)
    kind = dtype.as_numpy_dtype
    array = {} if dtype.is_quantized else {"a class": kind, "an instance": np.dtype(kind)}
    return {**array, "a name": name, "an enum": dtype.as_datatype_enum, **SPELLINGS.get(name, {})}


class Scope(dict):
    """The names in calls: those of `tf`, and some values."""

    def __missing__(self, name):
        return getattr(tf, name)


@pytest.fixture(scope="module")
def values(tmp_path_factory):
    pytest.importorskip("PIL")
    folder = tmp_path_factory.mktemp("files")
    for name in ("vocabulary", "lines"):
        (folder / name).write_text("1\n2\n")
    sqlite3.connect(folder / "rows").close()
    features = {"a": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))}
    features["i"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    pixel = np.zeros([1, 1, 1], np.uint8)
    numbers = tf.data.Dataset.range(2)
    names = itertools.count()

    def in_graph(make):
        with tf.Graph().as_default():
            return make().dtype

    def in_scope(scope):
        with scope:
            return tf.compat.v1.get_variable(f"in_scope_{next(names)}", [2])

    return {
        "tf": tf, "np": np, "vocabulary": str(folder / "vocabulary"), "csv_file": str(folder / "lines"),
        "sql_file": str(folder / "rows"), "png": tf.io.encode_png(pixel), "jpeg": tf.io.encode_jpeg(pixel),
        "example": [tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()],
        "generator": tf.random.Generator.from_seed(1), "key": tf.constant([1], tf.uint64), "in_scope": in_scope,
        "counter": tf.constant([1, 1], tf.uint64), "numbers": numbers, "pairs": tf.data.Dataset.zip((numbers, numbers)),
        "rows": tf.experimental.RowPartition.from_row_lengths([1]), "in_graph": in_graph,
        "column": tf.feature_column.categorical_column_with_identity("a", 3),
        "quantized": tf.bitcast(tf.constant([1], tf.int8), tf.qint8),
        "pair": tf.lookup.KeyValueTensorInitializer([1], [0], tf.int64, tf.int64),
        "next_name": lambda: f"declared_{next(names)}", "list": list,
    }  # fmt: skip


def dtypes_of(value):
    """The dtypes and shapes of the tensors in a value, or what it is if it is none."""
    leaves = tf.nest.flatten(value, expand_composites=True)
    return [repr(x) if isinstance(x, np.dtype) else described(x) for x in leaves]


def described(x):
    return f"{tf.as_dtype(x.dtype)} {x.shape}" if hasattr(x, "shape") else repr(x)


@pytest.mark.parametrize("name", CALLS)
def test_every_spelling_of_a_dtype_is_the_dtype(name, values):
    calls = CALLS[name].split("\n")
    calls = {call.strip(): compile(call.strip(), "call", "eval") for call in calls if call.strip()}

    def check(call, code, spelling, dtype):
        assert dtypes_of(eval(code, Scope(values, D=dtype))) == expected[call], f"with {spelling}"

    expected = {call: dtypes_of(eval(code, Scope(values, D=tf.as_dtype(name)))) for call, code in calls.items()}
    check_cases(check, {
        f"{call}: {spelling}": (call, code, spelling, dtype)
        for call, code in calls.items() for spelling, dtype in spellings(name).items()
        if not (call.startswith(NUMPY_RULES) and spelling in ("an enum", "a Python type", "another name"))
    })


def declared_parameters():
    """The parameters of public functions and methods that take dtypes, by name; one name for each function."""
    found = {}
    for name in NAMES:
        value = resolve(name)
        if isinstance(value, type) and issubclass(value, np.generic):
            continue  # NumPy's own methods
        members = inspect.getmembers(value, callable) if inspect.isclass(value) else [("", value)]
        for member, function in members:
            if (member.startswith("_") and member != "__init__") or isinstance(function, enum.EnumType):
                continue  # Python's own signature of an enum depends on its version
            try:
                parameters = inspect.signature(function).parameters
            except (TypeError, ValueError):
                continue
            path = name if member in ("", "__init__") else f"{name}.{member}"
            home = getattr(function, "__module__", ""), getattr(function, "__qualname__", path)
            for parameter in filter(NAMED.fullmatch, parameters):
                found.setdefault((*home, parameter), []).append(f"{path}({parameter})")
    return found


def called_parameters():
    """The parameters that get D in a call: `zeros(dtype)`."""
    found = set()
    for calls in CALLS.values():
        for call in filter(None, map(str.strip, calls.split("\n"))):
            for node in ast.walk(ast.parse(call, mode="eval")):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                    path = ast.unparse(node.func)
                    named = {keyword.arg: keyword.value for keyword in node.keywords}
                    try:
                        order = list(inspect.signature(resolve(path)).parameters)
                    except Exception:
                        order = []
                    named |= dict(zip(order, node.args, strict=False))
                    found |= {f"{path}({parameter})" for parameter, value in named.items() if is_dtype(value)}
    return found


def is_dtype(node):
    """Whether an argument is D, or a nest of it."""
    parts = node.elts if isinstance(node, ast.List | ast.Tuple) else node.values if isinstance(node, ast.Dict) else ()
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Spec"):
        parts = node.args
    return (isinstance(node, ast.Name) and node.id == "D") or any(map(is_dtype, parts))


def test_every_parameter_that_takes_a_dtype_is_in_a_call():
    called = called_parameters()
    missing = [paths for paths in declared_parameters().values() if not called.intersection(paths)]
    assert not [paths[0] for paths in missing if not WITHOUT_CALL.keys() & paths]
    assert not [path for path in WITHOUT_CALL if path not in {path for paths in missing for path in paths}]
