import glob

import tensorflow as tf

writer = tf.summary.create_file_writer("logs/run1")
with writer.as_default():
    for step in range(5):
        tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
    tf.summary.histogram("weights", tf.random.normal([100]), step=0)
    tf.summary.text("note", "a first run", step=0)
    tf.summary.image("noise", tf.random.uniform([1, 8, 8, 3]), step=0)
writer.close()


@tf.function
def step(i):
    with writer2.as_default():
        tf.summary.scalar("inside", tf.cast(i, tf.float32) ** 2, step=i)


writer2 = tf.summary.create_file_writer("logs/run2")
for i in tf.range(3, dtype=tf.int64):
    step(i)
writer2.flush()

for run in ("run1", "run2"):
    file, = glob.glob(f"logs/{run}/events.out.tfevents.*")
    records = list(tf.data.TFRecordDataset(file))
    tags = [b"loss", b"weights", b"note", b"noise", b"inside"]
    tags = [tag for tag in tags if any(tag in r.numpy() for r in records)]
    print(run, len(records), tags)
