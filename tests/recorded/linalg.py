"""Linear algebra, compared with TensorFlow; for eigenvectors and singular vectors only the modulus."""

A = "tf.constant([[4.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.3, 0.6, 2.0]], tf.float64)"
S = "tf.constant([[4.0, 1.0, 0.5], [1.0, 3.0, -0.4], [0.5, -0.4, 1.5]], tf.float64)"
T = "tf.constant([[1.0, 0.4], [-0.6, 1.3], [0.8, 2.0], [0.2, -0.5]], tf.float64)"
B = "tf.constant([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]], tf.float64)"
C = "tf.constant([[4 + 1j, 1 - 2j], [0.5j, 3 - 1j]], tf.complex128)"
H = "tf.constant([[4 + 0j, 1 - 2j], [1 + 2j, 3 + 0j]], tf.complex128)"
BATCH = f"tf.stack([{A}, {S}])"
EMPTY = "tf.zeros((0, 2, 2))"
RECTANGULAR = "tf.ones((2, 3))"
SINGULAR = "tf.constant([[1.0, 2.0], [2.0, 4.0]])"
V = "tf.constant([1.0, 2.0, 3.0])"
BANDS = "tf.constant([[1.0, -0.5, 9.0], [4.0, 5.0, 6.0], [9.0, 2.0, 0.5]], tf.float64)"
MATRIX = "tf.reshape(tf.range(12.0), (3, 4))"
STACK = "tf.reshape(tf.range(24.0), (2, 3, 4))"

_A = "[[4.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.3, 0.6, 2.0]]"
_S = "[[4.0, 1.0, 0.5], [1.0, 3.0, -0.4], [0.5, -0.4, 1.5]]"
_T = "[[1.0, 0.4], [-0.6, 1.3], [0.8, 2.0], [0.2, -0.5]]"
_WIDE = "[[1.0, -0.6, 0.8], [0.4, 1.3, 2.0]]"
_B = "[[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]]"
_BATCH = f"[{_A}, {_S}]"
_BANDS = "[[1.0, -0.5, 9.0], [4.0, 5.0, 6.0], [9.0, 2.0, 0.5]]"
# A complex matrix from two real ones, so that gradients of complex functions are recorded too.
_Z = "tf.complex(x, 0.3 * x * x - 0.5)"
_HERMITIAN = "tf.complex(x + tf.transpose(x), 0.3 * (x - tf.transpose(x)))"

