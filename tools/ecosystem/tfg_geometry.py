"""tensorflow-graphics: rotations, cameras, meshes, harmonics, Chamfer distance in functions, a fit."""

import numpy as np
import tensorflow as tf
from tensorflow_graphics.geometry.representation.mesh import normals
from tensorflow_graphics.geometry.transformation import (
    axis_angle,
    dual_quaternion,
    euler,
    look_at,
    quaternion,
    rotation_matrix_3d,
)  # fmt: skip
from tensorflow_graphics.math import spherical_harmonics, vector
from tensorflow_graphics.math.interpolation import bspline, slerp, trilinear
from tensorflow_graphics.nn.loss import chamfer_distance
from tensorflow_graphics.rendering.camera import perspective


def numbers():
    found = {}
    drawn = np.random.RandomState(0)
    angles = tf.constant(drawn.uniform(-1.0, 1.0, size=(4, 3)), tf.float32)
    points = tf.constant(drawn.normal(size=(4, 3)), tf.float32)
    matrix = rotation_matrix_3d.from_euler(angles)
    turned = quaternion.from_euler(angles)
    found["matrix"], found["quaternion"] = matrix, turned
    found["rotated"] = rotation_matrix_3d.rotate(points, matrix)
    found["rotated by quaternions"] = quaternion.rotate(points, turned)
    axis, angle = axis_angle.from_quaternion(turned)
    found["axis"], found["angle"] = axis, angle
    found["euler"] = euler.from_rotation_matrix(matrix)
    found["dual"] = dual_quaternion.conjugate(tf.concat([turned, turned], -1))
    found["slerp"] = slerp.interpolate(turned[:2], turned[2:], [[0.3], [0.6]], slerp.InterpolationType.QUATERNION)
    found["look at"] = look_at.right_handed(points[0], points[1], [0.0, 1.0, 0.0])
    found["projected"] = perspective.project(tf.abs(points) + 1.0, [[500.0, 510.0]] * 4, [[320.0, 240.0]] * 4)
    faces = tf.constant([[0, 1, 2], [0, 2, 3]])
    found["normals"] = normals.vertex_normals(points, faces)
    found["harmonics"] = spherical_harmonics.evaluate_spherical_harmonics(
        *spherical_harmonics.generate_l_m_permutations(2), tf.constant([0.4]), tf.constant([1.1])
    )
    knots = tf.constant(drawn.normal(size=(2, 5)), tf.float32)
    found["bspline"] = bspline.interpolate(knots, [[0.4], [1.3]], degree=2, cyclical=False)
    volume = tf.constant(drawn.normal(size=(1, 3, 3, 3, 2)), tf.float32)
    found["trilinear"] = trilinear.interpolate(volume, tf.constant([[[0.5, 1.2, 1.7], [1.1, 0.2, 0.9]]]))
    found["cross"] = vector.cross(points, points[::-1])

    @tf.function
    def distance(angles):
        moved = rotation_matrix_3d.rotate(points, rotation_matrix_3d.from_euler(angles))
        return chamfer_distance.evaluate(moved, points + 0.1)

    found["chamfer"] = distance(angles)
    angles = tf.Variable(angles)
    losses, optimizer = [], tf.keras.optimizers.SGD(0.1)
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = distance(angles)
        optimizer.apply_gradients([(tape.gradient(loss, angles), angles)])
        losses.append(loss)
    found["fit"], found["fitted"] = tf.stack(losses), angles
    return found
