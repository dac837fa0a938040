"""`tf.raw_ops`: every op of the table, on small values, and gradients through them."""

import inspect

UNARY = {
    "[-0.75, 0.25, 0.5]": """
        Abs Acos Asin Asinh Atan Atanh BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 Ceil Cos Cosh Dawsn
        DeepCopy Erf Erfc Erfinv Exp Expm1 Floor FresnelCos FresnelSin Inv IsFinite IsInf IsNan Log1p Neg OnesLike
        Reciprocal Rint Round Sigmoid Sign Sin Sinh Square Tan Tanh ZerosLike
    """,
    "[0.25, 0.5, 0.75]": """
        BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Digamma Expint Lgamma Log Ndtri Rsqrt Spence Sqrt
    """,
    "[1.25, 2.5]": "Acosh",
    "[1, -4]": "Invert",
    "[2, 0, 1]": "InvertPermutation",
    "[True, False]": "LogicalNot",
}
BINARY = {
    "[1.5, -2.0, 7.0], [2.0, 3.0, -2.5]": """
        Add AddV2 Div DivNoNan FloorDiv FloorMod Greater GreaterEqual Less LessEqual Maximum Minimum Mod Mul MulNoNan
        RealDiv SquaredDifference Sub TruncateMod
    """,
    "[1.5, 0.0], [2.0, 3.0]": "Pow Xdivy Xlog1py Xlogy",
    "[6, -5, 7], [3, 2, -2]": "BitwiseAnd BitwiseOr BitwiseXor Div FloorDiv FloorMod Mod TruncateDiv TruncateMod",
    "[6, 5], [3, 2]": "LeftShift RightShift",
    "[True, False], [True, True]": "LogicalAnd LogicalOr",
}
SUMS = "Max Mean Min Prod Sum EuclideanNorm"
SPARSE = "indices=[[0, 1], [1, 0]], values=[2.0, 3.0], shape=tf.constant([2, 2], tf.int64)"
IMAGE = "np.arange(32.0).reshape(1, 4, 4, 2).astype(np.float32) % 7"
VOLUME = "(np.arange(27.0) * 7 % 27).reshape(1, 3, 3, 3, 1).astype(np.float32)"
FILTER = "np.arange(16.0).reshape(2, 2, 2, 2).astype(np.float32) % 3"
RGB = "np.arange(12.0).reshape(1, 2, 2, 3).astype(np.float32) / 12"

