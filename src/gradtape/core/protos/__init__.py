"""TensorFlow's protocol buffer messages: one description, in tables, for gradtape's readers and for generated classes.

`schema` reads the tables, `wire` encodes single fields, `records` encodes and decodes messages as plain values, and
`generated` makes the classes of the `protobuf` package.
"""
