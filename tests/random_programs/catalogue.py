"""The statements of random programs, as templates.

`{a:f}` is a tensor in scope, by kind: `f` float, `c` complex, `i` int, `b` bool, `n` any number, `x` anything; a digit
after it is its rank, `+` at least that rank. `{b:~a}` is of the dtype of `a`, and most likely broadcasts with it;
`{b:=a}` is also of its shape. `{k:axis a}`, `{k:axes a}`, `{s:reshape a}`, `{p:perm a}`, `{i:slice a}` suit the tensor
`a`; `{i:index a}` are some of the places along its axis 0. `{n:int lo hi}`, `{r:float}`, `{t:flag}`, `{d:dtype}`,
`{s:seed}`, `{o:one of|several}` are literals. `{e:body z}` is a formula of the text `z`; `{v:var}` is a variable.
A template without `{y}` is the expression that `{y}` becomes. A pick that does not fit is thrown away and drawn again.
"""

UNARY = """
sin cos tanh sigmoid square abs math.sign floor math.rint math.ceil nn.relu nn.relu6 nn.elu nn.selu nn.gelu
nn.silu nn.softplus nn.softsign nn.leaky_relu math.erf math.erfc atan asinh identity stop_gradient zeros_like ones_like
math.log_sigmoid math.bessel_i0e math.bessel_i1e nn.crelu round math.reciprocal_no_nan
""".split()

GUARDED = [
    "tf.exp(tf.minimum({a:f}, 3.0))", "tf.math.expm1(tf.minimum({a:f}, 3.0))", "tf.sqrt(tf.abs({a:f}) + 0.1)",
    "tf.math.rsqrt(tf.abs({a:f}) + 0.1)", "tf.math.log(tf.abs({a:f}) + 0.1)", "tf.math.log1p(tf.abs({a:f}))",
    "tf.sinh(tf.clip_by_value({a:f}, -3.0, 3.0))", "tf.cosh(tf.clip_by_value({a:f}, -3.0, 3.0))",
    "tf.asin(tf.clip_by_value({a:f}, -0.9, 0.9))", "tf.acos(tf.clip_by_value({a:f}, -0.9, 0.9))",
    "tf.atanh(tf.clip_by_value({a:f}, -0.9, 0.9))", "tf.acosh(tf.abs({a:f}) + 1.1)", "tf.tan({a:f} * 0.2)",
    "tf.math.lgamma(tf.abs({a:f}) + 0.5)", "tf.math.digamma(tf.abs({a:f}) + 0.5)",
    "tf.math.reciprocal(tf.abs({a:f}) + 0.3)", "tf.math.erfinv(tf.clip_by_value({a:f}, -0.9, 0.9))",
    "tf.math.ndtri(tf.clip_by_value({a:f}, 0.1, 0.9))", "tf.nn.gelu({a:f}, approximate=True)",
    "tf.nn.leaky_relu({a:f}, alpha=0.3)", "tf.clip_by_value({a:f}, -0.5, 0.5)", "tf.clip_by_norm({a:f}, 1.5)",
    "tf.sqrt({a:f})", "tf.math.log({a:f})", "tf.exp({a:f})", "1.0 / {a:f}",
]  # fmt: skip

