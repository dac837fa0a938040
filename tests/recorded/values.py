"""Tensors, shapes, dtypes, specs, slices, nested structures and tensor arrays as Python objects."""

TENSORS = {
    "string": "tf.constant('a')",
    "strings": "tf.constant(['a', 'bc'])",
    "utf8": "tf.constant(['é'])",
    "empty_string": "tf.constant('')",
    "bool": "tf.constant(True)",
    "bools": "tf.constant([True, False])",
    "complex": "tf.constant(1+2j)",
    "complexes": "tf.constant([1+2j])",
    "bfloat16": "tf.constant(1.5, tf.bfloat16)",
    "bfloat16s": "tf.constant([1.5, 2], tf.bfloat16)",
    "float16": "tf.constant(1.5, tf.float16)",
    "small": "tf.constant(1e-10)",
    "tenth": "tf.constant(0.1)",
    "large": "tf.constant(1e8)",
    "nan": "tf.constant(float('nan'))",
    "float64": "tf.constant(3.0, tf.float64)",
    "int": "tf.constant(5)",
    "uint8s": "tf.constant([4], tf.uint8)",
    "none": "tf.constant([])",
    "none_2d": "tf.zeros([0, 2])",
    "matrix": "tf.constant([[1, 2], [3, 4]])",
    "long": "tf.range(2000)",
    "float8s": "tf.cast([1.0, 2.0], tf.dtypes.experimental.float8_e5m2)",
}
PRINTED = {
    f"{kind}_{name}": f"{call}({source})"
    for name, source in TENSORS.items()
    for kind, call in (("repr", "repr"), ("str", "str"), ("format", "'{}'.format"))
}
PYTHON = {
    "format_spec": "f'{tf.constant(1.5):.3f}'",
    "format_spec_vector": "f'{tf.constant([1.5, 2.0]):.2f}'",
    "percent_s": "'%s' % tf.constant(1.0)",
    "percent_d": "'%d' % tf.constant(1)",
    "int": "int(tf.constant(1.7))",
    "int_vector": "int(tf.constant([1]))",
    "float_vector": "float(tf.constant([1.0]))",
    "int_of_string": "int(tf.constant('5'))",
    "bool_none": "bool(tf.constant([]))",
    "bool_one": "bool(tf.constant([[1]]))",
    "bool_many": "bool(tf.constant([1, 1]))",
    "bool_string": "bool(tf.constant('a'))",
    "bool_empty_string": "bool(tf.constant(''))",
    "index": "[1, 2, 3][tf.constant(1)]",
    "index_vector": "[1, 2, 3][tf.constant([1])]",
    "range": "list(range(tf.constant(3)))",
    "list": "list(tf.constant([1, 2]))",
    "list_scalar": "list(tf.constant(1))",
    "len": "len(tf.constant([1, 2]))",
    "len_scalar": "len(tf.constant(1))",
    "hash": "hash(tf.constant(1))",
    "name": "tf.constant(1).name",
    "graph": "tf.constant(1).graph",
    "op": "tf.constant(1).op",
    "value_index": "tf.constant(1).value_index",
    "consumers": "tf.constant(1).consumers()",
    "eval": "tf.constant(1).eval()",
    "device": "tf.constant(1).device",
    "backing_device": "tf.constant(1).backing_device",
    "is_packed": "tf.constant(1).is_packed",
    "gpu": "tf.constant(1).gpu()",
    "cpu": "tf.constant(1).cpu()",
    "T": "tf.constant(1).T",
    "reshape": "tf.constant(1).reshape",
    "foo": "tf.constant(1).foo",
    "ref": "repr(tf.constant(1).ref())",
    "ref_equal": "tf.constant(1).ref() == tf.constant(1).ref()",
    "ref_equal_other": "tf.constant(1).ref() == 'a'",
    "set_shape": "tf.constant([1, 2]).set_shape([3])",
    "set_shape_none": "tf.constant([1, 2]).set_shape([None])",
    "get_shape": "tf.constant([1, 2]).get_shape()",
    "ndim": "tf.constant([[1, 2]]).ndim",
    "deepcopy": "__import__('copy').deepcopy(tf.constant([1]))",
    "pickle": "(lambda p: p.loads(p.dumps(tf.constant([1]))))(__import__('pickle'))",
    "array": "tf.constant([1.0]).__array__()",
    "array_dtype": "tf.constant([1.0]).__array__('float64')",
    "asarray_writeable": "np.asarray(tf.constant([1.0])).flags.writeable",
    "numpy_writeable": "tf.constant([1.0]).numpy().flags.writeable",
    "dlpack": "np.from_dlpack(tf.constant([1.0]))",
    "equal_none": "tf.constant([1, 2]) == None",
    "not_equal_none": "tf.constant([1, 2]) != None",
    "equal_other_shape": "tf.constant([1, 2]) == [1, 2, 3]",
    "equal_mixed": "tf.constant(1) == tf.constant(1.0)",
    "in_list": "tf.constant([1.0, 2.0]) in [tf.constant([1.0, 3.0])]",
    "contains": "1.0 in tf.constant([1.0, 2.0])",
    "set_item": "exec('t[0] = 3.0', {'t': tf.constant([1.0])})",
    "sum": "sum(tf.constant([1, 3]))",
    "max": "max(tf.constant([1, 3]))",
    "numpy_float": "np.float64(2.0) * tf.constant(3.0)",
    "numpy_array": "np.array([2.0]) * tf.constant(3.0)",
    "variable_is_tensor": "isinstance(tf.Variable(1.0), tf.Tensor)",
    "tf_tensor": "tf.constant([1.0]).__tf_tensor__(tf.float64)",
}