_VALUES = {
    "adjoint": (f"adjoint({C})", f"adjoint({STACK})", "adjoint(tf.ones(3))"),
    "matrix_transpose": (
        f"matrix_transpose({STACK})",
        f"matrix_transpose({C})",
        f"matrix_transpose({C}, conjugate=True)",
        "matrix_transpose(tf.ones(()))",
    ),
    "band_part": (
        f"band_part({MATRIX}, 1, 0)",
        f"band_part({MATRIX}, -1, 1)",
        f"band_part({STACK}, 0, -1)",
        "band_part(tf.ones((2, 2), tf.bool), 0, 0)",
        f"band_part({MATRIX}, tf.constant(0), np.int64(0))",
        f"band_part({MATRIX}, 4, 0)",
        f"band_part({MATRIX}, 0, 5)",
        "band_part(tf.ones(2), 0, 0)",
        f"band_part({MATRIX}, -2, 0)",
        f"band_part({C}, 0, 0)",
        f"band_part({EMPTY}, 0, 0)",
    ),
    "cross": (
        "cross([1, 0, 0], [0, 1, 0])",
        "cross(tf.ones((2, 3)), [[1., 2., 3.], [3., 2., 1.]])",
        "cross([1., 0.], [0., 1.])",
        "cross([1., 0., 0.], [[0., 1., 0.]])",
        "cross(tf.ones((0, 3)), tf.ones((0, 3)))",
        "cross(tf.ones(3), tf.ones(3, tf.float64))",
    ),
    "diag": (
        "diag([1, 2, 3])",
        "diag([[1.0, 2.0], [3.0, 4.0]])",
        "diag([1, 2], k=1)",
        "diag([1, 2], k=-2)",
        "diag([[1, 2, 3], [4, 5, 6]], k=(-1, 0))",
        "diag([[1, 2, 3], [4, 5, 6]], k=(0, 1))",
        "diag([[1, 2, 3], [4, 5, 6]], k=(0, 1), align='LEFT_LEFT')",
        "diag([1, 2], k=1, padding_value=9)",
        "diag([1, 2], num_rows=3)",
        "diag([1, 2], k=1, num_cols=5)",
        "diag([1, 2], num_rows=2, num_cols=4)",
        "diag([1, 2], num_rows=1)",
        "diag([1., 2.], k=1, num_rows=4, num_cols=4)",
        "diag([1., 2.], k=5, num_rows=2, num_cols=2)",
        "diag([1., 2.], align='LEFT')",
        "diag(tf.constant(1.))",
        "diag([1, 2], k=[1, 0])",
        "diag([[1, 2, 3], [4, 5, 6]], k=(-1, 1))",
        "diag([1., 2.], padding_value=tf.constant(7.))",
        "diag(tf.zeros((0,)))",
    ),
    "diag_part": (
        f"diag_part({MATRIX})",
        f"diag_part({STACK})",
        f"diag_part({MATRIX}, k=2)",
        f"diag_part({MATRIX}, k=-2)",
        f"diag_part({MATRIX}, k=(-1, 2))",
        f"diag_part({MATRIX}, k=(-1, 2), padding_value=-9)",
        f"diag_part({MATRIX}, k=(-1, 2), align='LEFT_RIGHT')",
        f"diag_part({MATRIX}, k=(-2, 2), align='RIGHT_RIGHT')",
        f"diag_part({MATRIX}, k=(-2, 3), align='LEFT_LEFT', padding_value=1)",
        f"diag_part({STACK}, k=(1, 3))",
        f"diag_part({MATRIX}, k=4)",
        f"diag_part({MATRIX}, k=(1, 0))",
        "diag_part(tf.ones(3))",
        f"diag_part({MATRIX}, k=-3)",
        f"diag_part({MATRIX}, k=tf.constant([0, 1]))",
    ),
    "set_diag": (
        "set_diag(tf.zeros((2, 3)), [1., 2.], k=1)",
        "set_diag(tf.zeros((2, 3)), [1., 2., 3.])",
        "set_diag(tf.zeros((2, 3)), [[1., 2.], [3., 4.]], k=(0, 1))",
        f"set_diag({STACK}, tf.ones((2, 3)))",
        "set_diag(tf.zeros((3, 3)), [[9., 1., 2.], [3., 4., 5.], [6., 7., 9.]], k=(-1, 1))",
        "set_diag(tf.zeros((3, 3)), [[9., 1., 2.], [3., 4., 5.], [6., 7., 9.]], k=(-1, 1), align='LEFT_RIGHT')",
        "set_diag(tf.zeros((2, 3)), [1., 2.], k=3)",
    ),
    "tensor_diag": ("tensor_diag([1, 2])", "tensor_diag([[1., 2.], [3., 4.]])", "tensor_diag(tf.constant(1.))"),
    "tensor_diag_part": (
        f"tensor_diag_part({SINGULAR})",
        "tensor_diag_part(tf.reshape(tf.range(36), (2, 3, 2, 3)))",
        "tensor_diag_part(tf.ones((2, 2, 2)))",
        "tensor_diag_part(tf.ones((2, 3)))",
    ),
    "cholesky": (
        f"cholesky({S})",
        f"cholesky({H})",
        f"cholesky(tf.stack([{S}, 2 * {S}]))",
        f"cholesky({RECTANGULAR})",
        "cholesky(tf.ones(2))",
        "cholesky(tf.constant([[4., 100.], [2., 5.]]))",
        f"cholesky({EMPTY})",
        "cholesky([[1, 2], [2, 9]])",
        "tf.linalg.band_part(tf.linalg.cholesky(-tf.eye(2)), -1, 0)",
        "cholesky(tf.cast(tf.eye(2), tf.float16))",
    ),
    "cholesky_solve": (
        f"cholesky_solve(tf.linalg.cholesky({S}), {B})",
        f"cholesky_solve(tf.linalg.cholesky({H}), {C})",
        "cholesky_solve(tf.eye(2), tf.ones((3, 2, 1)))",
        "cholesky_solve(tf.eye(2), tf.ones((3, 1)))",
    ),
    "det": (
        "det([[[np.inf, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, np.nan]], [[np.inf, 1.0], [0.0, 2.0]]])",
        f"det({A})",
        f"det({BATCH})",
        f"det({C})",
        f"det({RECTANGULAR})",
        f"det({SINGULAR})",
        "det(tf.zeros((0, 0)))",
        f"det({EMPTY})",
        "det(tf.ones(3))",
    ),
    "slogdet": (
        f"slogdet({A})",
        f"slogdet(-{BATCH})",
        f"slogdet({C})",
        f"slogdet({RECTANGULAR})",
        "slogdet([[[np.inf, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, np.nan]], [[np.inf, 1.0], [0.0, 2.0]]])",
    ),
    "logdet": (f"logdet({S})", f"logdet(tf.stack([{S}, {S}]))", f"logdet({H})"),
    "inv": (
        f"inv({A})",
        f"inv({A}, adjoint=True)",
        f"inv({BATCH})",
        f"inv({C})",
        f"inv({C}, adjoint=True)",
        f"inv({SINGULAR})",
        f"inv({RECTANGULAR})",
        "inv(tf.ones(2))",
        "inv([[1, 2], [3, 4]])",
        f"inv({EMPTY})",
        "inv(tf.zeros((0, 0)))",
        "inv(tf.constant([[2., 0.], [1., 4.]], tf.float16))",
        "inv(tf.cast(tf.eye(2), tf.bfloat16))",
    ),
    "solve": (
        f"solve({A}, {B})",
        f"solve({A}, {B}, adjoint=True)",
        f"solve({C}, {H})",
        f"solve({C}, {H}, adjoint=True)",
        f"solve({BATCH}, tf.stack([{B}, {B}]))",
        f"solve({SINGULAR}, tf.eye(2))",
        "solve(tf.eye(2), tf.ones((3, 1)))",
        "solve(tf.eye(2)[None], tf.ones((3, 2, 1)))",
        "solve(tf.eye(2), tf.ones(2))",
        f"solve({RECTANGULAR}, tf.ones((2, 1)))",
        "solve(tf.eye(2), tf.eye(2, dtype=tf.float64))",
        f"solve({EMPTY}, tf.zeros((0, 2, 1)))",
        "solve(tf.eye(2), tf.ones((2, 0)))",
    ),
    "triangular_solve": (
        f"triangular_solve({A}, {B})",
        f"triangular_solve({A}, {B}, lower=False)",
        f"triangular_solve({A}, {B}, adjoint=True)",
        f"triangular_solve({C}, {H}, lower=False, adjoint=True)",
        f"triangular_solve({A}, tf.stack([{B}, {B}]))",
        f"triangular_solve({BATCH}, {B})",
        "triangular_solve(tf.eye(2), tf.ones((3, 1)))",
        "triangular_solve(tf.eye(2), tf.ones(2))",
        f"triangular_solve({RECTANGULAR}, tf.ones((3, 1)))",
    ),
    "eigvalsh": (
        f"eigvalsh({S})",
        f"eigvalsh({H})",
        f"eigvalsh(tf.stack([{S}, -{S}]))",
        f"eigvalsh({A})",
        f"eigvalsh({RECTANGULAR})",
    ),
    "eigh": (
        f"eigh({S})[0]",
        f"eigh({H})[0]",
        f"tf.math.abs(tf.linalg.eigh({S})[1])",
        f"tf.math.abs(tf.linalg.eigh({H})[1])",
        f"eigh({RECTANGULAR})",
        f"tf.math.abs(tf.linalg.eigh(tf.stack([{S}, -{S}]))[1])",
        f"eigh({EMPTY})",
    ),
    "eigvals": (
        f"tf.sort(tf.math.real(tf.linalg.eigvals({S})))",
        f"tf.sort(tf.math.imag(tf.linalg.eigvals({A})))",
        f"tf.sort(tf.math.real(tf.linalg.eigvals({C})))",
        f"eigvals({RECTANGULAR})",
        "eigvals(tf.eye(2))",
    ),
    "eig": (f"tf.sort(tf.math.imag(tf.linalg.eig({A})[0]))", f"eig({RECTANGULAR})", "eig(tf.eye(2))"),
    "svd": (
        f"svd({T}, compute_uv=False)",
        f"svd({C}, compute_uv=False)",
        f"svd({T})[0]",
        f"tf.math.abs(tf.linalg.svd({T})[1])",
        f"tf.math.abs(tf.linalg.svd({T})[2])",
        f"tf.math.abs(tf.linalg.svd({C})[2])",
        f"[x.shape for x in tf.linalg.svd({T}, full_matrices=True)]",
        f"svd({BATCH})[0]",
        "svd(tf.ones(2))",
        "svd(tf.fill((2, 2), np.nan))[0]",
        "svd(tf.zeros((2, 3)))[0]",
        f"[x.dtype.name for x in tf.linalg.svd({C})]",
    ),
    "qr": (
        f"tf.math.abs(tf.linalg.qr({T})[0])",
        f"tf.math.abs(tf.linalg.qr({T})[1])",
        f"tf.math.abs(tf.linalg.qr({T}, full_matrices=True)[1])",
        f"[x.shape for x in tf.linalg.qr(tf.transpose({T}), full_matrices=True)]",
        f"tf.math.abs(tf.linalg.qr({C})[1])",
        f"tf.linalg.qr({T}).r.shape",
        "qr(tf.ones(3))",
    ),
    "lu": (
        f"lu({A})",
        f"lu({A}[::-1])",
        f"lu({BATCH})",
        f"lu({C})",
        f"lu({A}, output_idx_type=tf.int64)",
        f"lu({SINGULAR})",
        f"lu({RECTANGULAR})",
        f"lu({A}).p",
    ),
    "lu_reconstruct": (f"lu_reconstruct(*tf.linalg.lu({A}[::-1]))", f"lu_reconstruct(*tf.linalg.lu({BATCH}))"),
    "lu_solve": (
        f"lu_solve(*tf.linalg.lu({A}[::-1]), rhs={B})",
        f"lu_solve(*tf.linalg.lu({BATCH}), rhs=tf.stack([{B}, {B}]))",
        "lu_solve(tf.eye(2), [0, 1], tf.ones(2))",
    ),
    "lu_matrix_inverse": (f"lu_matrix_inverse(*tf.linalg.lu({A}[::-1]))", f"lu_matrix_inverse(*tf.linalg.lu({BATCH}))"),
    "lstsq": (
        f"lstsq({T}, tf.ones((4, 1), tf.float64))",
        f"lstsq(tf.transpose({T}), tf.ones((2, 1), tf.float64))",
        f"lstsq({T}, tf.ones((4, 2), tf.float64), l2_regularizer=0.5)",
        f"lstsq(tf.transpose({T}), tf.ones((2, 1), tf.float64), 0.5)",
        f"lstsq({T}, tf.ones((4, 1), tf.float64), fast=False)",
        f"lstsq({C}, {H})",
        "lstsq(tf.ones((3, 2)), tf.ones((3, 1)), fast=False)",
        "lstsq(tf.zeros((3, 2)), tf.ones((3, 1)), fast=False)",
        f"lstsq(tf.transpose({T}), tf.ones((2, 1), tf.float64), fast=False)",
    ),
    "pinv": (
        f"pinv({T})",
        f"pinv(tf.transpose({T}))",
        f"pinv({SINGULAR})",
        f"pinv({BATCH}, rcond=[0.5, 0.1])",
        "pinv(tf.ones(3))",
        "pinv([[1, 2], [3, 4]])",
    ),
    "matrix_rank": (
        f"matrix_rank({SINGULAR}, tol=[[0.1], [1.0], [100.0]])",
        f"matrix_rank({SINGULAR})",
        f"matrix_rank({BATCH})",
        "matrix_rank([[1, 2], [3, 4]])",
        f"matrix_rank(tf.stack([{SINGULAR}, tf.eye(2)]), tol=[0.1, 3.])",
        "matrix_rank(tf.ones(3))",
        f"matrix_rank({S}, tol=2.0)",
    ),
    "expm": (
        f"expm({A})",
        f"expm({BATCH})",
        f"expm({C})",
        "expm([[0., 1.], [0., 0.]])",
        f"expm({EMPTY})",
        "expm([[1, 2], [3, 4]])",
        f"expm({RECTANGULAR})",
        f"expm(10 * {A})",
    ),
    "logm": (f"logm({H})", f"logm(tf.stack([{H}, {C}]))", "logm(tf.eye(2))"),
    "sqrtm": (
        f"sqrtm({A})",
        f"sqrtm({BATCH})",
        f"sqrtm({C})",
        "sqrtm(-tf.eye(2))",
        "sqrtm(tf.constant([[0., 1.], [-1., 0.]]))",
        f"sqrtm({RECTANGULAR})",
    ),
    "banded_triangular_solve": (
        "banded_triangular_solve([[2., 3., 4.], [9., 1., 1.]], [[1.], [2.], [3.]])",
        "banded_triangular_solve([[1., 1., 9.], [2., 3., 4.]], [[1.], [2.], [3.]], lower=False)",
        "banded_triangular_solve([[2., 3., 4.], [9., 1., 1.]], [[1.], [2.], [3.]], adjoint=True)",
        "banded_triangular_solve([[1., 1., 9.], [2., 3., 4.]], [[1.], [2.], [3.]], lower=False, adjoint=True)",
        "banded_triangular_solve([[2., 3., 4.], [9., 1., 1.]], [1., 2., 3.])",
        "banded_triangular_solve([[0., 3., 4.], [9., 1., 1.]], [[1.], [2.], [3.]])",
        "banded_triangular_solve([[2., 3., 4.], [9., 1., 1.]], [[1.], [2.]])",
    ),
    "tridiagonal_solve": (
        f"tridiagonal_solve({BANDS}, tf.constant([1., 2., 3.], tf.float64))",
        f"tridiagonal_solve({BANDS}, {B})",
        f"tridiagonal_solve({BANDS}, tf.transpose({B}), transpose_rhs=True)",
        f"tridiagonal_solve({S}, {B}, diagonals_format='matrix')",
        f"tridiagonal_solve(({V}[:2], 4 + {V}, {V}[:2]), {V}, 'sequence')",
        f"tridiagonal_solve(({V}, 4 + {V}, -{V}), {V}, 'sequence')",
        "tridiagonal_solve(tf.zeros((3, 3)), tf.ones(3))",
        f"tridiagonal_solve({BANDS}, {B}, diagonals_format='x')",
        "tridiagonal_solve(tf.ones((3, 2)), tf.ones(3))",
        "tridiagonal_solve(tf.ones((1, 3, 2)), tf.ones((2, 2, 1)))",
        f"tridiagonal_solve({BANDS}, {B}, partial_pivoting=False)",
        "tridiagonal_solve(tf.ones((3, 1)), tf.ones(1))",
        f"tridiagonal_solve(tf.stack([{BANDS}, {BANDS}]), {B}[None] * tf.ones((2, 1, 1), tf.float64))",
        "tridiagonal_solve(tf.ones((2, 3)), tf.ones(3))",
    ),
    "tridiagonal_matmul": (
        f"tridiagonal_matmul({BANDS}, {B})",
        f"tridiagonal_matmul({S}, {B}, diagonals_format='matrix')",
        "tridiagonal_matmul((tf.ones(3), tf.ones(3), tf.ones(3)), tf.ones((3, 1)), diagonals_format='sequence')",
        "tridiagonal_matmul((tf.ones(2), tf.ones(3), tf.ones(2)), tf.ones((3, 1)), diagonals_format='sequence')",
        "tridiagonal_matmul(tf.ones((3, 3)), tf.ones(3))",
    ),
    "eigh_tridiagonal": (
        "eigh_tridiagonal(tf.constant([1., 2., 3.], tf.float64), tf.constant([1., -1.], tf.float64))",
        "eigh_tridiagonal([1., 2., 3.], [1., 1.], select='i', select_range=(1, 2))",
        "eigh_tridiagonal([1., 2., 3.], [1., 1.], select='v', select_range=(0.5, 2.5))",
        "eigh_tridiagonal([0., 0., 0.], [2., 0.], select='v', select_range=(-2.0, 0.0))",
        "eigh_tridiagonal([1., 2., 3.], [1., 1.], select='q')",
        f"tf.math.abs(tf.linalg.eigh_tridiagonal({V}, {V}[1:], eigvals_only=False)[1])",
        "eigh_tridiagonal(tf.constant([1., 2.], tf.complex128), tf.constant([1 + 2j], tf.complex128))",
        "eigh_tridiagonal(tf.ones(3), tf.ones(2, tf.float64))",
    ),
}

