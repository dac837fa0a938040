"""NumPy's helpers: large work on all cores, BLAS's threads, oneDNN's convolutions. Uses nothing of gradtape."""
