"""tf.quantization: values rounded to steps, gradients for values and limits, also in functions, and misuse."""

_X = "tf.constant([-7.0, -6.0, -1.23, -0.01, 0.0, 0.02, 0.5, 3.3, 5.98, 6.0, 9.0])"
_M = "tf.reshape(tf.linspace(-3.0, 3.0, 12), [4, 3])"


def _derived(name, f, *arguments):
    def program(tf):
        xs = [eval(argument, {"tf": tf}) for argument in arguments]

        def derived(*xs):
            with tf.GradientTape() as tape:
                tape.watch(xs)
                y = f(tf, *xs)
            return y, tape.gradient(y, xs)

        return [derived(*xs), tf.function(derived)(*xs)]

    return name, program


CASES = [
    *(
        _derived(
            f"args-{i}", lambda tf, x, options=options: tf.quantization.fake_quant_with_min_max_args(x, **options), _X
        )
        for i, options in enumerate(
            [
                {},
                {"min": -1, "max": 3, "num_bits": 4},
                {"min": 0.5, "max": 3.0, "num_bits": 3},
                {"min": -3, "max": -1},
                {"min": -1, "max": 1, "narrow_range": True},
            ]
        )
    ),
    _derived(
        "vars",
        lambda tf, *xs: tf.quantization.fake_quant_with_min_max_vars(*xs, num_bits=4),
        _X,
        "tf.constant(-1.0)",
        "tf.constant(2.0)",
    ),
    _derived(
        "vars-nothing",
        lambda tf, *xs: tf.quantization.fake_quant_with_min_max_vars(*xs),
        _X,
        "tf.constant(0.0)",
        "tf.constant(0.0)",
    ),
    _derived(
        "channels",
        lambda tf, *xs: tf.quantization.fake_quant_with_min_max_vars_per_channel(*xs),
        _M,
        "tf.constant([-1.0, -2.0, -0.5])",
        "tf.constant([1.0, 0.5, 2.0])",
    ),
    ("no-range", f"tf.quantization.fake_quant_with_min_max_args({_X}, min=0, max=0)"),
    ("few-bits", f"tf.quantization.fake_quant_with_min_max_args({_X}, num_bits=1)"),
    ("many-bits", f"tf.quantization.fake_quant_with_min_max_args({_X}, num_bits=17)"),
    ("limits-of-rank-1", f"tf.quantization.fake_quant_with_min_max_vars({_X}, [1.0], 2.0)"),
    ("too-few-limits", f"tf.quantization.fake_quant_with_min_max_vars_per_channel({_M}, [1.0], [2.0])"),
    ("integers", "tf.quantization.fake_quant_with_min_max_args(tf.constant([1]))"),
]
