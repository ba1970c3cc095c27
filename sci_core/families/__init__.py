"""The model families: what each says of itself, and how a checkpoint of one is loaded."""
