"""The pocket world: scenes drawn here, questions about them, and the models trained on them."""
