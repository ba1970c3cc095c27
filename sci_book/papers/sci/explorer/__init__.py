"""The explorer: what its page reads, made from records, and which questions it shows."""
