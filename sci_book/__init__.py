"""The executable book of Self-Critical Inference: what evaluates, counts, concludes and renders.

The path of a number: `load_dataset` → `evaluate` (records on disk) → `read_records` → `subsets` and
`Records.correct`, or `recompute` for a method that was not decoded → `accuracy_table`,
`measure`, `share`, `difference`, `verdict`.

Nothing is loaded with the package; each name brings what it needs (`__init__.pyi` says from where).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
