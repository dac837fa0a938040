"""Images: values and gradients of `tf.image`."""

X = "np.sin(np.arange(2 * 5 * 6 * 3) * 1.7).reshape(2, 5, 6, 3) * 0.4 + 0.5"
F = f"({X}).astype(np.float32)"
U = f"(({X}) * 255).astype(np.uint8)"
BIG = "(np.sin(np.arange(2 * 33 * 35 * 2) * 1.7).reshape(2, 33, 35, 2) * 0.4 + 0.5).astype(np.float32)"
OTHER = f"({BIG} * 0.8 + np.cos(np.arange(2 * 33 * 35 * 2) * 0.9).reshape(2, 33, 35, 2) * 0.1).astype(np.float32)"
BOXES = "[[0.1, 0.2, 0.8, 0.9], [-0.2, 0.0, 0.5, 1.3], [0.9, 0.9, 0.1, 0.1]]"


def _grad(name, call, at=X):
    """Returns value and gradient of the sum of squares, so that the cotangents differ."""
    return name, f"grad: lambda x: {call} ** 2 @ {at}"


def _grad32(name, call, *values):
    """Returns the gradients of the sum of squares in float32, for functions that always compute in float32."""
    return name, (
        "(lambda f, t, *xs: [t.__enter__(), t.watch(xs), t.gradient(f(*xs) ** 2, xs), t.__exit__(None, None, None)][2])"
        f"({call}, tf.GradientTape(), {', '.join(f'tf.constant({v}, tf.float32)' for v in values)})"
    )


METHODS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")

