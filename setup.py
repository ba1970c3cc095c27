"""What a wheel holds beside the code: two folders of the repository's root, inside `sci_book`.

They stay at the root, where readers and chapters look for them; `sci_book/resources.py` finds them
in either place. Left out, since they check the book in a checkout and nothing else reads them: the
frozen records (41 MB), the manifest of these and of the weights, the set that a registration is
held to, the chapters, and every checkpoint but the smallest.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SHIPPED = ("data_manifests", "checkpoints/pocket-qwen2vl-small")
LEFT_OUT = (
    "data_manifests/records",
    "data_manifests/checksums.csv",
    "data_manifests/paper/golden",
)


class BuildWithData(build_py):
    """Copy what is shipped beside the code; an editable install reads it where it lies."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        for folder in SHIPPED:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file() and not any(map(path.is_relative_to, LEFT_OUT)):
                    target = Path(self.build_lib, "sci_book", path)
                    self.mkpath(str(target.parent))
                    self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": BuildWithData})