BINARY = [
    "{a:n} + {b:~a}", "{a:n} - {b:~a}", "{a:n} * {b:~a}", "{a:f} / (tf.abs({b:~a}) + 0.3)", "{a:f} / {b:~a}",
    "tf.maximum({a:f}, {b:~a})", "tf.minimum({a:f}, {b:~a})", "tf.pow(tf.abs({a:f}) + 0.1, {b:~a})",
    "tf.math.squared_difference({a:f}, {b:~a})", "tf.atan2({a:f}, {b:~a})", "{a:f} // (tf.abs({b:~a}) + 0.3)",
    "{a:f} % (tf.abs({b:~a}) + 0.3)", "tf.math.divide_no_nan({a:f}, {b:~a})", "tf.math.multiply_no_nan({a:f}, {b:~a})",
    "tf.math.xlogy({a:f}, tf.abs({b:~a}) + 0.1)", "tf.math.xdivy({a:f}, tf.abs({b:~a}) + 0.1)",
    "tf.add_n([{a:f}, {b:=a}, {a}])", "tf.where({a:f} > {b:~a}, {a}, {b})", "{a:f} + {b:~a} * {c:~a}",
    "tf.sigmoid({a:f}) * tf.tanh({b:~a})", "{a:f} * {a} * {b:~a}", "tf.nn.relu({a:f} - {b:~a})",
    "tf.reduce_logsumexp(tf.stack([{a:f}, {b:=a}]), axis=0)",
]  # fmt: skip

SCALARS = [
    "{a:f} * {r:float}", "{r:float} - {a:f}", "{a:f} / {r:float}", "{a:f} ** 2", "{a:f} ** 3", "{a:f} + {r:float}",
    "-{a:f}", "{a:f} * {a} + 1.0", "2.0 * {a:f} - {a}", "({a:f} * {r:float}) * {q:float}", "{a:f} * 0.0", "{a:f} * 1.0",
    "-(-{a:f})", "{a:f} - {a}", "({a:f} + {r:float}) - {r}",
]  # fmt: skip

INTEGERS = [
    "{a:i} + {b:~a}", "{a:i} - {b:~a}", "{a:i} * {n:int -3 4}", "{a:i} // {n:one of|2|3|-2}",
    "{a:i} % {n:one of|2|3|-3}", "tf.cast({a:f}, tf.{d:one of|int32|int64})", "tf.cast({a:x}, tf.{d:dtype})",
    "tf.bitwise.bitwise_and({a:i}, {b:~a})", "tf.argmax({a:f1+}, axis={k:axis a})",
    "tf.argmin({a:f1+}, axis={k:axis a})", "tf.shape({a:x})", "tf.size({a:x})", "tf.range({n:int 0 5})",
    "tf.math.floormod({a:i}, 3)", "tf.abs({a:i})", "tf.maximum({a:i}, {b:~a})",
    "tf.math.bincount(tf.cast(tf.abs({a:i1}) % 4, tf.int32))", "tf.searchsorted(tf.sort({a:f1}), {b:=a})",
    "tf.reduce_sum({a:i})", "tf.reduce_max({a:i}, axis={k:axes a})", "tf.cumsum({a:i1+})", "tf.rank({a:x})",
    "tf.math.count_nonzero({a:f})", "tf.bitwise.left_shift(tf.abs({a:i}) % 8, 2)",
]  # fmt: skip

BOOLEANS = [
    "{a:f} > {b:~a}", "{a:f} <= {r:float}", "{a:i} == {b:~a}", "{a:f} != {b:~a}", "tf.logical_and({a:b}, {b:~a})",
    "tf.logical_or({a:b}, {b:~a})", "tf.logical_not({a:b})", "tf.reduce_any({a:b}, axis={k:axes a})",
    "tf.reduce_all({a:b}, axis={k:axes a})", "tf.math.is_nan({a:f})", "tf.math.is_finite({a:f})", "{a:f} > 100.0",
    "tf.where({m:b}, {a:f}, {b:~a})", "tf.where({m:b}, {a:f}, {r:float})", "tf.cast({m:b}, {a:f}.dtype) * {a}",
    "tf.boolean_mask({a:f1+}, tf.reshape({a}, [tf.shape({a})[0], -1])[:, 0] > {r:float})", "{a:f1}[{a} > {r:float}]",
    "tf.where({a:f1} > {r:float})[:, 0]", "tf.gather({a:f1}, tf.where({a} > {r:float})[:, 0])",
    "tf.reduce_sum(tf.boolean_mask({a:f}, {a} > {r:float}))", "tf.math.is_inf({a:f})",
    "tf.tensor_scatter_nd_add({a:f1}, tf.where({a} > 0.0), {a}[{a} > 0.0])",
]  # fmt: skip