_NAMES = (
    "float16 float32 float64 bfloat16 complex64 complex128 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool "
    "string qint8 quint8 qint16 quint16 qint32"
).split()
_EXPERIMENTAL = (
    "float4_e2m1fn float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz int2 int4 uint2 uint4"
).split()
_FLAGS = (
    "as_datatype_enum is_bool is_complex is_floating is_integer is_numeric is_numpy_compatible is_quantized "
    "is_unsigned name size"
).split()
DTYPES = {}
for path in [*(f"tf.{n}" for n in _NAMES), *(f"tf.dtypes.experimental.{n}" for n in _EXPERIMENTAL)]:
    short = path.rpartition(".")[2]
    DTYPES[f"{short}_flags"] = f"[getattr({path}, name) for name in {_FLAGS}]"
    DTYPES[f"{short}_text"] = f"[repr({path}), str({path}), repr({path}.real_dtype), repr({path}.base_dtype)]"
    for limit in ("min", "max", "limits"):
        DTYPES[f"{short}_{limit}"] = f"{path}.{limit}"
    DTYPES[f"{short}_numpy"] = f"str({path}.as_numpy_dtype)"
DTYPES |= {
    f"as_dtype_{i}": f"repr(tf.as_dtype({source}))"
    for i, source in enumerate(
        "'bogus' None 1 float int bool str object complex np.dtype('float64') '<f4' 'f8' 'float' 'double' 'half' 'int' "
        "np.array(1.0) 'S3' np.str_ bytes tf.constant(1.0) np.float16".split()
    )
}
DTYPES |= {
    "enum": "repr(tf.DType(1))",
    "enum_unknown": "tf.DType(999)",
    "int": "int(tf.float32)",
    "hash": "hash(tf.float32)",
    "equal_text": "tf.float32 == 'float32'",
    "equal_numpy": "tf.float32 == np.float32",
    "equal_none": "tf.float32 == None",
    "equal_bogus": "tf.float32 == 'bogus'",
    "equal_enum": "tf.float32 == 1",
    "compatible": "tf.float32.is_compatible_with('float32')",
    "subtype": "tf.float32.is_subtype_of(tf.float64)",
    "supertype": "repr(tf.float32.most_specific_common_supertype([tf.float32]))",
    "supertype_none": "tf.float32.most_specific_common_supertype([tf.float64])",
    "less": "tf.float32 < tf.float64",
    "deepcopy": "__import__('copy').deepcopy(tf.float32) is tf.float32",
    "half": "tf.half is tf.float16",
    "double": "tf.double is tf.float64",
}

