import tensorflow as tf

for line in tf.data.TextLineDataset("no_such_file.csv").skip(1):
    print(line)
