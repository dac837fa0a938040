"""Types of the user's own that TensorFlow's functions take, and how functions are made to take them."""
