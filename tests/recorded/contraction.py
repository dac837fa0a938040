"""matmul, matvec, einsum and tensordot."""

_A = "tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])"
_B = "tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])"
_C = "tf.constant([[1 + 2j, 3.0], [1j, 4 - 1j]])"
_T = "tf.reshape(tf.range(24.0), [2, 3, 4])"

CASES: list[tuple[str, str]] = [
    ("matmul", f"tf.matmul({_A}, {_B})"),
    ("matmul-linalg", f"tf.linalg.matmul({_A}, {_B})"),
    ("matmul-operator", f"{_A} @ {_B}"),
    ("matmul-ta", f"tf.matmul({_A}, {_A}, transpose_a=True)"),
    ("matmul-tb", f"tf.matmul({_A}, {_A}, transpose_b=True)"),
    ("matmul-tab", f"tf.matmul({_A}, {_B}, True, True)"),
    ("matmul-adjoint-a", f"tf.matmul({_C}, {_C}, adjoint_a=True)"),
    ("matmul-adjoint-b", f"tf.matmul({_C}, {_C}, adjoint_b=True)"),
    ("matmul-adjoint-ab", f"tf.matmul({_C}, {_C}, adjoint_a=True, adjoint_b=True)"),
    ("matmul-transpose-complex", f"tf.matmul({_C}, {_C}, transpose_a=True)"),
    ("matmul-both", f"tf.matmul({_C}, {_C}, transpose_a=True, adjoint_a=True)"),
    ("matmul-both-b", f"tf.matmul({_C}, {_C}, transpose_b=True, adjoint_b=True)"),
    ("matmul-sparse", f"tf.matmul({_A}, {_B}, a_is_sparse=True, b_is_sparse=True)"),
    ("matmul-int", "tf.matmul([[1, 2]], [[3], [4]])"),
    (
        "matmul-int-output",
        "tf.matmul(tf.constant([[1, 2]], tf.int8), tf.constant([[3], [4]], tf.int8), output_type=tf.int32)",
    ),
    ("matmul-bfloat16", "tf.matmul(tf.constant([[1, 2]], tf.bfloat16), tf.constant([[3], [4]], tf.bfloat16))"),
    ("matmul-half", "tf.matmul(tf.constant([[1, 2]], tf.float16), tf.constant([[3], [4]], tf.float16))"),
    ("matmul-int8", "tf.matmul(tf.constant([[1, 2]], tf.int8), tf.constant([[3], [4]], tf.int8))"),
    ("matmul-bool", "tf.matmul(tf.constant([[True]]), tf.constant([[True]]))"),
    ("matmul-mixed", "tf.matmul(tf.constant([[1.0]]), tf.constant([[1.0]], tf.float64))"),
    ("matmul-numpy", "tf.matmul(tf.constant([[1.0, 2.0]]), np.array([[1.0], [2.0]]))"),
    ("matmul-list", "tf.matmul([[1.0, 2.0]], [[1.0], [2.0]])"),
    ("matmul-shapes", f"tf.matmul({_A}, {_A})"),
    ("matmul-batch-shapes", "tf.matmul(tf.zeros([2, 3, 4]), tf.zeros([3, 4, 5]))"),
    ("matmul-batch-inner", "tf.matmul(tf.zeros([2, 3, 4]), tf.zeros([2, 3, 5]))"),
    ("matmul-rank", f"tf.matmul({_A}, [1.0, 2.0, 3.0])"),
    ("matmul-rank-0", "tf.matmul(tf.constant(1.0), tf.constant(2.0))"),
    ("matmul-rank-1", "tf.matmul(tf.constant([1.0]), tf.constant([2.0]))"),
    ("matmul-rank-1-3", "tf.matmul(tf.constant([1.0]), tf.zeros([2, 1, 1]))"),
    ("matmul-operator-rank", f"{_A} @ tf.constant([1.0, 2.0, 3.0])"),
    ("matmul-broadcast", "tf.matmul(tf.reshape(tf.range(12.0), [2, 1, 2, 3]), tf.reshape(tf.range(18.0), [3, 3, 2]))"),
    ("matmul-batch-2d", f"tf.matmul({_T}, tf.ones([4, 2]))"),
    ("matmul-2d-batch", f"tf.matmul(tf.ones([2, 3]), {_T})"),
    ("matmul-empty", "tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 3]))"),
    ("matmul-empty-batch", "tf.matmul(tf.zeros([0, 2, 3]), tf.zeros([3, 3]))"),
    (
        "matmul-grad",
        "grad: lambda a, b: tf.matmul(a, b) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0, 2.0], [1.0, -1.0, "
        "0.0]]",
    ),
    (
        "matmul-grad-ta",
        "grad: lambda a, b: tf.matmul(a, b, transpose_a=True) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0, "
        "2.0], [1.0, -1.0, 0.0]]",
    ),
    (
        "matmul-grad-tab",
        "grad: lambda a, b: tf.matmul(a, b, True, True) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [1.0, "
        "-1.0], [3.0, 1.0]]",
    ),
    (
        "matmul-grad-adjoint",
        "grad: lambda a, b: tf.matmul(a, b, adjoint_a=True, adjoint_b=True) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], "
        "[[0.5, 1.0], [1.0, -1.0], [3.0, 1.0]]",
    ),
    (
        "matmul-grad-broadcast",
        "grad: lambda a, b: tf.matmul(a, b) ** 2 @ np.arange(12.0).reshape(3, 2, 2), [[0.5, 1.0, 2.0], [1.0, "
        "-1.0, 0.0]]",
    ),
    (
        "matmul-grad-broadcast-2",
        "grad: lambda a, b: tf.matmul(b, a, transpose_b=True) ** 2 @ np.arange(12.0).reshape(3, 2, 2), "
        "[[0.5, 1.0], [2.0, 1.0], [-1.0, 0.0]]",
    ),
    (
        "matmul-grad-complex",
        "grad: lambda a, b: tf.math.real(tf.matmul(tf.complex(a, b), tf.complex(b, a), adjoint_a=True)) ** 2 "
        "@ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [1.0, -1.0]]",
    ),
    (
        "matmul-grad-complex-tb",
        "grad: lambda a, b: tf.math.imag(tf.matmul(tf.complex(a, b), tf.complex(b, a), transpose_b=True)) ** "
        "2 @ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [1.0, -1.0]]",
    ),
    ("matvec", f"tf.linalg.matvec({_A}, [1.0, 2.0, 3.0])"),
    ("matvec-ta", f"tf.linalg.matvec({_A}, [1.0, 2.0], transpose_a=True)"),
    ("matvec-adjoint", f"tf.linalg.matvec({_C}, tf.constant([1.0 + 1j, 2.0]), adjoint_a=True)"),
    ("matvec-batch", f"tf.linalg.matvec({_T}, tf.ones([2, 4]))"),
    ("matvec-broadcast", f"tf.linalg.matvec({_T}, [1.0, 2.0, 3.0, 4.0])"),
    ("matvec-shapes", f"tf.linalg.matvec({_A}, [1.0, 2.0])"),
    ("matvec-rank", f"tf.linalg.matvec({_A}, 1.0)"),
    ("matvec-grad", "grad: lambda a, b: tf.linalg.matvec(a, b) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], [0.5, 2.0]"),
    ("tensordot-1", f"tf.tensordot({_A}, {_B}, 1)"),
    ("tensordot-0", "tf.tensordot([1.0, 2.0], [3.0, 4.0], 0)"),
    ("tensordot-lists", f"tf.tensordot({_T}, {_T}, [[0, 2], [0, 2]])"),
    ("tensordot-negative", f"tf.linalg.tensordot({_T}, {_A}, [[-2], [1]])"),
    ("tensordot-ints", f"tf.tensordot({_T}, {_A}, [1, 1])"),
    ("tensordot-2", f"tf.tensordot({_A}, {_A}, axes=[[0, 1], [0, 1]])"),
    ("tensordot-tensor-axes", f"tf.tensordot({_A}, {_B}, tf.constant([[1], [0]]))"),
    ("tensordot-int", "tf.tensordot([[1, 2]], [[3], [4]], 1)"),
    ("tensordot-shapes", f"tf.tensordot({_A}, {_A}, 1)"),
    ("tensordot-axes-too-big", f"tf.tensordot({_A}, {_B}, 3)"),
    ("tensordot-axes-negative", f"tf.tensordot({_A}, {_B}, -1)"),
    ("tensordot-axes-lengths", f"tf.tensordot({_A}, {_B}, [[0, 1], [0]])"),
    ("tensordot-axes-one", f"tf.tensordot({_A}, {_B}, [[0]])"),
    ("tensordot-scalar", "tf.tensordot(2.0, [1.0, 2.0], 0)"),
    ("tensordot-vectors", "tf.tensordot([1.0, 2.0], [3.0, 4.0], 1)"),
    (
        "tensordot-grad",
        "grad: lambda a, b: tf.tensordot(a, b, [[0], [1]]) ** 2 @ [[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], "
        "[2.0, 1.0], [-1.0, 0.0]]",
    ),
    ("einsum-mismatch", f"tf.einsum('ij,jk->ik', {_A}, {_A})"),
    ("einsum-two-ellipses", "tf.einsum('...ij...,jk...->ik...', np.ones((2, 3)), np.ones((3, 4)))"),
    ("einsum-two-ellipses-out", "tf.einsum('...ij,jk...->...ik...', np.ones((2, 3)), np.ones((3, 4)))"),
    ("einsum-too-few", f"tf.einsum('ij,jk->ik', {_A})"),
    ("einsum-too-many", f"tf.einsum('ij->ij', {_A}, {_B})"),
    ("einsum-rank", f"tf.einsum('ijk->ik', {_A})"),
    ("einsum-unknown-output", f"tf.einsum('ij->ik', {_A})"),
    ("einsum-output-twice", f"tf.einsum('ij->ii', {_A})"),
    ("einsum-bad-letter", f"tf.einsum('i!->i', {_A})"),
    ("einsum-no-equation", f"tf.einsum('', {_A})"),
    ("einsum-two-arrows", f"tf.einsum('ij->i->j', {_A})"),
    ("einsum-mixed", "tf.einsum('i,i->', tf.constant([1.0]), tf.constant([1.0], tf.float64))"),
    ("einsum-optimize", f"tf.einsum('ij,jk->ik', {_A}, {_B}, optimize='optimal')"),
    ("einsum-bad-optimize", f"tf.einsum('ij,jk->ik', {_A}, {_B}, optimize='fastest')"),
    ("einsum-name", f"tf.einsum('ij,jk->ik', {_A}, {_B}, name='e')"),
    ("einsum-bad-keyword", f"tf.einsum('ij,jk->ik', {_A}, {_B}, other=1)"),
    ("einsum-spaces", f"tf.einsum(' i j , j k -> i k ', {_A}, {_B})"),
    ("einsum-complex", f"tf.einsum('ij,kj->ik', {_C}, {_C})"),
    ("einsum-half", "tf.einsum('ij,jk', tf.constant([[1, 2]], tf.float16), tf.constant([[3], [4]], tf.float16))"),
    ("einsum-bfloat16", "tf.einsum('ij,jk', tf.constant([[1, 2]], tf.bfloat16), tf.constant([[3], [4]], tf.bfloat16))"),
    ("einsum-array-and-tensor", "tf.einsum('ij,jk->ik', np.ones((2, 3)), tf.ones((3, 2)))"),
    ("einsum-tensor-and-array", "tf.einsum('ij,jk->ik', tf.ones((2, 3)), np.ones((3, 2)))"),
    ("einsum-array-and-variable", "tf.einsum('ij,jk->ik', np.ones((2, 3)), tf.Variable(tf.ones((3, 2))))"),
    ("einsum-two-arrays", "tf.einsum('ij,jk->ik', np.ones((2, 3)), np.ones((3, 2), np.float32))"),
    ("einsum-array-of-integers-and-tensor", "tf.einsum('i,i->', np.arange(3), tf.ones(3))"),
    ("einsum-array-and-tensor-of-integers", "tf.einsum('i,i->', np.ones(3), tf.ones(3, tf.int32))"),
    ("einsum-two-dtypes", "tf.einsum('i,i->', tf.ones(3), tf.ones(3, tf.float64))"),
    ("einsum-two-dtypes-and-an-array", "tf.einsum('i,i,i->', np.ones(3), tf.ones(3), tf.ones(3, tf.float64))"),
    ("einsum-two-arrays-and-a-tensor", "tf.einsum('ij,jk,kl->il', tf.ones((2, 3)), np.ones((3, 2)), np.ones((2, 2)))"),
    ("einsum-ellipsis-without-output", f"tf.einsum('...ij->ij', {_T})"),
    ("einsum-repeated-mismatch", f"tf.einsum('ii->i', {_A})"),
]
_SHAPES = {"i": 2, "j": 3, "k": 4, "l": 2, "m": 3, "b": 2}
for _e in ("ij->ji", "ij->", "ij->i", "i->i", "ii->", "ii->i", "iij->j", "ij", "ji", "ij,jk->ik", "ij,jk", "ij,kj->ki",
           "ji,jk->ik", "i,j->ij", "i,i->", "i,i->i", "ij,ij->ij", "ij,ij->", "bij,bjk->bik", "bij,jk->bik",
           "bij,bkj->bik", "ij,jk,kl->il", "ij,jk,kl,lm->im", "ijk,jil->kl", "ij,k->ijk", "ij,i->j", "ijk,k->ij",
           "bijk,bljk->bil", "iji,j->i", "ii,jj->ij", "iij,jk->ik", "i,j,k->ijk", "ij,jk,ki->", "bi,bj,bk->bijk",
           "ijkl,kl->ij", "jki,ik->j", "ij,jk->kji", "i,->i", "kbij,jm->bkim"):  # fmt: skip
    _inputs = _e.partition("->")[0].split(",")
    _arrays = [
        f"(np.arange({float(np_size)}).reshape({tuple(_SHAPES[c] for c in s)}) * {0.3 + 0.1 * n} - 1.0)"
        for n, s in enumerate(_inputs)
        for np_size in [eval("*".join(["1", *(str(_SHAPES[c]) for c in s)]))]
    ]
    _names = ", ".join(f"x{n}" for n in range(len(_inputs)))
    CASES.append((f"einsum-{_e}", f"grad: lambda {_names}: tf.einsum('{_e}', {_names}) ** 2 @ {', '.join(_arrays)}"))