SHAPES = {
    f"made_{i:02d}": f"[repr(tf.TensorShape({source})), str(tf.TensorShape({source}))]"
    for i, source in enumerate(
        "[1, None]; None; []; 3; 'ab'; [1.5]; [-1]; tf.constant([1, 2]); np.array([1, 2]); [tf.constant(1)]".split("; ")
    )
}
for i, source in enumerate(
    """([1, 2]) == [1, 2]
([1, 2]) == (1, 2)
([1, None]) == [1, None]
(None) == None
([1]) == None
(None) == tf.TensorShape(None)
([1, 2]) != [1, 3]
([1, 2]) == 'ab'
([3]) == 3
([1, 2, 3])[1:]
([1, 2, 3])[-1]
([1, 2, 3])[5]
(None)[0]
(None)[1:]
(None)[1:3]
(None)[:3]
([2, 3])[::-1]
([1]) + [2]
([1]) + 2
([1]) + tf.TensorShape(None)
(None).dims
(None).as_list()
([1, None]).as_list()
([2, 3]).num_elements()
([]).num_elements()
([None]).num_elements()
(None).num_elements()
([2, None]).merge_with([None, 3])
([2]).merge_with([3])
([2]).concatenate(None)
([2]).concatenate([3])
([2]).is_compatible_with([None])
([2]).is_compatible_with(None)
([2]).is_compatible_with([3])
([2, 3]).most_specific_compatible_shape([2, 4])
([2, 3]).most_specific_compatible_shape([2])
([2]).is_subtype_of(tf.TensorShape([None]))
([None]).is_subtype_of(tf.TensorShape([2]))
([2]).is_subtype_of([None])
([2]).most_specific_common_supertype([tf.TensorShape([3])])
([2]).most_specific_common_supertype([tf.TensorShape([3, 3])])
([2]).most_specific_common_supertype([tf.float32])
([2]).with_rank(2)
(None).with_rank(2)
([2]).with_rank_at_least(2)
([2, 2]).with_rank_at_most(1)
([2]).assert_has_rank(2)
([2]).assert_same_rank([2, 2])
([None]).assert_is_fully_defined()
([2]).assert_is_compatible_with([3])
([1, 2]).rank
(None).rank
([2, 3]).ndims
([2, None]).is_fully_defined()
()""".splitlines()
):
    SHAPES[f"{i:02d}_{source}"] = f"repr(tf.TensorShape{source})"
SHAPES |= {
    "len": "len(tf.TensorShape([1, 2]))",
    "len_unknown": "len(tf.TensorShape(None))",
    "list_unknown": "list(tf.TensorShape(None))",
    "bool_unknown": "bool(tf.TensorShape(None))",
    "bool_scalar": "bool(tf.TensorShape([]))",
    "contains": "2 in tf.TensorShape([2])",
    "radd": "repr([2] + tf.TensorShape([1]))",
    "radd_tuple": "repr((2,) + tf.TensorShape([1]))",
    "hash": "hash(tf.TensorShape([1, 2])) == hash((1, 2))",
    "in_numpy": "np.zeros(tf.TensorShape([1, 2]))",
}

