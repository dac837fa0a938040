"""Bounding boxes in images: non-maximum suppression, drawing, and random sampling."""

UPRIGHT = (
    "[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, -0.1, 1.0, 0.9], [0.0, 10.0, 1.0, 11.0], "
    "[0.0, 10.1, 1.0, 11.1], [0.0, 100.0, 1.0, 101.0]]"
)
BOXES = UPRIGHT.replace("[0.0, 10.1, 1.0, 11.1]", "[1.0, 11.1, 0.0, 10.1]")
SCORES = "[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]"
MANY = "np.random.RandomState(0).uniform(size=(40, 4)).astype(np.float32)"
POINTS = "np.random.RandomState(1).uniform(size=40).astype(np.float32)"
IMAGES = "np.zeros((2, 6, 7, 3), np.float32)"
CORNERS = "[[[0.0, 0.0, 0.5, 0.5], [0.2, 0.3, 2.0, 0.9]], [[0.5, 0.5, 0.4, 0.6], [-0.5, 0.2, 0.7, 0.4]]]"
EXPRESSIONS = f"""
non_max_suppression({BOXES}, {SCORES}, 3)
non_max_suppression({BOXES}, {SCORES}, 10, 0.5, 0.4)
non_max_suppression({BOXES}, {SCORES}, 10, 0.9)
non_max_suppression({BOXES}, [0.5] * 6, 10)
non_max_suppression({BOXES}, {SCORES}, 0)
non_max_suppression({MANY}, {POINTS}, 40, 0.3)
non_max_suppression([[0.0, 0.0, 1.0]], [0.5], 1)
non_max_suppression({BOXES}, [0.5], 1)
non_max_suppression({BOXES}, {SCORES}, 3, 1.5)
non_max_suppression_with_scores({BOXES}, {SCORES}, 6)
non_max_suppression_with_scores({BOXES}, {SCORES}, 6, 1.0, 0.0, 0.5)
non_max_suppression_with_scores({MANY}, {POINTS}, 30, 0.8, 0.2, 0.3)
non_max_suppression_overlaps([[1.0, 0.9, 0.2], [0.9, 1.0, 0.1], [0.2, 0.1, 1.0]], [0.5, 0.8, 0.1], 3)
non_max_suppression_overlaps(np.eye(4, dtype=np.float32) * 0.5 + 0.5, [0.5, 0.8, 0.1, 0.2], 3, 0.4)
non_max_suppression_overlaps([[1.0, 0.9]], [0.5], 1)
non_max_suppression_padded(tf.constant({UPRIGHT}), tf.constant({SCORES}), 8, pad_to_max_output_size=True)
non_max_suppression_padded(tf.constant({UPRIGHT}), tf.constant({SCORES}), 8, score_threshold=0.4)
non_max_suppression_padded(tf.constant([{UPRIGHT}] * 2), tf.constant([{SCORES}] * 2), 4, pad_to_max_output_size=True)
non_max_suppression_padded(tf.constant([{UPRIGHT}] * 2), tf.constant([{SCORES}] * 2), 4)
combined_non_max_suppression(np.reshape({BOXES}, (1, 6, 1, 4)).astype(np.float32), np.reshape({SCORES}, (1, 6,
    1)).astype(np.float32), 3, 3)
combined_non_max_suppression({MANY}.reshape(2, 10, 2, 4), {POINTS}.reshape(2, 10, 2), 4, 6, 0.3, 0.1)
combined_non_max_suppression({MANY}.reshape(2, 20, 1, 4), np.random.RandomState(2).uniform(size=(2, 20,
    3)).astype(np.float32), 2, 10, 0.3, 0.5, pad_per_class=True, clip_boxes=False)
combined_non_max_suppression({MANY}.reshape(2, 10, 2, 4), {POINTS}.reshape(2, 5, 4), 4, 6)
draw_bounding_boxes({IMAGES}, {CORNERS}, [[1.0, 0.5, 0.25], [0.1, 0.2, 0.3]])
draw_bounding_boxes({IMAGES}, {CORNERS}, None)
draw_bounding_boxes({IMAGES}[..., :1] + 0.5, {CORNERS}, None)
draw_bounding_boxes({IMAGES}, {CORNERS}, [[1.0]])
draw_bounding_boxes({IMAGES}[0], {CORNERS}, [[1.0, 0.5, 0.25]])
"""


