"""Examples, records and other bytes: `tf.train.Example`, `tf.io.parse_example` and similar functions, TFRecord files.

An expression may use the names of `scope`.
"""

import gzip
import os
import tempfile
import zlib

import numpy as np


def scope(tf):
    """Returns the subjects of the expressions: some serialized examples, and short names."""
    made = {"tf": tf, "np": np, "gzip": gzip, "zlib": zlib, "io": tf.io}

    def ints(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def texts(*values):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))

    def floats(*values):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    def ex(**features):
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    def steps(*features):
        return tf.train.FeatureList(feature=list(features))

    def sequence(context, **lists):
        whole = tf.train.Features(feature=context)
        example = tf.train.SequenceExample(context=whole, feature_lists=tf.train.FeatureLists(feature_list=lists))
        return example.SerializeToString()

    e1 = ex(a=ints(1), b=texts(b"x", b"y"), c=floats(0.5, 1.5))
    e2 = ex(a=ints(2), b=texts(b"z"), c=floats(2.5, 3.5, 4.5, 5.5))
    made |= {
        "I": ints, "B": texts, "X": floats, "ex": ex, "R": tf.io.RaggedFeature, "C": tf.io.decode_csv,
        "P": tf.io.parse_example, "P1": tf.io.parse_single_example, "Q": tf.io.parse_sequence_example,
        "Q1": tf.io.parse_single_sequence_example, "e1": e1, "e2": e2, "S": [e1, e2],
        "sp": ex(i=ints(3, 1), v=floats(0.1, 0.2)), "sp2": ex(i=ints(0), v=floats(0.3)),
        "rg": ex(v=ints(1, 2, 3, 4), l=ints(1, 3), s=ints(0, 1, 4)),
        "rg2": ex(v=ints(5, 6), l=ints(2, 0), s=ints(0, 2, 2)),
        "q1": sequence(
            {"n": ints(1), "s": texts(b"p")}, w=steps(texts(b"a"), texts(b"b"), texts(b"c")),
            x=steps(floats(1, 2), floats(3, 4)), v=steps(ints(1, 2), ints(), ints(3)),
        ),
        "q2": sequence(
            {"n": ints(2), "s": texts(b"q", b"r")}, w=steps(texts(b"d")), x=steps(floats(5, 6)), v=steps(ints(7)),
        ),
        "SF": tf.io.SparseFeature("i", "v", tf.float32, 10),
        "RG": tf.io.RaggedFeature(tf.int64, "v", [tf.io.RaggedFeature.RowLengths("l")]),
        "SS": tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4]),
    }  # fmt: skip
    return made


def shown(value):
    """Returns tensors that are not dense as their components."""
    if isinstance(value, dict):
        return {key: shown(part) for key, part in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape]
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    return value


def case(expression):
    return lambda tf: shown(eval(expression, scope(tf)))


def _files(tf):
    """Files written and read in all possible ways."""
    folder, found = tempfile.mkdtemp(), []
    records = [b"one", b"two" * 100, b"", bytes(range(256)) * 40]
    for kind in (None, "", "GZIP", "ZLIB"):
        path = os.path.join(folder, f"records{kind}")
        with tf.io.TFRecordWriter(path, kind) as writer:
            for record in records:
                writer.write(record)
            writer.flush()
        read = tf.data.TFRecordDataset(path, kind).as_numpy_iterator()
        found.append([x == y for x, y in zip(read, records, strict=True)])
    with open(os.path.join(folder, "recordsNone"), "rb") as file:
        found.append(file.read().hex())
    return found


def _read(data, kind=None, **options):
    """Returns the records of a file with some bytes, twice."""

    def program(tf):
        path = os.path.join(tempfile.mkdtemp(), "records")
        with open(path, "wb") as file:
            file.write(data)
        return list(tf.data.TFRecordDataset([path, path], kind, **options).as_numpy_iterator())

    return program


def _fixed(size):
    def program(tf):
        path = os.path.join(tempfile.mkdtemp(), "records")
        tf.io.write_file(path, "HHabcdefghijFF")
        return list(tf.data.FixedLengthRecordDataset(path, size, 2, 2).as_numpy_iterator())

    return program


def _in_a_function(tf):
    names = scope(tf)
    asked = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.string)}
    parse = tf.function(lambda rows: tf.io.parse_example(rows, asked))
    return [shown(parse(tf.constant(rows))) for rows in (names["S"], names["S"][::-1], names["S"][:1])]