REDUCTIONS = [
    f"tf.reduce_{name}({{a:f}}, axis={{k:axes a}}, keepdims={{t:flag}})"
    for name in ("sum", "sum", "sum", "mean", "mean", "max", "min", "prod", "logsumexp")
] + [
    "tf.math.reduce_variance({a:f}, axis={k:axes a})", "tf.math.reduce_std({a:f} * {w:=a} + {w}, axis={k:axes a})",
    "tf.norm({a:f} + 0.1, axis={k:axis a})", "tf.reduce_sum({a:f})", "tf.reduce_sum({a:c}, axis={k:axes a})",
    "tf.math.reduce_euclidean_norm({a:f} + 0.1, axis={k:axes a})", "tf.reduce_mean({a:c}, axis={k:axes a})",
    "tf.cumsum({a:f1+}, axis={k:axis a}, exclusive={t:flag}, reverse={u:flag})",
    "tf.math.cumprod({a:f1+}, axis={k:axis a}, exclusive={t:flag}, reverse={u:flag})",
    "tf.math.cumulative_logsumexp({a:f1+}, axis={k:axis a}, exclusive=False, reverse={u:flag})",
    "{a:f} - tf.reduce_mean({a}, axis={k:axis a}, keepdims=True)", "tf.math.zero_fraction({a:f})",
    "{a:f} / (1.0 + tf.reduce_sum(tf.abs({a}), axis={k:axis a}, keepdims=True))",
]  # fmt: skip

SHAPES = [
    "tf.reshape({a:x}, {s:reshape a})", "tf.transpose({a:x}, {p:perm a})", "tf.transpose({a:f2})",
    "tf.expand_dims({a:x}, {k:axis a})", "tf.squeeze({a:x})", "tf.tile({a:x1}, [{n:int 0 3}])",
    "tf.tile({a:f2}, [{n:int 1 3}, 2])", "tf.concat([{a:x1+}, {b:=a}], axis={k:axis a})",
    "tf.stack([{a:x}, {b:=a}], axis=-1)", "tf.stack([{a:x}, {b:=a}, {a}])", "tf.unstack({a:f1+})[{n:int 0 2}]",
    "tf.split({a:f1+}, 2)[{n:int 0 2}]", "tf.split({a:f1+}, [1, -1], axis={k:axis a})[{n:int 0 2}]",
    "tf.pad({a:f1}, [[1, 2]])", "tf.pad({a:f2}, [[1, 0], [0, 2]], constant_values={r:float})",
    "tf.pad({a:f1}, [[1, 1]], mode='{o:one of|REFLECT|SYMMETRIC}')", "tf.reverse({a:x1+}, [{k:axis a}])",
    "tf.roll({a:x1+}, {n:int -2 3}, {k:axis a})", "{a:x1+}[{i:slice a}]", "{a:f1+}[{i:slice a}]",
    "{a:f1+}[..., {i:slice a}]", "tf.broadcast_to({a:x}, [{n:int 1 3}, *{a}.shape])",
    "tf.repeat({a:x1+}, {n:int 0 3}, axis={k:axis a})", "{a:f}[..., tf.newaxis]", "{a:f2}[:, 0]", "{a:f2}[:, ::-1]",
    "tf.concat([{a:f1+}[:1], {a}[1:] * 2.0], axis=0)", "tf.linalg.diag({a:f1})", "tf.linalg.diag_part({a:f2})",
    "tf.linalg.band_part({a:f2}, {n:int -1 2}, {m:int -1 2})",
    "tf.linalg.set_diag({a:f2}, tf.linalg.diag_part({a}) * 2.0)", "tf.linalg.matrix_transpose({a:f2+})",
    "tf.strided_slice({a:f1}, [0], [{n:int 0 9}], [2])", "tf.meshgrid({a:f1}, {b:f1})[1]",
    "tf.identity_n([{a:f}, {b:f}])[1]", "tf.reshape({a:f}, [-1])",
    "tf.slice({a:f1}, [0], [tf.minimum(1, tf.size({a}))])",
]  # fmt: skip

