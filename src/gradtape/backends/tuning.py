"""Size thresholds between alternative implementations, each with the measurement that chose it.

A ratio is the time of the first alternative over that of the second, for float32 on one core of an x86 server. The unit
of a threshold is named first: "elements" counts the numbers in an array.
"""

# Elements: more than any array has, for kernels that are faster on devices only.
DEVICES_ONLY = 1 << 62

# Elementwise work.
# Elements: SciPy's erf against a formula of twelve steps: 0.1 for 64, 0.5 for 512, 1.3 for 4096.
FEW = 1 << 11
# Elements: `where` of a random mask against three operations on bits: 0.6 for 2048, 2.6 for 8192.
SELECTED = 1 << 12
# Elements: an array as malloc returns it against one that begins at a cache line, which takes 2 to 4 us to make: a
# product 1.0 for 2**15, 1.5 for 2**16. If the array exists: 1.5 for 2**12, 1.7 for 2**14, 2.0 for 2**16.
ALIGNED = 1 << 16
ALIGNED_IF_KEPT = 1 << 12
# Elements: one core against two. Handing a part to another thread takes 11 to 16 us, adding this many elements 100 us.
LARGE = 1 << 18
# Elements: a formula of 15 steps on a million elements at once against blocks: 1.4 for 16384, 1.7 for 32768, 1.8 for
# 65536. From this many elements on, work of several steps along rows runs in blocks.
BLOCK = 1 << 15
# Elements: eight cheap steps of a graph one by one against blocks: 0.6 for 2**15, 0.95 for 2**17, 1.5 for 2**18, 1.9
# for 2**20; with a column broadcast against the array 1.0 for rows of 2, 1.2 for 8, 1.4 for 16 to 128.
FUSED = 1 << 17
# Bytes of each array in a block of such steps. One by one against blocks, of 2**22 elements: 1.4 for 2**15, 1.9 for
# 2**16, 2.1 for 2**17, 2.3 for 2**18, 1.7 for 2**19. Two threads wait for Python's lock after each step, so that gelu
# of 2**19 elements takes 1.6 times as long with 2**17 as with 2**19.
BLOCK_BYTES = 1 << 19
# Bytes of all arrays and buffers of a block: the second-level cache of a core. On ARM, which has half of it, gelu of
# 2**19 elements on two cores takes 4.8 ms for 3 * 2**18, 4.2 for 3 * 2**19, 3.9 for 3 * 2**20.
CACHE_BYTES = 1 << 21
# Elements per block for steps along channels, few of which share a block: 2**18 at once against blocks: 0.9 for 2**13
# to 2**15, 1.0 for 2**17; larger blocks switch threads less often.
CHANNEL_BLOCK = 1 << 17
# Elements per block of rows, on which softmax and norms take five to ten steps. 2**19 elements on two cores, whose
# threads wait for Python's lock between steps, against this: cumulative sums 1.8 for 2**16, 1.0 for 2**18; the
# derivative of a layer norm 3.4 for 2**14, 1.6 for 2**15, 1.3 for 2**16, 1.05 for 2**18.
ROW_BLOCK = 1 << 17
# Elements to which a broadcast row is tiled. Rows as they are against longer ones: 3.6 of 8, 1.4 of 64, 0.9.
REPEATED_ROW = 1 << 10
# Elements per row, and rows, of an array of rank 3 or more whose rows are repeated for a difference or a product. As
# they are against repeated: for 64 times 64 rows of 2: 7; 40 times 40 rows of 4: 5, of 8: 3, of 16: 1.7.
SHORT_REPEATED = 8
FEW_REPEATED = 16
# Elements per row that share one factor: as they are against repeated, for 40 times 40 rows of 2: 2.4, of 4: 0.8, of 8:
# 0.5; 128 times 128 rows of 3: 2.3. A sum of rows, a product with ones against a sum of columns, on ARM: 1600 rows of
# 2: 3.2, of 4: 1.7, of 8: 0.5; 16384 rows of 3: 3.5.
SHORT_COLUMNS = 3
# Elements: a broadcast view of one number against a filled array: 3.6 for 256, 2.5 for 4096, 0.5 for 65536.
REPEATED_NUMBER = 1 << 12
# Elements of a cotangent: a broadcast view of one number against ones in memory that are there already: negated 2.4 for
# 2**12, 2.8 for 2**14, 3.0 for 2**15, multiplied by an array 1.5, 1.1, 1.0, and 0.8 for 2**16.
SHARED_ONES = 1 << 15
# Bytes of a variable: a new array against an update in place: 1.6 for 2**16, 1.7 for 2**20, 2.7 for 2**22.
UPDATED_IN_PLACE = 1 << 16

