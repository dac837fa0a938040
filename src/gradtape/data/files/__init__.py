"""Files that datasets read and write: records, CSV, examples, and the storage of `Dataset.save`."""