_NOT_FINITE = {"nan": "tf.fill((2, 2), np.nan)", "inf": "tf.fill((2, 2), np.inf)", "large": "1e30 * tf.eye(2)"}
_BEYOND = [
    (f"{name}-{kind}", f"tf.linalg.{name}({x})")
    for kind, x in _NOT_FINITE.items()
    for name in ("det", "inv", "eigvalsh", "eigvals", "svd", "pinv", "matrix_rank", "sqrtm")
] + [
    ("cholesky-nan", "tf.linalg.cholesky(tf.fill((2, 2), np.nan))"),
    ("lu-nan", "tf.linalg.lu(tf.fill((2, 2), np.nan))"),
    ("triangular_solve-singular", "tf.linalg.triangular_solve([[0.0, 0.0], [1.0, 1.0]], tf.eye(2))"),
    ("logm-real-part-singular", "tf.math.real(tf.linalg.logm(tf.zeros((2, 2), tf.complex64)))"),
    ("slogdet-singular", "tf.linalg.slogdet(tf.zeros((2, 2)))"),
]

# The differentiated function does not depend on the signs of vectors: a weighted sum of squares, or of a product.
_W = "tf.constant([[1.0, -2.0, 0.5], [0.3, 1.5, -1.0], [2.0, 0.7, 0.1]], tf.float64)"
_U = "tf.constant([[1.0, -2.0], [0.3, 1.5], [2.0, 0.7], [-0.4, 0.6]], tf.float64)"
_GRADIENTS = {
    "adjoint": (f"lambda x: {_W} * tf.linalg.adjoint(x) @ {_A}",),
    "band_part": (f"lambda x: {_W} * tf.linalg.band_part(x, 1, 0) @ {_A}",),
    "cross": ("lambda a, b: tf.linalg.cross(a, b) * [1., 2., 3.] @ [1., 0., 2.], [3., -1., 0.5]",),
    "diag": ("lambda x: tf.linalg.diag(x, k=(-1, 0)) ** 2 @ [[1., 2., 3.], [4., 5., 6.]]",),
    "diag_part": (f"lambda x: tf.linalg.diag_part(x, k=(-1, 1), padding_value=5.) ** 2 @ {_A}",),
    "set_diag": (f"lambda x, d: tf.linalg.set_diag(x, d) ** 2 @ {_A}, [1., 2., 3.]",),
    "tensor_diag": ("lambda x: tf.linalg.tensor_diag(x) ** 2 @ [[1., 2.], [3., 4.]]",),
    "tensor_diag_part": ("lambda x: tf.linalg.tensor_diag_part(x) ** 2 @ [[1., 2.], [3., 4.]]",),
    "cholesky": (
        f"lambda x: {_W} * tf.linalg.cholesky(x) @ {_S}",
        f"lambda x: {_W} * tf.abs(tf.linalg.cholesky({_HERMITIAN})) @ {_A}",
    ),
    "cholesky_solve": (f"lambda a, b: tf.linalg.cholesky_solve(a, b) ** 2 @ {_A}, {_B}",),
    "det": ("lambda x: tf.linalg.det(x) @ " + _A, "lambda x: tf.linalg.det(x) @ " + _BATCH),
    "qr of complex matrices": (
        f"lambda x: tf.math.real(tf.linalg.qr({_Z})[0] ** 2) @ {_A}",
        f"lambda x: tf.math.real(tf.linalg.qr({_Z})[1] ** 2) @ {_A}",
        f"lambda x: tf.math.imag(tf.linalg.qr({_Z})[0][:, 1]) @ {_A}",
    ),
    "slogdet": (
        f"lambda x: tf.linalg.slogdet(x)[1] @ {_BATCH}",
        f"lambda x: tf.linalg.slogdet(x)[0] @ {_A}",
        f"lambda x: tf.math.real(tf.linalg.slogdet({_Z})[1]) @ {_A}",
    ),
    "logdet": (f"lambda x: tf.linalg.logdet(x) @ {_S}",),
    "inv": (
        f"lambda x: {_W} * tf.linalg.inv(x) @ {_BATCH}",
        f"lambda x: {_W} * tf.math.imag(tf.linalg.inv({_Z}, adjoint=True)) @ {_A}",
    ),
    "solve": (
        f"lambda a, b: tf.linalg.solve(a, b) ** 2 @ {_A}, {_B}",
        f"lambda a, b: tf.linalg.solve(a, b, adjoint=True) ** 2 @ {_A}, {_B}",
        f"lambda x, b: tf.abs(tf.linalg.solve({_Z}, tf.complex(b, 2 * b))) @ {_A}, {_B}",
        f"lambda x, b: tf.math.imag(tf.linalg.solve({_Z}, tf.complex(b, 2 * b), adjoint=True)) @ {_A}, {_B}",
    ),
    "triangular_solve": (
        f"lambda a, b: tf.linalg.triangular_solve(a, b) ** 2 @ {_A}, {_B}",
        f"lambda a, b: tf.linalg.triangular_solve(a, b, lower=False, adjoint=True) ** 2 @ {_A}, {_B}",
        f"lambda a, b: tf.linalg.triangular_solve(a, b) ** 2 @ {_BATCH}, {_B}",
        f"lambda x, b: tf.math.imag(tf.linalg.triangular_solve({_Z}, tf.complex(b, 2 * b), adjoint=True)) @ {_A}, {_B}",
    ),
    "eigvalsh": (
        f"lambda x: [1., 2., 4.] * tf.linalg.eigvalsh(x) @ {_S}",
        f"lambda x: [1., 2., 4.] * tf.math.real(tf.linalg.eigvalsh({_HERMITIAN})) @ {_A}",
    ),
    "eigh": (
        f"lambda x: {_W} * tf.linalg.eigh(x)[1] ** 2 @ {_S}",
        f"lambda x: tf.linalg.eigh(x)[0] ** 2 @ {_S}",
        f"lambda x: {_W} * tf.abs(tf.linalg.eigh({_HERMITIAN})[1]) ** 2 @ {_A}",
    ),
    "eigvals": (
        "lambda x: tf.reduce_sum(tf.math.real(tf.linalg.eigvals(x) ** 3)) @ " + _A,
        "lambda x: tf.reduce_sum(tf.abs(tf.linalg.eigvals(x)) ** 3) @ " + _A,
    ),
    "eig": (
        "lambda x: tf.reduce_sum(tf.abs(tf.linalg.eig(x)[1][0]) ** 4) @ " + _A,
        "lambda x: tf.reduce_sum(tf.math.real(tf.linalg.eig(x)[0] ** 3)) @ " + _A,
    ),
    "svd": (
        f"lambda x: [1., 3.] * tf.linalg.svd(x, compute_uv=False) @ {_T}",
        f"lambda x: {_U} * tf.linalg.svd(x)[1] ** 2 @ {_T}",
        f"lambda x: {_U}[:2] * tf.linalg.svd(x)[2] ** 2 @ {_T}",
        f"lambda x: {_U}[:3] * tf.linalg.svd(x)[2] ** 2 @ {_WIDE}",
        f"lambda x: {_U}[:2] * tf.linalg.svd(x)[1] ** 2 @ {_WIDE}",
        f"lambda x: {_W} * tf.linalg.svd(x, full_matrices=True)[2] ** 2 @ {_WIDE}",
        f"lambda x: {_W} * tf.abs(tf.linalg.svd({_Z})[1]) ** 2 @ {_A}",
        f"lambda x: tf.linalg.svd(x, full_matrices=True)[1] @ {_T}",
        f"lambda x: [1., 3., 5.] * tf.linalg.svd({_Z}, compute_uv=False) @ {_A}",
    ),
    "qr": (
        f"lambda x: {_W} * tf.linalg.qr(x)[0] ** 2 @ {_A}",
        f"lambda x: tf.linalg.qr(x)[1] ** 2 * [1., 3.] @ {_T}",
        f"lambda x: tf.linalg.qr(x)[1] ** 2 * [1., 3., 2.] @ {_WIDE}",
        f"lambda x: tf.linalg.qr(x, full_matrices=True)[0] @ {_T}",
        f"lambda x: tf.linalg.qr(x)[0] ** 2 * {_U}[:2] @ {_WIDE}",
    ),
    "lu_solve": (f"lambda x, b: tf.linalg.lu_solve(x, [1, 0, 2], b) ** 2 @ {_A}, {_B}",),
    "lu_reconstruct": (f"lambda x: tf.linalg.lu_reconstruct(x, [1, 0, 2]) ** 2 @ {_A}",),
    "lu_matrix_inverse": (f"lambda x: tf.linalg.lu_matrix_inverse(x, [1, 0, 2]) ** 2 @ {_A}",),
    "lstsq": (
        f"lambda a, b: tf.linalg.lstsq(a, b) ** 2 @ {_T}, [[1.], [2.], [3.], [-1.]]",
        f"lambda a, b: tf.linalg.lstsq(a, b, l2_regularizer=0.5) ** 2 @ {_WIDE}, [[1.], [2.]]",
    ),
    "pinv": (f"lambda a: tf.linalg.pinv(a) ** 2 @ {_T}", f"lambda a: tf.linalg.pinv(a) ** 2 @ {_WIDE}"),
    "expm": (
        f"lambda x: {_W} * tf.linalg.expm(x) @ {_A}",
        f"lambda x: {_W} * tf.math.imag(tf.linalg.expm({_Z})) @ {_BATCH}",
    ),
    "sqrtm": (f"lambda x: {_W} * tf.linalg.sqrtm(x) @ {_A}",),
    "banded_triangular_solve": (
        "lambda a, b: tf.linalg.banded_triangular_solve(a, b) ** 2 @ [[2., 3., 4.], [9., 1., 1.]], [[1.], [2.], [3.]]",
        f"lambda a, b: tf.linalg.banded_triangular_solve(a[:2], b, lower=False, adjoint=True) ** 2 @ {_BANDS}, {_B}",
    ),
    "tridiagonal_solve": (
        f"lambda a, b: tf.linalg.tridiagonal_solve(a, b) ** 2 @ {_BANDS}, {_B}",
        f"lambda a, b: tf.linalg.tridiagonal_solve(a, b) ** 2 @ {_BANDS}, [1., 2., 3.]",
    ),
    "tridiagonal_matmul": (f"lambda a, b: tf.linalg.tridiagonal_matmul(a, b) ** 2 @ {_BANDS}, {_B}",),
    "matrix_rank": (f"lambda x: tf.cast(tf.linalg.matrix_rank(x), tf.float64) @ {_A}",),
}

CASES = (
    [
        (f"{name}-{i}", source if source.startswith(("tf.", "[")) else f"tf.linalg.{source}")
        for name, sources in _VALUES.items()
        for i, source in enumerate(sources)
    ]
    + _BEYOND
    + [
        (f"{name}-gradient-{i}", f"grad: {source}")
        for name, sources in _GRADIENTS.items()
        for i, source in enumerate(sources)
    ]
)
