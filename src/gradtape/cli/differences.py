"""Names whose results differ from TensorFlow's: the part of docs/differences.md that `gradtape check` reports.

Differences that only raise an error where TensorFlow accepts a mistake, or only cost time, are on that page but not in
this table, because they would concern nearly every program.
"""

from ..core.extras import install_command

DIFFERENCES = {
    "data.experimental.assert_cardinality": "raises its error once, not in every later call",
    "autodiff.ForwardAccumulator": "uses the rules of custom gradients, which TensorFlow ignores",
    "recompute_grad": "draws the same random numbers again in the backward pass",
    "math.approx_max_k": "is exact",
    "math.approx_min_k": "is exact",
    "math.cumprod": "has the correct gradient through a zero",
    "math.digamma": "has SciPy's values at its poles",
    "math.special.expint": "has a value below 0 and at infinity, where TensorFlow has NaN",
    "random.categorical": "draws different numbers for large batches",
    "nn.fractional_avg_pool": "draws different regions",
    "nn.fractional_max_pool": "draws different regions",
    "image.adjust_jpeg_quality": "uses Pillow's encoder",
    "image.random_jpeg_quality": "uses Pillow's encoder",
    "io.decode_image": "uses Pillow's decoder",
    "io.decode_jpeg": "uses Pillow's decoder",
    "io.encode_jpeg": "uses Pillow's encoder",
    "strings.regex_full_match": "uses Python's regular expressions and rejects what they do not support",
    "strings.regex_replace": "uses Python's regular expressions and rejects what they do not support",
    "train.Checkpoint": "saves of an iterator how many elements it has given, which TensorFlow does not read",
    "linalg.tridiagonal_solve": "lacks perturb_singular=True",
    **dict.fromkeys(
        [
            "compat.v1.disable_v2_behavior",
            "compat.v1.disable_eager_execution",
        ],
        "raises: gradtape has no graphs that run in sessions",
    ),
    "keras.callbacks.TensorBoard": f"needs tensorboardX ({install_command('summary')})",
    "keras.callbacks.OrbaxCheckpoint": "needs Orbax, as on every backend",
    "keras.Model.export": "writes SavedModels, but no ONNX or LiteRT files",
}
