"""One traced program for all replicas, run on all devices at once by JAX."""
