"""Choices, loops, maps, folds, custom gradients and checks: values, gradients and classes of errors."""



def folds_of_arrays(tf):
    """Folds whose state contains a `TensorArray`, eagerly and in a function, in both directions; and a scan."""

    def running_sums(fold, size):
        array = tf.TensorArray(tf.float32, size=size, dynamic_size=not size, element_shape=[])

        def one(state, x):
            count, total, sums = state
            return count + 1, total + x["a"], sums.write(count, total * x["b"])

        elems = {"a": tf.range(1.0, 6.0), "b": tf.range(5.0)}
        count, total, sums = fold(one, elems, (tf.constant(0), tf.constant(0.5), array))
        return [count, total, sums.stack()]

    def doubled(fold):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        return fold(lambda found, x: found.write(found.size(), x * 2), tf.range(4.0), array).stack()

    found = []
    for fold in (tf.foldl, tf.foldr):
        for size in (0, 5):
            found += running_sums(fold, size) + tf.function(running_sums)(fold, size)
        found += [doubled(fold), tf.function(doubled)(fold)]
    return found


def loop_variables_that_change(tf):
    """What loops in functions do with variables whose shapes, dtypes or kinds change: a value, or a class of errors."""

    def outcome(first, body, shape, count):
        def loop(count):
            shapes = None if shape is None else [tf.TensorShape([]), tf.TensorShape(shape)]
            step = (lambda i, x: i < count), (lambda i, x: (i + 1, body(x)))
            return tf.while_loop(*step, [tf.constant(0), first()], shape_invariants=shapes)[1]

        try:
            return tf.function(loop)(tf.constant(count))
        except Exception as error:
            return type(error).__name__

    def vector():
        return tf.constant([1.0, 2.0])

    def array():
        return tf.TensorArray(tf.float32, size=0, dynamic_size=True)

    cases = [
        (lambda: tf.constant(1.0), lambda x: x * 2, [None]),
        (vector, lambda x: x * 2, [3]),
        (vector, lambda x: tf.concat([x, [1.0]], 0), [None]),
        (vector, lambda x: tf.concat([x, [1.0]], 0), None),
        (vector, lambda x: tf.ones([2, 2]), [None, 2]),
        (vector, lambda x: tf.cast(x, tf.float64), None),
        (lambda: tf.constant(1.0), lambda x: 3, None),
        (lambda: tf.constant(1.0), lambda x: [x], None),
        (lambda: tf.constant(1.0), lambda x: 3.0, None),
        (lambda: tf.ones([2, 3]), lambda x: 3, []),
        (array, lambda x: 3, None),
        (array, lambda x: tf.constant("a"), None),
        (lambda: None, lambda x: 2.0, None),
    ]
    return [outcome(*case, count) for case in cases for count in (1, 3)]


