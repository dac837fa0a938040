# Written by tools/write_stubs.py.
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import AxisLike, TensorLike
from gradtape.api.arrays.creation import (
    eye as eye,
)
from gradtape.api.linalg.banded import (
    banded_triangular_solve as banded_triangular_solve,
    eigh_tridiagonal as eigh_tridiagonal,
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
from gradtape.api.linalg.decompositions import (
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    expm as expm,
    logm as logm,
    lu as lu,
    qr as qr,
    sqrtm as sqrtm,
    svd as svd,
)
from gradtape.api.linalg.operators.basis.base import (
    LinearOperator as LinearOperator,
)
from gradtape.api.linalg.operators.block_triangular import (
    LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
)
from gradtape.api.linalg.operators.blocks import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from gradtape.api.linalg.operators.circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from gradtape.api.linalg.operators.composition import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from gradtape.api.linalg.operators.diag import (
    LinearOperatorDiag as LinearOperatorDiag,
)
from gradtape.api.linalg.operators.householder import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from gradtape.api.linalg.operators.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from gradtape.api.linalg.operators.kronecker import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from gradtape.api.linalg.operators.low_rank import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from gradtape.api.linalg.operators.toeplitz import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from gradtape.api.linalg.operators.triangular import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from gradtape.api.linalg.operators.tridiag import (
    LinearOperatorTridiag as LinearOperatorTridiag,
)
from gradtape.api.linalg.operators.wrapping import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorInversion as LinearOperatorInversion,
)
from gradtape.api.linalg.operators.zeros import (
    LinearOperatorZeros as LinearOperatorZeros,
)
from gradtape.api.linalg.solvers import (
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    lstsq as lstsq,
    lu_matrix_inverse as lu_matrix_inverse,
    lu_reconstruct as lu_reconstruct,
    lu_solve as lu_solve,
    matrix_rank as matrix_rank,
    pinv as pinv,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from gradtape.api.linalg.structure import (
    adjoint as adjoint,
    band_part as band_part,
    cross as cross,
    diag as diag,
    diag_part as diag_part,
    matrix_transpose as matrix_transpose,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
)
from gradtape.api.math.clipping import (
    global_norm as global_norm,
)
from gradtape.api.math.contraction import (
    einsum as einsum,
    matmul as matmul,
    matvec as matvec,
    tensordot as tensordot,
)
from gradtape.api.math.reductions import (
    l2_normalize as l2_normalize,
    normalize as normalize,
    trace as trace,
)
def norm(tensor: TensorLike, ord: str | float = ..., axis: AxisLike | None = ..., keepdims: bool | None = ..., name: str | None = ..., keep_dims: bool | None = ...) -> Tensor: ...
