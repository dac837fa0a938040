"""Set operations on rows of tensors and sparse tensors."""

_A = "tf.constant([[[1, 2], [3, 3]], [[4, 5], [6, 7]]])"
_B = "tf.constant([[[1, 3, 9], [0, 3, 1]], [[4, 5, 4], [8, 8, 8]]])"
_SA = "tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1]], [1, 2, 3, 7], [2, 2, 2])"
_SB = "tf.SparseTensor([[0, 0, 0], [0, 1, 2], [1, 0, 0], [1, 1, 0]], [2, 3, 5, 7], [2, 2, 3])"
_TA, _TB = "tf.constant([['b', 'a'], ['c', 'c']])", "tf.constant([['a', 'd'], ['', 'c']])"
_OUT = "(lambda s: [s.indices, s.values, s.dense_shape])({})"

CASES = [
    (f"{function}-{name}", _OUT.format(f"tf.sets.{function}({a}, {b})"))
    for function in ("difference", "intersection", "union")
    for name, (a, b) in {
        "dense": (_A, _B), "sparse": (_SA, _SB), "dense-sparse": (_A, _SB), "sparse-dense": (_SA, _B),
        "strings": (_TA, _TB), "int64": (f"tf.cast({_A}, tf.int64)", f"tf.cast({_B}, tf.int64)"),
        "uint8": (f"tf.cast({_A}, tf.uint8)", f"tf.cast({_B}, tf.uint8)"),
        "dtypes": (_A, f"tf.cast({_B}, tf.int64)"), "floats": ("[[1.0]]", "[[1.0]]"), "shapes": (_A, f"{_B}[:1]"),
        "vectors": ("[1, 2]", "[2]"), "empty": ("tf.zeros([2, 0], tf.int32)", "tf.zeros([2, 0], tf.int32)"),
        "unordered": ("tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 1])", "tf.constant([[1], [2]])"),
    }.items()
]  # fmt: skip
CASES += [
    ("difference-reversed", _OUT.format(f"tf.sets.difference({_A}, {_B}, aminusb=False)")),
    ("difference-reversed-mixed", _OUT.format(f"tf.sets.difference({_SA}, {_B}, aminusb=False)")),
    ("size", f"tf.sets.size({_SA})"),
    ("size-strings", "tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ['a', 'a', 'b'], [3, 2]))"),
    ("size-dense", f"tf.sets.size({_A})"),
]
