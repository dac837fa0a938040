"""keras-cv: boxes converted, IoU and its losses, non-max suppression, preprocessing of images."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras_cv
import numpy as np
import tensorflow as tf


def numbers():
    random = np.random.RandomState(0)
    corners = random.uniform(0, 20, (2, 4, 2)).astype("float32")
    boxes = np.concatenate([corners, corners + random.uniform(2, 12, (2, 4, 2)).astype("float32")], -1)
    images = random.uniform(0, 255, (2, 32, 32, 3)).astype("float32")
    convert = keras_cv.bounding_box.convert_format
    found = {"center": convert(boxes, source="xyxy", target="center_xywh")}
    found["relative"] = convert(boxes, source="xyxy", target="rel_xyxy", images=images)
    found["IoU"] = keras_cv.bounding_box.compute_iou(boxes, boxes[:, ::-1], bounding_box_format="xyxy")
    for name in ("GIoULoss", "IoULoss", "CIoULoss"):
        loss = getattr(keras_cv.losses, name)(bounding_box_format="xyxy")
        watched = tf.constant(boxes)
        with tf.GradientTape() as tape:
            tape.watch(watched)
            value = loss(tf.constant(boxes[:, ::-1] + 1.0), watched)
        found[name] = value
        found[f"{name} gradient"] = tape.gradient(value, watched)
    focal = keras_cv.losses.FocalLoss(from_logits=True)
    found["focal"] = focal(np.eye(3, dtype="float32"), random.randn(3, 3).astype("float32"))
    layer = keras_cv.layers.NonMaxSuppression("xyxy", from_logits=False, iou_threshold=0.3, max_detections=3)
    chosen = layer(tf.constant(boxes), tf.constant(random.uniform(size=(2, 4, 2)).astype("float32")))
    found["suppressed"] = np.concatenate([np.ravel(chosen["boxes"]), np.ravel(chosen["num_detections"])])
    found["gray"] = keras_cv.layers.Grayscale(output_channels=1)(images)[:, ::8, ::8]
    found["resized"] = keras_cv.layers.Resizing(8, 8)(images)
    return found