INDEXING = [
    "tf.gather({a:f1+}, {i:index a})", "tf.gather({a:f2}, [0, 0], axis=1)", "tf.gather_nd({a:f1+}, [[0], [0]])",
    "tf.scatter_nd([[0], [2], [0]], tf.concat([{a:f1}, {a}, {a}], 0)[:3], [4])",
    "tf.one_hot({a:i} % 4, 3, dtype=tf.float32)", "tf.tensor_scatter_nd_update({a:f1+}, [[0]], {a}[-1:] * 2.0)",
    "tf.tensor_scatter_nd_add({a:f1+}, [[0], [0]], tf.stack([{a}[0], {a}[-1]]))",
    "tf.tensor_scatter_nd_max({a:f1}, [[0]], {a}[-1:])", "tf.sort({a:f1+}, axis={k:axis a})",
    "tf.sort({a:f1+}, direction='DESCENDING')", "tf.argsort({a:f1+})", "tf.math.top_k({a:f1+}, k=1).values",
    "tf.math.top_k({a:f1+}, k=2).indices", "tf.unique({a:i1})[0]", "tf.unique(tf.round({a:f1})).y",
    "tf.gather({a:f1}, tf.argsort({a}))", "tf.math.segment_sum({a:f1+}, tf.range(tf.shape({a})[0]) // 2)",
    "tf.math.segment_mean({a:f1+}, tf.range(tf.shape({a})[0]) // 2)",
    "tf.math.segment_max({a:f1+}, tf.range(tf.shape({a})[0]) // 3)",
    "tf.math.segment_prod({a:f1+}, tf.range(tf.shape({a})[0]) // 2)",
    "tf.math.unsorted_segment_sum({a:f1+}, (tf.range(tf.shape({a})[0]) * 5) % 4 - 1, 4)",
    "tf.math.unsorted_segment_{o:one of|max|min|mean|prod|sqrt_n}({a:f1+}, (tf.range(tf.shape({a})[0]) * 5) % 3, 3)",
    "tf.gather({a:f1+}, tf.argmax(tf.reshape({a}, [-1])) % tf.cast(tf.shape({a})[0], tf.int64))",
    "tf.linalg.trace({a:f2})", "tf.gather({a:f2}, tf.argsort({a}, axis=-1), batch_dims=1)",
    "tf.sequence_mask(tf.abs({a:i}) % 5, 4)", "tf.nn.embedding_lookup({a:f2}, tf.range(5) % tf.shape({a})[0])",
    "tf.dynamic_stitch([[0, 2], [1]], [{a:f1}[:2], {a}[:1]])",
]  # fmt: skip

PRODUCTS = [
    "tf.matmul({a:f2}, {b:~a})", "tf.matmul({a:f2}, {b:=a}, transpose_b=True)",
    "tf.matmul({a:f2}, {b:=a}, transpose_a=True)", "tf.matmul({a:f3}, {b:=a}, transpose_b=True)",
    "tf.linalg.matvec({a:f2}, {b:f1})", "tf.tensordot({a:f}, {b:~a}, 1)", "tf.einsum('ij,kj->ik', {a:f2}, {b:=a})",
    "tf.einsum('ij,ij->', {a:f2}, {b:=a})", "tf.einsum('...i,...i->...', {a:f1+}, {b:=a})",
    "tf.einsum('i,j->ij', {a:f1}, {b:f1})", "tf.einsum('ii->i', tf.matmul({a:f2}, {a}, transpose_b=True))",
    "{a:f2} @ tf.transpose({b:=a}) + {r:float}", "tf.matmul({a:f2} * {r:float}, {b:=a}, transpose_b=True) * {q:float}",
    "tf.nn.relu(tf.matmul({a:f2}, tf.transpose({b:=a})))", "tf.matmul({a:f2}, tf.transpose({a})) + {c:~a}",
    "tf.einsum('bij,bjk->bik', {a:f3}, tf.transpose({b:=a}, [0, 2, 1]))", "tf.matmul({a:c2}, {a}, adjoint_b=True)",
    "tf.matmul(tf.nn.softmax({a:f2}), {b:=a}, transpose_a=True)", "tf.tensordot({a:f2}, {b:=a}, [[0, 1], [0, 1]])",
    "tf.linalg.matmul({a:f2}, {b:=a}, transpose_a=True) * tf.linalg.matmul({a}, {b}, transpose_a=True)",
]  # fmt: skip