SPECS = {
    f"{i:02d}_{source}": f"repr(tf.TensorSpec{source})"
    for i, source in enumerate(
        """([1, None])
(None)
([2], tf.int32, 'n')
([2], 'float64')
(2)
()
('a')
([2], dtype=None)
([2]).name
([2]) == tf.TensorSpec([2])
([2]) == tf.TensorSpec([2], name='a')
([2]) == 'a'
.from_tensor(tf.constant([1.0, 2.0]))
.from_tensor(tf.constant([1.0, 2.0]), name='q')
.from_tensor(tf.Variable([1.0]))
.from_tensor([1.0])
.from_spec(tf.TensorSpec([2]), 'b')
.from_spec(3)
([None]).is_compatible_with(tf.constant([1.0]))
([None]).is_compatible_with([1.0])
([None]).is_compatible_with(tf.TensorSpec([3]))
([None]).is_compatible_with(tf.constant([1]))
([2]).is_subtype_of(tf.TensorSpec([None]))
([None]).is_subtype_of(tf.TensorSpec([2]))
([2]).is_subtype_of(tf.TensorSpec([2], tf.int32))
([2], name='a').is_subtype_of(tf.TensorSpec([2]))
([2]).is_subtype_of(tf.TensorSpec([2], name='a'))
([2]).is_subtype_of(3)
([2]).most_specific_common_supertype([tf.TensorSpec([3])])
([2]).most_specific_common_supertype([tf.TensorSpec([3], tf.int32)])
([2], name='a').most_specific_common_supertype([tf.TensorSpec([3], name='b')])
([2]).most_specific_common_supertype([])
([2]).most_specific_compatible_type(tf.TensorSpec([3]))
([2]).most_specific_compatible_type(tf.TensorSpec([3], tf.int32))
([2]).flatten()
([2]).to_tensors([1.0, 2.0])
([2]).shape""".splitlines()
    )
}
SPECS |= {
    "of_number": "repr(tf.type_spec_from_value(3.0))",
    "of_array": "repr(tf.type_spec_from_value(np.ones(2)))",
    "of_tensor": "repr(tf.type_spec_from_value(tf.constant([1.0])))",
    "of_slices": "repr(tf.type_spec_from_value(tf.IndexedSlices(tf.ones([2]), tf.constant([0, 0]), tf.constant([3]))))",
    "slices": "repr(tf.IndexedSlicesSpec(shape=[None, 2]))",
}

SLICES = "tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]), tf.constant([3, 1]))"
SHAPELESS = "tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]))"
INDEXED = {
    "str": f"str({SLICES})",
    "str_shapeless": f"str({SHAPELESS})",
    "shape": f"str({SLICES}.shape)",
    "shape_shapeless": f"str({SHAPELESS}.shape)",
    "dtype": f"repr({SLICES}.dtype)",
    "device": f"{SLICES}.device",
    "name": f"{SLICES}.name",
    "op": f"{SLICES}.op",
    "graph": f"{SLICES}.graph",
    "consumers": f"{SLICES}.consumers()",
    "neg": f"-{SLICES}",
    "mul": f"{SLICES} * 2.0",
    "rmul": f"2.0 * {SLICES}",
    "add": f"{SLICES} + {SLICES}",
    "dense": f"tf.convert_to_tensor({SLICES})",
    "dense_shapeless": f"tf.convert_to_tensor({SHAPELESS})",
    "dense_float64": f"tf.convert_to_tensor({SLICES}, tf.float64)",
    "sum": f"tf.reduce_sum({SLICES})",
    "flatten": f"len(tf.nest.flatten({SLICES}))",
    "expanded": f"tf.nest.flatten({SLICES}, expand_composites=True)",
    "expanded_shapeless": f"tf.nest.flatten({SHAPELESS}, expand_composites=True)",
    "mapped": f"tf.nest.map_structure(lambda x: x + x, {SLICES}, expand_composites=True)",
    "numpy": f"{SLICES}.numpy()",
    "len": f"len({SLICES})",
    "is_tensor": f"tf.is_tensor({SLICES})",
}



def _listed(text):
    return [item.strip() for line in text.splitlines() for item in line.split("; ")]


