"""Self-Critical Inference and its special cases inside `model.generate` of transformers.

What decodes is the package sci-core; the README beside says how to install and to call it.
"""

try:
    from sci_core import custom_generate
except ImportError as error:
    raise ImportError(
        "This folder decodes with sci-core, which is not installed here. It is in no package "
        "registry: clone its repository, which the README of this folder cites, and install it "
        "there with `pip install -e .`"
    ) from error


def generate(
    model,
    processor,
    images,
    prompts,
    method="SCI5",
    rewrites=None,
    seed=None,
    noise="wrap",
    batch_size=16,
    **arguments,
):
    """Decode by a method; token ids, inputs included, as `model.generate` gives them.

    Args:
        model: given by `model.generate`, as are those of `arguments` that are its own.
        processor, images, prompts: what the inputs were made with and of.
        method, rewrites, seed, noise, batch_size: see `sci_core.custom_generate`.
    """
    decode = custom_generate(
        processor, images, prompts, method, rewrites, seed=seed, noise=noise, batch_size=batch_size
    )
    return model.generate(**arguments, custom_generate=decode)