# Ops with their own arguments: `Name(arguments)`.
OTHERS = f"""
Igamma(a=[1.5], x=[0.5])
Igammac(a=[1.5], x=[0.5])
Polygamma(a=[1.0], x=[0.5])
Betainc(a=[1.5], b=[2.0], x=[0.5])
Zeta(x=[2.0], q=[1.5])
Atan2(y=[1.0], x=[-2.0])
NextAfter(x1=[1.0], x2=[2.0])
Elu(features=[-1.0, 2.0])
Relu(features=[-1.0, 2.0])
Relu6(features=[-1.0, 8.0])
Selu(features=[-1.0, 2.0])
Softplus(features=[-1.0, 2.0])
Softsign(features=[-1.0, 2.0])
LogSoftmax(logits=[[1.0, 2.0]])
Softmax(logits=[[1.0, 2.0]])
All(input=[[True, False]], axis=1)
Any(input=[[True, False]], axis=1, keep_dims=True)
Cumprod(x=[1.0, 2.0, 3.0], axis=0, exclusive=True)
Cumsum(x=[1.0, 2.0, 3.0], axis=0, reverse=True)
CumulativeLogsumexp(x=[1.0, 2.0, 3.0], axis=0)
ArgMax(input=[[1.0, 3.0]], dimension=1)
ArgMin(input=[[1.0, 3.0]], dimension=1, output_type=tf.int32)
Relu6Grad(gradients=[1.0, 2.0, 3.0], features=[-1.0, 2.0, 7.0])
ReluGrad(gradients=[1.0, 2.0], features=[-1.0, 2.0])
SoftplusGrad(gradients=[1.0, 2.0], features=[-1.0, 2.0])
SoftsignGrad(gradients=[1.0, 2.0], features=[-1.0, 2.0])
EluGrad(gradients=[1.0, 2.0], outputs=[-0.5, 2.0])
SeluGrad(gradients=[1.0, 2.0], outputs=[-0.5, 2.0])
InvGrad(y=[1.5], dy=[2.0])
ReciprocalGrad(y=[1.5], dy=[2.0])
RsqrtGrad(y=[1.5], dy=[2.0])
SigmoidGrad(y=[0.25], dy=[2.0])
SqrtGrad(y=[1.5], dy=[2.0])
TanhGrad(y=[0.25], dy=[2.0])
LeakyRelu(features=[-1.0, 2.0], alpha=0.1)
LeakyReluGrad(gradients=[1.0, 2.0], features=[-1.0, 2.0], alpha=0.1)
Angle(input=np.array([1 + 1j], np.complex64))
Complex(real=[1.0], imag=[2.0])
ComplexAbs(x=np.array([3 + 4j], np.complex64))
Conj(input=np.array([3 + 4j], np.complex64))
Imag(input=np.array([3 + 4j], np.complex64))
Real(input=np.array([3 + 4j], np.complex64))
ApproximateEqual(x=[1.0, 2.0], y=[1.0, 2.1], tolerance=0.01)
Cast(x=[1.7], DstT=tf.int32)
ClipByValue(t=[1.0, 5.0], clip_value_min=2.0, clip_value_max=3.0)
Equal(x=[1, 2], y=[1, 3])
NotEqual(x=[1, 2], y=[1, 3])
AddN(inputs=[[1.0], [2.0]])
BatchToSpace(input=np.arange(4.0).reshape(4, 1, 1, 1), crops=[[0, 0], [0, 0]], block_size=2)
BatchToSpaceND(input=np.arange(4.0).reshape(4, 1, 1, 1), block_shape=[2, 2], crops=[[0, 0], [0, 0]])
SpaceToBatch(input=np.arange(4.0).reshape(1, 2, 2, 1), paddings=[[0, 0], [0, 0]], block_size=2)
SpaceToBatchND(input=np.arange(4.0).reshape(1, 2, 2, 1), block_shape=[2, 2], paddings=[[0, 0], [0, 0]])
DepthToSpace(input=np.arange(4.0).reshape(1, 1, 1, 4), block_size=2)
SpaceToDepth(input=np.arange(4.0).reshape(1, 2, 2, 1), block_size=2)
Bitcast(input=[1.0], type=tf.int32)
BroadcastArgs(s0=[2, 1], s1=[3])
BroadcastTo(input=[1.0], shape=[2, 3])
Bucketize(input=[[0.5, 1.0], [2.5, 9.0]], boundaries=[1.0, 2.0, 3.0])
CheckNumerics(tensor=[1.0], message='bad')
CheckNumericsV2(tensor=[float('nan')], message='bad')
Concat(concat_dim=0, values=[[1.0], [2.0]])
ConcatV2(values=[[[1.0]], [[2.0]]], axis=1)
ConjugateTranspose(x=np.array([[1j, 2]], np.complex64), perm=[1, 0])
Copy(input=[1.0])
Diag(diagonal=[1.0, 2.0])
DiagPart(input=[[1.0, 2.0], [3.0, 4.0]])
DynamicPartition(data=[1.0, 2.0, 3.0], partitions=[0, 1, 0], num_partitions=2)
DynamicStitch(indices=[[0, 2], [1]], data=[[1.0, 3.0], [2.0]])
ParallelDynamicStitch(indices=[[0, 2], [1]], data=[[1.0, 3.0], [2.0]])
Empty(shape=[2], dtype=tf.float32, init=True)
EnsureShape(input=[1.0], shape=[1])
EnsureShape(input=[1.0], shape=[2])
ExpandDims(input=[1.0], axis=0)
ExtractImagePatches(images={IMAGE}, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding='VALID')
ExtractVolumePatches(input={VOLUME}, ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')
Fill(dims=[2], value=3.0)
Gather(params=[1.0, 2.0], indices=[1])
GatherNd(params=[[1.0, 2.0]], indices=[[0, 1]])
GatherV2(params=[[1.0, 2.0], [3.0, 4.0]], indices=[1], axis=1)
GatherV2(params=[[1.0, 2.0], [3.0, 4.0]], indices=[[1], [0]], axis=1, batch_dims=1)
GuaranteeConst(input=[1.0])
HistogramFixedWidth(values=[0.5, 1.5, 9.0], value_range=[0.0, 5.0], nbins=5)
Identity(input=[1.0])
IdentityN(input=[[1.0], [2]])
InplaceAdd(x=[[1.0], [2.0]], i=[1], v=[[5.0]])
InplaceSub(x=[[1.0], [2.0]], i=[1], v=[[5.0]])
InplaceUpdate(x=[[1.0], [2.0]], i=[1], v=[[5.0]])
InTopK(predictions=[[1.0, 2.0, 3.0]], targets=[1], k=2)
InTopKV2(predictions=[[1.0, 2.0, 3.0]], targets=[0], k=2)
LinSpace(start=1.0, stop=2.0, num=3)
LowerBound(sorted_inputs=[[1, 3, 5]], values=[[3, 4]])
UpperBound(sorted_inputs=[[1, 3, 5]], values=[[3, 4]], out_type=tf.int64)
MirrorPad(input=[1.0, 2.0, 3.0], paddings=[[1, 1]], mode='REFLECT')
MirrorPadGrad(input=[1.0, 2.0, 3.0, 4.0, 5.0], paddings=[[1, 1]], mode='REFLECT')
OneHot(indices=[1, 0], depth=2, on_value=5.0, off_value=1.0)
Pack(values=[[1.0], [2.0]], axis=1)
Pad(input=[1.0], paddings=[[1, 2]])
PadV2(input=[1.0], paddings=[[1, 2]], constant_values=9.0)
PreventGradient(input=[1.0])
PlaceholderWithDefault(input=[1.0], shape=[1])
Range(start=1, limit=7, delta=2)
Rank(input=[[1.0]])
Reshape(tensor=[1.0, 2.0], shape=[2, 1])
Reverse(tensor=[[1.0, 2.0]], dims=[False, True])
ReverseSequence(input=[[1.0, 2.0, 3.0]], seq_lengths=[2], seq_dim=1)
ReverseV2(tensor=[1.0, 2.0], axis=[0])
Roll(input=[1.0, 2.0, 3.0], shift=1, axis=0)
ScatterNd(indices=[[1]], updates=[5.0], shape=[3])
ScatterNdNonAliasingAdd(input=[1.0, 2.0], indices=[[1]], updates=[5.0])
Select(condition=[True, False], x=[[1.0, 2.0], [3.0, 4.0]], y=[[5.0, 6.0], [7.0, 8.0]])
Select(condition=[True, False], x=[1.0, 3.0], y=[5.0])
SelectV2(condition=[True, False], t=[1.0, 3.0], e=5.0)
Shape(input=[[1.0]])
ShapeN(input=[[1.0], [[2.0]]], out_type=tf.int64)
Size(input=[[1.0, 2.0]])
Slice(input=[1.0, 2.0, 3.0], begin=[1], size=[-1])
Snapshot(input=[1.0])
Split(axis=0, value=[1.0, 2.0], num_split=2)
SplitV(value=[1.0, 2.0, 3.0], size_splits=[1, 2], axis=0, num_split=2)
Squeeze(input=[[1.0, 2.0]])
Squeeze(input=[[[1.0, 2.0]]], axis=[0])
StopGradient(input=[1.0])
StridedSlice(input=[[1.0, 2.0], [3.0, 4.0]], begin=[0, 1], end=[2, 2], strides=[1, 1], shrink_axis_mask=2)
StridedSliceGrad(shape=[4], begin=[1], end=[3], strides=[1], dy=[5.0, 6.0])
TensorScatterAdd(tensor=[1.0, 2.0], indices=[[1]], updates=[5.0])
TensorScatterMax(tensor=[1.0, 2.0], indices=[[1]], updates=[5.0])
TensorScatterMin(tensor=[1.0, 2.0], indices=[[1]], updates=[-5.0])
TensorScatterSub(tensor=[1.0, 2.0], indices=[[1]], updates=[5.0])
TensorScatterUpdate(tensor=[1.0, 2.0], indices=[[1]], updates=[5.0])
Tile(input=[1.0], multiples=[3])
Transpose(x=[[1.0, 2.0]], perm=[1, 0])
Unpack(value=[1.0, 2.0], num=2)
UnravelIndex(indices=[3], dims=[2, 2])
Where(condition=[True, False, True])
TopKV2(input=[1.0, 3.0, 2.0], k=2)
Unique(x=[1, 1, 2])
UniqueWithCounts(x=[1, 1, 2])
IgammaGradA(a=[[0.5], [2.0]], x=[1.0, 2.0, 3.0])
UniqueV2(x=[[1, 2, 1], [3, 4, 3], [1, 2, 1]], axis=[1])
UniqueWithCountsV2(x=[[1, 2], [3, 4], [1, 2]], axis=[0])
BandedTriangularSolve(matrix=[[2.0, 3.0], [0.0, 1.0]], rhs=[[1.0], [2.0]])
BatchMatMul(x=[[[1.0, 2.0]]], y=[[[3.0, 4.0]]], adj_y=True)
BatchMatMulV2(x=[[1.0, 2.0]], y=[[3.0], [4.0]])
BatchMatMulV3(x=[[1.0, 2.0]], y=[[3.0], [4.0]], Tout=tf.float32)
Cholesky(input=[[4.0, 2.0], [2.0, 3.0]])
CholeskyGrad(l=[[2.0, 0.0], [1.0, 1.5]], grad=[[1.0, 0.0], [2.0, 3.0]])
Cross(a=[1.0, 2.0, 3.0], b=[4.0, 5.0, 7.0])
Einsum(inputs=[[[1.0, 2.0]], [[3.0], [4.0]]], equation='ij,jk->ik')
MatMul(a=[[1.0, 2.0]], b=[[3.0, 4.0]], transpose_b=True)
SparseMatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]])
MatrixBandPart(input=[[1.0, 2.0], [3.0, 4.0]], num_lower=tf.constant(0, tf.int64), num_upper=tf.constant(-1,
    tf.int64))
MatrixDeterminant(input=[[1.0, 2.0], [3.0, 4.0]])
MatrixDiag(diagonal=[1.0, 2.0])
MatrixDiagPart(input=[[1.0, 2.0], [3.0, 4.0]])
MatrixDiagPartV2(input=[[1.0, 2.0], [3.0, 4.0]], k=[0, 1], padding_value=9.0)
MatrixDiagPartV3(input=[[1.0, 2.0], [3.0, 4.0]], k=[0, 1], padding_value=9.0)
MatrixDiagV2(diagonal=[1.0], k=1, num_rows=-1, num_cols=-1, padding_value=0.0)
MatrixDiagV3(diagonal=[1.0, 2.0], k=0, num_rows=2, num_cols=3, padding_value=7.0)
MatrixInverse(input=[[1.0, 2.0], [3.0, 4.0]])
MatrixLogarithm(input=np.array([[1.0, 0.2], [0.3, 1.4]], np.complex64))
MatrixSetDiag(input=[[1.0, 2.0], [3.0, 4.0]], diagonal=[7.0, 8.0])
MatrixSetDiagV2(input=[[1.0, 2.0], [3.0, 4.0]], diagonal=[7.0], k=1)
MatrixSetDiagV3(input=[[1.0, 2.0], [3.0, 4.0]], diagonal=[7.0], k=-1)
MatrixSolve(matrix=[[1.0, 2.0], [3.0, 4.0]], rhs=[[1.0], [2.0]], adjoint=True)
MatrixSolveLs(matrix=[[1.0], [3.0]], rhs=[[1.0], [2.0]], l2_regularizer=tf.constant(0.5, tf.float64))
MatrixSquareRoot(input=[[4.0, 1.0], [0.0, 9.0]])
MatrixTriangularSolve(matrix=[[2.0, 0.0], [1.0, 4.0]], rhs=[[1.0], [2.0]])
TridiagonalMatMul(superdiag=[[1.0, 0.0]], maindiag=[[2.0, 3.0]], subdiag=[[0.0, 4.0]], rhs=[[1.0], [2.0]])
TridiagonalSolve(diagonals=[[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]], rhs=[[1.0], [2.0]])
Eig(input=[[2.0, 1.0], [0.0, 3.0]], Tout=tf.complex64, compute_v=False)[:1]
LogMatrixDeterminant(input=[[[1.0, 2.0], [3.0, 4.0]]])
Lu(input=[[1.0, 2.0], [3.0, 4.0]])
Qr(input=[[1.0], [2.0]])
SelfAdjointEigV2(input=[[2.0, 1.0], [1.0, 3.0]], compute_v=False)[:1]
Svd(input=[[1.0, 2.0], [3.0, 4.0]], compute_uv=False)[:1]
AvgPool(value={IMAGE}, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
AvgPool3D(input={VOLUME}, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')
AvgPoolGrad(orig_input_shape=[1, 2, 2, 1], grad=[[[[1.0]]]], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1],
    padding='VALID')
AvgPool3DGrad(orig_input_shape=[1, 2, 2, 2, 1], grad=np.ones((1, 1, 1, 1, 1), np.float32), ksize=[1, 2, 2, 2, 1],
    strides=[1, 1, 1, 1, 1], padding='VALID')
BiasAdd(value=[[1.0, 2.0]], bias=[3.0, 4.0])
BiasAddV1(value=[[1.0, 2.0]], bias=[3.0, 4.0])
BiasAddGrad(out_backprop=tf.constant([[1.0, 2.0], [3.0, 4.0]]))
Conv2D(input={IMAGE}, filter={FILTER}, strides=[1, 1, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 0, 0,
    1, 0, 0])
Conv2DBackpropFilter(input={IMAGE}, filter_sizes=[2, 2, 2, 1], out_backprop=np.ones((1, 3, 3, 1), np.float32),
    strides=[1, 1, 1, 1], padding='VALID')
Conv2DBackpropInput(input_sizes=[1, 4, 4, 2], filter={FILTER}, out_backprop=np.ones((1, 3, 3, 2), np.float32),
    strides=[1, 1, 1, 1], padding='VALID')
Conv3D(input={VOLUME}, filter=np.ones((2, 2, 2, 1, 1), np.float32), strides=[1, 1, 1, 1, 1], padding='SAME')
Conv3DBackpropFilterV2(input={VOLUME}, filter_sizes=[2, 2, 2, 1, 1], out_backprop=np.ones((1, 2, 2, 2, 1),
    np.float32), strides=[1, 1, 1, 1, 1], padding='VALID')
Conv3DBackpropInputV2(input_sizes=[1, 3, 3, 3, 1], filter=np.ones((2, 2, 2, 1, 1), np.float32),
    out_backprop=np.ones((1, 2, 2, 2, 1), np.float32), strides=[1, 1, 1, 1, 1], padding='VALID')
DepthwiseConv2dNative(input={IMAGE}, filter={FILTER}, strides=[1, 1, 1, 1], padding='VALID')
DepthwiseConv2dNativeBackpropFilter(input={IMAGE}, filter_sizes=[2, 2, 2, 1], out_backprop=np.ones((1, 3, 3, 2),
    np.float32), strides=[1, 1, 1, 1], padding='VALID')
DepthwiseConv2dNativeBackpropInput(input_sizes=[1, 4, 4, 2], filter={FILTER}, out_backprop=np.ones((1, 3, 3, 4),
    np.float32), strides=[1, 1, 1, 1], padding='VALID')
Dilation2D(input={IMAGE}, filter=np.ones((2, 2, 2), np.float32), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
    padding='VALID')
Dilation2DBackpropFilter(input={IMAGE}, filter=np.ones((2, 2, 2), np.float32), out_backprop=np.ones((1, 3, 3, 2),
    np.float32), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')
Dilation2DBackpropInput(input={IMAGE}, filter=np.ones((2, 2, 2), np.float32), out_backprop=np.ones((1, 3, 3, 2),
    np.float32), strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding='VALID')
L2Loss(t=[3.0, 4.0])
LRN(input={IMAGE}, depth_radius=1)
LRNGrad(input_grads=np.ones((1, 4, 4, 2), np.float32), input_image={IMAGE},
    output_image=tf.raw_ops.LRN(input={IMAGE}, depth_radius=1), depth_radius=1)
MaxPool(input={IMAGE}, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
MaxPoolV2(input={IMAGE}, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
MaxPool3D(input={VOLUME}, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')
MaxPoolGrad(orig_input={IMAGE}, orig_output=tf.nn.max_pool2d({IMAGE}, 2, 2, 'VALID'), grad=np.ones((1, 2, 2, 2),
    np.float32), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
MaxPoolGradV2(orig_input={IMAGE}, orig_output=tf.nn.max_pool2d({IMAGE}, 2, 2, 'VALID'), grad=np.ones((1, 2, 2, 2),
    np.float32), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
MaxPool3DGrad(orig_input={VOLUME}, orig_output=tf.nn.max_pool3d({VOLUME}, 2, 1, 'VALID'), grad=np.ones((1, 2, 2, 2,
    1), np.float32), ksize=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding='VALID')
MaxPoolWithArgmax(input={IMAGE}, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
FusedBatchNorm(x={IMAGE}, scale=[1.0, 2.0], offset=[0.5, 0.0], mean=[], variance=[])[:3]
FusedBatchNormV2(x={IMAGE}, scale=[1.0, 2.0], offset=[0.5, 0.0], mean=[], variance=[], epsilon=0.1)[:3]
FusedBatchNormV3(x={IMAGE}, scale=[1.0, 2.0], offset=[0.5, 0.0], mean=[1.0, 2.0], variance=[0.5, 4.0],
    is_training=False)[:3]
IsotonicRegression(input=[[1.0, 3.0, 2.0]])
SoftmaxCrossEntropyWithLogits(features=tf.constant([[1.0, 2.0]]), labels=[[0.25, 0.75]])
SparseSoftmaxCrossEntropyWithLogits(features=tf.constant([[1.0, 2.0]]), labels=[1])
FakeQuantWithMinMaxArgs(inputs=[-7.0, 0.3, 2.0])
FakeQuantWithMinMaxVars(inputs=[-7.0, 0.3, 2.0], min=-1.0, max=1.0)
FakeQuantWithMinMaxVarsPerChannel(inputs=[[-7.0, 0.3]], min=[-1.0, -2.0], max=[1.0, 2.0])
Bincount(arr=[1, 1, 2], size=4, weights=tf.constant([], tf.float32))
DenseBincount(input=tf.constant([[1, 1, 2]]), size=4, weights=tf.constant([], tf.float32))
SparseAdd(a_indices=[[0, 1]], a_values=[2.0], a_shape=tf.constant([2, 2], tf.int64), b_indices=[[0, 1]],
    b_values=[5.0], b_shape=tf.constant([2, 2], tf.int64), thresh=0.0)
SparseConcat(indices=[[[0, 1]], [[1, 0]]], values=[[2.0], [3.0]], shapes=[tf.constant([2, 2], tf.int64)] * 2,
    concat_dim=0)
SparseSlice({SPARSE}, start=tf.constant([0, 0], tf.int64), size=tf.constant([1, 2], tf.int64))
SparseFillEmptyRows(indices=[[0, 1]], values=[2.0], dense_shape=tf.constant([2, 2], tf.int64), default_value=7.0)
SparseReshape(input_indices=tf.constant([[0, 1]], tf.int64), input_shape=tf.constant([2, 2], tf.int64),
    new_shape=tf.constant([4], tf.int64))
SparseTensorDenseMatMul(a_indices=tf.constant([[0, 1]], tf.int64), a_values=[2.0], a_shape=tf.constant([2, 2],
    tf.int64), b=[[1.0], [5.0]])
SparseTensorDenseAdd(a_indices=[[0, 1]], a_values=[2.0], a_shape=[2, 2], b=[[1.0, 1.0], [5.0, 5.0]])
SparseToDense(sparse_indices=[1, 3], output_shape=[5], sparse_values=[2.0, 3.0], default_value=9.0)
SparseToDense(sparse_indices=[[0, 1]], output_shape=[2, 2], sparse_values=2.0, default_value=9.0)
HSVToRGB(images={RGB})
RGBToHSV(images={RGB})
AdjustContrastv2(images={RGB}, contrast_factor=2.0)
AdjustHue(images={RGB}, delta=0.2)
AdjustSaturation(images={RGB}, scale=0.5)
CropAndResize(image={IMAGE}, boxes=[[0.0, 0.0, 0.5, 0.5]], box_ind=[0], crop_size=[2, 2])
ResizeArea(images={IMAGE}, size=[3, 2])
ResizeArea(images={IMAGE}, size=[2, 3], align_corners=True)
ResizeBicubic(images={IMAGE}, size=[6, 3])
ResizeBicubic(images={IMAGE}, size=[6, 3], align_corners=True)
ResizeBicubic(images={IMAGE}, size=[6, 3], half_pixel_centers=True)
ResizeBilinear(images={IMAGE}, size=[6, 3])
ResizeBilinear(images={IMAGE}, size=[6, 3], align_corners=True)
ResizeBilinear(images={IMAGE}, size=[6, 3], half_pixel_centers=True)
ResizeBilinear(images={IMAGE}, size=[6, 3], half_pixel_centers=True, align_corners=True)
ResizeNearestNeighbor(images={IMAGE}, size=[6, 3])
ResizeNearestNeighbor(images={IMAGE}, size=[6, 3], align_corners=True)
ResizeNearestNeighbor(images={IMAGE}, size=[6, 3], half_pixel_centers=True)
StatelessRandomNormal(shape=[3], seed=[1, 2])
StatelessRandomUniform(shape=[3], seed=[1, 2])
StatelessTruncatedNormal(shape=[3], seed=[1, 2], dtype=tf.float64)
StringToHashBucket(string_tensor=['Hello', 'TF'], num_buckets=7)
StringToHashBucketFast(input=['Hello', 'TF'], num_buckets=7)
StringToHashBucketStrong(input=['Hello', 'TF'], num_buckets=7, key=[1, 2])
StatelessRandomGetKeyCounter(seed=[1, 2])
StatelessRandomUniformV2(shape=[3], key=tf.constant([7], tf.uint64), counter=tf.constant([3, 4], tf.uint64), alg=1)
StatelessRandomNormalV2(shape=[2, 2], key=tf.constant([7], tf.uint64), counter=tf.constant([3, 4], tf.uint64),
    alg=1, dtype=tf.float64)
StatelessTruncatedNormalV2(shape=[5], key=tf.constant([7], tf.uint64), counter=tf.constant([3, 4], tf.uint64), alg=1)
StatelessRandomUniformIntV2(shape=[3], key=tf.constant([7], tf.uint64), counter=tf.constant([3, 4], tf.uint64),
    alg=1, minval=-5, maxval=5)
StatelessMultinomial(logits=[[0.0, 1.0]], num_samples=4, seed=[1, 2])
StatelessParameterizedTruncatedNormal(shape=[3], seed=[1, 2], means=0.0, stddevs=1.0, minvals=-1.0, maxvals=1.0)
StatelessRandomBinomial(shape=[3], seed=[1, 2], counts=5.0, probs=0.5)
StatelessRandomGammaV2(shape=[3], seed=[1, 2], alpha=2.0)
StatelessRandomPoisson(shape=[3], seed=[1, 2], lam=2.0, dtype=tf.int32)
StatelessRandomUniformFullInt(shape=[3], seed=[1, 2])
StatelessRandomUniformInt(shape=[3], seed=[1, 2], minval=0, maxval=10)
SobolSample(dim=2, num_results=3, skip=1)
StringStrip(input=[' a '])
AsString(input=[1.5], precision=2)
DecodeBase64(input=['aGk'])
DecodeCompressed(bytes=['plain'], compression_type='')
UnicodeTranscode(input=['ü'], input_encoding='UTF-8', output_encoding='UTF-16-BE')
DecodeRaw(bytes=['ab'], out_type=tf.uint8)
EncodeBase64(input=['hi'], pad=True)
RegexFullMatch(input=['ab'], pattern='a.')
RegexReplace(input=['aa'], pattern='a', rewrite='b', replace_global=False)
StaticRegexFullMatch(input=['ab'], pattern='a.')
StaticRegexReplace(input=['aa'], pattern='a', rewrite='b')
ReduceJoin(inputs=['a', 'b'], reduction_indices=0, separator='-')
StringJoin(inputs=['a', 'b'], separator='-')
StringSplitV2(input=['a,,b', '', 'c'], sep=',', maxsplit=1)
StringLength(input=['abc'])
StringLower(input=['AB'])
StringToNumber(string_tensor=['1.5'])
StringUpper(input=['ab'])
Substr(input=['abc'], pos=1, len=2)
Assert(condition=True, data=['x'])
Assert(condition=False, data=['x'])
NoOp()
ParallelConcat(values=[[[1.0]], [[2.0]]], shape=[2, 1])
PopulationCount(x=tf.constant([-1, 7, 8], tf.int16))
PopulationCount(x=tf.constant([[255, 7]], tf.uint8))
TensorStridedSliceUpdate(input=[[1.0, 2.0], [3.0, 4.0]], begin=[0, 1], end=[2, 2], strides=[1, 1], value=[[9.0]])
TensorStridedSliceUpdate(input=[1, 2, 3], begin=[1], end=[2], strides=[1], value=9, shrink_axis_mask=1)
ExtractGlimpse(input={IMAGE}, size=[3, 2], offsets=[[0.3, -0.2]], uniform_noise=False, noise='zero')
ExtractGlimpse(input={IMAGE}, size=[3, 2], offsets=[[1.3, 2.2]], centered=False, normalized=False, uniform_noise=False,
    noise='zero')
ExtractGlimpseV2(input={IMAGE}, size=[3, 2], offsets=[[0.3, -0.2]], uniform_noise=False, noise='zero')
ExtractGlimpseV2(input={IMAGE}, size=[3, 2], offsets=[[0.3, 0.9]], centered=False, uniform_noise=False, noise='zero')
ExtractGlimpseV2(input={IMAGE}, size=[3, 2], offsets=[[1.3, -2.2]], normalized=False, uniform_noise=False, noise='zero')
ExtractGlimpseV2(input={IMAGE}, size=[3, 2], offsets=[[1.3, 2.2]], centered=False, normalized=False,
    uniform_noise=False, noise='zero')
ExtractGlimpseV2(input={IMAGE}, size=[3], offsets=[[1.3, 2.2]])
FractionalMaxPool(value=[[[[1.0]]]], pooling_ratio=[1.0, 1.0, 1.0, 1.0], seed=1, seed2=1, deterministic=True)
FractionalMaxPool(value=[[[[1.0]]]], pooling_ratio=[1.0, 1.44, 1.73, 1.0], seed=1, seed2=1, deterministic=True)
FractionalAvgPool(value=[[[[1.0]]]], pooling_ratio=[1.0, 1.0, 1.0, 1.0], seed=1, seed2=1, deterministic=True)
FractionalMaxPoolGrad(orig_input={IMAGE}, orig_output=tf.nn.max_pool2d({IMAGE}, 2, 2, 'VALID'), out_backprop=np.ones((1,
    2, 2, 2), np.float32), row_pooling_sequence=[0, 2, 4], col_pooling_sequence=[0, 2, 4])
FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 4, 4, 1], out_backprop=np.ones((1, 2, 2, 1), np.float32),
    row_pooling_sequence=[0, 2, 4], col_pooling_sequence=[0, 1, 4], overlapping=True)
SparseFillEmptyRowsGrad(reverse_index_map=[2, 1], grad_values=[0.5, 1.0, 2.0, 3.0])
SparseFillEmptyRowsGrad(reverse_index_map=[2, 9], grad_values=[0.5, 1.0, 2.0, 3.0])
SparseBincount(indices=[[0, 0], [0, 2], [1, 1]], values=[1, 5, 2], dense_shape=tf.constant([2, 3], tf.int64), size=4,
    weights=tf.constant([], tf.float32))
SparseBincount(indices=[[0], [2]], values=[1, 2], dense_shape=tf.constant([3], tf.int64), size=4, weights=[0.5, 2.0])
SparseReduceMaxSparse(input_indices=[[0, 1], [1, 0]], input_values=[2.0, 3.0], input_shape=tf.constant([2, 2],
    tf.int64), reduction_axes=[1])
SparseReduceSumSparse(input_indices=[[0, 1], [1, 0]], input_values=[2.0, 3.0], input_shape=tf.constant([2, 2],
    tf.int64), reduction_axes=[0], keep_dims=True)
SparseSplit(split_dim=tf.constant(1, tf.int64), {SPARSE}, num_split=2)
SetSize(set_indices=[[0, 0], [1, 1]], set_values=[1, 2], set_shape=tf.constant([2, 2], tf.int64))
DecodeCSV(records=['1,a', ',b'], record_defaults=[[7], ['x']])
StringNGrams(data=['a', 'b', 'c', 'd'], data_splits=[0, 3, 4], separator='-', ngram_widths=[2], left_pad='L',
    right_pad='R', pad_width=-1, preserve_short_sequences=False)
StringNGrams(data=['a', 'b', 'c', 'd'], data_splits=[0, 3, 4], separator='-', ngram_widths=[2], left_pad='L',
    right_pad='R', pad_width=0, preserve_short_sequences=True)
StringNGrams(data=['a', 'b'], data_splits=[0, 8], separator='-', ngram_widths=[2], left_pad='', right_pad='',
    pad_width=0, preserve_short_sequences=False)
UnicodeDecode(input=['aé', 'b'], input_encoding='UTF-8')
UnicodeDecodeWithOffsets(input=['aé', 'b'], input_encoding='UTF-8')
QuantizeAndDequantizeV2(input=[-2.0, 0.3, 0.7], input_min=-1.0, input_max=1.0, num_bits=3, range_given=True)
QuantizeAndDequantizeV3(input=[-2.0, 0.3, 0.7], input_min=-1.0, input_max=1.0, num_bits=4)
QuantizeAndDequantizeV4(input=[-2.0, 0.3, 0.7], input_min=-1.0, input_max=1.0, num_bits=3, range_given=True)
QuantizeAndDequantizeV4Grad(gradients=[1.0, 2.0, 3.0], input=[-2.0, 0.3, 0.7], input_min=-1.0, input_max=0.5)
MirrorPadGrad(input=[1, 2, 3, 4, 5], paddings=[[1, 1]], mode='REFLECT')
"""


