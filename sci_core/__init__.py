"""Self-Critical Inference: counterfactual decoding for vision-language models.

    from sci_core import SCI5, generate, load_model

    model = load_model("checkpoints/pocket-qwen2vl")
    answers = generate(model, images, prompts, method=SCI5)

Nothing is loaded with the package. Each of its names brings what it needs when first used: most
bring torch, `load_model` transformers. `__init__.pyi` says where they are.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
