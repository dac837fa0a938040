"""Sparse Jacobians and Hessians of random programs, against one `gradient` call per row."""

from __future__ import annotations

import numpy as np

import gradtape as tf

from ._programs import Program, differs, gradients_by_rows, inputs


def disagreements(seed: int) -> list[str]:
    """Compares them where the program was drawn and at another point, which has many zeros in half of the cases."""
    rng = np.random.default_rng(seed)
    arrays = inputs(rng)
    program = Program(rng, [tf.constant(x) for x in arrays], int(rng.integers(2, 9)))
    found: list[str] = []
    other = [rng.normal(size=x.shape).astype(x.dtype) for x in arrays]
    if rng.random() < 0.5:
        other = [np.asarray(np.round(x)).astype(x.dtype) for x in other]
    for at in (arrays, other):
        found += _jacobians(rng, program, at)
    found += _hessians(program, other)
    return [f"{message} in {program} at {[x.tolist() for x in arrays]}" for message in found]


def _jacobians(rng: np.random.Generator, program: Program, at: list[np.ndarray]) -> list[str]:
    sources = [tf.Variable(x) for x in at]
    with tf.GradientTape(persistent=True) as tape:
        y = program(*sources)
    if not np.all(np.isfinite(y.numpy())):
        return []
    expected = gradients_by_rows(tape, y, sources)
    found: list[str] = []
    for options in ({}, {"mode": "forward"} if rng.random() < 0.5 else {"sparse": "auto"}):
        answers = tape.jacobian(y, sources, **({"sparse": True} | options))
        for k, (answer, own) in enumerate(zip(answers, expected, strict=True)):
            if not y.shape[0]:
                continue  # there is no row, so the path is unknown
            dense = None if answer is None else answer.toarray()
            found += differs(f"jacobian {options} by source {k}", dense, own, program.precision)
    return found


def _hessians(program: Program, at: list[np.ndarray]) -> list[str]:
    sources = [tf.Variable(x) for x in at]
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            total = tf.reduce_sum(tf.sin(program(*sources)))
        gradients = inner.gradient(total, sources)
    if any(g is not None and not np.all(np.isfinite(tf.convert_to_tensor(g).numpy())) for g in gradients):
        return []
    with tf.GradientTape(persistent=True) as tape:
        total = tf.reduce_sum(tf.sin(program(*sources)))
    blocks = tape.hessian(total, sources, sparse=True)
    found: list[str] = []
    for i, gradient in enumerate(gradients):
        if gradient is None or not int(np.prod(gradient.shape)):
            continue
        expected = gradients_by_rows(outer, tf.convert_to_tensor(gradient), sources)
        for j, own in enumerate(expected):
            size = (int(np.prod(sources[i].shape)), int(np.prod(sources[j].shape)))
            dense = np.zeros(size) if blocks[i][j] is None else blocks[i][j].toarray()
            found += differs(f"hessian {i}, {j}", dense, np.zeros(size) if own is None else own, program.precision)
    return found
