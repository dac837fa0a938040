"""Sparse tensors and functions on them: lookups, CTC decoders, the edit distance."""

PARTS = "(lambda s: (s.indices, s.values, s.dense_shape))"
UNSORTED = "tf.SparseTensor([[1, 2], [0, 1], [0, 0]], [1, 2, 3], [2, 3])"
GAPS = "tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [1.0, 2.0, 3.0], [5, 4])"
PLACES = "[[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]"
IDS = f"tf.SparseTensor({PLACES}, [3, 1, 3, 2, 2], [3, 2])"
TABLE = "np.arange(1.0, 9.0).reshape(4, 2)"
WEIGHTS = "[0.5, 1.0, -2.0, 3.0, 0.25]"
LOOKUP = "tf.nn.embedding_lookup_sparse"
SAFE = "tf.nn.safe_embedding_lookup_sparse"
SAFE_PLACES = "[[0, 0], [0, 1], [0, 2], [1, 0], [3, 0], [3, 1]]"
SAFE_IDS = f"tf.SparseTensor({SAFE_PLACES}, [0, 1, -1, -1, 2, 0], [5, 4])"
SAFE_WEIGHTS = "[1.0, 2.0, 1.0, 1.0, 3.0, 0.0]"
LOGITS = "(np.random.RandomState(0).randn(6, 2, 4) * 2).astype(np.float32)"
PATHS = f"(lambda r: ([{PARTS}(s) for s in r[0]], r[1]))"
GREEDY, BEAM = "tf.nn.ctc_greedy_decoder", "tf.nn.ctc_beam_search_decoder"
NO_PLACES = "np.zeros((0, 2), np.int64)"
TRUTHS = "tf.sparse.from_dense([[1, 3, 0, 0], [5, 4, 6, 0], [7, 0, 0, 0], [1, 1, 1, 1]])"
GUESSES = "tf.sparse.from_dense([[1, 2, 3, 0], [4, 5, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])"


def slices(lookup):
    """Returns the sparse gradient of a lookup, unmodified."""

    def program(tf):
        params = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
        variable = tf.Variable(params)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(params)
            results = [lookup(tf, params), lookup(tf, variable)]
        return [tape.gradient(results[0], params), tape.gradient(results[1], variable)]

    return program


def ids(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], [3, 1, 3, 2, 2], [3, 2])


def weights(tf):
    return ids(tf).with_values([0.5, 1.0, -2.0, 3.0, 0.25])