def _in_a_dataset(tf):
    rows = tf.data.Dataset.from_tensor_slices(scope(tf)["S"])
    asked = {"a": tf.io.FixedLenFeature([], tf.int64), "c": tf.io.VarLenFeature(tf.float32)}
    single = rows.map(lambda row: tf.io.parse_single_example(row, asked))
    whole = rows.batch(2).map(lambda row: tf.io.parse_example(row, asked))
    return [shown(found) for found in [*single, *whole]]


def _closed(tf):
    writer = tf.io.TFRecordWriter(os.path.join(tempfile.mkdtemp(), "records"))
    writer.close()
    writer.write(b"x")


_TWO = bytes.fromhex("0500000000000000eab2043e68656c6c6fbb1f1c190500000000000000eab2043e776f726c642d4e1fa5")
_TENSORS = {
    "int32": "tf.constant([[1, 2], [3, 4]])", "float32": "tf.constant(1.5)", "string": "tf.constant(['a', 'bb'])",
    "int64": "tf.constant([1, 2], tf.int64)", "bool": "tf.constant([True, False])", "scalar": "tf.constant('q')",
    "float16": "tf.constant([1.5], tf.float16)", "complex": "tf.constant([1 + 2j])", "empty": "tf.zeros([0, 3])",
    "bfloat16": "tf.constant([1.5], tf.bfloat16)", "uint8": "tf.constant([1, 200], tf.uint8)",
}  # fmt: skip
_EXPRESSIONS = [
    ("missing", 'P1(e1,{"q":io.FixedLenFeature([],tf.int64)})'),
    ("default", 'P1(e1,{"q":io.FixedLenFeature([],tf.int64,default_value=7)})'),
    ("default_vec", 'P(S,{"q":io.FixedLenFeature([2],tf.float32,default_value=[7,8])})'),
    ("default_scalar_for_vec", 'P(S,{"q":io.FixedLenFeature([2],tf.float32,default_value=7.)})'),
    ("default_str", 'P(S,{"q":io.FixedLenFeature([],tf.string,default_value="u")})'),
    ("default_bad", 'P(S,{"q":io.FixedLenFeature([],tf.int64,default_value="u")})'),
    ("wrong_dtype", 'P1(e1,{"a":io.FixedLenFeature([],tf.float32)})'),
    ("wrong_dtype_b", 'P(S,{"a":io.FixedLenFeature([],tf.string)})'),
    ("wrong_n", 'P1(e1,{"c":io.FixedLenFeature([],tf.float32)})'),
    ("wrong_n_b", 'P(S,{"c":io.FixedLenFeature([2],tf.float32)})'),
    ("int32", 'P1(e1,{"a":io.FixedLenFeature([],tf.int32)})'),
    ("bool", 'P1(e1,{"a":io.FixedLenFeature([],tf.bool)})'),
    ("none_shape", 'P1(e1,{"a":io.FixedLenFeature([None],tf.int64)})'),
    ("none_shape_2", 'P(S,{"c":io.FixedLenFeature([None],tf.float32)})'),
    ("none_shape_3", 'P1(e1,{"a":io.FixedLenFeature(None,tf.int64)})'),
    (
        "varlen",
        'P(S,{"b":io.VarLenFeature(tf.string),"c":io.VarLenFeature(tf.float32),"q":io.VarLenFeature(tf.int64)})',
    ),
    ("varlen1", 'P1(e1,{"b":io.VarLenFeature(tf.string),"q":io.VarLenFeature(tf.int64)})'),
    ("varlen_wrong", 'P1(e1,{"b":io.VarLenFeature(tf.int64)})'),
    ("seq", 'P(S,{"c":io.FixedLenSequenceFeature([],tf.float32,allow_missing=True)})'),
    ("seq2", 'P(S,{"c":io.FixedLenSequenceFeature([2],tf.float32,allow_missing=True,default_value=9.)})'),
    ("seq1", 'P1(e2,{"c":io.FixedLenSequenceFeature([2],tf.float32,allow_missing=True)})'),
    ("seq1_missing", 'P1(e2,{"q":io.FixedLenSequenceFeature([2],tf.float32,allow_missing=True)})'),
    ("seq_missing", 'P(S,{"q":io.FixedLenSequenceFeature([],tf.string,allow_missing=True)})'),
    ("seq_not_multiple", 'P([ex(c=X(1,2,3))],{"c":io.FixedLenSequenceFeature([2],tf.float32,allow_missing=True)})'),
    ("seq_no_allow", 'P(S,{"c":io.FixedLenSequenceFeature([],tf.float32)})'),
    ("bad_bytes", 'P1(b"xxxx",{"a":io.FixedLenFeature([],tf.int64)})'),
    ("bad_bytes_b", 'P([b"xxxx"],{"a":io.FixedLenFeature([],tf.int64)})'),
    ("empty_features", "P1(e1,{})"),
    ("none_features", "P1(e1,None)"),
    ("rank", 'P([S],{"a":io.FixedLenFeature([],tf.int64)})'),
    ("scalar", 'P(e1,{"a":io.FixedLenFeature([],tf.int64),"b":io.VarLenFeature(tf.string)})'),
    ("single_rank", 'P1(S,{"a":io.FixedLenFeature([],tf.int64)})'),
    (
        "empty_batch",
        'P(tf.constant([],tf.string),{"a":io.FixedLenFeature([2],tf.int64),"b":io.VarLenFeature(tf.string),"c":io.FixedLenSequenceFeature([],tf.float32,allow_missing=True)})',
    ),
    ("not_feature", 'P1(e1,{"a":tf.int64})'),
    ("names", 'P(S,{"q":io.FixedLenFeature([],tf.int64)},example_names=["n1","n2"])'),
    ("sparse", 'P([sp,sp2],{"s":io.SparseFeature("i","v",tf.float32,10)})'),
    ("sparse_sorted", 'P([sp,sp2],{"s":io.SparseFeature("i","v",tf.float32,10,already_sorted=True)})'),
    ("sparse_list", 'P([sp,sp2],{"s":io.SparseFeature(["i"],"v",tf.float32,[10])})'),
    ("sparse_2", 'P([ex(i=I(3,1),j=I(0,2),v=X(.1,.2))],{"s":io.SparseFeature(["i","j"],"v",tf.float32,[10,4])})'),
    ("sparse1", 'P1(sp,{"s":io.SparseFeature("i","v",tf.float32,10)})'),
    ("sparse1_2", 'P1(ex(i=I(3,1),j=I(0,2),v=X(.1,.2)),{"s":io.SparseFeature(["i","j"],"v",tf.float32,[10,4])})'),
    ("sparse_out", 'P([ex(i=I(30),v=X(.1))],{"s":io.SparseFeature("i","v",tf.float32,10)})'),
    ("ragged", 'P(S,{"c":R(tf.float32)})'),
    ("ragged1", 'P1(e1,{"c":R(tf.float32)})'),
    ("ragged_key", 'P(S,{"z":R(tf.float32,value_key="c",row_splits_dtype=tf.int64)})'),
    ("ragged_missing", 'P(S,{"q":R(tf.int64)})'),
    ("ragged_len", 'P([rg,rg2],{"z":R(tf.int64,value_key="v",partitions=[R.RowLengths("l")])})'),
    ("ragged_splits", 'P([rg,rg2],{"z":R(tf.int64,value_key="v",partitions=[R.RowSplits("s")])})'),
    ("ragged_splits1", 'P1(rg,{"z":R(tf.int64,value_key="v",partitions=[R.RowSplits("s")])})'),
    ("ragged_uniform", 'P([rg,rg2],{"z":R(tf.int64,value_key="v",partitions=[R.UniformRowLength(2)])})'),
    ("ragged_uniform1", 'P1(rg,{"z":R(tf.int64,value_key="v",partitions=[R.UniformRowLength(2)])})'),
    (
        "ragged_uniform_of_splits",
        'P([rg,rg2],{"z":R(tf.int64,value_key="v",partitions=[R.UniformRowLength(2),R.RowSplits("s")])})',
    ),
    # A key in several features, and incomplete ones
    ("two_value_var", 'P([sp],{"s":SF,"v":io.VarLenFeature(tf.float32)})'),
    ("two_value_fixed", 'P([sp],{"s":SF,"v":io.FixedLenFeature([2],tf.float32)})'),
    ("two_index_var", 'P([sp],{"s":SF,"i":io.VarLenFeature(tf.int64)})'),
    ("two_index_var_dtype", 'P([sp],{"s":SF,"i":io.VarLenFeature(tf.string)})'),
    ("two_index_fixed", 'P([sp],{"s":SF,"i":io.FixedLenFeature([2],tf.int64)})'),
    ("two_index_fixed1", 'P1(sp,{"s":SF,"i":io.FixedLenFeature([2],tf.int64)})'),
    ("two_value_rows", 'P([sp],{"s":SF,"v":io.FixedLenSequenceFeature([],tf.float32,True)})'),
    ("two_value_ragged", 'P([sp],{"s":SF,"v":R(tf.float32)})'),
    ("two_value_ragged_dtype", 'P([sp],{"s":SF,"v":R(tf.int64)})'),
    ("two_index_ragged", 'P([sp],{"s":SF,"i":R(tf.int64)})'),
    ("two_sparse_sparse", 'P([sp],{"s":SF,"t":SF})'),
    ("two_sparse_sparse_dtype", 'P([sp],{"s":SF,"t":io.SparseFeature("i","v",tf.int64,10)})'),
    ("two_index_is_value", 'P([ex(v=I(1,2))],{"s":io.SparseFeature("v","v",tf.int64,10)})'),
    ("two_index_is_value_dtype", 'P([sp],{"s":io.SparseFeature("v","v",tf.float32,10)})'),
    ("two_ragged_var", 'P(S,{"r":R(tf.float32,value_key="c"),"c":io.VarLenFeature(tf.float32)})'),
    ("two_ragged_fixed", 'P(S,{"r":R(tf.int64,value_key="a"),"a":io.FixedLenFeature([],tf.int64)})'),
    ("two_ragged_fixed1", 'P1(e1,{"r":R(tf.int64,value_key="a"),"a":io.FixedLenFeature([],tf.int64)})'),
    ("two_ragged_rows", 'P(S,{"r":R(tf.float32,value_key="c"),"c":io.FixedLenSequenceFeature([],tf.float32,True)})'),
    ("two_ragged_ragged", 'P(S,{"r":R(tf.float32,value_key="c"),"c":R(tf.float32)})'),
    ("two_ragged_ragged_dtype", 'P(S,{"r":R(tf.int64,value_key="c"),"c":R(tf.float32)})'),
    ("two_ragged_ragged_splits", 'P(S,{"r":R(tf.float32,value_key="c",row_splits_dtype=tf.int64),"c":R(tf.float32)})'),
    ("two_partition_ragged", 'P([rg],{"z":RG,"l":R(tf.int64)})'),
    ("two_partition_ragged_splits", 'P([rg],{"z":RG,"l":R(tf.int64,row_splits_dtype=tf.int64)})'),
    ("two_partition_var", 'P([rg],{"z":RG,"l":io.VarLenFeature(tf.int64)})'),
    ("two_partition_fixed", 'P([rg],{"z":RG,"l":io.FixedLenFeature([2],tf.int64)})'),
    ("two_partition_is_value", 'P([rg],{"z":R(tf.int64,value_key="l",partitions=[R.RowLengths("l")])})'),
    ("two_partition_twice", 'P([rg],{"z":R(tf.int64,"v",partitions=[R.RowLengths("l"),R.RowLengths("l")])})'),
    ("two_var_fixed_context", 'Q1(q1,{"n":io.FixedLenFeature([],tf.int64),"m":R(tf.int64,value_key="n")},None)'),
    ("two_both", 'Q1(q1,{"w":io.VarLenFeature(tf.string)},{"w":io.FixedLenSequenceFeature([],tf.string)})'),
    ("two_steps_ragged", 'Q1(q1,None,{"w":io.FixedLenSequenceFeature([],tf.string),"u":R(tf.string,value_key="w")})'),
    ("two_steps_var", 'Q1(q1,None,{"v":io.VarLenFeature(tf.int64),"u":R(tf.int64,value_key="v")})'),
    ("two_steps_batch", 'Q([q1],None,{"v":io.VarLenFeature(tf.int64),"u":R(tf.int64,value_key="v")})'),
    ("two_context_sparse", 'Q([q1],{"t":io.SparseFeature("n","n",tf.int64,9)},None)'),
    ("two_no_dtype", 'P(S,{"a":io.FixedLenFeature([],None)})'),
    ("two_var_no_dtype", 'P(S,{"a":io.VarLenFeature(None)})'),
    ("two_sparse_no_index", 'P(S,{"a":io.SparseFeature(None,"v",tf.float32,10)})'),
    ("two_sparse_no_value", 'P(S,{"a":io.SparseFeature("i",None,tf.float32,10)})'),
    ("two_sparse_no_size", 'P(S,{"a":io.SparseFeature("i","v",tf.float32,None)})'),
    ("two_sparse_no_dtype", 'P(S,{"a":io.SparseFeature("i","v",None,10)})'),
    ("two_sparse_sizes", 'P([sp],{"a":io.SparseFeature(["i"],"v",tf.float32,[10,4])})'),
    ("two_rows_no_dtype", 'P(S,{"a":io.FixedLenSequenceFeature([],None,True)})'),
    ("two_ragged_splits_float", 'P(S,{"c":R(tf.float32,row_splits_dtype=tf.float32)})'),
    ("two_ragged_partition_type", 'P(S,{"c":R(tf.float32,partitions=["x"])})'),
    ("two_ragged_partitions_type", 'P(S,{"c":R(tf.float32,partitions=R.RowLengths("l"))})'),
    ("two_not_dict", 'P(S,["a"])'),
    ("sequence_default", 'P(S,{"c":io.FixedLenSequenceFeature([1],tf.float32,allow_missing=True,default_value=[])})'),
    (
        "q1",
        'Q1(q1,{"n":io.FixedLenFeature([],tf.int64),"s":io.VarLenFeature(tf.string)},{"w":io.FixedLenSequenceFeature([],tf.string),"x":io.FixedLenSequenceFeature([2],tf.float32),"v":io.VarLenFeature(tf.int64)})',
    ),
    ("q1_missing", 'Q1(q1,{},{"zz":io.FixedLenSequenceFeature([],tf.string)})'),
    ("q1_missing_allowed", 'Q1(q1,{},{"zz":io.FixedLenSequenceFeature([3],tf.string,allow_missing=True)})'),
    ("q1_ctx_missing", 'Q1(q1,{"zz":io.FixedLenFeature([],tf.int64)},{})'),
    ("q1_wrong", 'Q1(q1,None,{"w":io.FixedLenSequenceFeature([],tf.int64)})'),
    ("q1_shape", 'Q1(q1,None,{"x":io.FixedLenSequenceFeature([],tf.float32)})'),
    ("q1_fixed_in_seq", 'Q1(q1,None,{"x":io.FixedLenFeature([],tf.float32)})'),
    ("q1_none", "Q1(q1)"),
    ("q1_varlen_missing", 'Q1(q1,None,{"zz":io.VarLenFeature(tf.int64)})'),
    (
        "q",
        'Q([q1,q2],{"n":io.FixedLenFeature([],tf.int64),"s":io.VarLenFeature(tf.string)},{"w":io.FixedLenSequenceFeature([],tf.string),"x":io.FixedLenSequenceFeature([2],tf.float32),"v":io.VarLenFeature(tf.int64)})',
    ),
    ("q_ragged", 'Q([q1,q2],{"s":R(tf.string)},{"v":R(tf.int64),"w":R(tf.string)})'),
    ("q1_ragged", 'Q1(q1,{"s":R(tf.string)},{"v":R(tf.int64)})'),
    ("q_missing", 'Q([q1,q2],None,{"zz":io.FixedLenSequenceFeature([],tf.string)})'),
    ("q_missing_ok", 'Q([q1,q2],None,{"zz":io.FixedLenSequenceFeature([],tf.string,allow_missing=True)})'),
    ("csv", 'C(["1,2.5,a","3,,b"],[0,1.5,"x"])'),
    ("csv_quote", 'C([\'1,"a,""b""",c\'],[0,"",""])'),
    ("csv_scalar", 'C("1,2",[0,0])'),
    ("csv_req", 'C(["1,"],[[0],tf.constant([],tf.float32)])'),
    ("csv_delim", 'C(["1|NA"],[0,5],field_delim="|",na_value="NA")'),
    ("csv_sel", 'C(["1,2,3"],[0,0],select_cols=[0,2])'),
    ("csv_count", 'C(["1,2,3"],[0,0])'),
    ("csv_bad", 'C(["x"],[0])'),
    ("csv_noquote", 'C([\'"a,b\'],["",""],use_quote_delim=False)'),
    ("csv_badquote", 'C([\'"a,b\'],["",""])'),
    ("csv_i64", 'C(["99999999999"],[tf.constant(0,tf.int64)])'),
    ("csv_i32_over", 'C(["99999999999"],[0])'),
    ("csv_2d", 'C([["1"],["2"]],[0])'),
    ("csv_f64", 'C(["1e3"],[tf.constant(0,tf.float64)])'),
    ("csv_sp", 'C([" 1 , 2"],[0,0])'),
    (
        "json",
        'P1(io.decode_json_example(\'{"features":{"feature":{"a":{"int64List":{"value":["12",3]}},"b":{"bytesList":{"value":["aGk="]}},"c":{"floatList":{"value":[1.5]}}}}}\'),{"a":io.FixedLenFeature([2],tf.int64),"b":io.VarLenFeature(tf.string),"c":io.VarLenFeature(tf.float32)})',
    ),
    ("json_bad", 'io.decode_json_example("{x")'),
    ("dc", 'io.decode_compressed([zlib.compress(b"hi")],"ZLIB")'),
    ("dc_2", 'io.decode_compressed([gzip.compress(b"hi")],"GZIP")'),
    ("dc_3", 'io.decode_compressed([b"hi"])'),
    ("dc_bad", 'io.decode_compressed([b"hi"],"ZLIB")'),
    ("dc_bad2", 'io.decode_compressed([b"hi"],"FOO")'),
    ("ssp", "io.serialize_sparse(SS)"),
    ("dms", "io.deserialize_many_sparse(tf.stack([io.serialize_sparse(SS),io.serialize_sparse(SS)]),tf.float32)"),
    ("sms", "io.serialize_many_sparse(SS)"),
    ("dms2", "io.deserialize_many_sparse(io.serialize_many_sparse(SS),tf.float32)"),
]

