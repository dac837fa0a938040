"""Keras' backend on gradtape: `loader` makes it known to Keras, `src` is the backend. It stands above gradtape."""