LAYERS = [
    "tf.nn.softmax({a:f1+}, axis={k:axis a})", "tf.nn.log_softmax({a:f1+}, axis={k:axis a})",
    "tf.nn.l2_normalize({a:f1+}, axis={k:axis a})",
    "tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({a:f1+}), logits={b:=a})",
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(tf.shape({a:f2})[0]) % "
    "tf.shape({a})[1], logits={a})",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.sigmoid({a:f}), logits={b:=a})",
    "tf.nn.bias_add({a:f2}, {a}[0])", "tf.nn.moments({a:f1+}, axes=[{k:axis a}])[{n:int 0 2}]",
    "tf.nn.batch_normalization({a:f2}, *tf.nn.moments({a}, [0]), None, None, 1e-3)",
    "({a:f1+} - tf.reduce_mean({a}, -1, keepdims=True)) * tf.math.rsqrt(tf.math.reduce_variance({a}, -1, "
    "keepdims=True) + 1e-3)",
    "tf.nn.conv1d({a:f2}[:, :, None], tf.ones([2, 1, 2], {a}.dtype) * {r:float}, 1, 'SAME')",
    "tf.nn.conv2d({a:f2}[None, :, :, None], {b:=a}[:2, :2][:, :, None, None], {n:int 1 3}, '{o:one of|SAME|VALID}')",
    "tf.nn.depthwise_conv2d({a:f2}[None, :, :, None], {b:=a}[:2, :2][:, :, None, None], [1, 1, 1, 1], 'SAME')",
    "tf.nn.conv2d_transpose({a:f2}[None, :, :, None], {b:=a}[:2, :2][:, :, None, None], [1, 2 * "
    "{a}.shape[0], 2 * {a}.shape[1], 1], 2)",
    "tf.nn.max_pool2d({a:f2}[None, :, :, None], 2, {n:int 1 3}, 'SAME')",
    "tf.nn.avg_pool2d({a:f2}[None, :, :, None], 2, {n:int 1 3}, 'SAME')",
    "tf.nn.max_pool1d({a:f2}[:, :, None], 2, {n:int 1 3}, 'SAME')",
    "tf.nn.avg_pool1d({a:f2}[:, :, None], 3, 1, 'SAME')", "tf.nn.l2_loss({a:f})",
    "tf.nn.normalize_moments({a:f1}.shape[0] + 0.0, tf.reduce_sum({a}), tf.reduce_sum({a} ** 2), None)[1]",
    "tf.image.resize({a:f2}[:, :, None], [3, 5])", "tf.nn.local_response_normalization({a:f2}[None, None])",
]  # fmt: skip

