"""Self-Critical Inference: its printed numbers audited, and what its rounds cost."""
