"""What is made of a run: records, replay, DRBench, metrics, statistics."""
