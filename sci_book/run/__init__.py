"""A model evaluated on a data set: batches, shards, workers, progress, and verification."""
