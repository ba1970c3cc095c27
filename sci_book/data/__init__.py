"""Data sets: manifests, loaders, fetching, prompts, pictures, and rules that read answers."""
