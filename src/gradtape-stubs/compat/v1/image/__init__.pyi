# Written by tools/write_stubs.py.
from typing import Any
from gradtape.core.tensor import Tensor
from gradtape.core.type_hints import SizesLike, TensorLike
from gradtape.api.image.augmentation import (
    random_brightness as random_brightness,
    random_contrast as random_contrast,
    random_crop as random_crop,
    random_flip_left_right as random_flip_left_right,
    random_flip_up_down as random_flip_up_down,
    random_hue as random_hue,
    random_jpeg_quality as random_jpeg_quality,
    random_saturation as random_saturation,
    stateless_random_brightness as stateless_random_brightness,
    stateless_random_contrast as stateless_random_contrast,
    stateless_random_crop as stateless_random_crop,
    stateless_random_flip_left_right as stateless_random_flip_left_right,
    stateless_random_flip_up_down as stateless_random_flip_up_down,
    stateless_random_hue as stateless_random_hue,
    stateless_random_jpeg_quality as stateless_random_jpeg_quality,
    stateless_random_saturation as stateless_random_saturation,
    stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box,
)
from gradtape.api.image.boxes import (
    combined_non_max_suppression as combined_non_max_suppression,
    non_max_suppression as non_max_suppression,
    non_max_suppression_overlaps as non_max_suppression_overlaps,
    non_max_suppression_padded as non_max_suppression_padded,
    non_max_suppression_with_scores as non_max_suppression_with_scores,
)
from gradtape.api.image.codecs import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
    decode_bmp as decode_bmp,
    decode_gif as decode_gif,
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    decode_webp as decode_webp,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
    extract_jpeg_shape as extract_jpeg_shape,
    is_jpeg as is_jpeg,
)
from gradtape.api.image.color import (
    adjust_brightness as adjust_brightness,
    adjust_contrast as adjust_contrast,
    adjust_gamma as adjust_gamma,
    adjust_hue as adjust_hue,
    adjust_jpeg_quality as adjust_jpeg_quality,
    adjust_saturation as adjust_saturation,
    convert_image_dtype as convert_image_dtype,
    grayscale_to_rgb as grayscale_to_rgb,
    hsv_to_rgb as hsv_to_rgb,
    per_image_standardization as per_image_standardization,
    rgb_to_grayscale as rgb_to_grayscale,
    rgb_to_hsv as rgb_to_hsv,
    rgb_to_yiq as rgb_to_yiq,
    rgb_to_yuv as rgb_to_yuv,
    yiq_to_rgb as yiq_to_rgb,
    yuv_to_rgb as yuv_to_rgb,
)
from gradtape.api.image.geometry import (
    central_crop as central_crop,
    crop_to_bounding_box as crop_to_bounding_box,
    extract_patches as extract_patches,
    flip_left_right as flip_left_right,
    flip_up_down as flip_up_down,
    pad_to_bounding_box as pad_to_bounding_box,
    resize_with_crop_or_pad as _resize_image_with_crop_or_pad,
    resize_with_crop_or_pad as resize_with_crop_or_pad,
    rot90 as rot90,
    transpose as _transpose_image,
    transpose as transpose,
)
from gradtape.api.image.quality import (
    image_gradients as image_gradients,
    psnr as psnr,
    sobel_edges as sobel_edges,
    ssim as ssim,
    ssim_multiscale as ssim_multiscale,
    total_variation as total_variation,
)
from gradtape.api.image.resampling import (
    ResizeMethod as ResizeMethod,
    resize_with_pad as resize_with_pad,
)
def crop_and_resize(image: TensorLike, boxes: TensorLike, box_ind: TensorLike | None = ..., crop_size: TensorLike | None = ..., method: str = ..., extrapolation_value: float = ..., name: str | None = ..., box_indices: TensorLike | None = ...) -> Tensor: ...
def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, name: str | None = ..., colors: TensorLike | None = ...) -> Tensor: ...
def extract_glimpse(input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = ..., normalized: bool = ..., uniform_noise: Any = ..., name: str | None = ...) -> Tensor: ...
def extract_image_patches(images: TensorLike, ksizes: SizesLike | None = ..., strides: SizesLike | None = ..., rates: SizesLike | None = ..., padding: str | None = ..., name: str | None = ..., sizes: SizesLike | None = ...) -> Tensor: ...
def resize(images: Any, size: Any, method: Any = ..., align_corners: bool = ..., preserve_aspect_ratio: bool = ..., name: str | None = ...) -> Tensor: ...
def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = ..., name: str | None = ...) -> Tensor: ...
def resize_bicubic(images: TensorLike, size: TensorLike, align_corners: bool = ..., name: str | None = ..., half_pixel_centers: bool = ...) -> Tensor: ...
def resize_bilinear(images: TensorLike, size: TensorLike, align_corners: bool = ..., name: str | None = ..., half_pixel_centers: bool = ...) -> Tensor: ...
resize_image_with_crop_or_pad = _resize_image_with_crop_or_pad
def resize_images(images: Any, size: Any, method: Any = ..., align_corners: bool = ..., preserve_aspect_ratio: bool = ..., name: str | None = ...) -> Tensor: ...
def resize_nearest_neighbor(images: TensorLike, size: TensorLike, align_corners: bool = ..., name: str | None = ..., half_pixel_centers: bool = ...) -> Tensor: ...
transpose_image = _transpose_image
