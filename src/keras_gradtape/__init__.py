"""Keras backend on gradtape: `loader` registers it with Keras, `src` implements it. Builds on gradtape."""