_C = "__import__('collections')"
_P = f"{_C}.namedtuple('P', 'x y')"
NEST = {
    f"is_nested_{i:02d}": f"tf.nest.is_nested({source})"
    for i, source in enumerate(
        _listed(f"""{_P}(1, 2); {{}}; []; (); 'a'; {{1, 2}}; None; {{1: 2}}.values(); {{1: 2}}.keys(); {{1: 2}}.items()
        b'a'
        np.ones(2); tf.TensorShape([1]); {_C}.deque([1]); range(3); iter([]); {_C}.Counter('ab'); tf.constant([1])""")
    )
}
NEST |= {
    f"flatten_{i:02d}": f"tf.nest.flatten({source})"
    for i, source in enumerate(
        _listed(f"""range(3); {_C}.deque([1, 2]); None; []; [[], ()]; {{'b': 1, 'a': 2}}; {{2: 1, 1: 2}}
        {{1: 1, 'a': 2}}
        {_C}.OrderedDict([('b', 1), ('a', 2)]); {{'b': 1}}.values(); {_P}(1, [2]); 'abc'
        {_C}.defaultdict(list, {{'a': 1}}); [1, (2, {{'a': [3]}})]""")
    )
}
NEST |= {
    f"pack_{i:02d}": f"str(tf.nest.pack_sequence_as({source}))"
    for i, source in enumerate(
        _listed(f"""[1, (2, 3)], [4, 5, 6]; 1, [4]; 1, [4, 5]; [1], [4, 5]; [1, 2], [4]; [1], 4; {_P}(1, 2), [4, 5]
        {{'b': 1, 'a': 2}}, [4, 5]; [], []; [], [1]; 'ab', [1]
        [1], (4,)
        {_C}.defaultdict(list, {{'a': 1}}), [4]; {{'b': 1}}.values(), [4]; [1], np.array([4]); {_C}.deque([1]), [4]""")
    )
}
NEST |= {
    f"map_{i:02d}": f"tf.nest.map_structure({source})"
    for i, source in enumerate(
        _listed(f"""lambda x: x + 1, [1, {{'a': 2}}]; lambda x, y: x + y, [1], [2, 3]; lambda x, y: x + y, [1], (2,)
        lambda x, y: x + y, [1], (2,), check_types=False; lambda x: x; 3, [1]; lambda x: x, [1], foo=3; lambda x: x, []
        lambda x: x, {{}}; lambda x, y: x + y, {{'a': 1}}, {{'b': 1}}
        lambda x, y: x + y, {{'a': 1}}, {{'a': {{'b': 1}}}}
        lambda x, y: x + y, {{'a': 1}}, {_C}.OrderedDict(a=1); lambda x, y: x + y, {_P}(1, 2), (1, 2); lambda x: x, None
        lambda x, y: x + y, 1, 2; lambda x, y: (x, y), 1, [2]; lambda x, y: (x, y), [1], 2""")
    )
}
NEST |= {
    f"same_{i:02d}": f"tf.nest.assert_same_structure({source})"
    for i, source in enumerate(
        _listed(f"""[1], [2]; [1], [2, 3]; [1], (2,); [1], (2,), check_types=False; 1, [2]; {{'a': 1}}, {{'b': 1}}
        [1, [2]], [1, 2]
        {_P}(1, 2), {_P}(3, 4); {_P}(1, 2), {_C}.namedtuple('Q', 'x y')(1, 2); 'a', 1; {{'a': 1}}, [1]
        {{'a': 1}}, [1], check_types=False; {{'a': 1, 'b': 2}}, {{'a': 1}}; [[1], [2]], [[1, 2]]; [1], None
        {{'a': 1}}, {_C}.OrderedDict(a=1); type('L', (list,), {{}})([1]), [1]""")
    )
}

