"""The tape on a few expressions: value and gradients."""

CASES = [
    ("product", "grad: lambda x, y: x * y @ [1.0, 2.0], [3.0, 4.0]"),
    ("broadcast", "grad: lambda x, y: x / y @ [[1.0], [2.0]], [3.0, 4.0]"),
]