CASES = [
    *[(f"resize {m} {size} {aa}", f"tf.image.resize({F}[0], {size}, '{m}', antialias={aa})")
      for m in METHODS for size in ([3, 4], [7, 8], [1, 1], [5, 6]) for aa in (False, True)],
    *[(f"resize uint8 {m}", f"tf.image.resize({U}, [3, 7], '{m}')") for m in METHODS],
    *[(f"resize {d}", f"tf.image.resize(tf.cast({F}, tf.{d}), [3, 4])") for d in ("float16", "float64", "bfloat16")],
    _grad("grad resize nearest", "tf.image.resize(x, [3, 8], 'nearest')"),
    *[_grad32(f"grad resize {m} {aa}", f"lambda x: tf.image.resize(x, [3, 8], '{m}', antialias={aa})", F)
      for m in ("bilinear", "bicubic", "lanczos3", "gaussian", "mitchellcubic") for aa in (False, True)],
    ("resize one image", f"tf.image.resize({F}[0], [3, 4])"),
    ("resize size is a tensor", f"tf.image.resize({F}[0], tf.constant([3, 4]))"),
    ("resize keeps the aspect", f"tf.image.resize({F}, [3, 17], preserve_aspect_ratio=True)"),
    ("resize rank 2", "tf.image.resize(np.zeros((3, 3)), [2, 2])"),
    ("resize to nothing", f"tf.image.resize({F}, [0, 2])"),
    ("resize size of one", f"tf.image.resize({F}, [2])"),
    ("resize unknown", f"tf.image.resize({F}, [2, 2], 'foo')"),
    ("resize_with_pad", f"tf.image.resize_with_pad({F}, 9, 7)"),
    ("resize_with_pad wide", f"tf.image.resize_with_pad({F}[0], 3, 17, method='nearest')"),
    _grad32("grad resize_with_pad", "lambda x: tf.image.resize_with_pad(x, 7, 7)", F),
    ("resize_with_crop_or_pad", f"tf.image.resize_with_crop_or_pad({F}, 3, 9)"),
    ("resize_with_crop_or_pad odd", f"tf.image.resize_with_crop_or_pad({U}[0], 8, 3)"),
    _grad("grad resize_with_crop_or_pad", "tf.image.resize_with_crop_or_pad(x, 3, 9)"),
    ("crop_and_resize", f"tf.image.crop_and_resize({F}, {BOXES}, [0, 1, 0], [3, 4], extrapolation_value=0.25)"),
    ("crop_and_resize nearest", f"tf.image.crop_and_resize({U}, {BOXES}, [0, 1, 0], [3, 4], method='nearest')"),
    ("crop_and_resize to one", f"tf.image.crop_and_resize({F}, {BOXES}, [0, 1, 0], [1, 1])"),
    ("crop_and_resize bad index", f"tf.image.crop_and_resize({F}, {BOXES}, [0, 2, 0], [1, 1])"),
    _grad32("grad crop_and_resize", "lambda x, b: tf.image.crop_and_resize(x, b, [0, 1, 0], [3, 4])", F, BOXES),
    ("extract_patches", f"tf.image.extract_patches({F}, [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'VALID')"),
    ("extract_patches same", f"tf.image.extract_patches({F}, [1, 3, 3, 1], [1, 2, 3, 1], [1, 1, 2, 1], 'SAME')"),
    ("extract_patches none fits", f"tf.image.extract_patches({F}, [1, 9, 9, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')"),
    _grad("grad extract_patches", "tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 3, 1], [1, 1, 2, 1], 'SAME')"),
    ("extract_volume_patches", f"tf.extract_volume_patches({F}[None], [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], 'SAME')"),
    ("extract_volume_patches valid",
     f"tf.extract_volume_patches({F}[None], [1, 1, 2, 3, 1], [1, 1, 2, 2, 1], 'VALID')"),
    *[(name, f"tf.image.{name}({F})") for name in (
        "flip_left_right", "flip_up_down", "transpose", "rot90", "rgb_to_grayscale", "rgb_to_hsv", "hsv_to_rgb",
        "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "per_image_standardization")],
    *[(f"{name} of one", f"tf.image.{name}({F}[0])") for name in (
        "flip_left_right", "flip_up_down", "transpose", "rot90", "rgb_to_grayscale", "rgb_to_hsv",
        "per_image_standardization")],
    *[(f"{name} tensor", f"tf.image.{name}(tf.constant({F}))") for name in (
        "sobel_edges", "total_variation", "image_gradients")],
    *[_grad(f"grad {name}", f"tf.image.{name}(x)") for name in (
        "flip_left_right", "rot90", "rgb_to_hsv", "rgb_to_yiq", "yuv_to_rgb", "sobel_edges", "total_variation")],
    _grad32("grad rgb_to_grayscale", "tf.image.rgb_to_grayscale", F),
    _grad32("grad per_image_standardization", "lambda x: tf.image.per_image_standardization(x) ** 2", F),
    *[(f"rot90 {k}", f"tf.image.rot90({F}, {k})") for k in (-1, 0, 2, 3, 5)],
    ("flip rank 2", "tf.image.flip_left_right([[1., 2.]])"),
    ("flip rank 5", "tf.image.flip_left_right(np.zeros((1, 1, 1, 1, 1)))"),
    ("hsv of grays", "tf.image.rgb_to_hsv([[0., 0., 0.], [1., 1., 1.], [.5, .5, .5], [1., 0., 1.], [0., .5, .5]])"),
    ("hsv of integers", "tf.image.rgb_to_hsv(tf.constant([[1, 2, 3]]))"),
    ("rgb of hues", "tf.image.hsv_to_rgb([[h, 1., 1.] for h in (0., .1, .2, .3, .4, .5, .6, .7, .8, .9, 1.)])"),
    ("grayscale_to_rgb", f"tf.image.grayscale_to_rgb(tf.constant({F}[..., :1]))"),
    ("grayscale uint8", f"tf.image.rgb_to_grayscale({U})"),
    ("central_crop", f"tf.image.central_crop({F}, 0.5)"),
    ("central_crop all", f"tf.image.central_crop({F}[0], 1.0)"),
    ("central_crop none", f"tf.image.central_crop({F}, 0.0)"),
    ("crop_to_bounding_box", f"tf.image.crop_to_bounding_box({F}, 1, 2, 3, 2)"),
    ("crop outside", f"tf.image.crop_to_bounding_box({F}, 1, 2, 5, 2)"),
    ("pad_to_bounding_box", f"tf.image.pad_to_bounding_box({F}[0], 1, 2, 8, 9)"),
    ("pad too little", f"tf.image.pad_to_bounding_box({F}[0], 1, 2, 5, 9)"),
    *[(f"adjust {kind} {what}", f"tf.image.adjust_{what}({data}, {value})")
      for kind, data in (("float", F), ("uint8", U))
      for what, value in (("brightness", 0.2), ("contrast", 1.5), ("gamma", 2.0))],
    *[(f"adjust {kind} {what}", f"tf.image.adjust_{what}({data}, {value})")
      for kind, data in (("float", F), ("uint8", U)) for what, value in (("hue", 0.3), ("saturation", 0.5))],
    ("adjust hue back", f"tf.image.adjust_hue({F}, -0.45)"),
    ("adjust saturation more", f"tf.image.adjust_saturation({F}, 3.0)"),
    ("adjust hue too far", f"tf.image.adjust_hue({F}, 1.5)"),
    ("adjust gamma negative", f"tf.image.adjust_gamma({F}, -1.0)"),
    _grad32("grad adjust_gamma", "lambda x: tf.image.adjust_gamma(x, 2.0, 3.0)", F),
    _grad32("grad adjust_brightness", "lambda x: tf.image.adjust_brightness(x, 0.2)", F),
    ("to uint8", "tf.image.convert_image_dtype([0., .5, 1.], tf.uint8)"),
    ("to uint8 saturated", "tf.image.convert_image_dtype([-1., 0., .5, 1., 2.], tf.uint8, saturate=True)"),
    ("uint8 to int16", "tf.image.convert_image_dtype(tf.constant([0, 100, 255], tf.uint8), tf.int16)"),
    ("int16 to uint8", "tf.image.convert_image_dtype(tf.constant([0, 100, 32767], tf.int16), tf.uint8)"),
    ("int16 to float", "tf.image.convert_image_dtype(tf.constant([0, 100, 32767], tf.int16), tf.float32)"),
    ("to bool", "tf.image.convert_image_dtype([0., 1.], tf.bool)"),
    ("psnr", f"tf.image.psnr({BIG}, {OTHER}, 1.0)"),
    ("psnr uint8", f"tf.image.psnr({U}, {U}[::-1], 255)"),
    ("psnr shapes", f"tf.image.psnr({F}, {BIG}, 1.0)"),
    ("ssim", f"tf.image.ssim({BIG}, {OTHER}, 1.0)"),
    ("ssim options", f"tf.image.ssim({BIG}, {OTHER}, 2.0, filter_size=5, filter_sigma=0.7, k1=0.02, k2=0.05)"),
    ("ssim map", f"tf.image.ssim({BIG}, {OTHER}, 1.0, return_index_map=True)[:, :5, :5]"),
    ("ssim uint8", "tf.image.ssim((np.arange(256).reshape(16, 16, 1) % 251).astype(np.uint8), "
                   "(np.arange(256).reshape(16, 16, 1) % 249).astype(np.uint8), 255)"),
    ("ssim too small", f"tf.image.ssim({F}, {F}, 1.0)"),
    ("ssim_multiscale", f"tf.image.ssim_multiscale({BIG}, {BIG} * 0.9 + 0.02, 1.0, (0.3, 0.7), filter_size=7)"),
    _grad32("grad psnr", "lambda a, b: tf.image.psnr(a, b, 1.0)", f"{BIG}[:, :9, :9]", f"{OTHER}[:, :9, :9]"),
    _grad32("grad ssim", "lambda a, b: tf.image.ssim(a, b, 1.0, 5)", f"{BIG}[:, :9, :9]", f"{OTHER}[:, :9, :9]"),
    *[(f"stateless {name}", f"tf.image.stateless_random_{name}({F}, {args}seed=[3, 7])") for name, args in (
        ("flip_left_right", ""), ("flip_up_down", ""), ("brightness", "0.2, "), ("contrast", "0.2, 0.8, "),
        ("hue", "0.4, "), ("saturation", "0.2, 0.8, "), ("crop", "[1, 3, 2, 3], "))],
    ("stateless flips of one",
     f"[tf.image.stateless_random_flip_left_right({F}[0], seed=[1, i]) for i in range(4)]"),
    ("seeded changes", "[tf.random.set_seed(3), " + ", ".join(
        f"tf.image.random_{name}({F}{args})" for name, args in (
            ("flip_left_right", ""), ("flip_up_down", ", seed=4"), ("brightness", ", 0.2"), ("contrast", ", 0.2, 0.8"),
            ("hue", ", 0.4"), ("saturation", ", 0.2, 0.8"), ("crop", ", [1, 3, 2, 3]"))) + "][1:]"),
    ("random brightness negative", f"tf.image.random_brightness({F}, -0.2)"),
    ("random contrast swapped", f"tf.image.random_contrast({F}, 0.5, 0.2)"),
    ("random hue too far", f"tf.image.random_hue({F}, 0.7)"),
    ("random crop too large", f"tf.image.random_crop({F}, [3, 3, 3, 3])"),
    ("distorted boxes",
     "[tf.image.stateless_sample_distorted_bounding_box([40, 50, 3], [[[.1, .2, .5, .9]]], [3, i]) for i in range(8)]"),
    ("distorted box options",
     "[tf.image.stateless_sample_distorted_bounding_box([40, 50, 3], [[[.1, .2, .5, .9], [.5, .5, .6, .7]]], [3, i], "
     "0.7, [0.5, 2.0], [.1, .5], 10) for i in range(8)]"),
    ("distorted box of the image",
     "tf.image.stateless_sample_distorted_bounding_box([40, 50, 3], np.zeros((1, 0, 4), np.float32), [3, 4], "
     "use_image_if_no_bounding_boxes=True)"),
    ("distorted box of nothing",
     "tf.image.stateless_sample_distorted_bounding_box([40, 50, 3], np.zeros((1, 0, 4), np.float32), [3, 4])"),
]
