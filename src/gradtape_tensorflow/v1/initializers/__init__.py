"""TensorFlow 1's initializers of variables."""