CASES = [
    *((name, case(expression)) for name, expression in _EXPRESSIONS),
    *((f"tensor.{name}", case(f"io.serialize_tensor({x}).numpy().hex()")) for name, x in _TENSORS.items()),
    *(
        (f"tensor.{name}.again", case(f"io.parse_tensor(io.serialize_tensor({x}), ({x}).dtype)"))
        for name, x in _TENSORS.items()
    ),
    ("tensor.other_dtype", case("io.parse_tensor(io.serialize_tensor([1]), tf.float32)")),
    ("tensor.no_tensor", case("io.parse_tensor(b'zzz', tf.float32)")),
    ("tensor.vector", case("io.parse_tensor([b'zzz'], tf.float32)")),
    ("in_a_function", _in_a_function),
    ("in_a_dataset", _in_a_dataset),
    ("files", _files),
    ("files.two", _read(_TWO)),
    ("files.in_turn", _read(_TWO, num_parallel_reads=2)),
    ("files.cut", _read(_TWO[:-3])),
    ("files.corrupted", _read(_TWO[:13] + b"X" + _TWO[14:])),
    ("files.corrupted_length", _read(_TWO[:8] + b"X" + _TWO[9:])),
    ("files.text", _read(b"0123456789abcdef0123456789")),
    ("files.not_zipped", _read(_TWO, "GZIP")),
    ("files.missing", case("list(tf.data.TFRecordDataset('/none'))")),
    ("files.kind", case("io.TFRecordOptions('FOO')")),
    ("files.kind_of_writer", case("io.TFRecordWriter('/tmp/x', 'FOO')")),
    ("files.kinds", case("[io.TFRecordOptions.get_compression_type_string(x) for x in ('GZIP', None, '')]")),
    ("files.closed", _closed),
    ("files.spec", case("str(tf.data.TFRecordDataset('/none').element_spec)")),
    ("fixed_records", _fixed(5)),
    ("fixed_records.odd", _fixed(4)),
    ("text.floats", case("str(X(3.14159265, 0.1, 1e10, 1234567.8, -0.0, 1e-5, 1e-45, 3.4e38, np.nan, -np.inf, 1))")),
    ("text.bytes", case("str(B(bytes(range(256)), b''))")),
    ("text.sequence", case("str(tf.train.SequenceExample.FromString(ex(n=I(1, -2))))")),
    ("text.empty", case("[str(tf.train.Example()), str(I())]")),
]
