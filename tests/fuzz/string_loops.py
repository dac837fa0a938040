"""Loops over strings in functions: random chains of loops, compared with lists of Python bytes.

Strings have no XLA, no zeros and no NumPy scalars: loops that carry, scan and emit them use other code paths.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import gradtape as tf

Words = list[bytes]


def mapped(x: tf.Tensor) -> tf.Tensor:
    return tf.map_fn(lambda s: tf.strings.join([s, "!", s]), x)


def scanned(x: tf.Tensor) -> tf.Tensor:
    return tf.scan(lambda so_far, s: so_far + s, x, initializer=tf.constant(">"))


def written(x: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.string, 0, dynamic_size=True, element_shape=[])
    for s in x:
        if tf.strings.length(s) % 2 == 1:
            array = array.write(array.size(), tf.strings.upper(s))
    return array.stack()


def spaced(x: tf.Tensor) -> tf.Tensor:
    array = tf.TensorArray(tf.string, 2 * tf.shape(x)[0], element_shape=[])
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(2 * i, x[i])
    return array.stack()


def chosen(x: tf.Tensor) -> tf.Tensor:
    longest = tf.constant("")
    for s in x:
        if tf.strings.length(s) > tf.strings.length(longest):
            longest = s
    return tf.concat([x, [longest]], 0)


def repeated(x: tf.Tensor) -> tf.Tensor:
    i, word = tf.constant(0), tf.constant("")
    while i < 3 and tf.strings.length(word) < 4:
        word = tf.strings.join([word, "ab"])
        i += 1
    return tf.concat([[word], tf.reverse(x, [0])], 0)


def so_far(words: Words) -> Words:
    return [b">" + b"".join(words[: i + 1]) for i in range(len(words))]


STEPS: list[tuple[Callable[[tf.Tensor], tf.Tensor], Callable[[Words], Words]]] = [
    (mapped, lambda words: [s + b"!" + s for s in words]),
    (scanned, so_far),
    (written, lambda words: [s.upper() for s in words if len(s) % 2]),
    (spaced, lambda words: [t for s in words for t in (s, b"")]),
    (chosen, lambda words: [*words, max([b"", *words], key=len)]),
    (repeated, lambda words: [b"abab", *reversed(words)]),
]


def disagreements(seed: int) -> list[str]:
    """Compares one chain of loops, in a function, with lists: twice with as many words, once with another number."""
    rng = np.random.default_rng(seed)
    chain = [STEPS[i] for i in rng.integers(0, len(STEPS), rng.integers(1, 4))]

    def program(x: tf.Tensor) -> tf.Tensor:
        for step, _ in chain:
            x = step(x)
        return x

    function = tf.function(program, reduce_retracing=bool(rng.integers(2)))
    count = int(rng.integers(0, 5))
    found = []
    for size in (count, count, int(rng.integers(0, 5))):
        words = [bytes(rng.choice(list(b"abc"), rng.integers(0, 4)).tolist()) for _ in range(size)]
        expected = words
        for _, reference in chain:
            expected = reference(expected)
        names = [step.__name__ for step, _ in chain]
        try:
            result = function(tf.constant(words, tf.string, [size])).numpy().tolist()
        except Exception as error:
            found.append(f"seed {seed}, {names} of {words}: {type(error).__name__}: {str(error)[-300:]}")
            continue
        if result != expected:
            found.append(f"seed {seed}, {names} of {words}: {result}, not {expected}")
    return found