def sparse_cases():
    matrix = "indices=[[0, 1], [1, 0]], {0}values=[2.0, 3.0], {0}shape=tf.constant([2, 2], tf.int64)"
    a, b = "a_" + matrix.format("a_"), "b_" + matrix.format("b_").replace("[0, 1]", "[0, 0]")
    given = "input_" + matrix.format("input_")
    yield from (f"SparseReduce{what}({given}, reduction_axes=[1])" for what in ("Max", "Sum"))
    yield f"SparseReorder({given.replace('[[0, 1], [1, 0]]', '[[1, 0], [0, 1]]')})"
    yield f"SparseSoftmax(sp_{matrix.format('sp_')})"
    for what in ("Add", "Div", "Mul"):
        yield f"SparseDenseCwise{what}(sp_{matrix.format('sp_')}, dense=[[1.0, 5.0]])"
    yield from (f"SparseSparse{what}({a}, {b})" for what in ("Maximum", "Minimum"))


def family_cases():
    for table, names in ((UNARY, ["x"]), (BINARY, ["x", "y"])):
        for given, ops in table.items():
            values = given.split("], ") if len(names) > 1 else [given]
            values = [v if v.endswith("]") else v + "]" for v in values]
            arguments = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
            yield from (f"{op}({arguments})" for op in ops.split())
    yield from (f"{op}(input=[[1.0, 2.0], [3.0, 5.0]], axis=[1], keep_dims=True)" for op in SUMS.split())
    cube = "np.arange(8).reshape(2, 2, 2).astype(np.complex64)"
    for size in ("", "2D", "3D"):
        yield from (f"{op}{size}(input={cube})" for op in ("FFT", "IFFT"))
        length = [2] * (int(size[:1] or 1))
        yield f"RFFT{size}(input=np.arange(8.0).reshape(2, 2, 2).astype(np.float32), fft_length={length})"
        yield f"IRFFT{size}(input={cube}, fft_length={length})"
    segments = "data=[1.0, 2.0, 4.0], segment_ids=[0, 0, 1]"
    yield from (f"Segment{what}({segments})" for what in ("Max", "Mean", "Min", "Prod", "Sum"))
    for what in ("Max", "Min", "Prod", "Sum"):
        yield f"UnsortedSegment{what}({segments}, num_segments=2)"
    for what in ("Mean", "SqrtN", "Sum"):
        yield f"SparseSegment{what}(data=[1.0, 2.0, 4.0], indices=[0, 2, 1], segment_ids=[0, 0, 1])"
        yield (
            f"SparseSegment{what}WithNumSegments(data=[1.0, 2.0, 4.0], indices=[0, 2, 1], segment_ids=[0, 0, 1], "
            "num_segments=3)"
        )


