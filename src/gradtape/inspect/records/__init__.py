"""What a tape has recorded, read again: values, cotangents, names and lines; the logs that note them."""