CASES = [
    ("loop variables that change", loop_variables_that_change),
    ("folds of arrays", folds_of_arrays),
    ("scan of an array", "tf.scan(lambda s, x: s.write(0, x), tf.range(3.0), tf.TensorArray(tf.float32, size=3))"),
    ("cond_true", "grad: lambda x: tf.cond(x > 0, lambda: x * x, lambda: -x) @ 3.0"),
    ("cond_false", "grad: lambda x: tf.cond(x > 0, lambda: x * x, lambda: -x) @ -3.0"),
    ("cond_ignores_x", "grad: lambda x: tf.cond(x > 0, lambda: tf.constant(1.0, tf.float64), lambda: x) @ 3.0"),
    ("cond_python", "tf.cond(True, lambda: (1.0, {'a': 2}), lambda: 3)"),
    ("cond_one_element", "tf.cond(tf.constant([True]), lambda: 1, lambda: 2)"),
    ("cond_vector", "tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2)"),
    ("cond_missing", "tf.cond(True, lambda: 1)"),
    ("cond_not_callable", "tf.cond(True, 1, 2)"),
    ("case_first", "tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)])"),
    ("case_default", "tf.case([(tf.constant(False), lambda: 1)], default=lambda: 3)"),
    ("case_none", "tf.case([(tf.constant(False), lambda: 1)])"),
    ("case_python_bool", "tf.case([(True, lambda: 1)])"),
    ("case_not_a_list", "tf.case(3)"),
    ("case_not_pairs", "tf.case([3])"),
    ("case_gradient", "grad: lambda x: tf.case([(x < 1, lambda: x), (x < 9, lambda: x * x)]) @ 3.0"),
    ("switch", "tf.switch_case(tf.constant(1), [lambda: 1.0, lambda: 2.0])"),
    ("switch_out_of_range", "tf.switch_case(tf.constant(7), [lambda: 1.0, lambda: 2.0])"),
    ("switch_negative", "tf.switch_case(tf.constant(-1), [lambda: 1.0, lambda: 2.0])"),
    ("switch_default", "tf.switch_case(tf.constant(7), [lambda: 1.0, lambda: 2.0], default=lambda: 9.0)"),
    ("switch_dict", "tf.switch_case(tf.constant(1), {0: lambda: 1.0, 1: lambda: 2.0})"),
    ("switch_gap", "tf.switch_case(tf.constant(1), {0: lambda: 1.0, 5: lambda: 2.0})"),
    ("switch_float", "tf.switch_case(tf.constant(1.0), [lambda: 1.0])"),
    ("switch_python", "tf.switch_case(1, [lambda: 1.0])"),
    ("switch_empty", "tf.switch_case(tf.constant(1), [])"),
    ("while_tuple", "tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), (tf.constant(0), tf.constant(1)))"),
    ("while_maximum", "tf.while_loop(lambda i: i < 30, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=2)"),
    ("while_python", "tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0])"),
    ("while_nested", "tf.while_loop(lambda d: d['a'] < 3, lambda d: [{'a': d['a'] + 1}], [{'a': tf.constant(0)}])"),
    ("while_structure", "tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [tf.constant(0)])"),
    ("while_empty", "tf.while_loop(lambda: True, lambda: (), [])"),
    ("while_not_callable", "tf.while_loop(3, lambda i: [i], [tf.constant(0)])"),
    ("while_parallel", "tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)], parallel_iterations=0)"),
    (
        "while_grows",
        "tf.while_loop(lambda i: tf.size(i) < 3, lambda i: [tf.concat([i, i], 0)], [tf.ones([1])],"
        " shape_invariants=[tf.TensorShape([None])])",
    ),
    ("while_gradient", "grad: lambda x: tf.while_loop(lambda y: y < 100, lambda y: [y * x], [x])[0] @ 3.0"),
    (
        "while_back_prop_ignored",
        "grad: lambda x: tf.while_loop(lambda y: y < 100, lambda y: [y * x], [x], back_prop=False)[0] @ 3.0",
    ),
    ("map_fn", "grad: lambda x: tf.map_fn(lambda a: a * a, x) @ [1.0, 2.0, 3.0]"),
    ("map_fn_rows", "grad: lambda x: tf.map_fn(lambda a: a[0] * a[1], x) @ [[1.0, 2.0], [3.0, 4.0]]"),
    (
        "map_fn_nested",
        "tf.map_fn(lambda a: (a[0] + a[1], a[0] - a[1]), (tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])))",
    ),
    (
        "map_fn_dtype",
        "tf.map_fn(lambda a: tf.cast(a, tf.int32), tf.constant([1.0, 2.0]), fn_output_signature=tf.int32)",
    ),
    ("map_fn_old_dtype", "tf.map_fn(lambda a: tf.cast(a, tf.int32), tf.constant([1.0, 2.0]), dtype=tf.int32)"),
    ("map_fn_changed_dtype", "tf.map_fn(lambda a: tf.cast(a, tf.int32), tf.constant([1.0, 2.0]))"),
    ("map_fn_changed_structure", "tf.map_fn(lambda a: a[0], (tf.constant([1.0]), tf.constant([2.0])))"),
    ("map_fn_changed_shape", "tf.map_fn(lambda a: tf.ones([int(a)]), tf.constant([1.0, 2.0]))"),
    ("map_fn_empty", "tf.map_fn(lambda a: a + 1, tf.zeros([0, 3]))"),
    (
        "map_fn_empty_spec",
        "tf.map_fn(lambda a: a + 1, tf.zeros([0, 3]), fn_output_signature=tf.TensorSpec([3], tf.float32))",
    ),
    (
        "map_fn_spec_shape",
        "tf.map_fn(lambda a: a, tf.constant([1.0, 2.0]), fn_output_signature=tf.TensorSpec([3], tf.float32))",
    ),
    ("map_fn_variable", "tf.map_fn(lambda a: 2 * a, tf.Variable([1.0, 2.0]))"),
    ("map_fn_scalar", "tf.map_fn(lambda a: a, tf.constant(1.0))"),
    ("map_fn_sizes", "tf.map_fn(lambda a: a[0], (tf.ones([2]), tf.ones([3])), fn_output_signature=tf.float32)"),
    ("map_fn_nothing", "tf.map_fn(lambda a: a, [])"),
    ("map_fn_python_result", "tf.map_fn(lambda a: 2.0, tf.constant([1.0, 2.0]))"),
    ("scan", "grad: lambda x: tf.scan(lambda a, b: a * b, x) @ [1.0, 2.0, 3.0]"),
    ("scan_reverse", "grad: lambda x: tf.scan(lambda a, b: a * b, x, reverse=True) @ [1.0, 2.0, 3.0]"),
    ("scan_start", "grad: lambda x, s: tf.scan(lambda a, b: a - a * b, x, initializer=s) @ [1.0, 2.0, 3.0], 4.0"),
    ("scan_start_reverse", "tf.scan(lambda a, x: a - x, tf.constant([1.0, 2.0]), initializer=10.0, reverse=True)"),
    ("scan_empty", "tf.scan(lambda a, x: a - x, tf.zeros([0]), initializer=tf.constant(1.0))"),
    ("scan_empty_without_start", "tf.scan(lambda a, x: a - x, tf.zeros([0]))"),
    (
        "scan_structure",
        "tf.scan(lambda a, x: (a[0] + x, a[1] * x), tf.constant([1.0, 2.0]), initializer=(0.0, 1.0))",
    ),
    ("scan_changed_structure", "tf.scan(lambda a, x: (a, x), tf.constant([1.0, 2.0]), initializer=tf.constant(0.0))"),
    (
        "scan_changed_dtype",
        "tf.scan(lambda a, x: tf.cast(a, tf.int32), tf.constant([1.0]), initializer=tf.constant(0.0))",
    ),
    (
        "scan_changed_shape",
        "tf.scan(lambda a, x: tf.concat([a, [x]], 0), tf.constant([1.0, 2.0]), initializer=tf.zeros([0]))",
    ),
    ("foldl", "grad: lambda x: tf.foldl(lambda a, b: a * b - b, x) @ [1.0, 2.0, 3.0]"),
    ("foldr", "grad: lambda x: tf.foldr(lambda a, b: a * b - b, x) @ [1.0, 2.0, 3.0]"),
    ("foldl_start", "tf.foldl(lambda a, x: a - x, tf.constant([1.0, 2.0]), initializer=5.0)"),
    ("foldl_python_start", "tf.foldl(lambda a, x: a + x, tf.constant([1.0, 2.0]), initializer=0)"),
    ("foldl_grows", "tf.foldl(lambda a, x: tf.concat([a, [x]], 0), tf.ones([2]), initializer=tf.zeros([0]))"),
    ("foldl_changed_structure", "tf.foldl(lambda a, x: (a, x), tf.constant([1.0, 2.0]), initializer=0.0)"),
    ("foldl_empty", "tf.foldl(lambda a, x: a - x, tf.zeros([0]))"),
    (
        "foldl_dict",
        "tf.foldl(lambda a, x: a - x['a'] * x['b'], {'a': tf.ones([2]), 'b': tf.ones([2])}, initializer=3.0)",
    ),
    (
        "vectorized_map",
        "grad: lambda x: tf.vectorized_map(lambda a: tf.reduce_sum(a * a), x) @ [[1.0, 2.0], [3.0, 4.0]]",
    ),
    ("vectorized_map_shared", "grad: lambda x, w: tf.vectorized_map(lambda a: a * w, x) @ [1.0, 2.0], [3.0, 4.0, 5.0]"),
    ("vectorized_map_broadcast", "tf.vectorized_map(lambda a: a[0] * a[1], (tf.ones([3, 2]), 2 * tf.ones([1, 2])))"),
    ("vectorized_map_variable", "tf.vectorized_map(lambda a: 2 * a, tf.Variable([1.0, 2.0]))"),
    ("vectorized_map_sizes", "tf.vectorized_map(lambda a: a[0] * a[1], (tf.ones([3, 2]), tf.ones([2, 2])))"),
    ("vectorized_map_constant", "tf.vectorized_map(lambda a: tf.constant(1.0), tf.ones([3, 2]))"),
    ("vectorized_map_python", "tf.vectorized_map(lambda a: 5, tf.ones([3, 2]))"),
    ("vectorized_map_none", "tf.vectorized_map(lambda a: (a, None), tf.ones([3]))"),
    ("vectorized_map_empty", "tf.vectorized_map(lambda a: 2 * a, tf.ones([0, 2]))"),
    ("vectorized_map_dict", "tf.vectorized_map(lambda a: {'z': a['x'] + 1}, {'x': tf.ones([2])})"),
    (
        "vectorized_map_cond",
        "tf.vectorized_map(lambda a: tf.cond(a > 1, lambda: a * 2, lambda: -a), tf.constant([1.0, 2.0, 3.0]))",
    ),
    (
        "vectorized_map_while",
        "tf.vectorized_map(lambda a: tf.while_loop(lambda i: i < 10.0, lambda i: (i * 2,), (a,)),"
        " tf.constant([1.0, 2.0, 3.0]))",
    ),
    ("stop_gradient", "grad: lambda x: x * tf.stop_gradient(x) @ 3.0"),
    ("stop_gradient_all", "grad: lambda x: tf.stop_gradient(x) @ 3.0"),
    ("stop_gradient_list", "tf.stop_gradient([1.0, tf.constant(2.0)])"),
    ("stop_gradient_int", "tf.stop_gradient(3)"),
    ("stop_gradient_variable", "tf.stop_gradient(tf.Variable(3.0))"),
    ("custom_gradient", "grad: tf.custom_gradient(lambda x: (x * x, lambda g: 100 * g)) @ [1.0, 2.0]"),
    ("custom_gradient_brackets", "grad: tf.custom_gradient()(lambda x: (x * x, lambda g: 100 * g)) @ [1.0, 2.0]"),
    ("custom_gradient_none", "grad: tf.custom_gradient(lambda x, y: (x * y, lambda g: (g, None))) @ 1.0, 2.0"),
    ("custom_gradient_too_few", "grad: tf.custom_gradient(lambda x, y: (x * y, lambda g: g)) @ 1.0, 2.0"),
    (
        "custom_gradient_outputs",
        "grad: lambda x: tf.custom_gradient(lambda x: ({'a': x, 'b': [x]}, lambda g, h: g + 10 * h))(x)['a'] @ 1.0",
    ),
    ("custom_gradient_no_pair", "tf.custom_gradient(lambda x: 2 * x)(tf.constant(1.0))"),
    ("grad_pass_through", "grad: tf.grad_pass_through(tf.round) @ [1.4, 1.6]"),
    ("grad_pass_through_two", "grad: tf.grad_pass_through(lambda x, y: x * y) @ 1.0, 2.0"),
    ("recompute_grad", "grad: tf.recompute_grad(lambda x, y: x * x * y) @ [1.0, 2.0], 3.0"),
    ("register_gradient_type", "tf.RegisterGradient(3)"),
    ("register_gradient_twice", "[tf.RegisterGradient('TwiceOp')(lambda op, g: g) for _ in range(2)]"),
    ("no_gradient_type", "tf.no_gradient(3)"),
    ("gradients", "tf.gradients(tf.constant(1.0), tf.constant(1.0))"),
    ("hessians", "tf.hessians(tf.constant(1.0), tf.constant(1.0))"),
    ("py_function", "grad: lambda x: tf.py_function(lambda a: a * a, [x], tf.float64) @ [1.0, 2.0]"),
    ("py_function_list", "tf.py_function(lambda x: (2 * x, x), [tf.constant(1.0)], [tf.float32, tf.float32])"),
    ("py_function_python", "tf.py_function(lambda x: 3, [tf.constant(1.0)], tf.float32)"),
    ("py_function_dtype", "tf.py_function(lambda x: 2 * x, [tf.constant(1.0)], tf.int32)"),
    ("py_function_error", "tf.py_function(lambda x: 1 / 0, [tf.constant(1.0)], tf.float32)"),
    ("py_function_type_error", "tf.py_function(lambda: 1, [tf.constant(1.0)], tf.float32)"),
    ("numpy_function", "grad: lambda x: tf.numpy_function(lambda a: a * a, [x], tf.float64) @ [1.0, 2.0]"),
    ("numpy_function_list", "tf.numpy_function(lambda x: (2 * x, x), [tf.constant(1.0)], [tf.float32] * 2)"),
    ("tuple", "tf.tuple([tf.constant(1.0), None, tf.constant(2.0)])"),
    ("group", "tf.group(tf.constant(1.0))"),
    ("device_unknown", "tf.device('/foo').__enter__()"),
    ("device_function", "tf.device(lambda op: '/CPU:0')"),
    ("eager", "[tf.executing_eagerly(), tf.inside_function(), tf.is_symbolic_tensor(tf.constant(1.0))]"),
    ("print_keyword", "tf.print(1, foo=2)"),
    ("print_stream", "tf.print(1, output_stream='nowhere')"),
    ("assert_false", "tf.Assert(tf.constant(False), [tf.constant([1.0])])"),
    ("assert_true", "tf.debugging.Assert(tf.constant(True), [tf.constant([1.0])])"),
    ("assert_data", "tf.Assert(False, 3)"),
    ("assert_equal", "tf.debugging.assert_equal(tf.constant([1.0, 2.0]), [1.0, 2.0])"),
    ("assert_equal_fails", "tf.debugging.assert_equal(tf.constant([1.0, 2.0]), [1.0, 3.0])"),
    ("assert_equal_broadcast", "tf.debugging.assert_equal(tf.constant([1.0, 2.0]), tf.constant(1.0))"),
    ("assert_equal_shapes", "tf.debugging.assert_equal(tf.ones([2]), tf.ones([3]))"),
    ("assert_equal_dtypes", "tf.debugging.assert_equal(tf.ones([2]), tf.constant([1, 1]))"),
    ("assert_equal_strings", "tf.debugging.assert_equal(tf.constant(['a']), tf.constant(['b']))"),
    ("assert_greater_fails", "tf.debugging.assert_greater(tf.constant([1.0, 2.0]), 1.0)"),
    ("assert_greater_equal", "tf.debugging.assert_greater_equal(tf.constant([1.0, 2.0]), 1.0)"),
    ("assert_less_fails", "tf.debugging.assert_less(tf.constant([1.0, 2.0]), 2.0)"),
    ("assert_less_equal", "tf.debugging.assert_less_equal(tf.constant([1.0, 2.0]), 2.0)"),
    ("assert_none_equal_fails", "tf.debugging.assert_none_equal(tf.constant([1.0, 2.0]), 2.0)"),
    ("assert_near", "tf.debugging.assert_near(tf.constant(1.0), 1.0000005)"),
    ("assert_near_fails", "tf.debugging.assert_near(tf.constant(1.0), 1.00001)"),
    ("assert_near_tolerance", "tf.debugging.assert_near(tf.constant(1.0), 1.1, atol=0.2)"),
    (
        "assert_near_float64",
        "tf.debugging.assert_near(tf.constant(1.0, tf.float64), tf.constant(1 + 1e-14, tf.float64))",
    ),
    ("assert_negative_fails", "tf.debugging.assert_negative(tf.constant([-1.0, 0.0]))"),
    ("assert_non_negative", "tf.debugging.assert_non_negative(tf.constant([1.0, 0.0]))"),
    ("assert_non_positive_fails", "tf.debugging.assert_non_positive(tf.constant([1.0, 0.0]))"),
    ("assert_positive_int", "tf.debugging.assert_positive(tf.constant([1, 2]))"),
    ("assert_integer_fails", "tf.debugging.assert_integer(tf.constant(1.0))"),
    ("assert_type_fails", "tf.debugging.assert_type(tf.constant(1.0), tf.int32)"),
    ("assert_type", "tf.debugging.assert_type(np.ones(2), tf.float64)"),
    ("assert_proper_iterable_tensor", "tf.debugging.assert_proper_iterable(tf.constant([1.0]))"),
    ("assert_proper_iterable_number", "tf.debugging.assert_proper_iterable(3)"),
    (
        "assert_same_float_dtype_fails",
        "tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])",
    ),
    ("assert_same_float_dtype_int", "tf.debugging.assert_same_float_dtype([tf.constant(1)])"),
    ("assert_rank_fails", "tf.debugging.assert_rank(tf.ones([2]), 2)"),
    ("assert_rank_tensor", "tf.debugging.assert_rank(tf.ones([2]), tf.constant(1))"),
    ("assert_rank_vector", "tf.debugging.assert_rank(tf.ones([2]), tf.constant([1]))"),
    ("assert_rank_float", "tf.debugging.assert_rank(tf.ones([2]), 1.0)"),
    ("assert_rank_at_least_fails", "tf.debugging.assert_rank_at_least(tf.ones([2]), 2)"),
    ("assert_rank_in", "tf.debugging.assert_rank_in(tf.ones([2]), (1, 3))"),
    ("assert_scalar_fails", "tf.debugging.assert_scalar(tf.ones([2]))"),
    ("assert_shapes", "tf.debugging.assert_shapes([(tf.ones([2]), ('N',)), (tf.ones([3, 2]), ('M', 'N'))])"),
    ("assert_shapes_fails", "tf.debugging.assert_shapes([(tf.ones([2]), ('N',)), (tf.ones([3, 3]), ('M', 'N'))])"),
    ("assert_shapes_rank", "tf.debugging.assert_shapes([(tf.ones([2]), ('N', 'M'))])"),
    ("assert_shapes_number", "tf.debugging.assert_shapes([(tf.ones([2]), (3,))])"),
    ("assert_shapes_leading", "tf.debugging.assert_shapes([(tf.ones([1, 2, 3]), ('*', 2, 3))])"),
    ("assert_shapes_inside", "tf.debugging.assert_shapes([(tf.ones([1, 2, 3]), (1, '*', 3))])"),
    ("assert_shapes_any", "tf.debugging.assert_shapes([(tf.ones([1, 2, 3]), ('.', None, 3))])"),
    ("assert_shapes_text", "tf.debugging.assert_shapes([(tf.ones([1, 2]), 'NM')])"),
    ("assert_shapes_scalar", "tf.debugging.assert_shapes([(tf.constant(1.0), ('N',))])"),
    ("assert_shapes_empty", "tf.debugging.assert_shapes([(tf.ones([1]), ()), (tf.constant(1.0), ())])"),
    ("assert_shapes_empty_fails", "tf.debugging.assert_shapes([(tf.ones([2]), ())])"),
    ("assert_shapes_none", "tf.debugging.assert_shapes([(tf.ones([2, 3]), None)])"),
    ("assert_shapes_ellipsis", "tf.debugging.assert_shapes([(tf.ones([1, 2, 3]), (..., 'N')), (tf.ones([3]), 'N')])"),
    ("assert_same_float_dtype_none", "tf.debugging.assert_same_float_dtype([None, tf.constant(1.0)]).name"),
    ("py_function_no_function", "tf.py_function(3, [1.0], tf.float32)"),
    ("py_function_bad_type", "tf.py_function(lambda x: x, [1.0], [{}])"),
    ("py_function_no_type", "tf.py_function(lambda x: x, [1.0])"),
    ("py_function_decorator_inp", "tf.py_function(inp=[1.0], Tout=tf.float32)"),
    ("numpy_function_python_number", "tf.numpy_function(lambda x: x + 1, [1.0], tf.float64)"),
    ("numpy_function_two", "tf.numpy_function(lambda x: (x, 2 * x), [tf.constant(1.0)], [tf.float32, tf.float32])"),
    ("numpy_function_list_of_one", "tf.numpy_function(lambda x: x, [tf.constant(1.0)], [tf.float32])"),
    ("numpy_function_no_function", "tf.numpy_function(3, [1.0], tf.float32)"),
    ("assert_all_finite_fails", "tf.debugging.assert_all_finite(tf.constant([1.0, np.nan]), 'text')"),
    ("check_numerics", "tf.debugging.check_numerics(tf.constant([1.0]), 'text')"),
    ("check_numerics_inf", "tf.debugging.check_numerics(tf.constant([np.inf]), 'text')"),
    ("check_numerics_int", "tf.debugging.check_numerics(tf.constant([1]), 'text')"),
    ("check_numerics_gradient", "grad: lambda x: tf.sqrt(tf.debugging.check_numerics(x, 'text')) @ [1.0, 0.0]"),
    ("is_numeric_tensor", "[tf.debugging.is_numeric_tensor(x) for x in (tf.constant(1.0), tf.constant(True), 3)]"),
    ("compute_gradient", "tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])"),
    (
        "compute_gradient_two",
        "tf.test.compute_gradient(lambda x, y: tf.reduce_sum(x * y), [np.ones(2), np.array([2.0, 4.0])])",
    ),
    ("compute_gradient_complex", "tf.test.compute_gradient(lambda x: x * x, [tf.constant([1 + 1j])])"),
    ("compute_gradient_sparse", "tf.test.compute_gradient(lambda x: tf.gather(x, [0, 0]), [tf.constant([1.0, 2.0])])"),
    ("compute_gradient_cut", "tf.test.compute_gradient(lambda x: tf.stop_gradient(x), [tf.constant([1.0])])"),
    ("compute_gradient_int", "tf.test.compute_gradient(lambda x: x * x, [tf.constant([1])])"),
    ("compute_gradient_no_list", "tf.test.compute_gradient(lambda x: x * x, tf.constant([1.0]))"),
    ("visible_devices_unknown", "tf.config.set_visible_devices(['a'])"),
    ("gpus", "tf.config.list_physical_devices('GPU')"),
]
