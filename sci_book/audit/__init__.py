"""Audits of printed numbers: an engine, with each paper's checks in `data_manifests/audits`.

`printed` reads what a paper prints, `kinds` holds what a check can ask, `engine` reads checks and
makes findings of them, `pages` shows findings. A paper whose checks are of these kinds needs no
code; what is its own alone is a function of its folder, which its file of checks calls by name.
"""
