"""What gives another result than in TensorFlow, by name: the part of docs/differences.md a program is checked for.

What only raises where TensorFlow is silent about a mistake, or only costs time, is on that page but not here: it would
speak of nearly every program.
"""

DIFFERENCES = {
    "data.experimental.assert_cardinality": "it raises once that there are more or fewer elements, and not for ever",
    "autodiff.ForwardAccumulator": "uses the rules of custom gradients, which TensorFlow ignores",
    "recompute_grad": "draws the same random numbers again in the backward pass",
    "math.approx_max_k": "is exact",
    "math.approx_min_k": "is exact",
    "math.cumprod": "has the right gradient through a zero",
    "math.digamma": "has SciPy's values at its poles",
    "math.special.expint": "has a value below 0 and at infinity, where TensorFlow has NaN",
    "random.categorical": "draws other numbers for large batches",
    "nn.fractional_avg_pool": "draws other regions",
    "nn.fractional_max_pool": "draws other regions",
    "image.adjust_jpeg_quality": "uses Pillow's encoder",
    "image.random_jpeg_quality": "uses Pillow's encoder",
    "io.decode_image": "uses Pillow's decoder",
    "io.decode_jpeg": "uses Pillow's decoder",
    "io.encode_jpeg": "uses Pillow's encoder",
    "strings.regex_full_match": "has Python's regular expressions, and refuses what they lack",
    "strings.regex_replace": "has Python's regular expressions, and refuses what they lack",
    "train.Checkpoint": "writes one .npz file; reads TensorFlow's too",
    "linalg.tridiagonal_solve": "lacks perturb_singular=True",
    **dict.fromkeys(
        [
            "compat.v1.Session",
            "compat.v1.InteractiveSession",
            "compat.v1.placeholder",
            "compat.v1.disable_v2_behavior",
            "compat.v1.disable_eager_execution",
            "compat.v1.sparse_placeholder",
        ],
        "raises: there are no graphs that are run in sessions",
    ),
    "keras.callbacks.TensorBoard": "needs TensorFlow, as Keras has it",
    "keras.callbacks.OrbaxCheckpoint": "needs Orbax, as Keras has it",
    "keras.Model.export": "has nothing to write a SavedModel, ONNX or LiteRT file with",
}
