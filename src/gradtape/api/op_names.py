"""TensorFlow's names of ops whose gradtape names differ in more than letter case.

The listings of a function's graph and the graphs of SavedModels use these names.
"""

from ..graph.ir.operations import types

NAMES = {
    "add": "AddV2", "argmax": "ArgMax", "argmin": "ArgMin", "cholesky": "Cholesky", "concat": "ConcatV2",
    "det": "MatrixDeterminant", "div": "RealDiv", "divide_no_nan": "DivNoNan", "floordiv": "FloorDiv",
    "gather": "GatherV2", "half_square": "L2Loss", "hermitian": "Identity", "inv": "MatrixInverse",
    "logical_xor": "NotEqual", "logm": "MatrixLogarithm", "mod": "FloorMod", "multiply_no_nan": "MulNoNan",
    "nextafter": "NextAfter", "nonzero": "Where", "pad": "PadV2", "power_0": "OnesLike", "power_1": "Identity",
    "power_2": "Square", "power_half": "Sqrt", "reverse": "ReverseV2", "slice": "StridedSlice",
    "slogdet": "LogMatrixDeterminant", "solve": "MatrixSolve", "sqrtm": "MatrixSquareRoot", "stack": "Pack",
    "truncatediv": "TruncateDiv", "truncatemod": "TruncateMod", "unstack": "Unpack", "where": "SelectV2",
}  # fmt: skip
types.update(NAMES)
