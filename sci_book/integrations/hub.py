"""The kernel as a folder for a model hub: `model.generate(custom_generate=FOLDER)`.

transformers runs `custom_generate/generate.py` of a folder or of a repository on its hub, once
`trust_remote_code=True` allows it. The folder that is written here calls `sci_core`.
"""

import json
from pathlib import Path

from sci_book.files import write_whole
from sci_book.resources import RESULTS
from sci_core.families.releases import OLDEST

CALLER = Path(__file__).with_name("hub_generate.py")
MEASURED = RESULTS / "hub" / "custom_generate.json"
"""How often the folder's tokens were those of `sci_core.generate` (benchmarks/hub_folder.py)."""

CARD = """\
---
library_name: transformers
tags:
  - custom_generate
---

# Self-Critical Inference for vision-language models

Decodes an unmodified model of transformers by Self-Critical Inference (arXiv 2603.07659), which
compares the answers to a picture with those to dummy pictures and to reworded prompts, or by VCD,
TIE, M3ID and others of the package sci-core. Read `custom_generate/generate.py` before you allow
it: it imports the package and calls it.

The package is in no registry: clone its repository and install it there with `pip install -e .`

```python
import torch
from PIL import Image
from sci_core import load_model, prepare_image

loaded = load_model("CHECKPOINT")
images, prompts = [Image.open("PICTURE")], ["Is there a dog? Please answer yes or no."]
pictures = [loaded.processor.prepare(prepare_image(image)) for image in images]
ids = loaded.processor.token_ids(prompts, [picture.ids for picture in pictures])
inputs = loaded.tokenizer.pad({"input_ids": ids}, return_tensors="pt", padding_side="left")
ids = loaded.hf.generate(
    **inputs,
    custom_generate="FOLDER",
    trust_remote_code=True,
    processor=loaded.processor,
    images=images,
    prompts=prompts,
    method="SCI5",
    max_new_tokens=8,
    do_sample=False,
)
new = ids[:, inputs["input_ids"].shape[1] :]
print(loaded.tokenizer.batch_decode(new, skip_special_tokens=True))
```

A processor of transformers' own, and the inputs that it makes, serve as well. A streamer is fed the
tokens of one question; an argument that this decoding does not follow is refused by name.

**Measured.** {measured}
"""


def write_folder(out: Path) -> list[Path]:
    """Write the folder, which can be pushed as it is; the files that it holds.

    Raises:
        FileExistsError: the folder holds something.
    """
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} holds something already; name a new or an empty folder.")
    ranges = "".join(f"{package}>={oldest}\n" for package, oldest in OLDEST.items())
    texts = {
        "README.md": CARD.replace("{measured}", _measured()),
        "custom_generate/generate.py": CALLER.read_text(encoding="utf-8"),
        "custom_generate/requirements.txt": f"# and sci-core, as README.md says\n{ranges}",
    }
    for name, text in texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(out / name, text.encode())
    return [out / name for name in texts]


def _measured() -> str:
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    return (
        f"{found['equal']:,} of {found['answers']:,} answers have the tokens of "
        f"`sci_core.generate`: {', '.join(found['models'])}, each with "
        f"{', '.join(found['methods'])}, greedy, in {found['dtype']}, with transformers "
        f"{found['transformers']} and torch {found['torch']}."
    )
