"""Self-Critical Inference: counterfactual decoding for vision-language models."""
