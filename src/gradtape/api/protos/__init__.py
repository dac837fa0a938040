"""TensorFlow's public protocol buffer messages, which need the package protobuf, and tensors as messages."""
