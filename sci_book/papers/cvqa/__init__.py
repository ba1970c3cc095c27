"""C-VQA: original questions against the same questions under a counterfactual presupposition."""