EXPRESSIONS = [
    *family_cases(), *sparse_cases(),
    *filter(None, OTHERS.replace("\n    ", " ").split("\n")),
]  # fmt: skip

VARIABLE_OPS = [
    ("AssignVariableOp", "value=[5.0, 6.0, 7.0]"), ("AssignAddVariableOp", "value=[5.0, 6.0, 7.0]"),
    ("AssignSubVariableOp", "value=[5.0, 6.0, 7.0]"),
    *((f"ResourceScatter{what}", "indices=[1], updates=[5.0]") for what in "Add Div Max Min Mul Sub Update".split()),
]  # fmt: skip
ND_OPS = [f"ResourceScatterNd{what}" for what in ("Add", "Sub", "Update")]


def on_variables(tf):
    """The contents of a variable after ops that take its handle. gradtape's handle is the variable."""
    found = {}
    for name, arguments in VARIABLE_OPS:
        v = tf.Variable([1.0, 2.0, 3.0])
        getattr(tf.raw_ops, name)(resource=v.handle, **eval(f"dict({arguments})"))
        found[name] = v.numpy()
    for name in ND_OPS:
        v = tf.Variable([1.0, 2.0, 3.0])
        getattr(tf.raw_ops, name)(ref=v.handle, indices=[[1]], updates=[5.0])
        found[name] = v.numpy()
    v = tf.Variable([1.0, 2.0, 3.0])
    tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=[1.0, 2.0, 3.0])
    found["ResourceApplyGradientDescent"] = v.numpy()
    found["ReadVariableOp"] = tf.raw_ops.ReadVariableOp(resource=v.handle, dtype=tf.float32)
    found["ResourceGather"] = tf.raw_ops.ResourceGather(resource=v.handle, indices=[1], dtype=tf.float32)
    found["ResourceGatherNd"] = tf.raw_ops.ResourceGatherNd(resource=v.handle, indices=[[1]], dtype=tf.float32)
    found["VarIsInitializedOp"] = tf.raw_ops.VarIsInitializedOp(resource=v.handle)
    found["VariableShape"] = tf.raw_ops.VariableShape(input=v.handle)
    return found


