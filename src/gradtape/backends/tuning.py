"""The sizes at which one way of computing gives place to another, each with the measurement that chose it.

A ratio is the time of the first way over that of the second, for float32 on one core of an x86 server.
"""

# Elementwise work.
# Numbers: SciPy's erf against a formula of twelve steps: 0.1 for 64, 0.5 for 512, 1.3 for 4096.
FEW = 1 << 11
# Numbers: one core against two. To hand a part to another thread takes 11 to 16 us, an addition of so many 100 us.
LARGE = 1 << 18
# Numbers: a formula of 15 steps on a million at once against blocks: 1.4 for 16384, 1.7 for 32768, 1.8 for 65536.
BLOCK = 1 << 15
# Numbers: eight cheap steps of a graph one by one against blocks: 0.6 for 2**15, 0.95 for 2**17, 1.5 for 2**18, 1.9 for
# 2**20; with a column beside the array 1.0 for rows of 2, 1.2 of 8, 1.4 of 16 to 128.
FUSED = 1 << 17
# Bytes of each array in such a block. One by one against blocks, of 2**22 numbers: 1.4 for 2**15, 1.9 for 2**16, 2.1
# for 2**17, 2.3 for 2**18, 1.7 for 2**19.
FUSED_BLOCK = 1 << 17
# Numbers of steps along channels, of which few go over one block: 2**18 at once against blocks: 0.9 for 2**13 to 2**15,
# 1.0 for 2**17; larger blocks change hands less often.
CHANNEL_BLOCK = 1 << 17
# Numbers that a broadcast row is lengthened to. Rows as they are against longer ones: 3.6 of 8, 1.4 of 64, 0.9.
REPEATED_ROW = 1 << 10
# Numbers: a view that repeats one number against writing it: 3.6 for 256, 2.5 for 4096, 0.5 for 65536.
REPEATED_NUMBER = 1 << 12
# Bytes of a variable: a new array against an update in place: 1.6 for 2**16, 1.7 for 2**20, 2.7 for 2**22.
UPDATED_IN_PLACE = 1 << 16

# Matrix products.
# Multiplications of a product that take the time of one elementwise operation: 17 for matrices of 512 x 512.
PRODUCTS = 16
# Multiplications from which OpenBLAS uses several threads for a product: its own rule.
THREADED = 1 << 18
# Rows: products of 32 rows each against one of all: 0.85 for 256, 1.2 for 1024 to 4096; more only take memory.
MOST_PENDING_ROWS = 2048

# Reductions along one axis.
FEW_TO_SUM = 1 << 10  # numbers that `add.reduce` sums in the time in which another way is chosen
# Numbers in a row: `add.reduce` of 3000 rows, each to one number, against a product with ones: 8 for 8, 4 for 64, 2 for
# 128; 3 for 300 of 512. Of longer ones `add.reduce`, which adds in pairs, loses fewer digits.
LONGEST_ROW = 1 << 10
# The same for rows with gaps between them, against `einsum`: 2.4 for 8, 2.1 for 64; for a matrix turned round 0.8, 0.9.
SHORT_SUM = 64
# Rows: `add.reduce` over rows against a product with ones: of 8 numbers 0.6 to 1.2 for 128, 1.8 for 256; of 128 numbers
# 1.0 for 64, 1.9 for 256.
MANY_ROWS = 1 << 7
# Rows that become one, in many places: `einsum` against a product with ones, 256 places of 2 and 8 numbers:
# 0.3 and 0.5 for 4, 0.6 and 1.0 for 16, 1.6 and 2.7 for 64.
LONG_SUM = 16
# Numbers: `add.reduce` over rows against a product with ones: 0.65 for 32768, 1.4 for 65536.
FEW_IN_ROWS = 1 << 15
# Numbers in a row: a softmax along rows against one along columns: 3.4 for 8, 1.5 for 32, 0.8 for 64.
SHORT_ROWS = 32
TURNED_AT_ONCE = 1 << 16  # numbers of short rows that are turned into columns at a time: they stay in the cache

# Rows that are added at places, and the k largest.
# Numbers: `add.at` against a sparse product, which takes an import: 1.9 for 300, 3.5 for 2048, 4.6 for 76800.
ADDED_ROWS = 1 << 11
# Numbers: adding up the terms of a sparse product against SciPy's, by width: 0.2 for 8192, 0.3 for 32768, 0.5 (of 16)
# and 2 (of 64) for 131072, 2 and 7 for 524288.
SPARSE_PRODUCT = 1 << 17
# Numbers: comparing all places against writing few of them: 0.7 for 4096, 1.4 for 16384, 5.5 for 256000.
ONE_HOT = 1 << 14
# Numbers: sorting against selecting 8 of so many, in 16 rows: 0.2 for 128, 0.8 for 512, 3.1 for 2048.
WORTH_SELECTING = 512

# Convolutions and pooling.
PATCHES = 1 << 21  # bytes of patches made at a time: they stay in the cache
# Multiplications: NumPy against oneDNN: 3.4 for 2**15, 3.0 for 2**19, 4.8 for 2**26.
ONEDNN_CONVOLUTION = 1 << 15
# Multiplications of one member of a batch of filters, NumPy against oneDNN on one core: 0.85 for 2**17, 1.4 for 2**21.
ONEDNN_MEMBER = 1 << 20
# Numbers: NumPy against oneDNN, 2**15 to 2**20 of them: a maximum 1.0 to 1.25, with its place 2.2 to 2.5.
ONEDNN_POOLING = 1 << 15