# Matrix products.
# Multiplications of a matrix product that take the time of one elementwise operation: 17 for matrices of 512 x 512.
PRODUCTS = 16
# Multiplications from which OpenBLAS uses several threads for a product, by its own rule.
THREADED = 1 << 18
# Columns of a matrix: its decomposition by two threads against one: eigenvectors 1.1 for 128, 1.0 for 256, 0.9 for 512,
# 0.6 for 1024 (this one on ARM); singular values 1.4, 1.2, 1.0, 0.8; QR 2.2, 1.4, 1.1, 0.7.
LARGE_MATRIX = 1 << 10
# Rows: products of 32 rows each against one of all: 0.85 for 256, 1.2 for 1024 to 4096; more only use more memory.
MOST_PENDING_ROWS = 2048

# Reductions along one axis.
FEW_TO_SUM = 1 << 10  # elements that `add.reduce` sums in the time it takes to choose another way
# Elements per row: `add.reduce` of 3000 rows, each to one number, against a product with ones: 8 for 8, 4 for 64, 2 for
# 128; 3 for 300 of 512. On longer rows the pairwise summation of `add.reduce` is more accurate.
LONGEST_ROW = 1 << 10
# The same for rows with gaps between them, against `einsum`: 2.4 for 8, 2.1 for 64; for a transposed matrix 0.8, 0.9.
SHORT_SUM = 64
# Rows summed to one, in many groups: `einsum` against a product with ones, 256 groups of 2 and 8 elements: 0.3 and 0.5
# for 4, 0.6 and 1.0 for 16, 1.6 and 2.7 for 64.
LONG_SUM = 16
# Groups times rows, for each of which `add.reduce` begins a loop: against `einsum` 0.9 for 144, 1.0 for 192, 1.2 for
# 288, 3.1 for 2048 (on ARM).
MANY_LOOPS = 1 << 8
# Elements per row: `add.reduce` of 16 rows or fewer against a product with ones: 1.9 for 81, 1.1 for 4096 (on ARM).
WIDE_ROWS = 1 << 8
FEW_IN_ROWS = 1 << 16  # elements of rows that one core sums, as `share_out` in `backends/numpy/blocks.py` decides
# Elements per row: a softmax along rows against one along columns: 3.4 for 8, 1.5 for 32, 0.8 for 64.
SHORT_ROWS = 32
TURNED_AT_ONCE = 1 << 16  # elements of short rows that are transposed at a time, to stay in the cache

# Attention.
# Elements of the matrix of weights computed at a time. The whole matrix against blocks of 2**18, with derivative: 4.4
# of 192 heads with 128 tokens, 3.2 of 48 with 512, 1.6 of 8 with 2048. Blocks of 2**14 against these: 1.1, 2.7, 5.
ATTENTION_BLOCK = 1 << 18

# Scatter-adds of rows, and top-k.
# Elements: `add.at` against a sparse product, which needs an import: 1.9 for 300, 3.5 for 2048, 4.6 for 76800.
ADDED_ROWS = 1 << 11
# Elements: summing the terms of a sparse product against SciPy's product, by width: 0.2 for 8192, 0.3 for 32768, 0.5
# (of 16) and 2 (of 64) for 131072, 2 and 7 for 524288.
SPARSE_PRODUCT = 1 << 17
# Elements: comparing all positions against writing only the ones: 0.7 for 4096, 1.4 for 16384, 5.5 for 256000.
ONE_HOT = 1 << 14
# Elements: sorting positions against selecting 8 of each row: 0.5 for 128, 0.95 for 512, 1.4 for 2048 in 16 rows, 4 for
# 8192, 9 for 32768.
WORTH_SELECTING = 1 << 10
# Elements per row: `sort` against `partition`: 0.5 for 256, 0.95 for 1024, 1.35 for 2048, 2.0 for 65536.
LONG_TO_SORT = 1 << 10

# Convolutions and pooling.
# Layouts of im2col patches (`ops/nn/patches.py`), measured on ARM for windows of 3 x 3.
# Bytes of patches created at a time, to stay in the cache, against this: 1.4 for 2**18, 1.2 for 2**19, 1.0 for 2**21.
PATCHES = 1 << 20
# Values of a patch that are neighbors in the image: rows against planes: 1.5 for 3, 1.1 for 9, 1.0 to 1.1 for 12, 0.9
# for 36. Channels of the images' derivative: a product for each offset against planes: 2.4 for 3, 1.1 for 8, 0.9 to 1.0
# for 12.
PLANES = 12
# The same values: rows against shifts: 0.9 for 12, 1.1 for 24 and 48, 1.0 to 1.3 for 96; with more outputs 0.85.
SHIFTS = 24
# Multiplications of a product: OpenBLAS takes 2.5 times as long for each in 256 x 48 x 16 as in 1024 x 48 x 16.
SMALL_PRODUCT = 1 << 19

