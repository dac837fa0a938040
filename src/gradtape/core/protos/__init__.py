"""TensorFlow's protocol buffer messages: one description, in tables, for gradtape's readers and for generated classes.

`schema` reads the tables, `records` encodes and decodes messages as plain values, `generated` makes the classes of the
`protobuf` package.
"""
