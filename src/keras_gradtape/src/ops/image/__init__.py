"""The backend interface for `keras.ops.image`, by subject."""

from .color import hsv_to_rgb, rgb_to_grayscale, rgb_to_hsv
from .filters import gaussian_blur, sobel_edges
from .resampling import resize, scale_and_translate
from .sampling import (
    affine_transform,
    compute_homography_matrix,
    elastic_transform,
    map_coordinates,
    perspective_transform,
)

__all__ = [
    "affine_transform", "compute_homography_matrix", "elastic_transform", "gaussian_blur", "hsv_to_rgb",
    "map_coordinates", "perspective_transform", "resize", "rgb_to_grayscale", "rgb_to_hsv", "scale_and_translate",
    "sobel_edges",
]  # fmt: skip