# PyTorch's kernels, if it is installed. Elements, and NumPy's time over PyTorch's with conversions on one core; from
# 2**15 elements on, PyTorch uses several.
# Arithmetic (add, mul, div, square): 0.3 to 0.4 for 2**14, 0.6 to 0.9 for 2**15, 0.9 to 1.0 for 2**16, 1.0 for 2**19;
# two threads, with aligned arrays: 0.6 for 2**16, 2 for 2**18. Adam of 2**16 and 3 * 2**15 elements takes 0.8 of the
# time with NumPy. Sums in place: 0.65 for 2**16, 0.9 for 2**18, 1.1 for 2**19 (on ARM). Sums of rows: 0.6 for 2**16,
# 0.8 for 2**17 and 2**19; of columns 1.0.
TORCH_ARITHMETIC = 1 << 17
# Derivatives of several such steps, on ARM: of sigmoid, tanh, sqrt, rsqrt 0.2 to 0.4 for 2**14, 0.3 to 0.6 for 2**15,
# 0.7 to 2.5 for 2**16.
TORCH_DERIVATIVES = 1 << 16
# Functions that are one NumPy loop: exp 1.1 for 2**14, 1.4 for 2**15; log 0.9, 1.2; sin 0.9, 1.1; tanh 0.6, 0.7; and
# 1.0 to 1.5 for 2**19. relu 1.3 for 2**14 and 1.9 for 2**16 (two cores), 0.5 for 2**14 and 0.7 for 2**15 (on ARM).
TORCH_FUNCTIONS = 1 << 15
# Functions of several steps: sigmoid 0.8 for 2**12, 1.1 for 2**13, 2.1 for 2**19; silu 0.9, 1.2, 2.6; erf 2.4, 2.6,
# 4.3; gelu 2.2 for 2**14, 1.6 for 2**19. A single call between NumPy's takes longer than one of many, which these are:
# the step of a GAN with softplus of 2**13 elements takes 4% more time with PyTorch (on ARM).
TORCH_FORMULAS = 1 << 14
# Maxima of rows 0.9 for 2**14, 1.4 for 2**15, 2.4 for 2**17, of columns 0.5, 0.7, 0.9; the derivative of those of rows
# 0.6 for 2**14, 1.8 for 2**16 (two cores); a batch norm 0.5, 0.8, 1.7; argsort 0.7 to 0.8.
TORCH_REDUCTIONS = 1 << 15
# The derivative of a layer norm: 1.1 for 2**14 (on ARM), 1.5 (two cores).
TORCH_ROW_NORMS = 1 << 14
# Moments of rows 0.7 for 2**14, 1.4 for 2**16 (two cores); of channels 1.0 for 2**14, 1.4 for 2**15, 2.4 for 2**17.
TORCH_MOMENTS = 1 << 16
# Work of several passes along rows: a logsumexp 0.9 for 2**12, 1.0 for 2**13, 1.4 for 2**14; a cross entropy 0.6, 0.9,
# 1.1; a cumulative sum 1.1, 1.4, 1.7.
TORCH_PASSES = 1 << 13
# Fused work along rows: a softmax 1.6 for 2**10, 2.7 for 2**11, 2.5 for 2**19; a layer norm 1.6, 2.2, 3.7.
TORCH_ROWS = 1 << 11
# The 8 largest of each row of 256, which NumPy sorts in vectors: 1.3 for 2**12, 0.6 for 2**14, 0.9 for 2**16 and 2**19
# (two cores); on ARM 0.9, 1.0 for 2**14, 1.3 for 2**18. If more are wanted, or of longer rows: 2.0 for 2**14, 3.4 for
# 2**19 (on ARM).
TORCH_SELECTIONS = 1 << 17
# Convolutions, of 3 x 3 and 16 channels: 1.9 for 2**10, 1.4 for 2**14, 3.7 for 2**19.
TORCH_WINDOWS = 1 << 11
# Sums of windows: 1.0 to 1.1; on ARM 0.7 for 2**14, 0.3 for 2**15, 4 for 2**19, and their transposes 0.2, 0.2, 2.3.
TORCH_WINDOW_SUMS = 1 << 16
TORCH_SCATTERS = 1 << 9  # added along rows: 1.2 for 2**10, 1.7 for 2**12, 2.2 for 2**17
# Fourier transforms of rows of 256: 1.5 for 2**8, 1.8 for 2**10, 3 for 2**12, 5 for 2**14; of reals 1.7 to 5.
TORCH_TRANSFORMS = 1 << 10
# Inverses of a matrix: 0.8 for 2**10, 1.6 for 2**12, 3.2 for 2**14; solutions of linear equations 0.4, 0.8, 1.4;
# Cholesky factors 1.1 for 2**13, 1.4 for 2**14, 1.9 for 2**16 (on ARM).
TORCH_SOLVERS = 1 << 13
# Multiplications of a matrix product, or of a batch of them, with two threads of PyTorch: 0.6 for 2**18, 1.0 for 2**21;
# of a batch of 32 x 32 0.4 for 2**17, 0.7 for 2**19, 1.5 for 2**21. With one thread, on ARM: 0.7 for 2**19, 0.8 for
# 2**20, 0.9 for 2**23.
TORCH_PRODUCTS = 3 << 19
# Elements of the query, of 64 channels: blocks of NumPy against PyTorch, which recomputes the output for the
# derivative: 0.4 for 2**15, 2.2 to 4 for 2**18, and with derivative 1.2 to 2.
TORCH_ATTENTION = 1 << 17
