"""From questions to logits: rounds encoded, shared prefixes read once, steps taken together."""