LINEAR_ALGEBRA = [
    template.replace("SPD", "tf.matmul({a:f2}, {a}, transpose_b=True) + tf.eye({a}.shape[0], dtype={a}.dtype)")
    for template in (
        "tf.linalg.inv(SPD)", "tf.linalg.det(SPD)", "tf.linalg.cholesky(SPD)", "tf.linalg.solve(SPD, {a})",
        "tf.linalg.eigvalsh(SPD)", "tf.linalg.logdet(SPD)", "tf.linalg.svd(SPD, compute_uv=False)",
        "tf.linalg.triangular_solve(SPD, {a})", "tf.linalg.slogdet(SPD)[1]", "tf.linalg.expm((SPD) * 0.1)",
        "tf.linalg.cholesky_solve(tf.linalg.cholesky(SPD), {a})", "tf.linalg.norm({a:f2} + 0.1)",
    )
]  # fmt: skip

COMPLEX = [
    "tf.complex({a:f}, {b:=a})", "tf.complex({a:f}, {b:~a})", "tf.cast({a:f}, tf.complex{d:one of|64|128})",
    "tf.math.real({a:c})", "tf.math.imag({a:c})", "tf.abs({a:c} + 0.3)", "tf.math.angle({a:c} + 0.3)",
    "tf.math.conj({a:c})", "{a:c} * {b:~a}", "{a:c} / ({b:~a} * tf.math.conj({b}) + 1.0)", "tf.signal.fft({a:c1+})",
    "tf.signal.ifft({a:c1+})", "tf.signal.rfft({a:f1+})", "tf.exp({a:c} * 0.1)", "tf.square({a:c})",
    "tf.sin({a:c} * 0.2)", "tf.where({m:b}, {a:c}, {b:~a})", "tf.signal.dct({a:f1+})", "{a:c} - {b:~a}",
    "tf.tanh({a:c} * 0.1)",
]  # fmt: skip

DTYPES = [
    "tf.cast({a:f}, tf.float64)", "tf.cast({a:f}, tf.float32)", "tf.cast({a:x}, tf.{d:dtype})",
    "tf.cast({a:i}, tf.float32)", "tf.cast({a:b}, tf.float32)", "tf.saturate_cast({a:f}, tf.int32)",
    "tf.random.stateless_uniform({a:f}.shape, {s:seed}, dtype={a}.dtype) * {a}",
    "tf.random.stateless_normal({a:f}.shape, {s:seed}, dtype={a}.dtype) + {a}",
    "tf.random.stateless_normal([{n:int 0 4}, 2], {s:seed})",
    "tf.constant({r:float}, shape={a:f}.shape, dtype={a}.dtype) * {a}", "tf.fill({a:f}.shape, {r:float})",
    "tf.zeros({a:f}.shape, {a}.dtype)", "tf.linspace({r:float}, {q:float}, {n:int 1 5})",
]  # fmt: skip

CONTROL = [
    "tf.cond(tf.reduce_sum({a:f}) > {r:float}, lambda: {e:body a}, lambda: {f:body a})",
    "tf.cond(tf.reduce_sum({a:f}) > {r:float}, lambda: {a} * {b:=a}, lambda: {b})",
    "tf.cond(tf.reduce_any({a:f} > 100.0), lambda: {e:body a}, lambda: {a})",
    "tf.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, {e:body z}), [0, {a:f}])[1]",
    "tf.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, {e:body z} + {b:=a}), [tf.constant(0), {a:f}])[1]",
    "tf.while_loop(lambda i, z: i < {n:int 0 4}, lambda i, z: (i + 1, {e:body z}), [0, {a:f}])[1]",
    "tf.while_loop(lambda z: tf.reduce_sum(tf.abs(z)) > 1.0, lambda z: (z * 0.3,), [{a:f}], maximum_iterations=4)[0]",
    "tf.while_loop(lambda i, z: i < k, lambda i, z: (i + 1, tf.cond(tf.reduce_sum(z) > 0.0, lambda: "
    "{e:body z}, lambda: -z)), [0, {a:f}])[1]",
    "tf.map_fn(lambda z: {e:body z}, {a:f1+})", "tf.map_fn(lambda z: tf.reduce_sum({e:body z}), {a:f1+})",
    "tf.vectorized_map(lambda z: {e:body z} * 2.0, {a:f1+})", "tf.scan(lambda s, z: s * 0.5 + {e:body z}, {a:f1+})",
    "tf.foldl(lambda s, z: s + {e:body z}, {a:f1+})",
    "tf.switch_case(k % 3, [lambda: {a:f}, lambda: {e:body a}, lambda: {f:body a}])",
    "tf.function(lambda z: {e:body z})({a:f})", "compiled(lambda z: {e:body z})({a:f})",
    "tf.foldr(lambda s, z: s * {e:body z}, {a:f1+})",
    "{y} = {a:f}\nfor _ in range({n:int 0 4}):\n    {y} = {e:body y}",
    "{h} = tf.TensorArray({a:f}.dtype, size=k, element_shape={a}.shape)\n"
    "_, {h} = tf.while_loop(lambda i, t: i < k, lambda i, t: (i + 1, t.write(i, {e:body a})), [0, {h}])\n"
    "{y} = {h}.stack()",
    "tf.debugging.assert_all_finite({a:f}, 'not finite')",
    "tf.case([(tf.reduce_sum({a:f}) > {r:float}, lambda: {e:body a})], default=lambda: {a})",
]  # fmt: skip

