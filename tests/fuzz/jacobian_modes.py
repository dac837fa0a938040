"""Jacobians by rows, columns and chunks, batch Jacobians, Hessians and their products, against slow loops."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf

from ._programs import USERS_RULES, Program, differs, gradients_by_rows, inputs

CHOICES: list[dict[str, Any]] = [
    {}, {"mode": "auto"}, {"mode": "forward"}, {"mode": "reverse", "max_bytes": 40},
    {"mode": "forward", "max_bytes": 40},
    {"experimental_use_pfor": False}, {"sparse": "tensor"}, {"unconnected_gradients": "zero"},
]  # fmt: skip


def disagreements(seed: int) -> list[str]:
    """Draws a program and compares one kind of derivative."""
    rng = np.random.default_rng(seed)
    kind = [_jacobians, _complex_jacobians, _batches, _second_derivatives][int(rng.choice(4, p=[0.35, 0.2, 0.15, 0.3]))]
    return kind(rng)


def _jacobians(rng: np.random.Generator) -> list[str]:
    arrays = inputs(rng)
    program = Program(rng, [tf.constant(x) for x in arrays], int(rng.integers(2, 8)))
    function = tf.function(program, autograph=False) if rng.random() < 0.3 else program
    sources = [tf.Variable(x) for x in arrays]
    with tf.GradientTape(persistent=True) as tape:
        y = function(*sources)
    expected = gradients_by_rows(tape, y, sources)
    rules = any(step.name in USERS_RULES for step in program.steps)
    found: list[str] = []
    for choice in rng.choice(len(CHOICES), 3, replace=False):
        options = CHOICES[int(choice)]
        if rules and options.get("mode") == "forward":
            continue  # a nonlinear user-defined rule has no columns
        for k, answer in enumerate(tape.jacobian(y, sources, **options)):
            own = expected[k]
            if not y.shape[0]:
                continue
            if answer is not None:
                if tuple(answer.shape) != (*y.shape, *arrays[k].shape):
                    found.append(f"jacobian {options}: shape {answer.shape}")
                    continue
                answer = tf.sparse.to_dense(answer) if "sparse" in options else answer
                answer = answer.numpy().reshape(y.shape[0], -1) if own is not None else answer.numpy()
            if own is None and options.get("unconnected_gradients") == "zero":
                own = np.zeros((*y.shape, *arrays[k].shape))
            found += differs(f"jacobian {options} by source {k}", answer, own, program.precision)
    return [f"{message} in {program} at {[x.tolist() for x in arrays]}" for message in found]


def _complex_jacobians(rng: np.random.Generator) -> list[str]:
    real = inputs(rng, str(rng.choice(["float32", "float64"])))
    arrays = [x + 1j * rng.normal(size=x.shape).astype(x.dtype) if rng.random() < 0.7 else x for x in real]
    arrays = [np.asarray(x).astype(np.result_type(real[0].dtype, x.dtype)) for x in arrays]
    steps, complex_end = int(rng.integers(2, 7)), bool(rng.random() < 0.5)
    program = Program(rng, [tf.constant(x) for x in arrays], steps, without=USERS_RULES, complex_end=complex_end)
    sources = [tf.Variable(x) for x in arrays]
    with tf.GradientTape(persistent=True) as tape:
        y = program(*sources)
    if not y.shape[0] or not np.all(np.isfinite(y.numpy())):
        return []
    expected = gradients_by_rows(tape, y, sources)
    if y.dtype.is_complex:  # a real source's Jacobian is complex: its imaginary part belongs to the cotangent i
        imaginary = gradients_by_rows(tape, y, sources, 1j)
        expected = [
            e if e is None or np.iscomplexobj(x) else e + 1j * i
            for x, e, i in zip(arrays, expected, imaginary, strict=True)
        ]
    found: list[str] = []
    for options in ({}, {"mode": "auto", "max_bytes": 40}):
        for k, (answer, own) in enumerate(zip(tape.jacobian(y, sources, **options), expected, strict=True)):
            answer = None if answer is None else answer.numpy().reshape(y.shape[0], -1)
            found += differs(f"complex jacobian {options} by source {k}", answer, own, program.precision)
    return [f"{message} in {program} at {[x.tolist() for x in arrays]}" for message in found]


ROW_STEPS = {
    "sin": tf.sin, "square": tf.square, "softmax": tf.nn.softmax, "cumsum": lambda x: tf.cumsum(x, 1),
    "sort": lambda x: tf.sort(x, 1), "max": lambda x: x - tf.reduce_max(x, 1, keepdims=True),
    "pair": lambda x: tf.concat([x, x[:, ::-1]], 1), "first": lambda x: x[:, :1] * x,
    "function": tf.function(lambda x: tf.tanh(x) * tf.reduce_sum(x, 1, keepdims=True)),
    "again": tf.recompute_grad(lambda x: x * tf.cos(x)),
    "outer": lambda x: tf.reduce_sum(x[:, :, None] * x[:, None], 1),
    "fft": lambda x: tf.cast(tf.abs(tf.signal.fft(tf.cast(x, tf.complex128)) + 1.0), x.dtype),
    "while": lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.sin(y)), (tf.constant(0), x))[1],
}  # fmt: skip


def _batches(rng: np.random.Generator) -> list[str]:
    shape = [(3, 2), (1, 3), (4, 1), (2, 3), (0, 2)][int(rng.integers(5))]
    x = tf.Variable(rng.normal(size=shape).astype(str(rng.choice(["float64", "float32"]))))
    names = [str(name) for name in rng.choice(sorted(ROW_STEPS), 3)]
    with tf.GradientTape(persistent=True) as tape:
        y = x * 1.0
        for name in names:
            y = ROW_STEPS[name](y)
        losses = tf.reduce_sum(y, 1)
    found = []
    precision = "float32" if "fft" in names and x.dtype == tf.float32 else x.dtype.name
    (rows,) = gradients_by_rows(tape, y, [x])
    own = rows.reshape(*y.shape, *shape) if rows is not None and shape[0] else np.zeros((*y.shape, *shape))
    expected = np.stack([own[i, :, i] for i in range(shape[0])]) if shape[0] else np.zeros((0, y.shape[1], shape[1]))
    for options in ({}, {"check_rows": False}, {"experimental_use_pfor": False}):
        found += differs(f"batch_jacobian {options}", tape.batch_jacobian(y, x, **options), expected, precision)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = x * 1.0
            for name in names:
                y = ROW_STEPS[name](y)
            total = tf.reduce_sum(y)
        gradient = inner.gradient(total, x)
    if shape[0]:
        (rows,) = gradients_by_rows(outer, gradient, [x])
        own = np.zeros((*shape, *shape)) if rows is None else rows.reshape(*shape, *shape)
        expected = np.stack([own[i, :, i] for i in range(shape[0])])
        found += differs("batch_hessian", tape.batch_hessian(losses, x), expected, precision)
        found += differs(
            "sparse batch_hessian", tape.batch_hessian(losses, x, sparse=True).toarray(),
            expected.reshape(-1, shape[1]), precision,
        )  # fmt: skip
    return [f"{message} in {names} at {x.numpy().tolist()}" for message in found]


def _second_derivatives(rng: np.random.Generator) -> list[str]:
    arrays = inputs(rng)
    program = Program(rng, [tf.constant(x) for x in arrays], int(rng.integers(2, 7)))
    sources = [tf.Variable(x) for x in arrays]
    vectors = [rng.normal(size=x.shape).astype(x.dtype) for x in arrays]
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            total = tf.reduce_sum(tf.sin(program(*sources)))
        gradients = inner.gradient(total, sources)
    if any(g is not None and not np.all(np.isfinite(tf.convert_to_tensor(g).numpy())) for g in gradients):
        return []
    with tf.GradientTape(persistent=True) as tape:
        total = tf.reduce_sum(tf.sin(program(*sources)))
    blocks, products = tape.hessian(total, sources), tape.hvp(total, sources, vectors)
    expected = [np.zeros(x.size) for x in arrays]
    found: list[str] = []
    for i, gradient in enumerate(gradients):
        if gradient is None:
            continue
        rows = gradients_by_rows(outer, tf.convert_to_tensor(gradient), sources)
        for j, own in enumerate(rows):
            if own is None or not arrays[i].size:
                continue
            expected[j] = expected[j] + vectors[i].ravel().astype(np.float64) @ own.astype(np.float64)
            block = blocks[i][j]
            block = np.zeros(own.shape) if block is None else block.numpy().reshape(own.shape)
            found += differs(f"hessian {i}, {j}", block, own, program.precision)
    linear = not any(step.name in USERS_RULES for step in program.steps)
    for k, product in enumerate(products):
        if product is not None and linear:
            found += differs(f"hvp {k}", product.numpy().ravel(), expected[k], program.precision)
    return [f"{message} in {program} at {[x.tolist() for x in arrays]}" for message in found]
