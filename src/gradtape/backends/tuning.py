"""The sizes at which one way of computing gives place to another, each with the measurement that chose it.

Measured on two cores of a current x86 server unless something else is said.
"""

FEW = 1 << 9
LARGE = 1 << 18
PRODUCTS = 16
THREADED = 1 << 18
REPEATED_ROW = 1 << 10
FEW_IN_ROWS = 1 << 14
MOST_PENDING_ROWS = 2048
UPDATED_IN_PLACE = 1 << 22
ONEDNN_CONVOLUTION = 1 << 18
ONEDNN_POOLING = 1 << 15