DERIVATIVES = [
    "with tf.GradientTape() as {h}:\n    {h}.watch({a:f})\n    {z} = {e:body a}\n{y} = dense({h}.gradient({z}, {a}))",
    "with tf.GradientTape() as {h}:\n"
    "    {h}.watch({a:f})\n    {z} = tf.reduce_sum(({e:body a}) ** 2)\n{y} = dense({h}.gradient({z}, {a}))",
    "with tf.GradientTape(persistent=True) as {h}:\n"
    "    {h}.watch({a:f})\n"
    "    {z} = {e:body a}\n"
    "    {w} = {f:body z}\n{y} = dense({h}.gradient({w}, {a})) + dense({h}.gradient({z}, {a}))",
    "with tf.GradientTape() as {g}:\n"
    "    {g}.watch({a:f})\n"
    "    with tf.GradientTape() as {h}:\n"
    "        {h}.watch({a})\n"
    "        {z} = ({e:body a}) * {a}\n    {w} = dense({h}.gradient({z}, {a}))\n{y} = dense({g}.gradient({w}, {a}))",
    "with tf.GradientTape() as {h}:\n"
    "    {h}.watch({a:f1})\n    {z} = {e:body a}\n{y} = dense({h}.jacobian({z}, {a}))",
    "with tf.GradientTape() as {h}:\n"
    "    {h}.watch({a:f2})\n    {z} = {e:body a}\n{y} = dense({h}.batch_jacobian({z}, {a}))",
    "with tf.autodiff.ForwardAccumulator({a:f}, {b:=a}) as {h}:\n    {z} = {e:body a}\n{y} = dense({h}.jvp({z}))",
    "@tf.custom_gradient\ndef {h}(z):\n    return {e:body z}, lambda g: g * z\n{y} = {h}({a:f})",
    "{y} = tf.recompute_grad(lambda z: {e:body z})({a:f})",
    "with tf.GradientTape() as {h}:\n"
    "    {h}.watch({a:f})\n"
    "    {z} = {e:body a}\n    {w} = tf.stop_gradient({z}) * {z}\n{y} = dense({h}.gradient({w}, {a}))",
    "{z} = {e:body a}\n{y} = tf.stop_gradient({z}) * {a:f}",
    "with tf.GradientTape() as {h}:\n    {z} = {v:var} * {v}\n{y} = dense({h}.gradient({z}, {v}))",
]  # fmt: skip

