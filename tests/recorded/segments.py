"""Segment reductions, dynamic_partition and dynamic_stitch."""

_X = "tf.constant([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 0.0]])"

CASES: list[tuple[str, str]] = []
for _n in ("sum", "mean", "max", "min", "prod"):
    _f = f"tf.math.segment_{_n}"
    CASES += [
        (f"{_n}", f"{_f}({_X}, [0, 0, 1, 1])"),
        (f"{_n}-gap", f"{_f}({_X}, [0, 2, 2, 4])"),
        (f"{_n}-late-start", f"{_f}({_X}, tf.constant([1, 1, 1, 2], tf.int64))"),
        (f"{_n}-vector", f"{_f}([1.0, 2.0, 3.0], [0, 0, 1])"),
        (f"{_n}-int", f"{_f}([1, 2, 5], [0, 0, 1])"),
        (f"{_n}-unsorted", f"{_f}([1.0, 2.0, 3.0], [0, 1, 0])"),
        (f"{_n}-negative", f"{_f}([1.0, 2.0, 3.0], [-1, 1, 2])"),
        (f"{_n}-length", f"{_f}([1.0, 2.0, 3.0], [0, 1])"),
        (f"{_n}-rank", f"{_f}({_X}, [[0, 0], [0, 0], [1, 1], [1, 1]])"),
        (f"{_n}-empty", f"{_f}(tf.zeros([0, 2]), tf.zeros([0], tf.int32))"),
        (f"{_n}-float-ids", f"{_f}([1.0], [0.0])"),
        (f"{_n}-complex", f"{_f}(tf.constant([1j, 2.0]), [0, 0])"),
        (f"{_n}-half", f"{_f}(tf.constant([1.0, 2.0], tf.float16), [0, 0])"),
        (
            f"{_n}-grad",
            f"grad: lambda x: {_f}(x, [0, 0, 2, 2]) ** 2 @ [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 0.5]]",
        ),
        (f"{_n}-grad-tie", f"grad: lambda x: {_f}(x, [0, 0, 1, 1]) @ [2.0, 2.0, 1.0, 3.0]"),
    ]
for _n in ("sum", "mean", "max", "min", "prod", "sqrt_n"):
    _f = f"tf.math.unsorted_segment_{_n}"
    CASES += [
        (f"unsorted-{_n}", f"{_f}({_X}, [1, 0, 1, 0], 2)"),
        (f"unsorted-{_n}-gap", f"{_f}({_X}, [0, 2, 2, 0], 4)"),
        (f"unsorted-{_n}-negative", f"{_f}({_X}, [0, -1, 2, 0], num_segments=3)"),
        (f"unsorted-{_n}-out", f"{_f}([1.0, 2.0], [0, 3], 3)"),
        (f"unsorted-{_n}-vector", f"{_f}([1.0, 2.0, 3.0], [1, 0, 1], tf.constant(2))"),
        (f"unsorted-{_n}-int", f"{_f}([1, 2, 5], [0, 0, 1], 3)"),
        (f"unsorted-{_n}-2d-ids", f"{_f}([[1.0, 2.0], [3.0, 4.0]], [[0, 1], [1, 0]], 2)"),
        (f"unsorted-{_n}-shape", f"{_f}([1.0, 2.0, 3.0], [0, 1], 2)"),
        (f"unsorted-{_n}-empty", f"{_f}(tf.zeros([0, 2]), tf.zeros([0], tf.int32), 2)"),
        (f"unsorted-{_n}-none", f"{_f}(tf.zeros([0, 2]), tf.zeros([0], tf.int32), 0)"),
        (f"unsorted-{_n}-half", f"{_f}(tf.constant([1.0, 2.0], tf.float16), [0, 0], 2)"),
        (f"unsorted-{_n}-scalar", f"{_f}(tf.constant(2.0), tf.constant(1), 2)"),
        (
            f"unsorted-{_n}-grad",
            f"grad: lambda x: {_f}(x, [1, 0, -1, 1], 3) ** 2 @ [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 0.5]]",
        ),
        (f"unsorted-{_n}-grad-tie", f"grad: lambda x: {_f}(x, [0, 0, 1, 1], 2) @ [2.0, 2.0, 1.0, 3.0]"),
        (f"unsorted-{_n}-grad-zero", f"grad: lambda x: {_f}(x, [0, 0, 0, 1], 2) @ [2.0, 0.0, 5.0, 0.0]"),
        (f"unsorted-{_n}-grad-2d", f"grad: lambda x: {_f}(x, [[0, 1], [1, 0]], 2) ** 2 @ [[1.0, 2.0], [3.0, 4.0]]"),
    ]
