"""`tf.experimental.dtensor`: tensors and variables with a layout on a mesh of devices.

An eager DTensor is a whole tensor with a layout; `unpack` cuts it into the components that the devices have. The value
of a `DVariable` is sharded over the devices of its mesh, and XLA partitions the functions that use it (GSPMD).
"""
