"""Random numbers: the stateless functions, the generators and the sequences after `set_seed` are TensorFlow's own."""


def _after(seed, *draws):
    return f"[tf.random.set_seed({seed}), {', '.join(draws)}][1:]"


def _generator(seed, *draws):
    return f"(lambda g: [{', '.join(draws)}])(tf.random.Generator.from_seed({seed}))"


CASES = [
    *[(f"uniform {d}", f"tf.cast(tf.random.stateless_uniform([3, 5], [3, -7], dtype=tf.{d}), tf.float64)")
      for d in ("float16", "bfloat16", "float32", "float64")],
    *[(f"normal {d}", f"tf.cast(tf.random.stateless_normal([3, 5], [3, 7], dtype=tf.{d}), tf.float32)")
      for d in ("float16", "bfloat16", "float32")],
    ("normal float64", "tf.random.stateless_normal([3, 5], [3, 7], 2.0, 3.0, dtype=tf.float64)"),
    *[(f"truncated normal {d}",
       f"tf.cast(tf.random.stateless_truncated_normal([99], [3, 7], dtype=tf.{d}), tf.float32)")
      for d in ("float16", "bfloat16", "float32", "float64")],
    ("uniform bounds", "tf.random.stateless_uniform([2, 3], [1, 2], [1.0, 2.0, 3.0], [[4.0], [5.0]])"),
    ("uniform many", "tf.reduce_sum(tf.random.stateless_uniform([50001], [1, 2], dtype=tf.float64))"),
    ("uniform of none", "tf.random.stateless_uniform([2, 0], [3, 7], 5, 5, dtype=tf.int32)"),
    ("uniform int32", "tf.random.stateless_uniform([11], [3, 7], -5, 1000, dtype=tf.int32)"),
    ("uniform int64", "tf.random.stateless_uniform([11], [3, 7], -5, 10**15, dtype=tf.int64)"),
    *[(f"full range {d}", f"tf.cast(tf.random.stateless_uniform([5], [3, 7], None, None, dtype=tf.{d}), tf.int64)")
      for d in ("int32", "int64", "uint32", "uint64")],
    ("zero-size", "tf.random.stateless_normal([0, 3], [1, 2])"),
    ("scalar", "tf.random.stateless_uniform([], [1, 2])"),
    ("shape is a tensor", "tf.random.stateless_uniform(tf.constant([2, 2]), tf.constant([1, 2], tf.int64))"),
    ("split", "tf.random.split([1, 2], 3)"),
    ("split int64", "tf.random.split(tf.constant([1, 2], tf.int64), 3)"),
    ("fold_in", "tf.random.fold_in([1, 2], 3)"),
    *[(f"stateless shuffle {n}", f"tf.random.experimental.stateless_shuffle(tf.range({n}), [3, -7])")
      for n in (1, 4, 23)],
    ("stateless shuffle rows", "tf.random.experimental.stateless_shuffle([[1., 2.], [3., 4.], [5., 6.]], [1, 2])"),
    ("stateless shuffle of a scalar", "tf.random.experimental.stateless_shuffle(3, [1, 2])"),
    ("gamma", "tf.random.stateless_gamma([30, 3], [3, 7], [0.5, 1.0, 5.0], dtype=tf.float64)"),
    ("gamma beta", "tf.random.stateless_gamma([5, 2, 2], [3, 7], [[0.5], [2.0]], [1.0, 3.0])"),
    ("gamma float16", "tf.random.stateless_gamma([5], [3, 7], 2.0, dtype=tf.float16)"),
    ("poisson", "tf.random.stateless_poisson([30, 3], [3, 7], [0.5, 8.0, 55.0])"),
    ("poisson float", "tf.random.stateless_poisson([5], [3, 7], 12.0, dtype=tf.float32)"),
    ("binomial",
     "tf.random.stateless_binomial([30, 6], [3, 7], [10., 100., 20., 1000., 0., 5.], [0.3, 0.4, 0.9, 0.7, 0.5, 1.0])"),
    ("binomial of nothing",
     "tf.random.stateless_binomial([3], [3, 7], np.float32([5, 0, 5]), np.float32([np.nan, np.nan, 1]), tf.float32)"),
    ("binomial broadcast",
     "tf.random.stateless_binomial([4, 2, 3], [3, 7], [[10.], [50.]], [0.1, 0.5, 0.6], tf.float32)"),
    ("categorical", "tf.random.stateless_categorical([[0., 1., 2.], [3., 0., -1.]], 10, [3, 7])"),
    ("categorical int32", "tf.random.stateless_categorical([[0., -np.inf, np.nan, 1.]], 20, [1, 2], dtype=tf.int32)"),
    ("bounded normal",
     "tf.random.stateless_parameterized_truncated_normal([20, 5], [3, 7], [0., 0., 0., 10., 0.], [1., 1., 2., 1., 1.], "
     "[-2., 1., -.1, 0., -1e3], [2., 5., .1, 1., -3.])"),
    ("seeded draws", _after(
        5, "tf.random.uniform([3])", "tf.random.uniform([3])", "tf.random.normal([3], seed=1)",
        "tf.random.normal([5], seed=1)", "tf.random.uniform([3], maxval=10, dtype=tf.int32)",
        "tf.random.truncated_normal([3])", "tf.random.uniform([2, 2], 3.0, 5.0)")),
    ("seeded streams", _after(
        7, *["tf.random.uniform([3], seed=9)", "tf.random.uniform([3], dtype=tf.float64, seed=9)",
             "tf.random.uniform([3], maxval=10, dtype=tf.int32, seed=9)", "tf.random.truncated_normal([3], seed=9)",
             "tf.random.gamma([4], [0.5, 2.0], seed=2)", "tf.random.poisson([4], [0.5, 20.0], seed=3)",
             "tf.random.categorical([[0., 1., 2.], [0., 0., 0.]], 5, seed=4)",
             "tf.random.shuffle(tf.range(10), seed=5)", "tf.random.shuffle([[1, 2], [3, 4], [5, 6]], seed=5)"] * 2)),
    ("global seed is reset", _after(1, "tf.random.uniform([2])", "tf.random.set_seed(1)", "tf.random.uniform([2])")),
    ("seed zero", _after(0, "tf.random.uniform([2], seed=0)", "tf.random.normal([2])")),
    ("large seeds", _after(2**40 + 3, "tf.random.uniform([2])", "tf.random.uniform([2], seed=2**35)")),
    ("negative seeds", _after(-3, "tf.random.uniform([2])", "tf.random.uniform([2], seed=-4)")),
    ("generator", _generator(
        1234, "g.normal([2, 3])", "g.state", "g.uniform([3])", "g.truncated_normal([3], dtype=tf.float64)",
        "g.uniform([2], 0, 10, dtype=tf.int64)", "g.uniform([2], None, None, dtype=tf.int32)",
        "tf.bitcast(g.uniform_full_int([2]), tf.int64)", "g.state", "g.key")),
    ("generator binomial", _generator(3, "g.binomial([3, 2], [10., 200.], [.3, .4])", "g.state", "g.uniform([2])")),
    ("generator seeds", _generator(3, "g.make_seeds(2)", "g.skip(10)", "g.split(2)[1].state", "g.state")),
    ("generator states",
     "[tf.random.Generator.from_seed(s).state for s in (5, 2**64 - 1, [1, 2, 3, 4], [8], 2**130 + 2**70 + 3, -1)]"),
    ("generator resets", _generator(
        3, "g.reset_from_seed(3)", "tf.identity(g.state)", "g.reset([1, 2, 3])", "tf.identity(g.state)",
        "g.reset_from_key_counter(7, [1, 2])", "tf.identity(g.state)")),
    ("from_key_counter", "tf.random.Generator.from_key_counter(5, [1, 2], 'philox').normal([3])"),
    ("counter carries",
     "(lambda g: [g.uniform([1000]), g.state][1])(tf.random.Generator.from_state([-5, 1, 2], 'philox'))"),
    ("counter carries inside", "tf.random.Generator.from_state([-5, 1, 2], 'philox').uniform([40])"),
    ("copied generator", "tf.random.Generator(tf.random.Generator.from_seed(8)).normal([2])"),
    ("create_rng_state", "tf.random.create_rng_state([12, 34], 'threefry')"),
    ("grad normal",
     "grad: lambda m, s: tf.random.stateless_normal([2, 3], [1, 2], m, s, tf.float64) @ [1., 2., 3.], 2."),
    ("grad uniform",
     "grad: lambda a, b: tf.random.stateless_uniform([2, 3], [1, 2], a, b, tf.float64) @ [1., 2., 3.], 5."),
    ("grad gamma",
     "grad: lambda a, b: tf.random.stateless_gamma([5, 4], [1, 2], a, b, tf.float64)"
     " @ [0.3, 1., 3., 200.], [[1., 2., 3., 4.]]"),
    ("grad bounded normal",
     "grad: lambda m, s, a, b: tf.random.stateless_parameterized_truncated_normal([20, 2], [1, 2], m, s, a, b)"
     " @ [0., 1.], 1., [-1.], 2."),
    ("threefry", "tf.random.stateless_uniform([3], [1, 2], alg='threefry')"),
    ("threefry generator", "tf.random.Generator.from_seed(3, alg='threefry').uniform([3])"),
    ("unknown algorithm", "tf.random.stateless_uniform([3], [1, 2], alg='foo')"),
    ("seed of three", "tf.random.stateless_uniform([3], [1, 2, 3])"),
    ("float seed", "tf.random.stateless_uniform([3], [1., 2.])"),
    ("empty range", "tf.random.stateless_uniform([3], [1, 2], 5, 5, dtype=tf.int32)"),
    ("one bound", "tf.random.stateless_uniform([3], [1, 2], maxval=None, dtype=tf.int32)"),
    ("no maxval", "tf.random.uniform([3], dtype=tf.int32)"),
    ("unsigned with bounds", "tf.random.stateless_uniform([3], [1, 2], 0, 5, dtype=tf.uint32)"),
    ("negative shape", "tf.random.uniform([-3])"),
    ("float shape", "tf.random.uniform([3.0])"),
    ("scalar shape", "tf.random.uniform(5)"),
    ("integer normal", "tf.random.normal([3], dtype=tf.int32)"),
    ("bool uniform", "tf.random.uniform([3], dtype=tf.bool)"),
    ("logits of rank 1", "tf.random.categorical([0., 1.], 3)"),
    ("float classes", "tf.random.categorical([[0., 1.]], 3, dtype=tf.float32)"),
    ("shape does not fit", "tf.random.stateless_gamma([5, 3], [1, 2], [1., 2.])"),
    ("state of two", "tf.random.Generator.from_state([1, 2], alg='philox')"),
    ("bounds swapped", "tf.random.stateless_parameterized_truncated_normal([3], [1, 2], 0., 1., 2., -2.)"),
    *[(f"{law} candidates {unique} {count}", _after(
        2, f"tf.random.{law}_candidate_sampler(tf.constant([[1, 3], [2, 0]], tf.int64), 2, {count}, {unique}, 10)"))
      for law in ("uniform", "log_uniform") for unique, count in ((True, 4), (True, 1), (False, 12))],
    *[(f"{law} candidates {name}", f"tf.random.{law}_candidate_sampler({arguments})")
      for law in ("uniform", "log_uniform")
      for name, arguments in (
          ("too many", "[[1]], 1, 4, True, 3"), ("other columns", "[[1, 2]], 1, 4, True, 9"),
          ("int32", "tf.constant([[1]]), 1, 4, True, 9"), ("out of range", "[[9]], 1, 4, True, 9"))],
    ("candidates in turn", _after(3, *[
        f"tf.random.{law}_candidate_sampler([[1]], 1, 5, True, 20{seed}).sampled_candidates"
        for law, seed in (("log_uniform", ""), ("uniform", ""), ("log_uniform", ", seed=7"), ("log_uniform", ""),
                          ("log_uniform", ", seed=7"))])),
    *[(f"{loss} draws", _after(5, *[
        f"tf.nn.{loss}(tf.constant(np.sin(np.arange(40.0)).reshape(20, 2), tf.float32), tf.zeros(20), "
        "tf.constant([[1], [3]], tf.int64), tf.constant([[1.0, 2.0], [3.0, -1.0]]), 4, 20)"] * 3))
      for loss in ("sampled_softmax_loss", "nce_loss")],
    ("numpy_normal", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.standard_normal(3)]"),
    ("numpy_uniform", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.uniform(1.0, 2.0, [3])]"),
    ("numpy_randint", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.randint(0, 10, 4)]"),
    ("numpy_randint_one", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.randint(100)]"),
    ("numpy_poisson", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.poisson(4.0, 3)]"),
    ("numpy_randn", "[tf.experimental.numpy.random.seed(7), tf.experimental.numpy.random.randn(2, 1)]"),
]