CASES = [
    # The class.
    ("parts", f"{PARTS}(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))"),
    ("text", "repr(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))"),
    ("shape", "tf.SparseTensor([[0, 1]], [2.0], [2, 3]).shape"),
    ("get_shape", "tf.SparseTensor([[0, 1]], [2.0], [2, 3]).get_shape()"),
    ("with_values", f"{PARTS}(tf.SparseTensor([[0, 1]], [2.0], [2, 3]).with_values([7]))"),
    ("from_value", f"{PARTS}(tf.SparseTensor.from_value(tf.SparseTensor([[0, 1]], [2.0], [2, 3])))"),
    ("from_value wrong", "tf.SparseTensor.from_value(3)"),
    ("indices of one axis", "tf.SparseTensor([0, 1], [2.0], [2, 3])"),
    ("values of two axes", "tf.SparseTensor([[0, 1]], [[2.0]], [2, 3])"),
    ("more values than indices", "tf.SparseTensor([[0, 1]], [2.0, 3.0], [2, 3])"),
    ("shape too long", "tf.SparseTensor([[0, 1]], [2.0], [2, 3, 4])"),
    ("indices not int64", "tf.SparseTensor(tf.constant([[0, 1]]), [2.0], [2, 3])"),
    ("indices not integers", "tf.SparseTensor([[0, 1.5]], [2.0], [2, 3])"),
    ("set_shape", "tf.SparseTensor([[0, 1]], [2.0], [2, 3]).set_shape([2, None])"),
    ("set_shape wrong", "tf.SparseTensor([[0, 1]], [2.0], [2, 3]).set_shape([1, 3])"),
    ("is_tensor", "tf.is_tensor(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))"),
    ("is_nested", "tf.nest.is_nested(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))"),
    ("flatten", "tf.nest.flatten([1, tf.SparseTensor([[0, 1]], [2.0], [2, 3])], expand_composites=True)"),
    ("not converted", "tf.convert_to_tensor(tf.SparseTensor([[0, 1]], [2.0], [2, 3]))"),
    ("cast", f"{PARTS}(tf.cast(tf.SparseTensor([[0, 1]], [2.5], [2, 3]), tf.int32))"),
    # tf.sparse.
    ("from_dense", f"{PARTS}(tf.sparse.from_dense([[1, 0, 2], [0, 0, 3]]))"),
    ("from_dense nan", f"{PARTS}(tf.sparse.from_dense([np.nan, 0.0, -0.0]))"),
    ("from_dense strings", f"{PARTS}(tf.sparse.from_dense(['a', '']))"),
    ("from_dense bool", f"{PARTS}(tf.sparse.from_dense([True, False]))"),
    ("from_dense empty", f"{PARTS}(tf.sparse.from_dense(np.zeros((2, 0))))"),
    ("from_dense scalar", "tf.sparse.from_dense(5)"),
    ("from_dense grad", "grad: lambda x: tf.sparse.from_dense(x).values ** 2 @ [[1.0, 0.0], [2.0, 3.0]]"),
    ("to_dense", f"tf.sparse.to_dense({GAPS})"),
    ("to_dense default", f"tf.sparse.to_dense({GAPS}, default_value=7)"),
    ("to_dense default vector", f"tf.sparse.to_dense({GAPS}, default_value=[7.0])"),
    ("to_dense strings", "tf.sparse.to_dense(tf.SparseTensor([[1, 1]], ['a'], [2, 3]))"),
    ("to_dense nothing", f"tf.sparse.to_dense(tf.SparseTensor({NO_PLACES}, np.zeros(0), [2, 3]))"),
    ("to_dense scalar", "tf.sparse.to_dense(tf.SparseTensor(np.zeros((1, 0), int), [3.0], np.zeros(0, int)))"),
    ("to_dense out of order", f"tf.sparse.to_dense({UNSORTED})"),
    ("to_dense in any order", f"tf.sparse.to_dense({UNSORTED}, validate_indices=False)"),
    ("to_dense repeated", "tf.sparse.to_dense(tf.SparseTensor([[1], [1]], [1, 2], [2]))"),
    ("to_dense last stays", "tf.sparse.to_dense(tf.SparseTensor([[1], [1]], [1, 2], [2]), validate_indices=False)"),
    ("to_dense outside", "tf.sparse.to_dense(tf.SparseTensor([[1, 3]], [1], [2, 3]))"),
    ("to_dense negative", "tf.sparse.to_dense(tf.SparseTensor([[-1, 1]], [1], [2, 3]))"),
    ("to_dense of a number", "tf.sparse.to_dense(3)"),
    (
        "to_dense grad",
        "grad: lambda x, d: tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 2]], x, [2, 3]), d) ** 2 @ [3.0, 4.0], 2.0",
    ),
    ("reorder", f"{PARTS}(tf.sparse.reorder({UNSORTED}))"),
    ("reorder repeated", f"{PARTS}(tf.sparse.reorder(tf.SparseTensor([[1], [1], [0]], [1, 2, 3], [2])))"),
    ("reorder of a number", "tf.sparse.reorder(3)"),
    (
        "reorder grad",
        "grad: lambda x: tf.sparse.reorder(tf.SparseTensor([[1], [0]], x, [2])).values * [1.0, 2.0] @ [3.0, 4.0]",
    ),
    ("fill_empty_rows", f"(lambda r: ({PARTS}(r[0]), r[1]))(tf.sparse.fill_empty_rows({GAPS}, 9))"),
    ("fill_empty_rows unsorted", f"(lambda r: ({PARTS}(r[0]), r[1]))(tf.sparse.fill_empty_rows({UNSORTED}, 9))"),
    (
        "fill_empty_rows all",
        f"(lambda r: ({PARTS}(r[0]), r[1]))(tf.sparse.fill_empty_rows(tf.SparseTensor({NO_PLACES}, [], [2, 3]), 9.0))",
    ),
    ("fill_empty_rows vector", f"tf.sparse.fill_empty_rows({GAPS}, [9.0])"),
    ("fill_empty_rows outside", "tf.sparse.fill_empty_rows(tf.SparseTensor([[5, 1]], [1.0], [4, 4]), 9.0)"),
    (
        "fill_empty_rows grad",
        "grad: lambda x, d: tf.sparse.fill_empty_rows(tf.SparseTensor([[0], [2]], x, [4]), d)[0].values ** 2 "
        "@ [3.0, 4.0], 2.0",
    ),
    ("retain", f"{PARTS}(tf.sparse.retain({GAPS}, [True, False, True]))"),
    ("retain too few", f"tf.sparse.retain({GAPS}, [True, False])"),
    ("retain matrix", f"tf.sparse.retain({GAPS}, [[True, False, True]])"),
    (
        "retain grad",
        "grad: lambda x: tf.sparse.retain(tf.SparseTensor([[0], [2]], x, [4]), [True, False]).values ** 2 @ [3.0, 4.0]",
    ),
    # Lookups.
    *(
        (
            f"lookup {combiner} {max_norm} fast={fast}",
            f"grad: lambda p, w: {LOOKUP}(p, {IDS}, None, {combiner!r}, {max_norm}, None, {fast}) * "
            f"{LOOKUP}(p, {IDS}, tf.SparseTensor({PLACES}, w, [3, 2]), {combiner!r}, {max_norm}, None, {fast}) "
            f"@ {TABLE}, {WEIGHTS}",
        )
        for combiner in ("mean", "sum", "sqrtn", None)
        for max_norm in (None, 4.0)
        for fast in (False, True)
    ),
    *(
        (
            f"lookup slices {combiner}",
            slices(lambda tf, p, c=combiner: tf.nn.embedding_lookup_sparse(p, ids(tf), None, c)),
        )
        for combiner in ("mean", "sum", "sqrtn")
    ),
    (
        "lookup slices weighted",
        slices(lambda tf, p: tf.nn.embedding_lookup_sparse(p, ids(tf), weights(tf))),
    ),
    (
        "lookup slices clipped",
        slices(lambda tf, p: tf.nn.embedding_lookup_sparse(p, ids(tf), None, max_norm=4.0)),
    ),
    (
        "lookup slices fast",
        slices(lambda tf, p: tf.nn.embedding_lookup_sparse(p, ids(tf), weights(tf), allow_fast_lookup=True)),
    ),
    (
        "lookup slices fast without weights",
        slices(lambda tf, p: tf.nn.embedding_lookup_sparse(p, ids(tf), None, allow_fast_lookup=True)),
    ),
    ("lookup in two tables", f"grad: lambda a, b: {LOOKUP}([a, b], {IDS}, None) ** 2 @ {TABLE}[:2], {TABLE}[2:]"),
    (
        "lookup in uneven tables",
        f"{LOOKUP}([{TABLE}, {TABLE}, {TABLE}[:3]], tf.SparseTensor({PLACES}, [3, 4, 10, 8, 2], [3, 2]), None)",
    ),
    ("lookup in tables cut wrongly", f"{LOOKUP}([{TABLE}[:3], {TABLE}[3:]], {IDS}, None)"),
    ("dense lookup in two tables", f"tf.nn.embedding_lookup([{TABLE}[:2], {TABLE}[2:]], [[3, 1], [0, 3]])"),
    ("dense lookup in tables cut wrongly", f"tf.nn.embedding_lookup([{TABLE}[:1], {TABLE}[1:]], [0, 1, 2, 3])"),
    (
        "lookup of zero weights",
        f"grad: lambda p, w: {LOOKUP}(p, tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 1, 2], [2, 2]), "
        f"tf.SparseTensor([[0, 0], [0, 1], [1, 0]], w, [2, 2]), 'sqrtn') @ {TABLE}, [0.0, 0.0, 2.0]",
    ),
    ("lookup with an empty row", f"{LOOKUP}({TABLE}, tf.SparseTensor([[0, 0], [2, 0]], [1, 2], [5, 2]), None)"),
    ("lookup of nothing", f"{LOOKUP}({TABLE}, tf.SparseTensor({NO_PLACES}, np.zeros(0, int), [0, 2]), None)"),
    (
        "lookup in a table of matrices",
        f"{LOOKUP}({TABLE}.reshape(2, 2, 2), tf.SparseTensor([[0, 0], [0, 1]], [1, 0], [1, 2]), "
        "tf.SparseTensor([[0, 0], [0, 1]], [1.0, 0.5], [1, 2]))",
    ),
    ("lookup float16", f"{LOOKUP}({TABLE}.astype(np.float16), {IDS}, {IDS}.with_values(np.float16({WEIGHTS})))"),
    ("lookup bfloat16", f"{LOOKUP}(tf.cast({TABLE}, tf.bfloat16), {IDS}, {IDS}.with_values({WEIGHTS}))"),
    ("lookup integer weights", f"{LOOKUP}({TABLE}, {IDS}, {IDS})"),
    ("lookup of integers", f"{LOOKUP}(np.arange(4), {IDS}, None, 'sum')"),
    ("lookup mean of integers", f"{LOOKUP}(np.arange(4), {IDS}, None)"),
    ("lookup unknown combiner", f"{LOOKUP}({TABLE}, {IDS}, None, 'max')"),
    ("lookup dense ids", f"{LOOKUP}({TABLE}, [1, 2], None)"),
    ("lookup dense weights", f"{LOOKUP}({TABLE}, {IDS}, [1.0])"),
    ("lookup other weights", f"{LOOKUP}({TABLE}, {IDS}, {GAPS})"),
    ("lookup in no table", f"{LOOKUP}([], {IDS}, None)"),
    ("lookup outside", f"{LOOKUP}({TABLE}, tf.SparseTensor([[0, 0]], [9], [1, 1]), None)"),
    ("lookup unsorted", f"{LOOKUP}({TABLE}, tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [5, 2]), None)"),
    ("lookup fractional ids", f"{LOOKUP}({TABLE}, tf.SparseTensor([[0, 0]], [1.0], [1, 1]), None)"),
    *(
        (
            f"safe {combiner} {default} {max_norm} fast={fast}",
            f"grad: lambda p, w: {SAFE}(p, {SAFE_IDS}, None, {combiner!r}, {default}, {max_norm}, None, {fast}) + "
            f"{SAFE}(p, {SAFE_IDS}, {SAFE_IDS}.with_values(w), {combiner!r}, {default}, {max_norm}, None, {fast}) ** 2 "
            f"@ {TABLE}, {SAFE_WEIGHTS}",
        )
        for combiner in ("mean", "sum", "sqrtn")
        for default in (None, 3)
        for max_norm, fast in ((None, False), (4.0, False), (None, True))
    ),
    ("safe weights not positive", f"{SAFE}({TABLE}, {IDS}, {IDS}.with_values(np.float64([0, -1, 0, 2, -1])))"),
    ("safe dtype of the weights", f"{SAFE}({TABLE}, {IDS}, {IDS}.with_values({WEIGHTS}))"),
    ("safe other dtype", f"{SAFE}(tf.constant({TABLE}), {IDS}, {IDS}.with_values({WEIGHTS}))"),
    ("safe three axes", f"{SAFE}({TABLE}, tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 1, 0]], [0, 1, 3], [2, 2, 2]))"),
    ("safe one axis", f"{SAFE}({TABLE}, tf.SparseTensor([[0], [2]], [0, 1], [4]))"),
    ("safe nothing", f"{SAFE}({TABLE}, tf.SparseTensor({NO_PLACES}, np.zeros(0, int), [2, 2]))"),
    ("safe unsorted", f"{SAFE}({TABLE}, tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))"),
    ("safe two tables", f"{SAFE}([{TABLE}[:2], {TABLE}[2:]], {SAFE_IDS})"),
    ("safe no table", f"{SAFE}(None, {SAFE_IDS})"),
    ("safe outside", f"{SAFE}({TABLE}, tf.SparseTensor([[0, 0]], [9], [1, 1]))"),
    ("safe unknown combiner", f"{SAFE}({TABLE}, {SAFE_IDS}, combiner='max')"),
    # Decoders.
    ("greedy", f"{PATHS}({GREEDY}({LOGITS}, [6, 4]))"),
    ("greedy repeated", f"{PATHS}({GREEDY}({LOGITS}, [6, 4], merge_repeated=False))"),
    ("greedy blank first", f"{PATHS}({GREEDY}({LOGITS}, [6, 4], blank_index=0))"),
    ("greedy blank from the end", f"{PATHS}({GREEDY}({LOGITS}, [6, 4], blank_index=-2))"),
    ("greedy nothing", f"{PATHS}({GREEDY}({LOGITS}, [0, 0]))"),
    ("greedy float64", f"{PATHS}({GREEDY}({LOGITS}.astype(np.float64), [6, -1]))"),
    ("greedy integers", f"{PATHS}({GREEDY}(np.ones((3, 1, 2), int), np.array([3])))"),
    ("greedy half", f"{GREEDY}(tf.zeros((3, 1, 2), tf.float16), [3])"),
    ("greedy wrong blank", f"{GREEDY}({LOGITS}, [6, 4], blank_index=4)"),
    ("greedy too long", f"{GREEDY}({LOGITS}, [7, 4])"),
    ("greedy too few lengths", f"{GREEDY}({LOGITS}, [6])"),
    ("greedy matrix", f"{GREEDY}({LOGITS}[0], [6, 4])"),
    ("greedy empty", f"{GREEDY}(tf.zeros((0, 1, 2)), [0])"),
    ("greedy int64 lengths", f"{GREEDY}({LOGITS}, tf.constant([6, 4], tf.int64))"),
    ("greedy fractional lengths", f"{GREEDY}({LOGITS}, [6.0, 4.0])"),
    ("beam", f"{PATHS}({BEAM}({LOGITS}, [6, 4]))"),
    *(
        (f"beam {width} {paths}", f"{PATHS}({BEAM}({LOGITS}, [6, 4], {width}, {paths}))")
        for width, paths in ((1, 1), (2, 2), (3, 3), (10, 4), (100, 20))
    ),
    (
        "beam of many frames",
        f"{PATHS}({BEAM}(np.float32(np.random.RandomState(1).randn(20, 3, 5)), [20, 13, 17], 25, 5))",
    ),
    ("beam float64", f"{PATHS}({BEAM}({LOGITS}.astype(np.float64), [6, -1]))"),
    ("beam ties", f"{PATHS}({BEAM}(tf.zeros((3, 1, 2)), [3], top_paths=3))"),
    ("beam one class", f"{PATHS}({BEAM}(tf.zeros((2, 1, 1)), [2]))"),
    ("beam too many paths", f"{BEAM}(np.zeros((3, 1, 2)), [3], top_paths=4)"),
    ("beam narrower than paths", f"{BEAM}({LOGITS}, [6, 4], 1, 2)"),
    ("beam no width", f"{BEAM}({LOGITS}, [6, 4], 0, 1)"),
    ("beam no paths", f"{BEAM}({LOGITS}, [6, 4], 10, 0)"),
    ("beam too long", f"{BEAM}({LOGITS}, [7, 4])"),
    ("greedy has no gradient", f"grad: lambda x: {GREEDY}(x, [6, 4])[1] @ {LOGITS}"),
    ("beam has no gradient", f"grad: lambda x: tf.cast({BEAM}(x, [6, 4])[1], tf.float32) @ {LOGITS}"),
    # The edit distance.
    ("distance", f"tf.edit_distance({GUESSES}, {TRUTHS})"),
    ("distance in edits", f"tf.edit_distance({GUESSES}, {TRUTHS}, normalize=False)"),
    ("distance back", f"tf.edit_distance({TRUTHS}, {GUESSES})"),
    (
        "distance of strings, three axes",
        "tf.edit_distance(tf.SparseTensor([[0, 0, 0], [1, 0, 0]], ['a', 'b'], [2, 1, 1]), "
        "tf.SparseTensor([[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0]], ['a', 'b', 'c', 'a'], [2, 2, 2]))",
    ),
    (
        "distance of long sequences",
        "tf.edit_distance(*[tf.sparse.from_dense(np.random.RandomState(i).randint(0, 4, (3, 30))) for i in (0, 1)])",
    ),
    (
        "distance outside",
        "tf.edit_distance(tf.SparseTensor([[5, 0]], [1], [2, 1]), tf.SparseTensor([[0, 0]], [1], [2, 1]))",
    ),
    ("distance of vectors", "tf.edit_distance(tf.sparse.from_dense([1]), tf.sparse.from_dense([2]))"),
    ("distance of other ranks", "tf.edit_distance(tf.sparse.from_dense([[1]]), tf.sparse.from_dense([[[2]]]))"),
    ("distance of other dtypes", "tf.edit_distance(tf.sparse.from_dense([[1]]), tf.sparse.from_dense([[1.0]]))"),
    ("distance of dense tensors", "tf.edit_distance([[1]], [[2]])"),
    ("distance to a dense tensor", f"tf.edit_distance({GUESSES}, [[2]])"),
]
