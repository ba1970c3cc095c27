"""Draw the short answers of a model at temperature 1, 20 times each, beside its records.

    python benchmarks/draws.py checkpoints/pocket-qwen2vl \\
        data_manifests/records/draws/pocket-qwen2vl.csv

Writes what the controls `sampled` and `sampled, plausible` know of short answers
(`sci_book/results/controls.py`), and what SCI5 draws. Some 54,000 answers a pocket model, four
minutes of a core.
"""

import argparse
from pathlib import Path

from sci_book.data.datasets import load_dataset
from sci_book.files import write_whole
from sci_book.results.controls import PLAUSIBLE
from sci_book.run.draws import draws
from sci_core.families.models import load_model
from sci_core.methods import BASE, SCI5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("out", type=Path, help="in `draws` beside the records, named as they are")
    parser.add_argument("--data", default="pocket")
    arguments = parser.parse_args()
    methods = (BASE, PLAUSIBLE, SCI5)
    table = draws(load_model(arguments.model), load_dataset(arguments.data), methods)
    write_whole(arguments.out, table.to_csv(index=False).encode())
    print(f"{arguments.out}: {len(table):,} rows")


if __name__ == "__main__":
    main()