def sampled(tf):
    found = []
    for seed in (3, 3, 4):
        tf.random.set_seed(seed)
        found += tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=7)
    tf.random.set_seed(5)
    found += tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=7, max_attempts=3)
    found += tf.image.sample_distorted_bounding_box([40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=7, max_attempts=3)
    return found


OBJECTS = [[[0.1, 0.1, 0.9, 0.8], [0.5, 0.2, 0.7, 0.4]]]


def sampled_in_functions(tf):
    """Several draws of a function: with an op's seed, with a given one, and of changing sizes."""
    tf.random.set_seed(3)
    seeded = tf.function(lambda size: tf.image.sample_distorted_bounding_box(size, OBJECTS, seed=5))
    given = tf.function(lambda size, seed: tf.image.stateless_sample_distorted_bounding_box(size, OBJECTS, seed))

    @tf.function
    def crop(image):
        begin, size, _ = tf.image.sample_distorted_bounding_box(tf.shape(image), OBJECTS, 9, tf.constant(0.5))
        return tf.reduce_sum(tf.slice(image, begin, size))

    found = []
    for rows in (100, 100, 31):
        size = tf.constant([rows, 200, 3])
        found += [*seeded(size), *given(size, [rows, 7])]
        found.append(crop(tf.reshape(tf.range(rows * 6.0), [rows, 2, 3])))
    return found


def drawn_for_a_dataset(tf):
    tf.random.set_seed(3)
    sizes = tf.data.Dataset.from_tensor_slices([[30, 40, 3], [50, 20, 3], [30, 40, 3]])
    boxes = sizes.map(lambda size: tf.image.sample_distorted_bounding_box(size, OBJECTS, seed=5).begin)
    return list(boxes)


BOX = "[[[0.1, 0.2, 0.5, 0.9]]]"
REFUSED = f"""
[40, 50], {BOX}
[[40, 50, 3]], {BOX}
[40, 50, 3], [[0.1, 0.2, 0.5, 0.9]]
[40, 50, 3], [[[0.1, 0.2, 0.5]]]
[40, 50, 3], [[[0.1, 0.2, 0.5, 1.9]]]
[40, 50, 3], tf.zeros([1, 0, 4])
[40, 50, 3], {BOX}, min_object_covered=1.5
[40, 50, 3], {BOX}, min_object_covered=-0.5
[40, 50, 3], {BOX}, aspect_ratio_range=[0.5]
[40, 50, 3], {BOX}, aspect_ratio_range=[0.0, 1.0]
[40, 50, 3], {BOX}, area_range=[0.0, 1.0]
[40, 50, 3], {BOX}, area_range=[0.5, 1.5]
[40, 50, 3], {BOX}, max_attempts=0
[40.0, 50.0, 3.0], {BOX}
"""
REFUSALS = [line for line in REFUSED.split("\n") if line]

CASES = [
    *((line, f"tf.image.{line}") for line in EXPRESSIONS.replace("\n    ", " ").split("\n") if line),
    ("sampled boxes", sampled),
    ("sampled boxes in functions", sampled_in_functions),
    ("boxes drawn for a dataset", drawn_for_a_dataset),
    *((f"boxes of {line}", f"tf.image.sample_distorted_bounding_box({line}, seed=1)") for line in REFUSALS),
    ("a box of the whole image", "tf.image.stateless_sample_distorted_bounding_box([4, 5, 3], tf.zeros([1, 0, 4]), "
     "[1, 2], use_image_if_no_bounding_boxes=True)"),
]