VARIABLES = [
    "{v:var}.assign_add({a:=v})\n{y} = {v} * 1.0", "{v:var}.assign({a:=v} * 0.5)\n{y} = tf.identity({v})",
    "{v:var}.assign_sub({v} * 0.1)\n{y} = {v} + 0.0", "{y} = {v:var} * {a:~v}", "{y} = tf.reduce_sum({v:var})",
    "{v:var}.scatter_nd_add([[0]], {v}[:1] * 0.5)\n{y} = {v} * {v}",
    "{v:var}.scatter_nd_update([[0]], {v}[-1:])\n{y} = {v} * 2.0", "{y} = tf.gather({v:var}, [0, 0])",
    "{y} = {v:var} + {a:=v}\n{v}.assign({y} * 0.5)", "{y} = {v:var}.assign_add({a:=v}) * 2.0",
    "{v:var}[0].assign({v}[0] * 0.5)\n{y} = {v} - 1.0",
    "tf.cond(tf.reduce_sum({v:var}) > {r:float}, lambda: {v}.assign({v} * 0.5), lambda: {v}.assign({v} + "
    "0.25))\n{y} = {v} * 1.0",
    "{z} = tf.identity({v:var})\n{v}.assign({v} * 2.0 - {v})\n{y} = {z} * {v}",
    "{y} = {a:=v} + 0.0\nfor _ in tf.range(k):\n    {y} = {y} * 0.5 + {v:var}\n    {v}.assign({v} * 0.5 + 0.1)",
    "{y} = {a:=v} + 0.0\nfor _ in tf.range(k):\n    if tf.reduce_sum({v:var}) > {r:float}:\n"
    "        {v}.assign({v} * 0.5)\n    {y} = {y} * 0.5 + {v} * {v}",
    "with tf.GradientTape() as {h}:\n"
    "    {h}.watch({a:=v})\n"
    "    _, {z} = tf.while_loop(lambda i, z: i < k, "
    "lambda i, z: (i + 1, z * {a} + {v:var} * {v}.assign({v} * 0.5 + {a})), [0, {a} + 0.0])\n"
    "{g}, {w} = {h}.gradient({z}, [{v}, {a}], unconnected_gradients='zero')\n{y} = {g} + {w}",
    "with tf.GradientTape() as {h}:\n"
    "    {z} = tf.cond(tf.reduce_sum({v:var}) > {r:float}, lambda: {v} * {v}.assign({v} * 0.5), lambda: {v} + 0.25)\n"
    "    {w} = {z} * {v}\n{y} = {h}.gradient({w}, {v})",
]  # fmt: skip

BODIES = [
    "tf.sin({z})", "{z} * 0.5", "tf.tanh({z}) * {z}", "{z} * {z} * 0.3", "{z} - 0.1", "tf.nn.relu({z})",
    "tf.abs({z}) * 0.7", "tf.where({z} > 0.2, {z} * 0.5, -{z})", "tf.sigmoid({z})", "tf.nn.softplus({z}) - 0.2",
    "{z} - tf.reduce_mean({z})", "tf.cumsum(tf.reshape({z}, [-1]))[0] * {z} * 0.2",
    "tf.stop_gradient({z}) * 0.3 + {z}", "tf.nn.gelu({z})", "tf.sqrt(tf.abs({z}) + 0.5)", "tf.minimum({z}, 0.5) * 0.9",
    "tf.square({z}) / (1.0 + tf.square({z}))", "tf.reshape(tf.reshape({z}, [-1]), tf.shape({z}))",
]  # fmt: skip

# The lists of statements and their frequencies.
CATALOGUE = [
    (14, [f"tf.{name}({{a:f}})" for name in UNARY]),
    (10, GUARDED), (14, BINARY), (6, SCALARS), (5, INTEGERS), (9, BOOLEANS), (9, REDUCTIONS), (12, SHAPES),
    (8, INDEXING), (7, PRODUCTS), (7, LAYERS), (2, LINEAR_ALGEBRA), (4, COMPLEX), (4, DTYPES), (7, CONTROL),
    (5, DERIVATIVES), (5, VARIABLES),
]  # fmt: skip
