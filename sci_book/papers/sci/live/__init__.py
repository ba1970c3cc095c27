"""The model in the page: what a reader's browser needs to ask a pocket model, scenes among it."""
