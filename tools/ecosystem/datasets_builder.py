"""tensorflow-datasets: a local builder: records written, splits read, as NumPy, batched and shuffled."""

import tempfile

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds


class Digits(tfds.core.GeneratorBasedBuilder):
    """Small random images with labels."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(shape=(6, 6, 1)),
                    "label": tfds.features.ClassLabel(names=["zero", "one", "two"]),
                    "weights": tfds.features.Tensor(shape=(None,), dtype=np.float32),
                    "name": tfds.features.Text(),
                    "box": tfds.features.BBoxFeature(),
                }
            ),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(0, 20), "test": self._generate_examples(1, 8)}

    def _generate_examples(self, seed, count):
        random = np.random.RandomState(seed)
        for i in range(count):
            yield (
                i,
                {
                    "image": random.randint(0, 256, (6, 6, 1)).astype(np.uint8),
                    "label": int(random.randint(3)),
                    "weights": random.randn(random.randint(1, 5)).astype("float32"),
                    "name": f"example {i}",
                    "box": tfds.features.BBox(ymin=0.1, xmin=0.2, ymax=0.5, xmax=0.25 + i / 100),
                },
            )


def numbers():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        builder = Digits(data_dir=folder)
        builder.download_and_prepare()
        found["sizes"] = [split.num_examples for split in builder.info.splits.values()]
        train = builder.as_dataset(split="train")
        found["labels"] = [int(example["label"]) for example in tfds.as_numpy(train)]
        found["images"] = [float(example["image"].mean()) for example in tfds.as_numpy(train)]
        found["weights"] = np.concatenate([example["weights"] for example in tfds.as_numpy(train)])
        found["boxes"] = [example["box"] for example in tfds.as_numpy(train)]
        found["names"] = [int(bytes(example["name"]).split()[1]) for example in tfds.as_numpy(train)]
        half = builder.as_dataset(split="train[25%:75%]+test[:2]", as_supervised=True)
        found["slices"] = [float(tf.reduce_sum(tf.cast(image, tf.float32))) + int(label) for image, label in half]
        batches = half.map(lambda image, label: (tf.image.convert_image_dtype(image, tf.float32), label)).batch(4)
        found["batches"] = [float(tf.reduce_mean(images)) for images, _ in batches]
        shuffled = builder.as_dataset(split="test", shuffle_files=True, read_config=tfds.ReadConfig(shuffle_seed=3))
        found["shuffled"] = sorted(int(example["label"]) for example in tfds.as_numpy(shuffled))
    return found