for _e, _shapes in [
    ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 4)]), ("...ij,jk->...ik", [(2, 2, 3), (3, 4)]),
    ("i...,i...->...", [(2, 3), (2, 3)]), ("...->...", [(2, 3)]),
    ("...i->...", [(2, 3)]), ("...ij->...ji", [(2, 2, 3)]), ("i...->i", [(2,)]), ("...ii->...i", [(2, 3, 3)]),
    ("...i,...i->...", [(2, 3), (3,)]), ("...,...->...", [(1, 3), (2, 1)]),
    ("b...i,...ij->b...j", [(2, 4, 3), (4, 3, 2)]),
    ("...ij,...kj->...ik", [(1, 2, 3), (2, 4, 3)]), ("...i", [(2, 3)]), ("i...j,jk...->i...k", [(2, 2, 3), (3, 4, 2)]),
    ("...ij,...jk,...kl->...il", [(2, 2, 3), (3, 4), (2, 4, 2)]), ("...i,...j->...ij", [(2, 2), (1, 3)]),
]:  # fmt: skip
    _names = ", ".join(f"x{n}" for n in range(len(_shapes)))
    _arrays = ", ".join(
        f"np.arange({float(eval('*'.join(map(str, s))))}).reshape({s}) * 0.3 - 1.0" for s in _shapes
    )
    CASES.append((f"einsum-{_e}-{_shapes}", f"grad: lambda {_names}: tf.einsum('{_e}', {_names}) ** 2 @ {_arrays}"))
