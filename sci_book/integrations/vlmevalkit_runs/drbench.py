"""SCI5 on a file that `sci export drbench` wrote, asked and scored by VLMEvalKit:

LMUData=FOLDER_OF_THE_FILE python drbench.py CHECKPOINT NAME_OF_THE_FILE
"""

import os
import sys
from functools import partial
from pathlib import Path

os.environ["PRED_FORMAT"] = "tsv"  # what the toolkit writes; xlsx, its default, needs xlsxwriter

from vlmeval.config import supported_VLM
from vlmeval.dataset import build_dataset
from vlmeval.inference import infer_data_job

from sci_book.integrations.vlmevalkit import SelfCritical

checkpoint, name = sys.argv[1], Path(sys.argv[2]).stem
supported_VLM["SCI5"] = partial(SelfCritical, model_path=checkpoint, method="SCI5")

dataset, folder = build_dataset(name), Path("runs/vlmevalkit")
folder.mkdir(parents=True, exist_ok=True)
infer_data_job("SCI5", str(folder), "SCI5", dataset)
print(dataset.evaluate(str(folder / f"SCI5_{name}.tsv"), model="exact_matching"))