ARRAYS = {
    f"{i:02d}": f"tf.TensorArray(tf.float32, {source}"
    for i, source in enumerate(
        """2).write(0, 1.0).write(1, 2.0).stack()
2).write(0, 1.0).stack()
2).write(2, 1.0)
2, dynamic_size=True).write(5, 1.0).stack()
2, dynamic_size=True).write(5, 1.0).size()
).size()
2).write(-1, 1.0)
2).write(0, 1).read(0)
2).write(0, tf.constant(1))
2).write(0, 1.0).write(0, 2.0).read(0)
2).read(0)
2, element_shape=[3]).read(0)
2).write(0, [1.0, 2.0]).read(1)
2).read(5)
2).write(0, [1.0]).write(1, [1.0, 2.0])
2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).concat()
2, element_shape=[2]).write(0, [1.0])
2).unstack([1.0, 2.0]).stack()
2).unstack([1.0, 2.0, 3.0])
4).unstack([1.0, 2.0, 3.0]).stack()
2, dynamic_size=True).unstack([1.0, 2.0, 3.0]).stack()
2).unstack(1.0)
3).unstack([1.0, 2.0, 3.0]).gather([2, 0])
3).unstack([1.0, 2.0, 3.0]).gather([5])
3).scatter([2, 0], [1.0, 2.0]).stack()
3).scatter([7], [1.0])
3, dynamic_size=True).scatter([7], [1.0]).size()
2).split([1.0, 2.0, 3.0], [1, 2]).read(1)
2).split([1.0, 2.0, 3.0], [1, 2]).concat()
2).split([1.0, 2.0, 3.0], [1, 1])
2).split([1.0, 2.0, 3.0, 4.0], [2, 2]).stack()
3).split([1.0, 2.0, 3.0, 4.0], [2, 2])
2).write(0, [1.0]).write(1, [2.0]).concat()
2).concat()
0).stack()
0, element_shape=[2]).stack()
0).concat()
2).stack()
2).write(0, [1.0]).element_shape
2).dynamic_size
2).handle
2).flow
2).grad('x')
2).close()
tf.constant(2)).size()
2).write(tf.constant(0), 1.0).read(tf.constant(0))
2, handle=3)""".splitlines()
    )
}
ARRAYS |= {
    "read_twice": "(lambda a: [a.read(0), a.read(0)])(tf.TensorArray(tf.float32, 2).write(0, 1.0))",
    "read_twice_kept": "(lambda a: [a.read(0), a.read(0)])(tf.TensorArray(tf.float32, 2, None, False).write(0, 1.0))",
    "stack_twice": "(lambda a: [a.stack(), a.stack()])(tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0]))",
    "gradient": "grad: lambda x: tf.TensorArray(tf.float64, 2).write(0, x[0]).write(1, x[1] * x[0]).stack() @ [1., 2.]",
    "gradient_unstack": "grad: lambda x: tf.TensorArray(tf.float64, 2).unstack(x).read(1) ** 2 @ [1.0, 2.0]",
    "gradient_split": "grad: lambda x: tf.TensorArray(tf.float64, 2).split(x, [1, 2]).read(1) ** 2 @ [1.0, 2.0, 3.0]",
    "gradient_gather": "grad: lambda x: tf.TensorArray(tf.float64, 2).unstack(x).gather([1, 1]) ** 2 @ [1.0, 2.0]",
}
SCOPES = {
    "type": "tf.name_scope(3)",
    "name": "tf.name_scope('a').name",
    "entered": (
        "(lambda s: [s.__enter__(), tf.Variable(1.0, name='x').name, s.__exit__(None, None, None)][:2])"
        "(tf.name_scope('a'))"
    ),
    "module_name": "tf.Module('foo_bar').name",
    "module_default": "tf.Module().name",
    "module_bad": "tf.Module('1 bad')",
    "module_slash": "tf.Module('a/b')",
    "module_scope": "tf.Module('foo').name_scope.name",
    "module_empty": "tf.Module().variables",
    **{
        f"snake_{name}": f"type('{name}', (tf.Module,), {{}})().name"
        for name in ("MyHTTPModule", "ABC2D", "RNNCell", "lower")
    },
}
ERRORS = {
    f"{name}": f"(lambda e: [e.error_code, str(e), e.message])(tf.errors.{name}(None, None, 'm'))"
    for name in (
        "AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError FailedPreconditionError "
        "InternalError InvalidArgumentError NotFoundError OutOfRangeError PermissionDeniedError ResourceExhaustedError "
        "UnauthenticatedError UnavailableError UnimplementedError UnknownError"
    ).split()
}
CASES = [
    (f"{subject}_{name}", source)
    for subject, cases in (
        ("tensor", PRINTED | PYTHON), ("dtype", DTYPES), ("shape", SHAPES), ("spec", SPECS), ("slices", INDEXED),
        ("nest", NEST), ("array", ARRAYS), ("scope", SCOPES), ("error", ERRORS),
    )
    for name, source in cases.items()
]  # fmt: skip