GRADIENTS = [
    "grad:lambda x: tf.raw_ops.Tanh(x=x) @ [1.0, 2.0]",
    "grad:lambda x, y: tf.raw_ops.MatMul(a=x, b=y, transpose_b=True) @ [[1.0, 2.0]], [[3.0, 4.0]]",
    "grad:lambda x: tf.raw_ops.Sum(input=tf.raw_ops.Square(x=x), axis=[0]) @ [1.0, 2.0]",
    "grad:lambda x: tf.raw_ops.TopKV2(input=x, k=2).values @ [1.0, 3.0, 2.0]",
    "grad:lambda x: tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=x, labels=x * 0 + 0.5).loss @ [[1.0, 3.0]]",
    "grad:lambda x: tf.raw_ops.TanhGrad(y=x, dy=x) @ [0.25, 0.5]",
    "grad:lambda x: tf.raw_ops.ReluGrad(gradients=x, features=[1.0, -1.0]) @ [0.25, 0.5]",
    "grad:lambda x: tf.raw_ops.StridedSlice(input=x, begin=[1], end=[3], strides=[1]) @ [1.0, 2.0, 3.0]",
    "grad:lambda x: tf.raw_ops.Select(condition=[True, False], x=x, y=x * x) @ [[1.0, 2.0], [3.0, 4.0]]",
    "grad:lambda x: tf.raw_ops.PreventGradient(input=x, message='no') @ [1.0]",
]


def signatures(tf):
    """Returns the parameters of the ops, with their defaults."""
    names = sorted({e.partition("(")[0] for e in EXPRESSIONS} | {name for name, _ in VARIABLE_OPS} | set(ND_OPS))
    return {name: str(inspect.signature(getattr(tf.raw_ops, name))) for name in names}


def called_by_position(tf):
    return tf.raw_ops.Abs([1.0])


def with_a_word_too_many(tf):
    return tf.raw_ops.Abs(x=[1.0], y=2)


def name_of_a_tuple(tf):
    result = tf.raw_ops.Unique(x=[1, 1])
    return [type(result).__name__, *result._fields]


CASES = [
    *((expression, f"tf.raw_ops.{expression}") for expression in EXPRESSIONS),
    *((source, source) for source in GRADIENTS),
    ("on variables", on_variables),
    ("signatures", signatures),
    ("called by position", called_by_position),
    ("with a word too many", with_a_word_too_many),
    ("name of a tuple", name_of_a_tuple),
]
