"""Elements of datasets: their specs, nested structures of them, ragged ones, and placeholders."""