CASES += [
    ("stitch-negative", "tf.dynamic_stitch([[0, -1]], [[1.0, 2.0]])"),
    ("unsorted-sum-int16", "tf.math.unsorted_segment_sum([1.0, 2.0, 4.0], tf.constant([0, 1, 0], tf.int16), 2)"),
    ("unsorted-mean-int16", "tf.math.unsorted_segment_mean([1.0, 2.0, 4.0], tf.constant([0, 1, 0], tf.int16), 2)"),
    ("unsorted-max-int16", "tf.math.unsorted_segment_max([1.0, 2.0, 4.0], tf.constant([0, 1, 0], tf.int16), 2)"),
    ("prod-grad-zero", "grad: lambda x: tf.math.segment_prod(x, [0, 0, 0, 1]) @ [2.0, 0.0, 5.0, 3.0]"),
    ("max-grad-int", "tf.math.segment_max([[1, 2], [5, 0]], [0, 0])"),
    ("partition", "tf.dynamic_partition([10, 20, 30, 40], [0, 1, 0, 2], 4)"),
    ("partition-2d", "tf.dynamic_partition([[1.0, 2.0], [3.0, 4.0]], [1, 0], num_partitions=2)"),
    ("partition-2d-ids", "tf.dynamic_partition([[1.0, 2.0], [3.0, 4.0]], [[1, 0], [0, 0]], 2)"),
    ("partition-scalar", "tf.dynamic_partition([1.0, 2.0], 1, 2)"),
    ("partition-bad", "tf.dynamic_partition([1.0, 2.0], [0, 2], 2)"),
    ("partition-shape", "tf.dynamic_partition([1.0, 2.0], [0, 1, 1], 2)"),
    ("partition-zero", "tf.dynamic_partition([1.0, 2.0], [0, 1], 0)"),
    (
        "partition-grad",
        "grad: lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0] ** 2 @ [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]",
    ),
    ("partition-grad-all", "grad: lambda x: tf.dynamic_partition(x, [[0, 1], [1, 0]], 3) @ [[1.0, 2.0], [3.0, 4.0]]"),
    ("stitch", "tf.dynamic_stitch([[0, 2], [1, 3]], [[10, 30], [20, 40]])"),
    (
        "stitch-scalars",
        "tf.dynamic_stitch([6, [4, 1], [[5, 2], [0, 3]]], [[61.0, 62.0], [[41.0, 42.0], [11.0, 12.0]], "
        "[[[51.0, 52.0], [21.0, 22.0]], [[1.0, 2.0], [31.0, 32.0]]]])",
    ),
    ("stitch-duplicates", "tf.dynamic_stitch([[0, 1], [1, 0]], [[1.0, 2.0], [3.0, 4.0]])"),
    ("stitch-bad", "tf.dynamic_stitch([[0, 1], [1]], [[1.0, 2.0], [3.0, 4.0]])"),
    ("stitch-empty", "tf.dynamic_stitch([tf.zeros([0], tf.int32)], [tf.zeros([0, 3])])"),
    (
        "stitch-grad",
        "grad: lambda x, y: tf.dynamic_stitch([[0, 2], [1]], [x, y]) * [1.0, 2.0, 3.0] @ [1.0, 2.0], [3.0]",
    ),
]
