import gradtape as tf
import pathlib

yy, xx = tf.meshgrid(tf.range(32), tf.range(48), indexing="ij")
image = tf.cast(tf.stack([yy * 8, xx * 5, (yy + xx) * 3], -1), tf.uint8)
tf.io.write_file("flower.png", tf.io.encode_png(image))
tf.io.write_file("flower.jpg", tf.io.encode_jpeg(image, quality=95))


def load_image(path):
    img = tf.io.read_file(path)
    img = tf.image.decode_image(img, channels=3, expand_animations=False)
    img = tf.image.convert_image_dtype(img, tf.float32)
    return tf.image.resize(img, [16, 24])


files = sorted(str(p) for p in pathlib.Path(".").glob("flower.*"))
for batch in tf.data.Dataset.from_tensor_slices(files).map(load_image).batch(2):
    print(batch.shape, batch.dtype, round(float(tf.reduce_mean(batch)), 2))

decoded = tf.image.decode_png(tf.io.read_file("flower.png"))
print(decoded.shape, decoded.dtype, bool(tf.reduce_all(decoded == image)))
x = tf.image.convert_image_dtype(decoded, tf.float32)
x = tf.image.flip_left_right(x)
x = tf.image.adjust_brightness(x, 0.1)
x = tf.image.adjust_contrast(x, 1.5)
x = tf.image.adjust_saturation(x, 0.5)
x = tf.image.central_crop(x, 0.5)
print(x.shape, x[4, 4].numpy())
print(tf.image.rgb_to_grayscale(x)[2, 2].numpy(), tf.image.ssim(x, x, 1.0, filter_size=5).numpy())
print(tf.image.stateless_random_crop(image, [4, 4, 3], seed=[1, 2])[0, 0])
sobel = tf.image.sobel_edges(x[tf.newaxis])
print(sobel.shape, tf.reduce_max(tf.abs(sobel)).numpy())
