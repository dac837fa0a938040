"""`tf.mlir` and `tf.experimental.tensorrt`: compilers of TensorFlow's C++ library, and what to use instead."""
