"""Reductions, scans, softmax: values, dtypes, kinks and errors, compared with TensorFlow."""

_X = "tf.constant([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])"
_I = "tf.constant([[1, -2, 3], [4, 5, -6]])"
_E = "tf.zeros([0, 3])"
_NAN = "tf.constant([[1.0, np.nan, 3.0], [np.inf, -np.inf, 2.0]])"

_NUMERIC = ["sum", "mean", "max", "min", "prod", "euclidean_norm"]
_FLOATING = ["logsumexp", "std", "variance"]

CASES: list[tuple[str, str]] = []
for _n in _NUMERIC + _FLOATING:
    _f = f"tf.math.reduce_{_n}"
    CASES += [
        (f"{_n}-all", f"{_f}({_X})"),
        (f"{_n}-axis", f"{_f}({_X}, axis=1)"),
        (f"{_n}-negative", f"{_f}({_X}, axis=-2, keepdims=True)"),
        (f"{_n}-list", f"{_f}({_X}, axis=[0, -1])"),
        (f"{_n}-list-keep", f"{_f}({_X}, [1, 0], True)"),
        (f"{_n}-empty-list", f"{_f}({_X}, axis=[])"),
        (f"{_n}-tuple", f"{_f}({_X}, axis=(1,))"),
        (f"{_n}-tensor", f"{_f}({_X}, axis=tf.constant(1))"),
        (f"{_n}-tensors", f"{_f}({_X}, axis=tf.constant([0, 1], tf.int64))"),
        (f"{_n}-out-of-range", f"{_f}({_X}, axis=2)"),
        (f"{_n}-out-of-range-below", f"{_f}({_X}, axis=-3)"),
        (f"{_n}-twice", f"{_f}({_X}, axis=[0, 0])"),
        (f"{_n}-twice-negative", f"{_f}({_X}, axis=[1, -1])"),
        (f"{_n}-float-axis", f"{_f}({_X}, axis=1.0)"),
        (f"{_n}-scalar", f"{_f}(tf.constant(2.5))"),
        (f"{_n}-empty", f"{_f}({_E})"),
        (f"{_n}-empty-axis", f"{_f}({_E}, axis=0)"),
        (f"{_n}-empty-other-axis", f"{_f}({_E}, axis=1)"),
        (f"{_n}-nan", f"{_f}({_NAN}, axis=1)"),
        (f"{_n}-int", f"{_f}({_I}, axis=1)"),
        (f"{_n}-bool", f"{_f}(tf.constant([True, False]))"),
        (f"{_n}-string", f"{_f}(tf.constant(['a']))"),
        (f"{_n}-half", f"{_f}(tf.constant([1.0, 2.0, 4.0], tf.float16))"),
        (f"{_n}-bfloat16", f"{_f}(tf.constant([1.0, 2.0, 4.0], tf.bfloat16))"),
        (f"{_n}-double", f"{_f}(tf.constant([1.0, 2.0, 4.0], tf.float64))"),
        (f"{_n}-complex", f"{_f}(tf.constant([1 + 2j, 2 - 1j, 3j]))"),
        (f"{_n}-complex64", f"{_f}(tf.constant([1 + 2j, 2 - 1j, 3j], tf.complex64))"),
        (f"{_n}-python-list", f"{_f}([[1.0, 2.0], [3.0, 5.0]], 0)"),
        (f"{_n}-grad", f"grad: lambda x: {_f}(x) * 2.0 @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        (f"{_n}-grad-axis", f"grad: lambda x: {_f}(x, axis=0) ** 2 @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        (f"{_n}-grad-keep", f"grad: lambda x: {_f}(x, -1, True) * x @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        (f"{_n}-grad-tie", f"grad: lambda x: {_f}(x) @ [2.0, 2.0, 2.0]"),
        *[(f"{_n}-grad-zeros", f"grad: lambda x: {_f}(x) @ [0.0, 0.0]")] * (_n != "euclidean_norm"),  # see 2.22
        (f"{_n}-grad-scalar", f"grad: lambda x: {_f}(x) @ 3.0"),
        (f"{_n}-grad-empty", f"grad: lambda x: {_f}(x, axis=1) @ np.zeros((0, 2))"),
    ]
CASES += [
    ("sum-uint8", "tf.reduce_sum(tf.constant([200, 100], tf.uint8))"),
    ("mean-int-trunc", "tf.reduce_mean(tf.constant([-1, 0, 0, -2]))"),
    ("mean-int-mixed", "tf.reduce_mean(tf.constant([1, 0, 1, 0]))"),
    ("mean-int64", "tf.reduce_mean(tf.constant([1, 2, 4], tf.int64))"),
    ("prod-int-vector", "tf.reduce_prod(tf.constant([2, 3, 4]))"),
    ("max-int-empty", "tf.reduce_max(tf.zeros([0], tf.int32))"),
    ("min-int-empty", "tf.reduce_min(tf.zeros([0], tf.int64))"),
    ("max-uint8-empty", "tf.reduce_max(tf.zeros([0], tf.uint8))"),
    ("min-uint8-empty", "tf.reduce_min(tf.zeros([0], tf.uint8))"),
    ("mean-int-empty", "tf.reduce_mean(tf.zeros([2, 0], tf.float32), axis=1)"),
    ("root-sum", "tf.reduce_sum([1, 2, 3])"),
    ("root-sum-name", "tf.reduce_sum(input_tensor=[1.0, 2.0], axis=0, keepdims=True, name='s')"),
    ("prod-zero", "grad: lambda x: tf.reduce_prod(x) @ [0.0, 2.0, 3.0]"),
    ("prod-two-zeros", "grad: lambda x: tf.reduce_prod(x) @ [0.0, 0.0, 3.0]"),
    (
        "prod-zero-axis",
        "grad: lambda x: tf.reduce_prod(x, axis=[0, 2]) @ [[[1.0, 0.0], [2.0, 3.0]], [[4.0, 5.0], [0.0, "
        "0.0]]]",
    ),
    ("max-tie-partial", "grad: lambda x: tf.reduce_max(x, axis=1) @ [[1.0, 3.0, 3.0], [3.0, 2.0, 3.0]]"),
    ("min-tie-partial", "grad: lambda x: tf.reduce_min(x) @ [[1.0, 3.0, 1.0], [3.0, 2.0, 1.0]]"),
    ("max-nan-grad", "grad: lambda x: tf.reduce_max(x) @ [1.0, np.nan]"),
    ("logsumexp-inf", "tf.reduce_logsumexp(tf.constant([-np.inf, -np.inf]))"),
    ("logsumexp-plus-inf", "tf.reduce_logsumexp(tf.constant([np.inf, 1.0]))"),
    ("logsumexp-large", "tf.reduce_logsumexp(tf.constant([1000.0, 1000.0]))"),
    ("logsumexp-grad-inf", "grad: lambda x: tf.reduce_logsumexp(x) @ [-np.inf, 1.0]"),
    ("logsumexp-grad-all-inf", "grad: lambda x: tf.reduce_logsumexp(x) @ [-np.inf, -np.inf]"),
    ("all", "tf.reduce_all([[True, False], [True, True]], axis=1)"),
    ("all-all", "tf.math.reduce_all([[True, False], [True, True]])"),
    ("all-keep", "tf.reduce_all([[True, False], [True, True]], axis=0, keepdims=True)"),
    ("all-empty", "tf.reduce_all(tf.zeros([0], tf.bool))"),
    ("any-empty", "tf.reduce_any(tf.zeros([0], tf.bool))"),
    ("any", "tf.reduce_any([[True, False], [False, False]], axis=[-1])"),
    ("any-int", "tf.reduce_any([1, 0])"),
    ("all-float", "tf.reduce_all(tf.constant([1.0]))"),
    ("any-axis", "tf.reduce_any([True], axis=1)"),
    ("count", "tf.math.count_nonzero([[0, 1, 2], [0, 0, 3]])"),
    ("count-axis", "tf.math.count_nonzero([[0.0, 1, 2], [0, 0, 3]], axis=1, keepdims=True)"),
    ("count-dtype", "tf.math.count_nonzero([[0.0, 1, 2], [0, 0, 3]], axis=[0], dtype=tf.int32)"),
    ("count-bool", "tf.math.count_nonzero([True, False, True])"),
    ("count-string", "tf.math.count_nonzero(['', 'a', ' '])"),
    ("count-nan", "tf.math.count_nonzero(tf.constant([np.nan, 0.0, -0.0]))"),
    ("count-grad", "grad: lambda x: tf.math.count_nonzero(x, dtype=tf.float64) @ [1.0, 0.0]"),
    ("zero-fraction", "tf.nn.zero_fraction(tf.constant([0.0, 1.0, 0.0, 2.0]))"),
    ("zero-fraction-math", "tf.math.zero_fraction(tf.constant([[0, 1], [3, 2]]))"),
    ("zero-fraction-empty", "tf.math.zero_fraction(tf.zeros([0]))"),
    ("zero-fraction-double", "tf.math.zero_fraction(tf.zeros([3], tf.float64))"),
]
for _f in ("tf.cumsum", "tf.math.cumprod", "tf.math.cumulative_logsumexp"):
    _n = _f.rpartition(".")[2]
    for _o in ("", "exclusive=True", "reverse=True", "exclusive=True, reverse=True", "axis=1", "axis=1,exclusive=True"):
        CASES += [
            (f"{_n}({_o})", f"{_f}({_X}, {_o})"),
            (f"{_n}-grad({_o})", f"grad: lambda x: {_f}(x, {_o}) ** 2 @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        ]
    CASES += [
        (f"{_n}-int", f"{_f}({_I}, axis=1)"),
        (f"{_n}-empty", f"{_f}({_E})"),
        (f"{_n}-empty-axis", f"{_f}({_E}, axis=1)"),
        (f"{_n}-out-of-range", f"{_f}({_X}, axis=2)"),
        (f"{_n}-scalar", f"{_f}(tf.constant(2.0))"),
        (f"{_n}-half", f"{_f}(tf.constant([1.0, 2.0, 4.0], tf.float16))"),
        (f"{_n}-bfloat16", f"{_f}(tf.constant([1.0, 2.0, 4.0], tf.bfloat16))"),
        (f"{_n}-complex", f"{_f}(tf.constant([1 + 2j, 2 - 1j, 3j]))"),
        (f"{_n}-inf", f"{_f}(tf.constant([-np.inf, 1.0, -np.inf]))"),
        (f"{_n}-tensor-axis", f"{_f}({_X}, axis=tf.constant(1))"),
        (f"{_n}-list-axis", f"{_f}({_X}, axis=[0, 1])"),
        (f"{_n}-bool", f"{_f}(tf.constant([True]))"),
    ]
for _f in ("tf.nn.softmax", "tf.nn.log_softmax"):
    _n = _f.rpartition(".")[2]
    CASES += [
        (f"{_n}", f"{_f}({_X})"),
        (f"{_n}-math", f"{_f.replace('nn', 'math')}({_X})"),
        (f"{_n}-axis", f"{_f}({_X}, axis=0)"),
        (f"{_n}-negative", f"{_f}({_X}, axis=-2)"),
        (f"{_n}-vector", f"{_f}(tf.constant([1.0, 2.0]))"),
        (f"{_n}-int", f"{_f}(tf.constant([1, 2]))"),
        (f"{_n}-python-int", f"{_f}([1, 2])"),
        (f"{_n}-empty", f"{_f}({_E})"),
        (f"{_n}-empty-axis", f"{_f}({_E}, axis=0)"),
        (f"{_n}-out-of-range", f"{_f}({_X}, axis=2)"),
        (f"{_n}-out-of-range-below", f"{_f}({_X}, axis=-4)"),
        (f"{_n}-3d", f"{_f}(tf.reshape(tf.range(8.0), [2, 2, 2]), axis=1)"),
        (f"{_n}-large", f"{_f}(tf.constant([1000.0, 0.0, -1000.0]))"),
        (f"{_n}-inf", f"{_f}(tf.constant([-np.inf, 0.0]))"),
        (f"{_n}-half", f"{_f}(tf.constant([1.0, 2.0], tf.float16))"),
        (f"{_n}-bfloat16", f"{_f}(tf.constant([1.0, 2.0], tf.bfloat16))"),
        (f"{_n}-complex", f"{_f}(tf.constant([1j]))"),
        (f"{_n}-grad", f"grad: lambda x: {_f}(x) ** 2 @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        (f"{_n}-grad-axis", f"grad: lambda x: {_f}(x, axis=0) * x @ [[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]]"),
        (f"{_n}-grad-inf", f"grad: lambda x: {_f}(x)[1] @ [-np.inf, 0.0]"),
    ]
for _f in ("tf.norm", "tf.linalg.norm"):
    for _o in ("", "ord=1", "ord=2", "ord=3.5", "ord=np.inf", "ord='fro'", "ord='euclidean', axis=1",
               "ord=1, axis=0, keepdims=True", "ord=np.inf, axis=-1", "ord=2, axis=[0, 1]", "ord=1, axis=[0, 1]",
               "ord=np.inf, axis=(-2, -1)", "ord='fro', axis=[0, 1], keepdims=True", "ord='fro', axis=1",
               "ord=3, axis=[0, 1]", "ord='nuc'", "ord=-1", "ord=0", "axis=2", "axis=[0, 1, 2]", "axis=[0, 0]",
               "ord=2, axis=1", "ord='euclidean', axis=[0, 1]", "ord=-np.inf"):  # fmt: skip
        CASES.append((f"{_f}({_o})", f"{_f}({_X}, {_o})"))
CASES += [
    ("norm-int", "tf.norm(tf.constant([3, 4]))"),
    ("norm-python-int", "tf.norm([3, 4])"),
    ("norm-complex", "tf.norm(tf.constant([3 + 4j, 1j]))"),
    ("norm-complex-1", "tf.norm(tf.constant([3 + 4j, 1j]), ord=1)"),
    ("norm-complex-inf", "tf.norm(tf.constant([3 + 4j, 1j]), ord=np.inf)"),
    ("norm-scalar", "tf.norm(tf.constant(-3.0))"),
    ("norm-empty", "tf.norm(tf.zeros([0]))"),
    ("norm-grad", "grad: lambda x: tf.norm(x) @ [[3.0, 4.0], [0.0, 1.0]]"),
    ("norm-grad-1", "grad: lambda x: tf.norm(x, ord=1) @ [3.0, -4.0, 0.0]"),
    ("norm-grad-inf", "grad: lambda x: tf.norm(x, ord=np.inf) @ [3.0, -4.0, 4.0]"),
    ("norm-grad-3", "grad: lambda x: tf.norm(x, ord=3, axis=0) @ [[3.0, -4.0], [1.0, 2.0]]"),
    ("norm-grad-3-zero", "grad: lambda x: tf.norm(x, ord=3) @ [3.0, 0.0]"),
    ("norm-grad-matrix-1", "grad: lambda x: tf.norm(x, ord=1, axis=[0, 1]) @ [[3.0, -4.0], [1.0, 2.0]]"),
    ("normalize", "tf.linalg.normalize(tf.constant([[3.0, 4.0], [0.0, 0.0]]))"),
    ("normalize-axis", "tf.linalg.normalize(tf.constant([[3.0, 4.0], [1.0, 0.0]]), axis=1)"),
    ("normalize-1", "tf.linalg.normalize(tf.constant([3.0, -4.0]), ord=1)"),
    ("normalize-complex", "tf.linalg.normalize(tf.constant([[3 + 4j, 0], [1, 2j]]), ord=1, axis=1)"),
    ("normalize-complex-max", "tf.linalg.normalize(tf.constant([[3 + 4j, 0], [1, 2j]]), ord=np.inf)"),
    ("normalize-grad", "grad: lambda x: tf.linalg.normalize(x)[0] * x @ [3.0, 4.0]"),
    ("l2_normalize", "tf.math.l2_normalize(tf.constant([[3.0, 4.0], [1.0, 0.0]]), axis=1)"),
    ("l2_normalize-all", "tf.nn.l2_normalize(tf.constant([[3.0, 4.0], [1.0, 0.0]]))"),
    ("l2_normalize-axes", "tf.linalg.l2_normalize(tf.constant([[3.0, 4.0], [1.0, 0.0]]), axis=[0, 1], epsilon=30.0)"),
    ("l2_normalize-dim", "tf.math.l2_normalize(tf.constant([[3.0, 4.0], [1.0, 0.0]]), dim=0)"),
    ("l2_normalize-zero", "grad: lambda x: tf.math.l2_normalize(x) @ [0.0, 0.0]"),
    ("l2_normalize-grad", "grad: lambda x: tf.math.l2_normalize(x, axis=0) * x @ [[3.0, 4.0], [1.0, 2.0]]"),
    ("l2_normalize-complex", "tf.math.l2_normalize(tf.constant([3 + 4j, 1j]))"),
    ("l2_normalize-int", "tf.math.l2_normalize(tf.constant([3, 4]))"),
    ("trace", "tf.linalg.trace(tf.constant([[1.0, 2.0], [3.0, 4.0]]))"),
    ("trace-wide", "tf.linalg.trace(tf.reshape(tf.range(12), [2, 2, 3]))"),
    ("trace-vector", "tf.linalg.trace(tf.constant([1.0, 2.0]))"),
    ("trace-grad", "grad: lambda x: tf.linalg.trace(x) ** 2 @ [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]"),
]
