"""What a tape reports about a step of a Keras model: its layers by name."""

import numpy as np

import gradtape as tf

keras = tf.keras


def step():
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="relu", name="first"), keras.layers.Dense(1, name="last")]
    )
    with tf.GradientTape(trace=True) as tape:
        loss = tf.reduce_mean(model(np.ones((5, 3), "float32")) ** 2)
    tape.gradient(loss, model.trainable_variables)
    return tape


def test_flow_by_layer_and_by_variable():
    tape = step()
    assert [r.name.split("/")[-1] for r in tape.flow(by="layer").rows] == ["first", "last"]
    assert [tuple(r.name.split("/")[-2:]) for r in tape.flow().rows] == [
        ("first", "kernel"), ("first", "bias"), ("last", "kernel"), ("last", "bias"),
    ]  # fmt: skip


def test_rules_and_costs_of_a_model():
    tape = step()
    tape.check().assert_ok()
    assert tape.profile().by_op["matmul"].records == 2
